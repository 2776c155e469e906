#include "core/gate/calibration_file.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/stats/binomial.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BYTES = 1 << 20 };

static const double CONFIDENCE = 0.95;

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
    buf_puts(b, "  \"metrics\": {\n");
    for (i = 0; i < c->n_metrics; i++)
        TRY(put_metric(b, &c->metrics[i], i + 1 == c->n_metrics, err));
    buf_puts(b, "  }\n}\n");
    return buf_check(b, err);
}

/* {"n": …, "alarms": …} */
static enum status take_count(const struct json_at *top, const char *key, int64_t *alarms, int64_t *n,
                              struct error *err)
{
    struct json_at at;

    TRY(json_get(top, key, JSON_OBJECT, &at, err));
    TRY(json_get_i64(&at, "n", 0, INT64_MAX, n, err));
    return json_get_i64(&at, "alarms", 0, *n, alarms, err);
}

static enum status recall(struct buf *b, const char *path, struct error *err)
{
    AUTO(json) doc = {0};
    struct json_at top;
    const char *policy;
    int64_t schema, runs, alarms, n;

    TRY(json_read(&doc, path, MAX_BYTES, err));
    top = json_top(&doc);
    TRY(json_is(&top, JSON_OBJECT, err));
    TRY(json_get_i64(&top, "schema", 1, INT64_MAX, &schema, err));
    if (schema > CALIBRATION_SCHEMA)
        return json_bad(&top, err, "calibration schema %lld is newer than this program reads (%d): use a newer one",
                        (long long)schema, CALIBRATION_SCHEMA);
    TRY(json_get_i64(&top, "runs", 2, INT64_MAX, &runs, err));
    TRY(json_get_text(&top, "policy", &policy, err));
    TRY(take_count(&top, "exchanged", &alarms, &n, err));
    if (n == 0)
        TRY(take_count(&top, "pairs", &alarms, &n, err));
    buf_printf(b, "%lld runs, policy %.60s, false alarms ", (long long)runs, policy);
    calibration_put_share(b, (size_t)alarms, (size_t)n);
    return OK;
}

enum status calibration_recall(struct buf *b, const char *dir, struct error *err)
{
    char *path = NULL;
    enum status st = path_join(dir, "calibration.json", &path, err);

    if (st == OK && file_exists(path))
        st = recall(b, path, err);
    free(path);
    return st;
}
