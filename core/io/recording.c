#include "core/io/recording.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/json_more.h"
#include "core/io/stream_read.h"
#include "core/io/texts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MANIFEST_BYTES ((size_t)64 << 20)
#define MAX_BYTES          ((size_t)2 << 30)
enum { MAX_FILES = 1000000 };

/* The manifest's text stays, since its hash goes into the run. */
struct manifest {
    struct buf text;
    struct json json;
    struct json_at top;
};

static void manifest_done(struct manifest *m)
{
    json_done(&m->json);
    buf_done(&m->text);
}

static enum status manifest_read(struct manifest *m, const char *dir, struct error *err)
{
    static const char *const keys[] = {
        "schema",          "taskset",        "taskset_sha256", "prompt_version", "prompt_sha256",  "model_asked",
        "weights_version", "weights_sha256", "sampling",       "context_limit",  "observed_on",    "notes",
        "dumps",           "files",          "load",           "is_complete",    "is_client_bound"};
    char *path = NULL;
    enum status st;

    if (!file_is_dir(dir))
        return error_set(err, ERR_IO, "'%s': no such folder; a recording is a folder with a manifest.json", dir);
    TRY(path_join(dir, "manifest.json", &path, err));
    st = file_read(path, MAX_MANIFEST_BYTES, &m->text, err);
    if (st == OK)
        st = json_parse(&m->json, path, buf_text(&m->text), m->text.len, err);
    free(path);
    TRY(st);
    m->top = json_top(&m->json);
    TRY(json_is(&m->top, JSON_OBJECT, err));
    TRY(json_more_schema(&m->top, RECORDING_SCHEMA, err));
    return json_only_keys(&m->top, keys, sizeof keys / sizeof *keys, err);
}

static enum status read_place(struct place *p, const struct json_at *top, struct arena *arena, struct error *err)
{
    static const char *const keys[] = {"host", "os", "cpu", "cores", "gpu", "driver", "server", "when_utc"};
    struct json_at at;

    TRY(json_opt(top, "observed_on", JSON_OBJECT, &at, err));
    if (!at.value)
        return OK;
    TRY(json_only_keys(&at, keys, sizeof keys / sizeof *keys, err));
    TRY(json_more_text_or(&at, "host", "", arena, &p->host, err));
    TRY(json_more_text_or(&at, "os", "", arena, &p->os, err));
    TRY(json_more_text_or(&at, "cpu", "", arena, &p->cpu, err));
    TRY(json_more_text_or(&at, "gpu", "", arena, &p->gpu, err));
    TRY(json_more_text_or(&at, "driver", "", arena, &p->driver, err));
    TRY(json_more_text_or(&at, "server", "", arena, &p->server, err));
    TRY(json_more_text_or(&at, "when_utc", "", arena, &p->when_utc, err));
    return json_i64_or(&at, "cores", 0, INT32_MAX, 0, &p->cores, err);
}

/* Canonical, so that equal settings are equal texts: sorted keys, no spaces. */
static enum status read_sampling(struct provenance *p, const struct json_at *top, struct arena *arena,
                                 struct error *err)
{
    struct json_at at;
    enum status st;
    char *text;

    TRY(json_opt(top, "sampling", JSON_OBJECT, &at, err));
    if (!at.value)
        return OK;
    text = json_dumps(at.value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for the sampling settings");
    st = arena_strdup(arena, text, &p->sampling, err);
    free(text);
    return st;
}

/* How a live endpoint was asked: canonical JSON. */
static enum status read_load(struct provenance *p, const struct json_at *top, struct arena *arena, struct error *err)
{
    struct json_at at;
    enum status st;
    char *text;

    TRY(json_opt(top, "load", JSON_OBJECT, &at, err));
    TRY(json_bool_or(top, "is_client_bound", false, &p->is_client_bound, err));
    if (!at.value)
        return OK;
    TRY(json_bool_or(top, "is_complete", true, &p->is_complete, err));
    text = json_dumps(at.value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for the load's settings");
    st = arena_strdup(arena, text, &p->load, err);
    free(text);
    return st;
}

static enum status read_provenance(struct run *run, const struct manifest *m, struct error *err)
{
    struct provenance *p = &run->provenance;
    const struct json_at *top = &m->top;
    struct arena *arena = &run->arena;
    struct sha256 weights = {""};
    const char *notes = "";

    TRY(json_more_text_or(top, "taskset", "", arena, &p->taskset_name, err));
    TRY(json_more_hash_or(top, "taskset_sha256", &p->taskset_hash, err));
    TRY(json_more_text_or(top, "prompt_version", "", arena, &p->prompt_version, err));
    TRY(json_more_hash_or(top, "prompt_sha256", &p->prompt_hash, err));
    TRY(json_more_text_or(top, "model_asked", "", arena, &p->model_asked, err));
    TRY(json_more_text_or(top, "weights_version", "", arena, &p->weights_version, err));
    TRY(json_more_hash_or(top, "weights_sha256", &weights, err));
    TRY(arena_strdup(arena, weights.hex, &p->weights_sha256, err));
    TRY(json_text_or(top, "notes", "", &notes, err));
    TRY(read_sampling(p, top, arena, err));
    TRY(read_load(p, top, arena, err));
    TRY(json_i64_or(top, "context_limit", 1, INT64_MAX, 0, &p->context_limit, err));
    TRY(arena_strdup(arena, p->context_limit ? "server" : "", &p->context_limit_from, err));
    TRY(read_place(&p->observed_on, top, arena, err));
    TRY(arena_strdup(arena, "recording", &p->source, err));
    return sha256_bytes(&p->recording_hash, buf_text(&m->text), m->text.len, err);
}

/* The file's path, if it lies in the folder even when symbolic links are followed. */
static enum status resolve(const char *dir, const struct json_at *at, const char *name, char **ret, struct error *err)
{
    char real_dir[PATH_MAX], real_file[PATH_MAX];
    char *path = NULL;
    bool is_found, is_inside;
    size_t len;

    if (!path_is_inside(name))
        return json_bad(at, err, "'%.100s' leads out of the recording's folder", name);
    TRY(path_join(dir, name, &path, err));
    is_found = realpath(dir, real_dir) && realpath(path, real_file);
    if (!is_found) {
        enum status st = json_bad(at, err, "'%.200s' cannot be opened: %s", path, strerror(errno));

        free(path);
        return st;
    }
    len = strlen(real_dir);
    is_inside = strncmp(real_file, real_dir, len) == 0 && (real_file[len] == '/' || strcmp(real_dir, "/") == 0);
    if (!is_inside) {
        free(path);
        return json_bad(at, err, "'%.100s' is a link that leads out of the recording's folder", name);
    }
    *ret = path;
    return OK;
}

static enum status read_file(struct run *run, const char *dir, const struct json_at *at, struct error *err)
{
    static const char *const keys[] = {"file", "task", "turn", "repeat"};
    struct exchange x = {0};
    const char *name = NULL;
    char *path = NULL;
    enum status st;

    TRY(json_only_keys(at, keys, sizeof keys / sizeof *keys, err));
    TRY(json_get_text(at, "file", &name, err));
    TRY(json_more_id(at, "task", &run->arena, &x.task, err));
    TRY(json_get_i64(at, "turn", 1, INT32_MAX, &x.turn, err));
    TRY(json_i64_or(at, "repeat", 1, INT32_MAX, 1, &x.repeat, err));
    TRY(resolve(dir, at, name, &path, err));
    st = stream_read(run, path, MAX_BYTES, &x, err);
    free(path);
    TRY(st);
    TRY(mem_grow(&run->exchanges, &run->cap_exchanges, run->n_exchanges + 1, sizeof x, err));
    run->exchanges[run->n_exchanges++] = x;
    return OK;
}

static enum status check_unique(const struct run *run, const struct json_at *list, struct error *err)
{
    AUTO(arena) arena = {0};
    struct json_at item;
    char **keys = NULL;
    size_t repeated = SIZE_MAX, i;

    TRY(arena_new(&arena, run->n_exchanges, sizeof *keys, &keys, err));
    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];

        TRY(arena_printf(&arena, &keys[i], err, "%s#%lld#%lld", x->task, (long long)x->turn, (long long)x->repeat));
    }
    TRY(texts_find_repeated(keys, run->n_exchanges, &repeated, err));
    if (repeated == SIZE_MAX)
        return OK;
    TRY(json_item(list, repeated, JSON_OBJECT, &item, err));
    return json_bad(&item, err, "task '%s', turn %lld, repeat %lld stands there before", run->exchanges[repeated].task,
                    (long long)run->exchanges[repeated].turn, (long long)run->exchanges[repeated].repeat);
}

enum status recording_read(struct run *run, const char *dir, struct error *err)
{
    AUTO(manifest) m = {0};
    struct json_at list, item;
    size_t n = 0, i;

    if (run->n_exchanges > 0)
        return error_set(err, ERR_INTERNAL, "a recording is read into a run that has exchanges");
    TRY(manifest_read(&m, dir, err));
    TRY(read_provenance(run, &m, err));
    TRY(json_get(&m.top, "files", JSON_ARRAY, &list, err));
    TRY(json_more_list(&m.top, "files", MAX_FILES, &list, &n, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        TRY(read_file(run, dir, &item, err));
    }
    return check_unique(run, &list, err);
}

enum status recording_dumps(const char *dir, struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    AUTO(manifest) m = {0};
    struct json_at list;
    char **names = NULL;
    size_t n = 0, i;

    TRY(manifest_read(&m, dir, err));
    TRY(json_opt(&m.top, "dumps", JSON_ARRAY, &list, err));
    TRY(json_more_texts(&m.top, "dumps", 0, arena, &names, &n, err));
    for (i = 0; i < n; i++) {
        char *path = NULL;
        enum status st;

        TRY(resolve(dir, &list, names[i], &path, err));
        st = arena_strdup(arena, path, &names[i], err);
        free(path);
        TRY(st);
    }
    *ret = names;
    *ret_n = n;
    return OK;
}

bool recording_is(const char *dir)
{
    AUTO(buf) path = {0};

    buf_printf(&path, "%s/manifest.json", dir);
    return !path.failed && file_is_dir(dir) && file_exists(buf_text(&path));
}
