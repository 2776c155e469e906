#include "core/gate/calibration_file.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/stats/binomial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20, MAX_COUNT = 1000000000 };

static const double CONFIDENCE = 0.95;

const char calibration_of_halves[] = "From one run: its tasks were halved at random, and the halves compared as if "
                                     "they were two runs. Tasks differ from "
                                     "each other at least as much as independent reruns of one task do, and a half has "
                                     "half as many, so sd and alarms are "
                                     "upper bounds and what is found a lower one. What moves all tasks of a run "
                                     "together, another batch or a busy server, "
                                     "and how latencies differ between runs, no single run shows.";

void calibration_put_share(struct buf *b, size_t k, size_t n)
{
    struct binomial_interval ci = binomial_interval(k, n, CONFIDENCE);

    buf_printf(b, "%zu of %zu (95 %% interval %.2g to %.2g %%)", k, n, 100 * ci.lo, 100 * ci.hi);
}

/* Six digits tell what matters and keep a diff quiet. */
static void put_number(struct buf *b, const char *key, double value)
{
    if (isfinite(value))
        buf_printf(b, "\"%s\": %.6g, ", key, value);
    else
        buf_printf(b, "\"%s\": null, ", key);
}

static void put_rate(struct buf *b, size_t k, size_t n)
{
    struct binomial_interval ci = binomial_interval(k, n, CONFIDENCE);

    put_number(b, "rate", n ? (double)k / (double)n : NAN);
    buf_printf(b, "\"interval\": [%.6g, %.6g]", ci.lo, ci.hi);
}

static void put_count(struct buf *b, const char *key, const struct calibration_count *c)
{
    size_t v;

    buf_printf(b, "  \"%s\": {\"n\": %zu, \"alarms\": %zu, ", key, c->n, calibration_alarms(c));
    put_rate(b, calibration_alarms(c), c->n);
    for (v = VERDICT_NONE; v <= VERDICT_REGRESSED; v++)
        buf_printf(b, ", \"%s\": %zu", verdict_name((enum verdict)v), c->of[v]);
    buf_puts(b, "},\n");
}

/* A JSON string with its quotes. */
static enum status put_text(struct buf *b, const char *text, struct error *err)
{
    json_t *value = json_string(text);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

    json_decref(value);
    if (!dumped)
        return error_set(err, ERR_FORMAT, "'%.60s' is not valid UTF-8", text);
    buf_puts(b, dumped);
    free(dumped);
    return OK;
}

static void put_cell(struct buf *b, const struct where *w)
{
    buf_puts(b, "\"noisiest\": {");
    if (w->turn >= 0)
        buf_printf(b, "\"turn\": %lld", (long long)w->turn);
    if (w->layer >= 0)
        buf_printf(b, "\"layer\": %lld", (long long)w->layer);
    if (w->head >= 0)
        buf_printf(b, ", \"head\": %lld", (long long)w->head);
    buf_puts(b, "}, ");
}

static enum status put_metric(struct buf *b, const struct calibration_metric *m, bool is_last, struct error *err)
{
    size_t s;

    buf_puts(b, "    ");
    TRY(put_text(b, m->metric, err));
    buf_puts(b, ": {\"unit\": ");
    TRY(put_text(b, m->unit, err));
    buf_printf(b, ", \"noise\": \"%s\", \"role\": \"%s\", ", noise_name(m->noise), role_name(m->role));
    put_number(b, "margin", m->margin);
    put_number(b, "sd", m->mean_sd);
    put_number(b, "noisiest_sd", m->cell_sd);
    put_cell(b, &m->cell);
    buf_puts(b, "\"power\": [");
    for (s = 0; s < CALIBRATION_SHIFTS && m->n_trials; s++) {
        buf_printf(b, "%s{\"shift\": %.6g, \"n\": %zu, \"found\": %zu, ", s ? ", " : "",
                   calibration_shift[s] * m->margin, m->n_trials, m->n_found[s]);
        put_rate(b, m->n_found[s], m->n_trials);
        buf_putc(b, '}');
    }
    buf_puts(b, is_last ? "]}\n" : "]},\n");
    return OK;
}

enum status calibration_json(struct buf *b, const struct calibration *c, struct error *err)
{
    size_t i;

    buf_printf(b, "{\n  \"schema\": %d,\n  \"runs\": %zu,\n  \"tasks\": %zu,\n  \"policy\": ", CALIBRATION_SCHEMA,
               c->n_runs, c->n_tasks);
    TRY(put_text(b, c->policy_name, err));
    buf_printf(b, ",\n  \"alpha\": %.6g,\n  \"seed\": %llu,\n", c->alpha, (unsigned long long)c->seed);
    put_count(b, "pairs", &c->pairs);
    put_count(b, "exchanged", &c->exchanged);
    put_count(b, "halves", &c->halves);
    buf_puts(b, "  \"metrics\": {\n");
    for (i = 0; i < c->n_metrics; i++)
        TRY(put_metric(b, &c->metrics[i], i + 1 == c->n_metrics, err));
    buf_puts(b, "  }\n}\n");
    return buf_check(b, err);
}

/* Counts of verdicts, which must make up the whole. */
static enum status take_count(const struct json_at *top, const char *key, struct calibration_count *ret,
                              struct error *err)
{
    struct json_at at;
    int64_t n, part;
    size_t v;

    TRY(json_get(top, key, JSON_OBJECT, &at, err));
    TRY(json_get_i64(&at, "n", 0, MAX_COUNT, &n, err));
    for (v = VERDICT_NONE; v <= VERDICT_REGRESSED; v++) {
        TRY(json_get_i64(&at, verdict_name((enum verdict)v), 0, n, &part, err));
        ret->of[v] = (size_t)part;
        ret->n += (size_t)part;
    }
    return ret->n == (size_t)n ? OK
                               : json_bad(&at, err, "the verdicts add up to %zu, not to %lld", ret->n, (long long)n);
}

/* null is not known */
static enum status take_number(const struct json_at *at, const char *key, double *ret, struct error *err)
{
    *ret = NAN;
    return json_is_null(json_object_get(at->value, key)) ? OK : json_double_or(at, key, NAN, ret, err);
}

static enum status take_cell(const struct json_at *metric, struct where *ret, struct error *err)
{
    struct {
        const char *name;
        int64_t *number;
    } parts[] = {{"turn", &ret->turn}, {"layer", &ret->layer}, {"head", &ret->head}};
    struct json_at at;
    size_t i;

    *ret = (struct where){NULL, -1, -1, -1};
    TRY(json_get(metric, "noisiest", JSON_OBJECT, &at, err));
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        if (json_object_get(at.value, parts[i].name))
            TRY(json_get_i64(&at, parts[i].name, 0, INT64_MAX, parts[i].number, err));
    return OK;
}

static enum status take_power(const struct json_at *metric, struct calibration_metric *ret, struct error *err)
{
    struct json_at list, at;
    size_t s;
    int64_t n, found;

    TRY(json_get(metric, "power", JSON_ARRAY, &list, err));
    for (s = 0; s < CALIBRATION_SHIFTS && s < json_array_size(list.value); s++) {
        TRY(json_item(&list, s, JSON_OBJECT, &at, err));
        TRY(json_get_i64(&at, "n", 0, MAX_COUNT, &n, err));
        TRY(json_get_i64(&at, "found", 0, n, &found, err));
        ret->n_trials = (size_t)n;
        ret->n_found[s] = (size_t)found;
    }
    return OK;
}

static enum status take_metric(struct calibration *c, const struct json_at *at, const char *name, struct error *err)
{
    struct calibration_metric *m = &c->metrics[c->n_metrics];
    const char *unit, *noise, *role;
    char *text = NULL;

    TRY(arena_strdup(&c->arena, name, &text, err));
    m->metric = text;
    TRY(json_get_text(at, "unit", &unit, err));
    TRY(arena_strdup(&c->arena, unit, &text, err));
    m->unit = text;
    TRY(json_get_text(at, "noise", &noise, err));
    TRY(json_get_text(at, "role", &role, err));
    m->noise = strcmp(noise, noise_name(NOISE_RUN)) == 0 ? NOISE_RUN : NOISE_TASK;
    m->role = strcmp(role, role_name(ROLE_PRIMARY)) == 0 ? ROLE_PRIMARY : ROLE_ADVISORY;
    TRY(take_number(at, "margin", &m->margin, err));
    TRY(take_number(at, "sd", &m->mean_sd, err));
    TRY(take_number(at, "noisiest_sd", &m->cell_sd, err));
    TRY(take_cell(at, &m->cell, err));
    TRY(take_power(at, m, err));
    c->n_metrics++;
    return OK;
}

static enum status take_metrics(struct calibration *c, const struct json_at *top, struct error *err)
{
    struct json_at list, at;
    const char *name;
    json_t *value;

    TRY(json_get(top, "metrics", JSON_OBJECT, &list, err));
    TRY(arena_new(&c->arena, json_object_size(list.value), sizeof *c->metrics, &c->metrics, err));
    json_object_foreach (list.value, name, value) {
        TRY(json_get(&list, name, JSON_OBJECT, &at, err));
        TRY(take_metric(c, &at, name, err));
    }
    return OK;
}

static enum status take_top(struct calibration *c, const struct json_at *top, struct error *err)
{
    const char *policy;
    char *text = NULL;
    int64_t schema, runs, tasks, seed;

    TRY(json_is(top, JSON_OBJECT, err));
    TRY(json_get_i64(top, "schema", 1, INT64_MAX, &schema, err));
    if (schema > CALIBRATION_SCHEMA)
        return json_bad(top, err, "calibration schema %lld is newer than this program reads (%d): use a newer one",
                        (long long)schema, CALIBRATION_SCHEMA);
    TRY(json_get_i64(top, "runs", schema == 1 ? 2 : 1, CALIBRATION_RUNS, &runs, err));
    TRY(json_get_i64(top, "tasks", 0, MAX_COUNT, &tasks, err));
    TRY(json_get_i64(top, "seed", 0, INT64_MAX, &seed, err));
    TRY(json_get_text(top, "policy", &policy, err));
    TRY(arena_strdup(&c->arena, policy, &text, err));
    TRY(take_number(top, "alpha", &c->alpha, err));
    c->policy_name = text;
    c->n_runs = (size_t)runs;
    c->n_tasks = (size_t)tasks;
    c->seed = (uint64_t)seed;
    TRY(take_count(top, "pairs", &c->pairs, err));
    TRY(take_count(top, "exchanged", &c->exchanged, err));
    if (schema > 1)
        TRY(take_count(top, "halves", &c->halves, err));
    c->can_exchange = c->exchanged.n > 0;
    return take_metrics(c, top, err);
}

static enum status read_file(struct calibration *ret, const char *path, struct error *err)
{
    AUTO(calibration) c = {0};
    AUTO(json) doc = {0};
    struct json_at top;

    TRY(json_read(&doc, path, MAX_BYTES, err));
    top = json_top(&doc);
    TRY(take_top(&c, &top, err));
    *ret = c;
    memset(&c, 0, sizeof c);
    return OK;
}

enum status calibration_read(struct calibration *ret, const char *dir, bool *ret_found, struct error *err)
{
    char *path = NULL;
    enum status st = path_join(dir, "calibration.json", &path, err);
    bool found = st == OK && file_exists(path);

    if (found)
        st = read_file(ret, path, err);
    free(path);
    TRY(st);
    *ret_found = found;
    return OK;
}

void calibration_put_line(struct buf *b, const struct calibration *c)
{
    const struct calibration_count *count = c->exchanged.n ? &c->exchanged : c->n_runs > 1 ? &c->pairs : &c->halves;

    buf_printf(b, "%zu run%s, policy %.60s, false alarms ", c->n_runs, c->n_runs == 1 ? " in halves" : "s",
               c->policy_name);
    calibration_put_share(b, calibration_alarms(count), count->n);
}
