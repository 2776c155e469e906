#include "core/base/scope.h"
#include "core/metrics/intent.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares of at most three things and their mean: a handful of roundings. */
static const struct tol exact = {.abs = 0, .rel = 1e-15};

#define TEXTS(...)                                                                                                     \
    {                                                                                                                  \
        .text = (char *[]){__VA_ARGS__}, .n = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)                         \
    }
#define PATTERN(name_, pattern_)                                                                                       \
    {                                                                                                                  \
        .name = name_, .pattern = pattern_                                                                             \
    }
#define PLAIN(name_, text_)                                                                                            \
    {                                                                                                                  \
        .name = name_, .text = text_                                                                                   \
    }

static struct entity capital_entities[] = {TEXTS("Oslo", "奥斯陆", "オスロ"), TEXTS("Norway", "Norwegen", "挪威")};
static struct rule capital_actions[] = {PATTERN("names it", "capital|hauptstadt|首都"),
                                        PATTERN("a sentence", "\\w+ .*[.。]")};
static struct rule capital_must_not[] = {PLAIN("the wrong one", "Bergen"),
                                         PATTERN("no excuse", "\\b(sorry|i can'?t)\\b")};
static struct entity count_entities[] = {TEXTS("12 V"), TEXTS("5"), TEXTS("E-417"), TEXTS("twelve")};
static struct rule only_must_not[] = {PATTERN("wheel", "wheels?")};

static struct turn turns[] = {
    {.user = "?",
     .entities = capital_entities,
     .n_entities = 2,
     .actions = capital_actions,
     .n_actions = 2,
     .must_not = capital_must_not,
     .n_must_not = 2},
    {.user = "?", .entities = count_entities, .n_entities = 4},
    {.user = "?", .must_not = only_must_not, .n_must_not = 1},
    {.user = "?"},
};
static struct task tasks[] = {{.id = "t", .turns = turns, .n_turns = 4}};
static const struct taskset set = {.tasks = tasks, .n_tasks = 1};

struct one {
    int turn;
    const char *reply;
    double entities, actions, negations, alignment;
};

static const struct one scores[] = {
    {1, "The capital of Norway is Oslo.", 1, 1, 1, 1},
    {1, "DIE HAUPTSTADT VON NORWEGEN IST OSLO.", 1, 1, 1, 1},
    {1, "挪威 的首都是奥斯陆。", 1, 1, 1, 1},
    {1, "ノルウェーの首都はオスロです", 0.5, 0.5, 1, 2.0 / 3},
    {1, "Ｏｓｌｏ", 0.5, 0, 1, 0.5},
    {1, "The capital of Norway is Bergen.", 0.5, 1, 0.5, 0},
    {1, "I can’t say. Sorry", 0, 0.5, 0.5, 0},
    {1, "Oslove, Norwaycapital.", 0, 0.5, 1, 0.5},
    {1, "", 0, 0, 1, 1.0 / 3},
    {2, "5 things: E-417, twelve, 12 volts", 1, NAN, NAN, 1},
    {2, "0.012 kV, code e-417", 0.5, NAN, NAN, 0.5},
    {2, "12:05, E-4170", 0, NAN, NAN, 0},
    {2, "12 apples and ５ pears", 0.5, NAN, NAN, 0.5},
    {3, "It has two wheels.", NAN, NAN, 0, 0},
    {3, "It has two pedals.", NAN, NAN, 1, 1},
    {4, "anything", NAN, NAN, NAN, NAN},
    {5, "no such turn", NAN, NAN, NAN, NAN},
    {1, "Oslo\xFF, Norway \xC0 capital.", 1, 1, 1, 1},
};

Test(intent, scores_what_was_said)
{
    AUTO(intent) in = {0};
    size_t i;

    cr_assert(eq(int, intent_init(&in, &set, NULL), OK));
    for (i = 0; i < sizeof scores / sizeof *scores; i++) {
        const struct one *o = &scores[i];
        struct intent_score s;

        cr_assert(eq(int, intent_score(&in, "t", o->turn, o->reply, strlen(o->reply), &s, NULL), OK));
        cr_assert(close_to(s.entities, o->entities, exact), "'%s': entities %g", o->reply, s.entities);
        cr_assert(close_to(s.actions, o->actions, exact), "'%s': actions %g", o->reply, s.actions);
        cr_assert(close_to(s.negations, o->negations, exact), "'%s': negations %g", o->reply, s.negations);
        cr_assert(close_to(s.alignment, o->alignment, exact), "'%s': alignment %g", o->reply, s.alignment);
    }
}

static struct taskset one_rule(struct task *task, struct turn *turn, struct rule *rule)
{
    *turn = (struct turn){.user = "?", .actions = rule, .n_actions = 1};
    *task = (struct task){.id = "task-7", .turns = turn, .n_turns = 1};
    return (struct taskset){.tasks = task, .n_tasks = 1};
}

static int matches(const char *pattern, const char *reply)
{
    struct rule rule = {.name = "r", .pattern = (char *)pattern};
    struct task task;
    struct turn turn;
    struct taskset t = one_rule(&task, &turn, &rule);
    AUTO(intent) in = {0};
    struct intent_score s;

    cr_assert(eq(int, intent_init(&in, &t, NULL), OK), "%s", pattern);
    cr_assert(eq(int, intent_score(&in, "task-7", 1, reply, strlen(reply), &s, NULL), OK), "%s", pattern);
    return s.actions > 0.5;
}

Test(intent, patterns_see_the_reply_as_sent_and_normalised)
{
    cr_assert(matches("straße", "Die STRASSE heißt Hauptstraße"));
    cr_assert(matches("^\\{.*\\}$", "{\"a\": 1}"));
    cr_assert(matches("don't", "Don’t"));
    cr_assert(matches("a b", "a\n\n  b"));
    cr_assert(matches("(?-i)JSON", "as JSON"), "the reply as sent keeps its case");
    cr_assert(matches("\\bécole\\b", "L'E\xCC\x81"
                                     "cole"));
    cr_assert(matches("^\\d+$", "１２３"));
    cr_assert(matches("\\w+", "東京"));
    cr_assert(matches("(?m)^- b$", "- a\n- b\n- c"), "and its lines");
    cr_assert(not(matches("x", "")));
}

struct bad {
    const char *pattern, *words;
};

static const struct bad bads[] = {
    {"(a", "wrong at character 3"},
    {"a)", "wrong at character"},
    {"[z-a]", "wrong at character"},
    {"é(", "wrong at character 3"},
    {"\\C", "wrong at character"},
    {"*", "wrong at character"},
    {"\xFF", "wrong at character"},
    {"(?<n>a)(?<n>b)", "wrong at character"},
    {"((((a{999}){999}){999}){999})", "wrong at character"},
};

Test(intent, a_bad_pattern_is_named_with_its_place)
{
    size_t i;

    for (i = 0; i < sizeof bads / sizeof *bads; i++) {
        struct rule rule = {.name = "the rule", .pattern = (char *)bads[i].pattern};
        struct task task;
        struct turn turn;
        struct taskset t = one_rule(&task, &turn, &rule);
        struct error err = {0};
        AUTO(intent) in = {0};

        cr_assert(eq(int, intent_init(&in, &t, &err), ERR_FORMAT), "%s", bads[i].pattern);
        cr_assert(ne(ptr, strstr(err.message, bads[i].words), NULL), "%s", err.message);
        cr_assert(eq(str, err.context, "task 'task-7', turn 1: action 'the rule'"));
        cr_assert(eq(ptr, in.rules, NULL));
    }
}

Test(intent, an_entity_without_a_visible_character_is_refused)
{
    struct entity e = TEXTS("\xE2\x80\x8B \n");
    struct turn turn = {.user = "?", .entities = &e, .n_entities = 1};
    struct task task = {.id = "t", .turns = &turn, .n_turns = 1};
    struct taskset t = {.tasks = &task, .n_tasks = 1};
    struct error err = {0};
    AUTO(intent) in = {0};

    cr_assert(eq(int, intent_init(&in, &t, &err), ERR_FORMAT));
    cr_assert(ne(ptr, strstr(err.message, "no visible character"), NULL));
}

/* "ab" is nowhere, but "b" ends the text, so that no look for a needed letter ends the search early. */
static const char *const hostile[] = {"(a+)+$",         "(a|aa)+$",       "(a*)*ab",        "(a+)+ab",
                                      "(.*)(.*)(.*)ab", "(?=(a+))*\\1ab", "((a+)+)+ab",     "(a?){40}a{40}ab",
                                      "(?R)?a+ab",      "[^x]*[^x]*ab",   "(?:a(?=a*))*ab", "a*?a*?a*?ab"};

/* A text of one letter is where such patterns try every way; each must end, and soon, with an answer or the words. */
Test(intent, a_hostile_pattern_ends_with_the_words_too_costly, .timeout = 120)
{
    size_t n = 50000, n_refused = 0, i;
    char *text = malloc(n + 1);

    cr_assert(ne(ptr, text, NULL));
    memset(text, 'a', n);
    memcpy(text + n - 2, "!b", 2);
    text[n] = '\0';
    for (i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct rule rule = {.name = "greedy", .pattern = (char *)hostile[i]};
        struct task task;
        struct turn turn;
        struct taskset t = one_rule(&task, &turn, &rule);
        struct error err = {0};
        struct intent_score s;
        AUTO(intent) in = {0};
        enum status st;

        cr_assert(eq(int, intent_init(&in, &t, &err), OK), "%s: %s", hostile[i], err.message);
        st = intent_score(&in, "task-7", 1, text, n, &s, &err);
        if (st == OK)
            continue;
        n_refused++;
        cr_assert(eq(int, st, ERR_FORMAT), "%s: %s", hostile[i], err.message);
        cr_assert(ne(ptr, strstr(err.message, "is too costly"), NULL), "%s: %s", hostile[i], err.message);
        cr_assert(eq(str, err.context, "task 'task-7', turn 1: action 'greedy'"));
    }
    cr_assert(ge(sz, n_refused, 8));
    free(text);
}

Test(intent, an_honest_pattern_reads_a_long_reply)
{
    size_t n = 200000, i;
    char *text = malloc(n + 1);

    cr_assert(ne(ptr, text, NULL));
    for (i = 0; i < n; i++)
        text[i] = i % 7 ? (char)('a' + i % 26) : ' ';
    memcpy(text + n - 9, " the end.", 9);
    text[n] = '\0';
    cr_assert(matches("the end", text));
    cr_assert(matches("\\b(first|the)\\b.*\\bend\\.$", text));
    cr_assert(not(matches("\\b(sorry|cannot)\\b", text)));
    free(text);
}
