#include "tests/mock/mock_spec.h"

#include "core/base/num.h"

#include <string.h>

enum { MAX_WORD = 1200 };

struct choice {
    const char *word;
    int value;
};

static const struct choice whats[] = {
    {"normal", DO_NORMAL},
    {"error", DO_ERROR},
    {"error_event", DO_ERROR_EVENT},
    {"error_flat", DO_ERROR_FLAT},
    {"end", DO_END},
    {"done_only", DO_DONE_ONLY},
    {"drop", DO_DROP},
    {"cut", DO_CUT},
    {"stall", DO_STALL},
    {"two", DO_TWO},
    {"empty", DO_EMPTY},
    {"gzip", DO_GZIP},
    {"redirect", DO_REDIRECT},
    {"redirect_once", DO_REDIRECT_ONCE},
    {"wrong_type", DO_WRONG_TYPE},
    {"big", DO_BIG},
    {"endless", DO_ENDLESS},
    {"loris", DO_LORIS},
    {"loris_body", DO_LORIS_BODY},
    {"flood", DO_FLOOD},
    {"garbage", DO_GARBAGE},
    {"json", DO_JSON},
    {"bad_json", DO_BAD_JSON},
    {"bad_utf8", DO_BAD_UTF8},
    {"half", DO_HALF},
    {"length", DO_LENGTH},
    {"http10", DO_HTTP10},
    {"trailers", DO_TRAILERS},
    {"hangup", DO_HANGUP},
    {"reset", DO_RESET},
    {"status", DO_STATUS},
    {NULL, 0},
};
static const struct choice usages[] = {{"asked", USAGE_ASKED}, {"last", USAGE_LAST}, {"finish", USAGE_FINISH},
                                       {"each", USAGE_EACH},   {"none", USAGE_NONE}, {NULL, 0}};
static const struct choice texts[] = {
    {"varied", TEXT_VARIED},   {"same", TEXT_SAME}, {"echo", TEXT_ECHO},     {"loop", TEXT_LOOP},
    {"refusal", TEXT_REFUSAL}, {"utf8", TEXT_UTF8}, {"repeat", TEXT_REPEAT}, {NULL, 0}};
static const struct choice roles[] = {
    {"empty", ROLE_EMPTY}, {"bare", ROLE_BARE}, {"null", ROLE_NULL}, {"none", ROLE_NONE}, {NULL, 0}};
static const struct choice bodies[] = {
    {"openai", BODY_OPENAI}, {"flat", BODY_FLAT},       {"detail", BODY_DETAIL},     {"text", BODY_TEXT},
    {"html", BODY_HTML},     {"nothing", BODY_NOTHING}, {"too_long", BODY_TOO_LONG}, {NULL, 0}};
static const struct choice eols[] = {
    {"lf", EOL_LF}, {"crlf", EOL_CRLF}, {"cr", EOL_CR}, {"mixed", EOL_MIXED}, {NULL, 0}};

void mock_spec_init(struct mock_spec *s)
{
    memset(s, 0, sizeof *s);
    s->n = 16;
    s->k = 1;
    s->lines = 1;
    s->size = 10u << 20;
    s->retry_after = s->role_ns = -1;
    s->has_done = s->has_final_newline = s->has_space = s->is_keep_alive = true;
    memcpy(s->reason_key, "reasoning_content", sizeof "reasoning_content");
}

static bool choose(const struct choice *list, const char *word, int *ret)
{
    for (; list->word; list++) {
        if (strcmp(list->word, word) == 0) {
            *ret = list->value;
            return true;
        }
    }
    return false;
}

/* A word of a list into the enum at `to`; all of those are as wide as an int. */
static bool read_choice(struct mock_spec *s, const char *key, const char *value)
{
    int n;

    if (strcmp(key, "do") == 0 && choose(whats, value, &n))
        s->what = (enum mock_do)n;
    else if (strcmp(key, "usage") == 0 && choose(usages, value, &n))
        s->usage = (enum mock_usage)n;
    else if (strcmp(key, "text") == 0 && choose(texts, value, &n))
        s->text = (enum mock_text)n;
    else if (strcmp(key, "role") == 0 && choose(roles, value, &n))
        s->role = (enum mock_role)n;
    else if (strcmp(key, "body") == 0 && choose(bodies, value, &n))
        s->body = (enum mock_body)n;
    else if (strcmp(key, "eol") == 0 && choose(eols, value, &n))
        s->eol = (enum mock_eol)n;
    else
        return false;
    return true;
}

static bool read_flag(struct mock_spec *s, const char *key, const char *value)
{
    const struct {
        const char *key;
        bool *to;
    } flags[] = {{"done", &s->has_done},   {"final_newline", &s->has_final_newline},
                 {"space", &s->has_space}, {"keep_alive", &s->is_keep_alive},
                 {"nulls", &s->is_nulls},  {"cache", &s->has_cache}};
    size_t i;

    for (i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].key, key) == 0 && (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0)) {
            *flags[i].to = *value == 'y';
            return true;
        }
    }
    return false;
}

static bool read_text(struct mock_spec *s, const char *key, const char *value)
{
    if (strcmp(key, "say") == 0 && strlen(value) < sizeof s->say) {
        char *at;

        memcpy(s->say, value, strlen(value) + 1);
        for (at = s->say; *at; at++)
            *at = *at == '+' ? ' ' : *at;
        s->text = TEXT_SAY;
        return true;
    }
    if (strcmp(key, "finish") == 0 && strlen(value) < sizeof s->finish) {
        memcpy(s->finish, value, strlen(value) + 1);
        return true;
    }
    if (strcmp(key, "reason_key") == 0 && strlen(value) < sizeof s->reason_key) {
        memcpy(s->reason_key, value, strlen(value) + 1);
        return true;
    }
    return false;
}

static bool read_time(struct mock_spec *s, const char *key, double value)
{
    const struct {
        const char *key;
        int64_t *to;
    } times[] = {{"first", &s->first_ns},   {"gap", &s->gap_ns},   {"head", &s->head_ns},  {"role", &s->role_ns},
                 {"jitter", &s->jitter_ns}, {"ping", &s->ping_ns}, {"split", &s->split_ns}};
    const char *unit = strrchr(key, '_');
    double factor = unit && strcmp(unit, "_ms") == 0 ? 1e6 : unit && strcmp(unit, "_us") == 0 ? 1e3 : 0;
    size_t i;

    for (i = 0; factor > 0 && i < sizeof times / sizeof *times; i++) {
        if (strlen(times[i].key) == (size_t)(unit - key) && strncmp(times[i].key, key, (size_t)(unit - key)) == 0) {
            *times[i].to = (int64_t)(value * factor);
            return true;
        }
    }
    return false;
}

static bool read_count(struct mock_spec *s, const char *key, uint64_t value)
{
    const struct {
        const char *key;
        uint64_t *to;
    } counts[] = {{"n", &s->n},         {"k", &s->k},         {"reason", &s->reason}, {"tools", &s->tools},
                  {"after", &s->after}, {"split", &s->split}, {"size", &s->size},     {"limit", &s->limit},
                  {"until", &s->until}, {"lines", &s->lines}, {"cached", &s->cached}, {"letters", &s->letters}};
    size_t i;

    if (strcmp(key, "status") == 0) {
        s->status = (int64_t)value;
        s->what = DO_STATUS;
        return true;
    }
    if (strcmp(key, "retry_after") == 0) {
        s->retry_after = (int64_t)value;
        return true;
    }
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (strcmp(counts[i].key, key) == 0) {
            *counts[i].to = value;
            s->has_n |= i == 0;
            return true;
        }
    }
    return false;
}

static bool read_word(struct mock_spec *s, char *word)
{
    char *value = strchr(word, '=');
    uint64_t count;
    double number;
    bool is_read;

    if (!value)
        return false;
    *value++ = '\0';
    is_read = read_choice(s, word, value) || read_flag(s, word, value) || read_text(s, word, value) ||
              (num_u64(value, &count) && read_count(s, word, count)) ||
              (num_double(value, &number) && number >= 0 && number < 1e9 && read_time(s, word, number));
    value[-1] = '=';
    return is_read;
}

enum status mock_spec_read(struct mock_spec *s, const char *words, size_t len, struct error *err)
{
    const char *end = words + len;

    while (words < end) {
        size_t n = 0;
        char word[MAX_WORD];

        while (words + n < end && words[n] && !strchr(" ,;\t\r\n", words[n]))
            n++;
        if (n >= sizeof word)
            return error_set(err, ERR_FORMAT, "the mock server cannot read a word of %zu bytes", n);
        memcpy(word, words, n);
        word[n] = '\0';
        if (n && !read_word(s, word))
            return error_set(err, ERR_FORMAT, "the mock server does not know '%.100s', see tests/mock/README.md", word);
        words += n + 1;
    }
    if (s->k == 0)
        s->k = 1;
    return OK;
}
