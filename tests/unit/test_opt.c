#include "cli/opt.h"

#include "core/base/scope.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static bool is_page(const char *word)
{
    return strstr(word, ".html") != NULL;
}

static const struct opt table[] = {
    {.name = "output", .letter = 'o', .kind = OPT_LIST, .value = "FILE", .takes_many = true, .takes = is_page},
    {.name = "dump", .letter = 'd', .kind = OPT_LIST, .value = "FILE", .takes_many = true},
    {.name = "seed", .letter = 's', .kind = OPT_TEXT, .value = "N"},
    {.name = "memory", .kind = OPT_TEXT, .value = "SIZE"},
    {.name = "device", .kind = OPT_TEXT, .value = "auto|cpu|cuda"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG},
};

enum { N_TABLE = sizeof table / sizeof *table, MAX_WORDS = 12 };

/* Splits at spaces into `words`, which the options borrow. */
static enum status parse(struct opts *o, const char *line, char *copy, char **words, struct error *err)
{
    size_t n = 0;
    char *p = strcpy(copy, line);

    while (*p && n + 1 < MAX_WORDS) {
        words[n++] = p;
        p += strcspn(p, " ");
        if (*p)
            *p++ = '\0';
    }
    words[n] = NULL;
    return opts_parse(o, table, N_TABLE, words, err);
}

Test(opt, takes_every_way_to_write_a_value)
{
    static const char *const lines[] = {"--seed 7", "--seed=7", "-s 7", "-s7", "--seed 1 --seed 7", "x -s 7 y"};
    size_t i;

    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        AUTO(opts) o = {0};
        struct error err = {0};
        char copy[80], *words[MAX_WORDS];

        cr_assert(parse(&o, lines[i], copy, words, &err) == OK, "%s: %s", lines[i], err.message);
        cr_assert(eq(str, (char *)opts_text(&o, "seed", "none"), "7"), "%s", lines[i]);
    }
}

Test(opt, refuses_what_it_does_not_know_with_a_hint)
{
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"--sede 7", "unknown option '--sede', did you mean '--seed'?"},
        {"--xyzzy", "unknown option '--xyzzy'"},
        {"-x", "unknown option '-x'"},
        {"--seed", "option '--seed' needs a value: N"},
        {"--quiet=1", "option '--quiet=1' takes no value"},
        {"--device gpu", "option '--device' takes one of auto|cpu|cuda, not 'gpu'"},
        {"--device cud", "option '--device' takes one of auto|cpu|cuda, not 'cud'"},
        {"--no-seed", "unknown option '--no-seed'"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(opts) o = {0};
        struct error err = {0};
        char copy[80], *words[MAX_WORDS];

        cr_assert(parse(&o, rows[i].line, copy, words, &err) == ERR_USAGE, "%s", rows[i].line);
        cr_assert(strncmp(err.message, rows[i].message, strlen(rows[i].message)) == 0, "%s: %s", rows[i].line,
                  err.message);
    }
}

Test(opt, a_list_takes_the_words_that_fit_and_leaves_the_operands)
{
    AUTO(opts) o = {0};
    struct error err = {0};
    char copy[80], *words[MAX_WORDS];
    size_t n;

    cr_assert(parse(&o, "base.h5 -o a.html b.html cand.h5 -d x y -o c.html", copy, words, &err) == OK);
    opts_list(&o, "output", &n);
    cr_assert(eq(sz, n, 3));
    opts_list(&o, "dump", &n);
    cr_assert(eq(sz, n, 2));
    cr_assert(eq(sz, o.n_words, 2));
    cr_assert(eq(str, o.words[1], "cand.h5"));
}

Test(opt, after_two_dashes_everything_is_an_operand)
{
    AUTO(opts) o = {0};
    struct error err = {0};
    char copy[80], *words[MAX_WORDS];

    cr_assert(parse(&o, "-q -- --seed -x -", copy, words, &err) == OK);
    cr_assert(opts_flag(&o, "quiet"));
    cr_assert(not(opts_given(&o, "seed")));
    cr_assert(eq(sz, o.n_words, 3));
}

Test(opt, a_flag_can_be_turned_off_again)
{
    AUTO(opts) o = {0};
    struct error err = {0};
    char copy[80], *words[MAX_WORDS];

    cr_assert(parse(&o, "--quiet --no-quiet", copy, words, &err) == OK);
    cr_assert(not(opts_flag(&o, "quiet")));
}

Test(opt, sizes_have_units_and_limits)
{
    static const struct {
        const char *line;
        enum status status;
        uint64_t bytes;
    } rows[] = {
        {"--memory 512M", OK, (uint64_t)512 << 20},
        {"--memory 1", OK, 1},
        {"--memory 4G", OK, (uint64_t)4 << 30},
        {"--memory 16777215T", OK, (uint64_t)16777215 << 40},
        {"--memory 16777216T", ERR_USAGE, 0},
        {"--memory 0", ERR_USAGE, 0},
        {"--memory M", ERR_USAGE, 0},
        {"--memory 1MB", ERR_USAGE, 0},
        {"--memory -1", ERR_USAGE, 0},
        {"--memory 123456789012345678901234567890", ERR_USAGE, 0},
        {"-q", OK, 99},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(opts) o = {0};
        struct error err = {0};
        char copy[80], *words[MAX_WORDS];
        uint64_t bytes = 0;

        cr_assert(parse(&o, rows[i].line, copy, words, &err) == OK);
        cr_assert(opts_bytes(&o, "memory", 99, &bytes, &err) == rows[i].status, "%s", rows[i].line);
        cr_assert(eq(u64, bytes, rows[i].bytes), "%s", rows[i].line);
    }
}

Test(opt, numbers_are_whole_and_in_range)
{
    static const char *const bad[] = {"--seed 11", "--seed -1", "--seed 1.0", "--seed x", "--seed= 1"};
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        AUTO(opts) o = {0};
        struct error err = {0};
        char copy[80], *words[MAX_WORDS];
        uint64_t seed = 3;

        cr_assert(parse(&o, bad[i], copy, words, &err) == OK);
        cr_assert(opts_u64(&o, "seed", 0, 10, 0, &seed, &err) == ERR_USAGE, "%s", bad[i]);
        cr_assert(eq(u64, seed, 3), "a failure leaves the output alone");
    }
}
