#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"
#include "core/io/h5data.h"
#include "core/io/h5guard.h"
#include "core/io/runfile.h"
#include "core/io/runfile_fields.h"
#include "core/io/texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums of squares of as many such cells as a file can hold are still numbers. */
static const double MAX_CELL = 1e140;

/* Limits of what one run may hold; a file that claims more is refused before memory is asked for. */
enum { MAX_LABELS = 1 << 22, MAX_NOTES = 1 << 20, MAX_DUMPS = 1 << 16 };
#define MAX_CELLS ((size_t)1 << 28)

/* gzip gives at most 1032 bytes for one. */
enum { GZIP_RATIO = 1100 };

static enum status read_provenance(struct run *run, const struct h5 *root, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(h5) group = {0};
    AUTO(h5) observed = {0};
    AUTO(h5) computed = {0};

    TRY(h5_group(root, "provenance", &group, err));
    TRY(runfile_get_fields(&group, &runfile_provenance, &run->arena, p, err));
    TRY(h5_group(&group, "observed_on", &observed, err));
    TRY(runfile_get_fields(&observed, &runfile_observed, &run->arena, &p->observed_on, err));
    TRY(h5_group(&group, "computed_on", &computed, err));
    return runfile_get_fields(&computed, &runfile_computed, &run->arena, &p->computed_on, err);
}

static bool has_numbered(const struct h5 *group, size_t i)
{
    char name[24];

    snprintf(name, sizeof name, "%zu", i);
    return h5_has(group, name);
}

static enum status read_dumps(struct run *run, const struct h5 *root, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(h5) provenance = {0};
    AUTO(h5) group = {0};
    char name[24], *empty = NULL;
    size_t n = 0, i;

    TRY(h5_group(root, "provenance", &provenance, err));
    TRY(h5_group(&provenance, "dumps", &group, err));
    while (n < MAX_DUMPS && has_numbered(&group, n))
        n++;
    TRY(arena_strdup(&run->arena, "", &empty, err));
    TRY(arena_new(&run->arena, n, sizeof *p->dumps, &p->dumps, err));
    for (i = 0; i < n; i++) {
        struct dump_source *d = &p->dumps[i];
        AUTO(h5) dump = {0};

        d->path = d->model_name = d->weights_sha256 = d->prompt_version = d->prompt_sha256 = empty;
        d->compute_dtype = d->store_dtype = d->capture = d->variant = d->layout = empty;
        snprintf(name, sizeof name, "%zu", i);
        TRY(h5_group(&group, name, &dump, err));
        TRY(runfile_get_fields(&dump, &runfile_dump, &run->arena, d, err));
    }
    p->n_dumps = n;
    return OK;
}

static enum status read_tasks(struct run *run, const struct h5 *group, struct error *err)
{
    struct axes *axes = &run->axes;
    AUTO(h5) ds = {0};
    char **ids = NULL;
    size_t n = 0, i, repeated = SIZE_MAX;

    TRY(h5_dataset(group, "task", &ds, err));
    TRY(h5data_texts(&ds, MAX_LABELS, &run->arena, &ids, &n, err));
    for (i = 0; i < n; i++)
        if (!ids[i][0])
            return h5_bad(&ds, err, "element %zu: the id of a task may not be empty", i);
    TRY(texts_find_repeated(ids, n, &repeated, err));
    if (repeated != SIZE_MAX)
        return h5_bad(&ds, err, "element %zu: task '%.80s' stands there twice", repeated, ids[repeated]);
    TRY(mem_grow(&axes->task, &axes->cap[AXIS_TASK], n, sizeof *axes->task, err));
    if (n > 0)
        memcpy(axes->task, ids, n * sizeof *ids);
    axes->n[AXIS_TASK] = n;
    return OK;
}

static enum status read_numbers(struct run *run, const struct h5 *group, enum axis axis, struct error *err)
{
    int64_t first = axis == AXIS_TURN || axis == AXIS_REPEAT ? 1 : 0;
    struct axes *axes = &run->axes;
    int64_t *labels = NULL;
    AUTO(h5) ds = {0};
    size_t n = 0, i;

    TRY(h5_dataset(group, axis_names[axis], &ds, err));
    TRY(h5data_integers(&ds, MAX_LABELS, &run->arena, &labels, &n, err));
    for (i = 0; i < n; i++)
        if (labels[i] < first || (i > 0 && labels[i] <= labels[i - 1]))
            return h5_bad(&ds, err, "element %zu is %lld: labels must ascend from %lld", i, (long long)labels[i],
                          (long long)first);
    TRY(mem_grow(&axes->number[axis], &axes->cap[axis], n, sizeof *labels, err));
    if (n > 0)
        memcpy(axes->number[axis], labels, n * sizeof *labels);
    axes->n[axis] = n;
    return OK;
}

static enum status read_axes(struct run *run, const struct h5 *root, struct error *err)
{
    AUTO(h5) group = {0};
    int i;

    TRY(h5_group(root, "axes", &group, err));
    TRY(read_tasks(run, &group, err));
    for (i = AXIS_TURN; i < N_AXES; i++)
        TRY(read_numbers(run, &group, (enum axis)i, err));
    return OK;
}

/* "task,layer,head" to a set: each at most once, in the order of enum axis. */
static enum status parse_axes(const struct h5 *ds, const char *text, unsigned *ret, struct error *err)
{
    const char *at = text;
    unsigned axes = 0;
    int i;

    for (i = 0; i < N_AXES && *at; i++) {
        size_t len = strlen(axis_names[i]);

        if (strncmp(at, axis_names[i], len) != 0 || (at[len] && at[len] != ','))
            continue;
        axes |= AXIS_BIT(i);
        at += len + (at[len] == ',');
    }
    if (*at)
        return h5_bad(ds, err, "attribute 'axes' is '%.80s': some of task,turn,repeat,layer,head in this order", text);
    *ret = axes;
    return OK;
}

static enum status read_word(const struct h5 *ds, const char *attr, const char *(*name)(int), int n, int *ret,
                             struct error *err)
{
    AUTO(arena) arena = {0};
    char *text = NULL;
    int i;

    TRY(h5attr_text(ds, attr, &arena, &text, err));
    for (i = 0; i < n; i++) {
        if (strcmp(name(i), text) == 0) {
            *ret = i;
            return OK;
        }
    }
    return h5_bad(ds, err, "attribute '%s' has the unknown value '%.40s'", attr, text);
}

static const char *better_word(int i)
{
    return better_name((enum better)i);
}

static const char *noise_word(int i)
{
    return noise_name((enum noise)i);
}

static enum status check_dims(const struct h5 *ds, unsigned set, const struct axes *axes, struct error *err)
{
    size_t dims[N_AXES], rank = 0, total = 1, at = 0;
    int i;

    for (i = 0; i < N_AXES; i++)
        rank += (set & AXIS_BIT(i)) != 0;
    TRY(h5data_shape(ds, rank, dims, err));
    for (i = 0; i < N_AXES; i++) {
        if (!(set & AXIS_BIT(i)))
            continue;
        if (dims[at] != axes->n[i])
            return h5_bad(ds, err, "dimension '%s' has %zu elements, /axes/%s has %zu", axis_names[i], dims[at],
                          axis_names[i], axes->n[i]);
        if (!size_mul(total, dims[at], &total) || total > MAX_CELLS)
            return h5_bad(ds, err, "more than %zu cells", MAX_CELLS);
        at++;
    }
    return h5data_check(ds, GZIP_RATIO, err);
}

static enum status read_meaning(struct cube *c, const struct h5 *ds, struct arena *arena, struct error *err)
{
    char *unit = NULL, *help = NULL;
    int better = 0, noise = 0;

    TRY(h5attr_text(ds, "unit", arena, &unit, err));
    TRY(h5attr_text(ds, "help", arena, &help, err));
    TRY(read_word(ds, "direction", better_word, BETTER_NEITHER + 1, &better, err));
    TRY(read_word(ds, "noise", noise_word, NOISE_RUN + 1, &noise, err));
    return cube_describe(c, unit, help, (enum better)better, (enum noise)noise, err);
}

static enum status read_cube(struct run *run, const struct h5 *group, const char *metric, struct error *err)
{
    AUTO(arena) arena = {0};
    AUTO(cube) c = {0};
    AUTO(h5) ds = {0};
    int64_t version = 0;
    char *text = NULL;
    unsigned axes = 0;
    size_t i;

    TRY(h5_dataset(group, metric, &ds, err));
    TRY(h5attr_text(&ds, "axes", &arena, &text, err));
    TRY(parse_axes(&ds, text, &axes, err));
    TRY(h5data_is_double(&ds, err));
    TRY(check_dims(&ds, axes, &run->axes, err));
    TRY(h5attr_i64(&ds, "version", &version, err));
    if (version < 0 || version > INT32_MAX)
        return h5_bad(&ds, err, "attribute 'version' is %lld", (long long)version);
    TRY(cube_init(&c, metric, (int)version, axes, &run->axes, err));
    TRY(read_meaning(&c, &ds, &arena, err));
    if (cube_len(&c) > 0)
        TRY(h5data_read(&ds, H5T_NATIVE_DOUBLE, c.values, err));
    for (i = 0; i < cube_len(&c); i++)
        if (fabs(c.values[i]) > MAX_CELL)
            return h5_bad(&ds, err, "cell %zu is %g, which no metric is; the file may be damaged", i, c.values[i]);
    return run_add_cube(run, &c, err);
}

static enum status read_cubes(struct run *run, const struct h5 *root, struct error *err)
{
    AUTO(arena) arena = {0};
    AUTO(h5) group = {0};
    char **names = NULL;
    size_t n = 0, i;

    TRY(h5_group(root, "cubes", &group, err));
    TRY(h5_names(&group, &arena, &names, &n, err));
    for (i = 0; i < n; i++)
        TRY(read_cube(run, &group, names[i], err));
    return OK;
}

static enum status read_input(struct run *run, const struct h5 *group, const char *name, char **ret, struct error *err)
{
    AUTO(h5) ds = {0};
    char **texts = NULL;
    size_t n = 0;

    if (!h5_has(group, name))
        return OK;
    TRY(h5_dataset(group, name, &ds, err));
    TRY(h5data_texts(&ds, 1, &run->arena, &texts, &n, err));
    if (n != 1)
        return h5_bad(&ds, err, "expected one text, found %zu", n);
    *ret = texts[0];
    return OK;
}

static enum status read_inputs(struct run *run, const struct h5 *root, struct error *err)
{
    AUTO(h5) group = {0};

    TRY(h5_group(root, "inputs", &group, err));
    TRY(read_input(run, &group, "taskset.json", &run->taskset_json, err));
    return read_input(run, &group, "prompt.json", &run->prompt_json, err);
}

static enum status read_notes(struct run *run, const struct h5 *root, struct error *err)
{
    AUTO(h5) ds = {0};
    char **texts = NULL;
    size_t n = 0, i;

    TRY(h5_dataset(root, "notes", &ds, err));
    TRY(h5data_texts(&ds, MAX_NOTES, &run->arena, &texts, &n, err));
    TRY(mem_grow(&run->notes, &run->cap_notes, n, sizeof *run->notes, err));
    for (i = 0; i < n; i++) {
        char *colon = strstr(texts[i], ": ");

        if (!colon)
            return h5_bad(&ds, err, "element %zu: expected 'code: text'", i);
        *colon = '\0';
        run->notes[i] = (struct note){.code = texts[i], .text = colon + 2};
    }
    run->n_notes = n;
    return OK;
}

static enum status is_run(const struct h5 *root, struct error *err)
{
    AUTO(arena) arena = {0};
    char *format = NULL;

    if (!h5attr_has(root, "format"))
        return h5_bad(root, err, "not a run of tare: no attribute 'format'");
    TRY(h5attr_text(root, "format", &arena, &format, err));
    if (strcmp(format, "tare-run") != 0)
        return h5_bad(root, err, "not a run of tare: format is '%.60s', not 'tare-run'", format);
    return OK;
}

static enum status check_schema(const struct h5 *root, struct error *err)
{
    int64_t schema = 0;

    TRY(h5attr_i64(root, "schema", &schema, err));
    if (schema > RUNFILE_SCHEMA)
        return h5_bad(root, err, "written by a newer tare (schema %lld), this one reads up to %d; install a newer tare",
                      (long long)schema, (int)RUNFILE_SCHEMA);
    if (schema < 1)
        return h5_bad(root, err, "schema %lld does not exist", (long long)schema);
    return OK;
}

static enum status read_all(struct run *ret, const char *path, struct error *err)
{
    AUTO(run) run = {0};
    AUTO(h5) root = {0};

    TRY(h5_open(&root, path, err));
    TRY(is_run(&root, err));
    TRY(check_schema(&root, err));
    TRY(run_init(&run, err));
    TRY(read_provenance(&run, &root, err));
    TRY(read_dumps(&run, &root, err));
    TRY(read_axes(&run, &root, err));
    TRY(read_cubes(&run, &root, err));
    TRY(runfile_get_fingerprints(&run, &root, err));
    TRY(runfile_get_observations(&run, &root, err));
    TRY(read_inputs(&run, &root, err));
    TRY(read_notes(&run, &root, err));
    *ret = run;
    memset(&run, 0, sizeof run);
    return OK;
}

static void attempt_read(const char *path)
{
    AUTO(run) run = {0};
    struct error err = {0};

    if (read_all(&run, path, &err) != OK)
        return; /* the caller finds it again, and says it */
}

enum status runfile_read(struct run *ret, const char *path, struct error *err)
{
    TRY(h5guard_try(path, attempt_read, err));
    return read_all(ret, path, err);
}

static bool is_run_file(const char *path)
{
    AUTO(h5) root = {0};
    struct error err = {0};

    return h5_open(&root, path, &err) == OK && is_run(&root, &err) == OK;
}

static void attempt_is(const char *path)
{
    if (is_run_file(path))
        return; /* the caller asks again */
}

bool runfile_is(const char *path)
{
    struct error err = {0};

    return h5guard_try(path, attempt_is, &err) == OK && is_run_file(path);
}
