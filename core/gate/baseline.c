#include "core/gate/baseline.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/gate/baseline_index.h"
#include "core/io/runfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 10000, MAX_NAME = 100, HEX_LEN = 64 };

bool baseline_name_ok(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len > 0 && len <= MAX_NAME && name[0] != '.' && name[0] != '-' && strspn(name, letters) == len;
}

void baseline_done(struct baseline *b)
{
    arena_done(&b->arena);
    memset(b, 0, sizeof *b);
}

/* "a/b" in the arena */
static enum status join(struct arena *strings, const char *dir, const char *name, char **ret, struct error *err)
{
    char *path = NULL;
    enum status st;

    TRY(path_join(dir, name, &path, err));
    st = arena_strdup(strings, path, ret, err);
    free(path);
    return st;
}

static enum status take_hash(const struct json_at *run, struct sha256 *ret, struct error *err)
{
    struct json_at at;
    const char *hex;

    TRY(json_get(run, "sha256", JSON_STRING, &at, err));
    TRY(json_get_text(run, "sha256", &hex, err));
    if (strlen(hex) != HEX_LEN || strspn(hex, "0123456789abcdef") != HEX_LEN)
        return json_bad(&at, err, "a SHA-256 has 64 lower-case hexadecimal digits");
    memcpy(ret->hex, hex, HEX_LEN + 1);
    return OK;
}

/* A run that counted twice would look like one without noise. */
static enum status check_new(const struct baseline *b, const struct accepted *r, const struct json_at *run,
                             struct error *err)
{
    const struct accepted *other;

    for (other = b->runs; other < r; other++)
        if (strcmp(other->hash.hex, r->hash.hex) == 0)
            return json_bad(run, err, "the run '%.60s' stands there twice", r->file);
    return OK;
}

static enum status take_run(struct baseline *b, struct accepted *r, const struct json_at *run, struct error *err)
{
    static const char *const keys[] = {"file", "sha256", "reason", "when_utc"};
    struct json_at at;
    const char *text;

    TRY(json_only_keys(run, keys, 4, err));
    TRY(json_get(run, "file", JSON_STRING, &at, err));
    TRY(json_get_text(run, "file", &text, err));
    if (!path_is_inside(text))
        return json_bad(&at, err, "'%.60s' leads out of the baseline's folder", text);
    TRY(arena_strdup(&b->arena, text, &r->file, err));
    TRY(take_hash(run, &r->hash, err));
    TRY(json_text_or(run, "reason", "", &text, err));
    TRY(arena_strdup(&b->arena, text, &r->reason, err));
    TRY(json_text_or(run, "when_utc", "", &text, err));
    return arena_strdup(&b->arena, text, &r->when_utc, err);
}

static enum status take_runs(struct baseline *b, const struct json_at *list, struct accepted **ret, size_t *ret_n,
                             struct error *err)
{
    size_t i, n = json_array_size(list->value);
    struct json_at run;

    TRY(arena_new(&b->arena, n, sizeof **ret, ret, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(list, i, JSON_OBJECT, &run, err));
        TRY(take_run(b, &(*ret)[i], &run, err));
        if (ret == &b->runs)
            TRY(check_new(b, &b->runs[i], &run, err)); /* one can be dropped, accepted and dropped again */
    }
    *ret_n = n;
    return OK;
}

static enum status take_top(struct baseline *b, const struct json_at *top, struct error *err)
{
    static const char *const keys[] = {"schema", "name", "runs", "dropped"};
    struct json_at runs;
    const char *name;
    int64_t schema;

    TRY(json_get_i64(top, "schema", 1, INT64_MAX, &schema, err));
    if (schema > BASELINE_SCHEMA)
        return json_bad(top, err, "baseline schema %lld is newer than this program reads (%d): use a newer one",
                        (long long)schema, BASELINE_SCHEMA);
    TRY(json_only_keys(top, keys, 4, err));
    TRY(json_text_or(top, "name", b->name, &name, err));
    TRY(json_get(top, "runs", JSON_ARRAY, &runs, err));
    if (json_array_size(runs.value) < 1 || json_array_size(runs.value) > BASELINE_RUNS)
        return json_bad(&runs, err, "a baseline has 1 to %d runs, not %zu", BASELINE_RUNS, json_array_size(runs.value));
    TRY(take_runs(b, &runs, &b->runs, &b->n_runs, err));
    TRY(json_opt(top, "dropped", JSON_ARRAY, &runs, err));
    return runs.value ? take_runs(b, &runs, &b->dropped, &b->n_dropped, err) : OK;
}

static enum status load(struct baseline *b, const char *index_path, struct error *err)
{
    AUTO(json) doc = {0};
    struct json_at top;

    TRY(json_read(&doc, index_path, BASELINE_INDEX_BYTES, err));
    top = json_top(&doc);
    return take_top(b, &top, err);
}

enum status baseline_open(struct baseline *b, const char *dir, const char *name, struct error *err)
{
    AUTO(baseline) out = {0};
    char *index = NULL;

    if (!baseline_name_ok(name))
        return error_set(
            err, ERR_USAGE,
            "'%.60s' is no name of a baseline: letters, digits, '.', '_', '-', not beginning with '.' or '-'", name);
    TRY(arena_strdup(&out.arena, name, &out.name, err));
    TRY(join(&out.arena, dir, name, &out.dir, err));
    TRY(join(&out.arena, out.dir, "baseline.json", &index, err));
    if (!file_exists(index))
        return error_set(err, ERR_NO_VERDICT,
                         "no baseline '%s' in '%s': make one by 'tare baseline accept RUN --name %s --reason TEXT'",
                         name, dir, name);
    TRY(load(&out, index, err));
    *b = out;
    memset(&out, 0, sizeof out);
    return OK;
}

enum status baseline_run(const struct baseline *b, size_t i, struct run *ret, struct error *err)
{
    const struct accepted *r = &b->runs[i];
    struct sha256 hash = {{0}};
    char *path = NULL;
    enum status st;

    TRY(path_join(b->dir, r->file, &path, err));
    st = sha256_file(&hash, path, err);
    if (st == OK && strcmp(hash.hex, r->hash.hex) != 0)
        st = error_set(err, ERR_FORMAT,
                       "'%s' was changed after it was accepted: its SHA-256 is %.12s…, baseline.json has %.12s…", path,
                       hash.hex, r->hash.hex);
    if (st == OK)
        st = runfile_read(ret, path, err);
    if (st != OK)
        error_context(err, "baseline '%s'", b->name);
    free(path);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of folders that hold a baseline.json. */
static enum status read_names(DIR *d, const char *dir, struct arena *strings, char **names, size_t *ret_n,
                              struct error *err)
{
    const struct dirent *entry;

    while ((entry = readdir(d)) != NULL) {
        AUTO(buf) index = {0};

        if (!baseline_name_ok(entry->d_name))
            continue;
        buf_printf(&index, "%s/%s/baseline.json", dir, entry->d_name);
        TRY(buf_check(&index, err));
        if (!file_exists(buf_text(&index)))
            continue;
        if (*ret_n == MAX_NAMES)
            return error_set(err, ERR_LIMIT, "'%s': more than %d baselines", dir, MAX_NAMES);
        TRY(arena_strdup(strings, entry->d_name, &names[(*ret_n)++], err));
    }
    return OK;
}

enum status baseline_list(const char *dir, struct arena *strings, char ***ret_names, size_t *ret_n, struct error *err)
{
    char **names = NULL;
    size_t n = 0;
    enum status st;
    DIR *d;

    TRY(arena_new(strings, MAX_NAMES, sizeof *names, &names, err));
    d = opendir(dir[0] ? dir : ".");
    if (!d && errno != ENOENT)
        return error_set(err, ERR_IO, "'%s': cannot read the folder: %s", dir, strerror(errno));
    st = d ? read_names(d, dir[0] ? dir : ".", strings, names, &n, err) : OK;
    if (d)
        closedir(d);
    TRY(st);
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *ret_names = names;
    *ret_n = n;
    return OK;
}
