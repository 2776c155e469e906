#include "cli/project.h"

#include "core/base/file.h"
#include "core/base/num.h"
#include "core/base/scope.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum key_kind {
    KEY_TEXT,
    KEY_PATH,         /* relative to the file's folder                            */
    KEY_PATHS,        /* an array of paths                                        */
    KEY_NAME_OR_PATH, /* a path when it has a slash or ends in .h5 or .json, else a name */
    KEY_NUMBER,       /* a whole number from 0                                    */
    KEY_DECIMAL,      /* a number from 0                                          */
    KEY_SIZE,         /* bytes, or a text as "2G"                                 */
    KEY_FLAG
};

/* README.md, "Project file", says the same in words. */
static const struct key {
    const char *name;
    enum key_kind kind;
} keys[] = {
    {"schema", KEY_NUMBER},
    {"taskset", KEY_PATH},
    {"prompt", KEY_PATH},
    {"replay", KEY_PATH},
    {"dumps", KEY_PATHS},
    {"output", KEY_PATH},
    {"baseline", KEY_NAME_OR_PATH},
    {"baselines", KEY_PATH},
    {"policy", KEY_NAME_OR_PATH},
    {"reports", KEY_PATHS},
    {"fail_on", KEY_TEXT},
    {"max_findings", KEY_NUMBER},
    {"seed", KEY_NUMBER},
    {"device", KEY_TEXT},
    {"isa", KEY_TEXT},
    {"threads", KEY_NUMBER},
    {"memory", KEY_SIZE},
    {"context_limit", KEY_NUMBER},
    {"weights_version", KEY_TEXT},
    {"goodput", KEY_TEXT},
    {"single", KEY_PATH},
    {"reproducible", KEY_FLAG},
    {"hash_dumps", KEY_FLAG},
    {"endpoint", KEY_TEXT},
    {"model", KEY_TEXT},
    {"api", KEY_TEXT},
    {"stream", KEY_FLAG},
    {"temperature", KEY_DECIMAL},
    {"top_p", KEY_DECIMAL},
    {"request_seed", KEY_NUMBER},
    {"max_tokens", KEY_NUMBER},
    {"max_tokens_field", KEY_TEXT},
    {"usage", KEY_FLAG},
    {"extra", KEY_PATH},
    {"key_header", KEY_TEXT},
    {"cache_salt", KEY_TEXT},
    {"history", KEY_TEXT},
    {"concurrency", KEY_NUMBER},
    {"rate", KEY_DECIMAL},
    {"arrivals", KEY_TEXT},
    {"burstiness", KEY_DECIMAL},
    {"max_rate", KEY_DECIMAL},
    {"repeat", KEY_NUMBER},
    {"warmup", KEY_NUMBER},
    {"duration", KEY_TEXT},
    {"max_requests", KEY_NUMBER},
    {"sample", KEY_TEXT},
    {"shuffle", KEY_FLAG},
    {"connect_timeout", KEY_TEXT},
    {"first_token_timeout", KEY_TEXT},
    {"idle_timeout", KEY_TEXT},
    {"timeout", KEY_TEXT},
    {"retries", KEY_NUMBER},
    {"max_retry_wait", KEY_TEXT},
    {"max_errors", KEY_SIZE},
    {"max_reply_bytes", KEY_SIZE},
    {"cacert", KEY_PATH},
    {"insecure", KEY_FLAG},
    {"keep_bodies", KEY_SIZE},
    {"count_tokens", KEY_TEXT},
    {"check_mask", KEY_FLAG},
    {"implicit_sink", KEY_FLAG},
    {"on_nan", KEY_TEXT},
    {"entropy_eps", KEY_TEXT},
    {"collapse", KEY_TEXT},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

void project_done(struct project *p)
{
    arena_done(&p->arena);
    json_done(&p->doc);
    free(p->dir);
    memset(p, 0, sizeof *p);
}

/* A bad project file is a wrong configuration, not a failed source. */
static enum status configuration(enum status st, struct error *err)
{
    if (st != ERR_FORMAT && st != ERR_LIMIT)
        return st;
    if (err)
        err->code = ERR_USAGE;
    return ERR_USAGE;
}

static int type_of(enum key_kind kind)
{
    switch (kind) {
    case KEY_PATHS:
        return JSON_ARRAY;
    case KEY_NUMBER:
        return JSON_INTEGER;
    case KEY_SIZE:
    case KEY_DECIMAL:
        return -1;
    case KEY_FLAG:
        return JSON_TRUE;
    default:
        return JSON_STRING;
    }
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

static bool is_path(const char *text)
{
    return strchr(text, '/') || ends_in(text, ".h5") || ends_in(text, ".json");
}

static enum status scalar(struct project *p, const struct json_at *at, enum key_kind kind, char **ret,
                          struct error *err)
{
    const char *text = json_string_value(at->value);
    char *joined = NULL;
    enum status st;

    if (json_is_integer(at->value)) {
        if (json_integer_value(at->value) < 0)
            return json_bad(at, err, "%" JSON_INTEGER_FORMAT " is below 0", json_integer_value(at->value));
        return arena_printf(&p->arena, ret, err, "%" JSON_INTEGER_FORMAT, json_integer_value(at->value));
    }
    if (json_is_real(at->value) && kind == KEY_DECIMAL) {
        AUTO(buf) number = {0};

        num_append(&number, json_real_value(at->value));
        TRY(buf_check(&number, err));
        return arena_strdup(&p->arena, number.data, ret, err);
    }
    if (!text)
        return json_bad(at, err, "expected a text%s", kind == KEY_SIZE ? " such as \"2G\", or a number of bytes" : "");
    if (text[0] == '\0' || strlen(text) != json_string_length(at->value))
        return json_bad(at, err, "a value may not be empty or hold a NUL character");
    if (kind == KEY_TEXT || kind == KEY_SIZE || kind == KEY_DECIMAL || (kind == KEY_NAME_OR_PATH && !is_path(text)))
        return arena_strdup(&p->arena, text, ret, err);
    TRY(path_join(p->dir, text, &joined, err));
    st = arena_strdup(&p->arena, joined, ret, err);
    free(joined);
    return st;
}

static enum status give(struct project *p, struct opts *o, const struct opt *opt, const struct key *key,
                        struct error *err)
{
    struct json_at top = json_top(&p->doc), at, item;
    char *value = NULL;
    size_t i;

    TRY(json_opt(&top, key->name, type_of(key->kind), &at, err));
    if (!at.value)
        return OK;
    if (key->kind == KEY_FLAG)
        return opts_default(o, opt->name, json_is_true(at.value) ? opt->name : NULL, err);
    if (key->kind != KEY_PATHS) {
        TRY(scalar(p, &at, key->kind, &value, err));
        return opts_default(o, opt->name, value, err);
    }
    for (i = 0; i < json_array_size(at.value); i++) {
        TRY(json_item(&at, i, JSON_STRING, &item, err));
        TRY(scalar(p, &item, KEY_PATH, &value, err));
        TRY(opts_default(o, opt->name, value, err));
    }
    return OK;
}

static const struct key *key_find(const char *name)
{
    size_t i;

    for (i = 0; i + 1 < N_KEYS && strcmp(name, keys[i].name) != 0; i++)
        continue;
    assert(strcmp(name, keys[i].name) == 0);
    return &keys[i];
}

static bool is_source(const struct opt *opt)
{
    static const char *const names[] = {"replay", "dumps", "endpoint"};
    size_t i;

    for (i = 0; opt->key && i < sizeof names / sizeof *names; i++)
        if (strcmp(opt->key, names[i]) == 0)
            return true;
    return false;
}

static bool names_source(const struct opts *o)
{
    size_t i;

    for (i = 0; i < o->n_table; i++)
        if (is_source(&o->table[i]) && o->n_values[i])
            return true;
    return false;
}

enum status project_apply(struct project *p, struct opts *o, struct error *err)
{
    bool has_source = names_source(o);
    size_t i;

    for (i = 0; p->doc.root && i < o->n_table; i++) {
        const struct opt *opt = &o->table[i];
        enum status st;

        if (!opt->key || o->n_values[i] || (has_source && is_source(opt)))
            continue;
        st = give(p, o, opt, key_find(opt->key), err);
        if (st == ERR_USAGE)
            error_context(err, "key '%s' of '%s'", opt->key, p->doc.name);
        TRY(configuration(st, err));
    }
    return OK;
}

enum status project_text(struct project *p, const char *key, const char **ret, struct error *err)
{
    struct json_at top = json_top(&p->doc), at;
    char *value = NULL;

    *ret = NULL;
    if (!p->doc.root)
        return OK;
    TRY(configuration(json_opt(&top, key, JSON_STRING, &at, err), err));
    if (!at.value)
        return OK;
    TRY(configuration(scalar(p, &at, key_find(key)->kind, &value, err), err));
    *ret = value;
    return OK;
}

static enum status check(const struct project *p, struct error *err)
{
    struct json_at top = json_top(&p->doc), at;
    const char *names[N_KEYS];
    int64_t schema;
    size_t i;

    for (i = 0; i < N_KEYS; i++)
        names[i] = keys[i].name;
    TRY(json_only_keys(&top, names, N_KEYS, err));
    TRY(json_get_i64(&top, "schema", 1, INT64_MAX, &schema, err));
    if (schema > PROJECT_SCHEMA)
        return json_bad(&top, err, "schema %" PRId64 " is newer than %d, which this tare reads: update tare", schema,
                        PROJECT_SCHEMA);
    for (i = 0; i < N_KEYS; i++)
        TRY(json_opt(&top, keys[i].name, type_of(keys[i].kind), &at, err));
    return OK;
}

static enum status folder_of(const char *path, char **ret, struct error *err)
{
    const char *slash = strrchr(path, '/');

    *ret = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    return *ret ? OK : error_set(err, ERR_MEMORY, "no memory for the name of a folder");
}

enum status project_read(struct project *p, const char *path, struct error *err)
{
    memset(p, 0, sizeof *p);
    if (!path && !file_exists(PROJECT_FILE))
        return OK;
    if (!path)
        path = PROJECT_FILE;
    TRY(folder_of(path, &p->dir, err));
    TRY(configuration(json_read(&p->doc, path, (size_t)1 << 20, err), err));
    return configuration(check(p, err), err);
}
