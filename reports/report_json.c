/* The machine's view: design's verdict document, or one run's metrics. reports/verdict.schema.json describes both. */
#include "core/base/scope.h"
#include "reports/formats.h"
#include "reports/json_out.h"
#include "reports/series.h"
#include "reports/show.h"

#include <math.h>
#include <string.h>

enum { SCHEMA = 1 };

static void put_where(struct json_out *j, const char *key, const struct where *w)
{
    json_out_open(j, key, '{');
    if (w->task)
        json_out_text(j, "task", w->task);
    if (w->turn >= 0)
        json_out_int(j, "turn", w->turn);
    if (w->layer >= 0)
        json_out_int(j, "layer", w->layer);
    if (w->head >= 0)
        json_out_int(j, "head", w->head);
    json_out_close(j, '}');
}

static const char *reason_for(const struct effect *e, const char *words)
{
    if (e->n == 0)
        return "no pair of values to compare";
    if (e->n == 1)
        return "one pair of values: it has no spread, so neither interval nor p";
    return show_or(words, "not computed");
}

/* `reason`: of why there is none. */
static void put_interval(struct json_out *j, const char *key, double lo, double hi, const char *reason)
{
    AUTO(buf) why = {0};

    if (!isfinite(lo) || !isfinite(hi)) {
        buf_printf(&why, "%s_reason", key);
        j->out->failed |= why.failed;
        json_out_null(j, key);
        json_out_text(j, buf_text(&why), reason);
        return;
    }
    json_out_open(j, key, '[');
    json_out_number(j, NULL, lo, "");
    json_out_number(j, NULL, hi, "");
    json_out_close(j, ']');
}

static void put_effect(struct json_out *j, const struct effect *e, const char *words)
{
    const char *reason = reason_for(e, words);

    json_out_size(j, "n", e->n);
    json_out_number(j, "base", e->base, reason);
    json_out_number(j, "cand", e->cand, reason);
    json_out_number(j, "delta", e->delta, reason);
    put_interval(j, "ci", e->ci_lo, e->ci_hi, reason);
    put_interval(j, "bca", e->bca_lo, e->bca_hi,
                 e->n < 2 ? reason : "fewer than three pairs, tested over runs, or all resampled means on one side");
    json_out_number(j, "p", e->p, reason);
    json_out_number(j, "p_adj", e->p_adj, reason);
    json_out_number(j, "p_min", e->p_min, reason);
    json_out_number(j, "mde", e->mde, reason);
}

static void put_finding(struct json_out *j, const char *key, const struct finding *f)
{
    json_out_open(j, key, '{');
    json_out_text(j, "metric", f->metric);
    json_out_text(j, "unit", f->unit);
    put_where(j, "where", &f->where);
    put_effect(j, &f->effect, f->words);
    json_out_number(j, "margin", f->margin, "the policy states no margin for this metric");
    json_out_text(j, "verdict", verdict_name(f->verdict));
    json_out_text(j, "role", role_name(f->role));
    json_out_text(j, "words", show_or(f->words, ""));
    json_out_close(j, '}');
}

static void put_family(struct json_out *j, const struct family *f)
{
    json_out_open(j, NULL, '{');
    json_out_text(j, "metric", f->metric);
    json_out_text(j, "unit", f->unit);
    json_out_text(j, "help", f->help);
    json_out_text(j, "better", better_name(f->better));
    json_out_text(j, "noise", noise_name(f->noise));
    json_out_text(j, "role", role_name(f->role));
    json_out_bool(j, "required", f->required);
    put_effect(j, &f->effect, f->words);
    if (isfinite(f->margin)) {
        json_out_number(j, "margin", f->margin, "");
        json_out_text(j, "margin_reason", f->margin_reason);
    } else {
        json_out_number(j, "margin", f->margin, "the policy states no margin for this metric");
    }
    json_out_size(j, "n_cells", f->n_cells);
    json_out_size(j, "n_compared", f->n_compared);
    json_out_size(j, "n_beyond", f->n_beyond);
    json_out_size(j, "n_needed", f->n_needed);
    json_out_text(j, "verdict", verdict_name(f->verdict));
    json_out_text(j, "words", show_or(f->words, ""));
    if (f->worst.metric)
        put_finding(j, "worst", &f->worst);
    else
        json_out_null(j, "worst");
    json_out_close(j, '}');
}

/* A key stands once in an object: the second "environment" is "environment 2". */
static void open_change(struct json_out *j, const struct judgement *v, size_t i)
{
    AUTO(buf) key = {0};
    size_t before = 1, k;

    for (k = 0; k < i; k++)
        before += strcmp(v->changes[k].what, v->changes[i].what) == 0;
    buf_puts(&key, v->changes[i].what);
    if (before > 1)
        buf_printf(&key, " %zu", before);
    j->out->failed |= key.failed;
    json_out_open(j, buf_text(&key), '{');
}

static void put_changes(struct json_out *j, const struct judgement *v)
{
    size_t i;

    json_out_open(j, "changed", '{');
    for (i = 0; i < v->n_changes; i++) {
        open_change(j, v, i);
        json_out_text(j, "base", v->changes[i].base);
        json_out_text(j, "cand", v->changes[i].cand);
        json_out_bool(j, "explains_latency_only", v->changes[i].explains_latency_only);
        json_out_close(j, '}');
    }
    json_out_close(j, '}');
    json_out_bool(j, "causes_confounded", v->causes_confounded);
}

static void put_limits(struct json_out *j, const struct judgement *v)
{
    static const char *const ops[] = {"<", "<=", ">", ">="};
    size_t i;

    json_out_open(j, "limits", '[');
    for (i = 0; i < v->n_limits; i++) {
        const struct limit_result *l = &v->limits[i];

        json_out_open(j, NULL, '{');
        json_out_text(j, "metric", l->metric);
        put_where(j, "where", &l->where);
        json_out_text(j, "op", ops[l->limit.op]);
        json_out_number(j, "value", l->limit.value, "not stated");
        json_out_text(j, "severity", l->limit.severity == SEVERITY_FAIL ? "fail" : "warn");
        json_out_text(j, "reason", l->limit.reason);
        json_out_number(j, "base", l->base, "the base has no value");
        json_out_number(j, "cand", l->cand, "the candidate has no value");
        json_out_bool(j, "broken", l->broken);
        json_out_bool(j, "broken_by_base", l->broken_by_base);
        json_out_text(j, "words", show_or(l->words, ""));
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

static void put_place(struct json_out *j, const char *key, const struct place *p)
{
    json_out_open(j, key, '{');
    json_out_text(j, "host", show_or(p->host, NULL));
    json_out_text(j, "os", show_or(p->os, NULL));
    json_out_text(j, "cpu", show_or(p->cpu, NULL));
    if (p->cores > 0)
        json_out_int(j, "cores", p->cores);
    json_out_text(j, "gpu", show_or(p->gpu, NULL));
    json_out_text(j, "driver", show_or(p->driver, NULL));
    json_out_text(j, "server", show_or(p->server, NULL));
    json_out_text(j, "when_utc", show_or(p->when_utc, NULL));
    json_out_close(j, '}');
}

static void put_dumps(struct json_out *j, const struct provenance *p)
{
    size_t i;

    json_out_open(j, "dumps", '[');
    for (i = 0; i < p->n_dumps; i++) {
        const struct dump_source *d = &p->dumps[i];

        json_out_open(j, NULL, '{');
        json_out_text(j, "path", d->path);
        json_out_text(j, "sha256", show_or(d->hash.hex, NULL));
        json_out_text(j, "model_name", show_or(d->model_name, NULL));
        json_out_text(j, "weights_sha256", show_or(d->weights_sha256, NULL));
        json_out_text(j, "prompt_version", show_or(d->prompt_version, NULL));
        json_out_text(j, "compute_dtype", show_or(d->compute_dtype, NULL));
        json_out_text(j, "store_dtype", show_or(d->store_dtype, NULL));
        json_out_text(j, "capture", show_or(d->capture, NULL));
        json_out_text(j, "variant", show_or(d->variant, NULL));
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

static void put_run(struct json_out *j, const char *key, const struct run *r, const char *name)
{
    const struct provenance *p = &r->provenance;

    json_out_open(j, key, '{');
    json_out_text(j, "name", name);
    json_out_text(j, "taskset", show_or(p->taskset_name, NULL));
    json_out_text(j, "taskset_version", show_or(p->taskset_version, NULL));
    json_out_text(j, "taskset_sha256", show_or(p->taskset_hash.hex, NULL));
    json_out_text(j, "prompt_version", show_or(p->prompt_version, NULL));
    json_out_text(j, "prompt_sha256", show_or(p->prompt_hash.hex, NULL));
    json_out_text(j, "model_asked", show_or(p->model_asked, NULL));
    json_out_text(j, "model_served", show_or(p->model_served, NULL));
    json_out_text(j, "weights_version", show_or(p->weights_version, NULL));
    json_out_text(j, "weights_sha256", show_or(p->weights_sha256, NULL));
    json_out_text(j, "sampling", show_or(p->sampling, NULL));
    json_out_text(j, "source", show_or(p->source, NULL));
    json_out_text(j, "recording_sha256", show_or(p->recording_hash.hex, NULL));
    json_out_int(j, "context_limit", p->context_limit);
    json_out_text(j, "context_limit_from", show_or(p->context_limit_from, NULL));
    json_out_text(j, "entropy_eps", show_or(p->entropy_eps, NULL));
    json_out_text(j, "collapse", show_or(p->collapse, NULL));
    json_out_bool(j, "implicit_sink", p->implicit_sink);
    json_out_bool(j, "mask_checked", p->mask_checked);
    put_dumps(j, p);
    put_place(j, "observed_on", &p->observed_on);
    put_place(j, "computed_on", &p->computed_on);
    json_out_text(j, "tool_version", show_or(p->tool_version, NULL));
    json_out_text(j, "tool_build", show_or(p->tool_build, NULL));
    json_out_u64(j, "seed", p->seed);
    json_out_bool(j, "is_complete", p->is_complete);
    json_out_bool(j, "is_reproducible", p->is_reproducible);
    json_out_close(j, '}');
}

static void put_notes_of(struct json_out *j, const char *who, const struct run *r)
{
    size_t i;

    for (i = 0; i < r->n_notes; i++) {
        json_out_open(j, NULL, '{');
        json_out_text(j, "run", who);
        json_out_text(j, "code", r->notes[i].code);
        json_out_text(j, "text", r->notes[i].text);
        json_out_close(j, '}');
    }
}

static void put_notes(struct json_out *j, const struct report_input *in)
{
    size_t i;

    json_out_open(j, "notes", '[');
    for (i = 0; in->judgement && in->base && i < in->n_base; i++)
        put_notes_of(j, "base", &in->base[i]);
    for (i = 0; i < in->n_cand; i++)
        put_notes_of(j, "cand", &in->cand[i]);
    json_out_close(j, ']');
}

static void put_runs(struct json_out *j, const struct report_input *in)
{
    size_t i;

    json_out_open(j, "runs", '{');
    json_out_open(j, "base", '[');
    for (i = 0; in->base && i < in->n_base; i++)
        put_run(j, NULL, &in->base[i], show_base(in));
    json_out_close(j, ']');
    json_out_open(j, "cand", '[');
    for (i = 0; i < in->n_cand; i++)
        put_run(j, NULL, &in->cand[i], show_cand(in));
    json_out_close(j, ']');
    json_out_close(j, '}');
}

static void put_layer(struct json_out *j, const char *key, int64_t layer)
{
    if (layer < 0)
        json_out_null(j, key);
    else
        json_out_int(j, key, layer);
}

/* Which bits of attention are the same: null where no digest is in both runs. */
static void put_onset(struct json_out *j, const struct onset *o)
{
    size_t i;

    if (!o->words) {
        json_out_null(j, "onset");
        json_out_text(j, "onset_reason", "no digest of attention is in both runs");
        return;
    }
    json_out_open(j, "onset", '{');
    json_out_size(j, "compared", o->n_cells);
    json_out_size(j, "equal", o->n_equal);
    json_out_size(j, "samples", o->n_samples);
    json_out_size(j, "samples_equal", o->n_same);
    json_out_size(j, "samples_from_first_layer", o->n_from_first);
    put_layer(j, "first_layer", o->first);
    put_layer(j, "equal_through_layer", o->before);
    put_layer(j, "layer", o->layer);
    json_out_open(j, "heads", '[');
    for (i = 0; i < o->n_heads; i++)
        json_out_int(j, NULL, o->heads[i]);
    json_out_close(j, ']');
    json_out_text(j, "words", o->words);
    json_out_close(j, '}');
}

static void put_divergence(struct json_out *j, const struct divergence *d)
{
    size_t i;

    if (!d->n_cells) {
        json_out_null(j, "divergence");
        json_out_text(j, "divergence_reason", "no profile of distances is in both runs, or the policy leaves it out");
        return;
    }
    json_out_open(j, "divergence", '{');
    json_out_text(j, "metric", "attn.distance_js");
    json_out_text(j, "unit", "bit");
    json_out_number(j, "margin", d->margin, "the policy has none");
    json_out_open(j, "cells", '[');
    for (i = 0; i < d->n_cells; i++) {
        json_out_open(j, NULL, '{');
        json_out_int(j, "layer", d->cells[i].where.layer);
        json_out_int(j, "head", d->cells[i].where.head);
        json_out_number(j, "js", d->cells[i].js, "no pair of profiles");
        json_out_number(j, "within", d->cells[i].within, "one run on each side");
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
    json_out_close(j, '}');
}

static void put_judgement(struct json_out *j, const struct report_input *in)
{
    const struct judgement *v = in->judgement;
    size_t i;

    json_out_text(j, "verdict", verdict_name(v->verdict));
    json_out_int(j, "exit", in->exit_code);
    json_out_text(j, "command", in->is_gate ? "gate" : "diff");
    json_out_int(j, "exit_by_policy", v->exit_code);
    json_out_text(j, "headline", show_or(v->headline, ""));
    json_out_texts(j, "reasons", v->reasons, v->n_reasons);
    put_changes(j, v);
    json_out_text(j, "policy", v->policy_name);
    json_out_number(j, "alpha", v->alpha, "not stated");
    json_out_size(j, "pairs", v->n_pairs);
    json_out_size(j, "base_runs", v->n_base);
    json_out_size(j, "cand_runs", v->n_cand);
    json_out_size(j, "resamples", v->n_resamples);
    json_out_bool(j, "is_enumerated", v->is_enumerated);
    json_out_u64(j, "seed", v->seed);
    json_out_open(j, "families", '[');
    for (i = 0; i < v->n_families; i++)
        put_family(j, &v->families[i]);
    json_out_close(j, ']');
    json_out_open(j, "findings", '[');
    for (i = 0; i < v->n_findings; i++)
        put_finding(j, NULL, &v->findings[i]);
    json_out_close(j, ']');
    put_limits(j, v);
    json_out_open(j, "conversations", '{');
    json_out_size(j, "n", v->n_conversations);
    json_out_size(j, "shorter_in_base", v->n_shorter_base);
    json_out_size(j, "shorter_in_cand", v->n_shorter_cand);
    json_out_close(j, '}');
    put_onset(j, &v->onset);
    put_divergence(j, &v->divergence);
    json_out_texts(j, "missing", v->missing, v->n_missing);
    json_out_texts(j, "added", v->added, v->n_added);
    json_out_texts(j, "not_measured", v->not_measured, v->n_not_measured);
    put_runs(j, in);
}

static void put_layers(struct json_out *j, const struct run *r, const struct cube *c)
{
    size_t at[N_AXES] = {0};

    if (!(c->axes & AXIS_BIT(AXIS_LAYER)))
        return;
    json_out_open(j, "by_layer", '[');
    for (at[AXIS_LAYER] = 0; at[AXIS_LAYER] < c->dim[AXIS_LAYER]; at[AXIS_LAYER]++) {
        json_out_open(j, NULL, '{');
        json_out_int(j, "layer", r->axes.number[AXIS_LAYER][at[AXIS_LAYER]]);
        json_out_number(j, "mean", cube_span_by_unit(c, AXIS_BIT(AXIS_LAYER), at).mean, "no value in this layer");
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

static void put_metrics(struct json_out *j, const struct run *r)
{
    size_t i;

    json_out_open(j, "metrics", '[');
    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *c = &r->cubes[i];
        struct span s = cube_span_by_unit(c, 0, NULL);

        json_out_open(j, NULL, '{');
        json_out_text(j, "name", c->metric);
        json_out_text(j, "unit", c->unit);
        json_out_text(j, "help", c->help);
        json_out_text(j, "better", better_name(c->better));
        json_out_int(j, "version", c->version);
        json_out_size(j, "n", s.n);
        json_out_size(j, "n_cells", cube_count(c));
        json_out_number(j, "mean", s.mean, "no value");
        json_out_number(j, "sd", s.sd, s.n == 1 ? "one task has no spread" : "no value");
        json_out_number(j, "min", s.min, "no value");
        json_out_number(j, "max", s.max, "no value");
        put_layers(j, r, c);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

static void write_json(const struct report_input *in, struct buf *out)
{
    struct json_out j = {out, 0, {false}};

    json_out_open(&j, NULL, '{');
    json_out_int(&j, "schema", SCHEMA);
    if (in->judgement) {
        put_judgement(&j, in);
    } else {
        put_run(&j, "run", in->cand, show_cand(in));
        put_metrics(&j, in->cand);
    }
    put_notes(&j, in);
    json_out_close(&j, '}');
    buf_putc(out, '\n');
}

const struct report report_json = {".json", "JSON", "the verdict document for programs", write_json};
