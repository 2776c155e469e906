#include "core/gate/summary_file.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/stats/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A metric of the runs, named once. */
struct metrics {
    const struct cube **cubes; /* owned; the first run's that has it */
    size_t n, cap;
};

static void metrics_done(struct metrics *m)
{
    free(m->cubes);
    memset(m, 0, sizeof *m);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct cube *const *)a)->metric, (*(const struct cube *const *)b)->metric);
}

static enum status find_metrics(struct metrics *m, const struct run *runs, size_t n_runs, struct error *err)
{
    size_t i, k, seen;

    for (i = 0; i < n_runs; i++)
        for (k = 0; k < runs[i].n_cubes; k++) {
            for (seen = 0; seen < m->n && strcmp(m->cubes[seen]->metric, runs[i].cubes[k].metric) != 0; seen++)
                continue;
            if (seen < m->n)
                continue;
            TRY(mem_grow(&m->cubes, &m->cap, m->n + 1, sizeof(const struct cube *), err));
            m->cubes[m->n++] = &runs[i].cubes[k];
        }
    if (m->n)
        qsort(m->cubes, m->n, sizeof(const struct cube *), by_name);
    return OK;
}

/* Mean of everything that a run has of a task; NaN when nothing. */
static double task_mean(const struct run *r, const char *metric, const char *task)
{
    const struct cube *c = run_cube(r, metric);
    size_t i = axes_find_task(&r->axes, task), per_task;
    struct summary s;

    if (!c || i == SIZE_MAX || !(c->axes & AXIS_BIT(AXIS_TASK)))
        return NAN;
    per_task = cube_len(c) / c->dim[AXIS_TASK];
    summary_of(&s, c->values + i * per_task, per_task);
    return s.mean;
}

/* A task's mean over the runs, for the tasks of the newest run: runs that compare share their tasks. */
static enum status summarise_tasks(struct summary *ret, const struct run *runs, size_t n_runs, const char *metric,
                                   struct error *err)
{
    const struct axes *tasks = &runs[n_runs - 1].axes;
    double *means = NULL, *values = NULL;
    enum status st;
    size_t i, k;

    TRY(mem_new(tasks->n[AXIS_TASK], sizeof *means, &means, err));
    st = mem_new(n_runs, sizeof *values, &values, err);
    for (i = 0; i < tasks->n[AXIS_TASK] && st == OK; i++) {
        struct summary s;

        for (k = 0; k < n_runs; k++)
            values[k] = task_mean(&runs[k], metric, tasks->task[i]);
        summary_of(&s, values, n_runs);
        means[i] = s.mean;
    }
    if (st == OK)
        summary_of(ret, means, tasks->n[AXIS_TASK]);
    free(means);
    free(values);
    return st;
}

/* By the unit of the metric's noise: over tasks, or over the requests of all runs. */
static enum status summarise(struct summary *ret, const struct run *runs, size_t n_runs, const struct cube *like,
                             struct error *err)
{
    double *values = NULL;
    size_t cap = 0, n = 0, k;

    if (like->noise == NOISE_TASK)
        return summarise_tasks(ret, runs, n_runs, like->metric, err);
    for (k = 0; k < n_runs; k++) {
        const struct cube *c = run_cube(&runs[k], like->metric);
        enum status st = c ? mem_grow(&values, &cap, n + cube_len(c), sizeof *values, err) : OK;

        if (st != OK) {
            free(values);
            return st;
        }
        if (c)
            memcpy(values + n, c->values, cube_len(c) * sizeof *values);
        n += c ? cube_len(c) : 0;
    }
    summary_of(ret, values, n);
    free(values);
    return OK;
}

/* Six digits tell what matters and keep a diff quiet. */
static void put_number(struct buf *b, const char *key, double value)
{
    if (isfinite(value))
        buf_printf(b, ", \"%s\": %.6g", key, value);
    else
        buf_printf(b, ", \"%s\": null", key);
}

static enum status put_metric(struct buf *b, const struct cube *cube, const struct summary *s, bool is_last,
                              struct error *err)
{
    json_t *unit = json_string(cube->unit ? cube->unit : "");
    json_t *name = json_string(cube->metric);
    char *unit_text = unit ? json_dumps(unit, JSON_ENCODE_ANY) : NULL;
    char *name_text = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
    enum status st = OK;

    json_decref(unit);
    json_decref(name);
    if (unit_text && name_text) {
        buf_printf(b, "    %s: {\"n\": %zu", name_text, s->n);
        put_number(b, "mean", s->mean);
        put_number(b, "sd", s->sd);
        buf_printf(b, ", \"unit\": %s}%s\n", unit_text, is_last ? "" : ",");
    } else {
        st = error_set(err, ERR_FORMAT, "a metric's name or unit is not valid UTF-8");
    }
    free(unit_text);
    free(name_text);
    return st;
}

enum status summary_file_begin(struct outfile *ret, const struct baseline *b, const struct run *runs, size_t n_runs,
                               struct error *err)
{
    AUTO(metrics) m = {0};
    AUTO(buf) text = {0};
    char *path = NULL;
    enum status st;
    size_t i;

    TRY(find_metrics(&m, runs, n_runs, err));
    buf_printf(&text, "{\n  \"schema\": %d,\n  \"name\": \"%s\",\n  \"runs\": %zu,\n  \"metrics\": {\n",
               BASELINE_SCHEMA, b->name, n_runs);
    for (i = 0; i < m.n; i++) {
        struct summary s = {0};

        TRY(summarise(&s, runs, n_runs, m.cubes[i], err));
        TRY(put_metric(&text, m.cubes[i], &s, i + 1 == m.n, err));
    }
    buf_puts(&text, "  }\n}\n");
    TRY(buf_check(&text, err));
    TRY(path_join(b->dir, "summary.json", &path, err));
    st = outfile_open(ret, path, err);
    free(path);
    TRY(st);
    return outfile_write(ret, text.data, text.len, err);
}
