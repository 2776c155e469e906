#include "cli/inspect.h"
#include "cli/run_summary.h"

#include "core/base/scope.h"
#include "core/client/reply.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_place(struct desc *d, const char *key, const struct place *p)
{
    json_t *at = desc_object(d, d->root, key);

    desc_text(d, at, "host", p->host);
    desc_text(d, at, "os", p->os);
    desc_text(d, at, "cpu", p->cpu);
    desc_int(d, at, "cores", p->cores);
    desc_text(d, at, "gpu", p->gpu);
    desc_text(d, at, "driver", p->driver);
    desc_text(d, at, "server", p->server);
    desc_text(d, at, "when_utc", p->when_utc);
}

static void add_provenance(struct desc *d, const struct provenance *p)
{
    json_t *at = desc_object(d, d->root, "provenance");

    desc_bool(d, at, "complete", p->is_complete);
    desc_text(d, at, "source", p->source);
    desc_text(d, at, "taskset", p->taskset_name);
    desc_text(d, at, "taskset_version", p->taskset_version);
    desc_text(d, at, "taskset_sha256", p->taskset_hash.hex);
    desc_text(d, at, "prompt_version", p->prompt_version);
    desc_text(d, at, "prompt_sha256", p->prompt_hash.hex);
    desc_text(d, at, "model_asked", p->model_asked);
    desc_text(d, at, "model_served", p->model_served);
    desc_text(d, at, "weights_version", p->weights_version);
    desc_text(d, at, "weights_sha256", p->weights_sha256);
    desc_text(d, at, "sampling", p->sampling);
    desc_text(d, at, "recording_sha256", p->recording_hash.hex);
    desc_int(d, at, "context_limit", p->context_limit);
    desc_text(d, at, "context_limit_from", p->context_limit_from);
    desc_text(d, at, "entropy_eps", p->entropy_eps);
    desc_text(d, at, "collapse", p->collapse);
    desc_bool(d, at, "implicit_sink", p->implicit_sink);
    desc_bool(d, at, "mask_checked", p->mask_checked);
    desc_int(d, at, "seed", (int64_t)p->seed);
    desc_text(d, at, "tool_version", p->tool_version);
    desc_text(d, at, "tool_build", p->tool_build);
    desc_bool(d, at, "reproducible", p->is_reproducible);
}

static bool is_plain_name(const char *key)
{
    return key[0] && strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(key);
}

/* How requests were sent, and what the client measured of itself; a file may say anything here. */
static void add_load(struct desc *d, const struct provenance *p)
{
    json_t *load = json_loads(p->load, 0, NULL), *at, *value;
    const char *key;

    if (!json_is_object(load)) {
        json_decref(load);
        return;
    }
    at = desc_object(d, d->root, "load");
    json_object_foreach (load, key, value) {
        bool is_scalar = !json_is_object(value) && !json_is_array(value);

        if (is_scalar && is_plain_name(key) && json_object_set(at, key, value))
            d->failed = true;
    }
    json_decref(load);
}

static void add_dumps(struct desc *d, const struct provenance *p)
{
    json_t *dumps = desc_array(d, d->root, "dumps");
    size_t i;

    for (i = 0; i < p->n_dumps; i++) {
        const struct dump_source *s = &p->dumps[i];
        json_t *row = desc_row(d, dumps);

        desc_text(d, row, "path", s->path);
        desc_text(d, row, "sha256", s->hash.hex);
        desc_text(d, row, "content_sha256", s->content.hex);
        desc_text(d, row, "model_name", s->model_name);
        desc_text(d, row, "weights_sha256", s->weights_sha256);
        desc_text(d, row, "prompt_version", s->prompt_version);
        desc_text(d, row, "prompt_sha256", s->prompt_sha256);
        desc_text(d, row, "compute_dtype", s->compute_dtype);
        desc_text(d, row, "store_dtype", s->store_dtype);
        desc_text(d, row, "variant", s->variant);
        desc_text(d, row, "capture", s->capture);
    }
}

static void add_axes(struct desc *d, const struct axes *a)
{
    json_t *at = desc_object(d, d->root, "axes");
    size_t axis, i;

    for (axis = 0; axis < N_AXES; axis++) {
        json_t *labels = desc_array(d, at, axis_names[axis]);

        for (i = 0; labels && i < a->n[axis]; i++)
            if (json_array_append_new(labels,
                                      axis == AXIS_TASK ? json_string(a->task[i]) : json_integer(a->number[axis][i])))
                d->failed = true;
    }
}

static void add_cubes(struct desc *d, const struct run *run)
{
    json_t *cubes = desc_array(d, d->root, "metrics");
    size_t i, axis;

    for (i = 0; i < run->n_cubes; i++) {
        const struct cube *c = &run->cubes[i];
        struct cube_range r = cube_range(c);
        json_t *row = desc_row(d, cubes), *axes;

        desc_text(d, row, "metric", c->metric);
        desc_text(d, row, "unit", c->unit);
        desc_text(d, row, "direction", better_name(c->better));
        desc_text(d, row, "noise", noise_name(c->noise));
        axes = desc_array(d, row, "axes");
        for (axis = 0; axes && axis < N_AXES; axis++)
            if ((c->axes & AXIS_BIT(axis)) && json_array_append_new(axes, json_string(axis_names[axis])))
                d->failed = true;
        desc_int(d, row, "n", (int64_t)r.n);
        desc_int(d, row, "missing", (int64_t)(cube_len(c) - r.n));
        desc_real(d, row, "mean", r.mean);
        desc_real(d, row, "min", r.min);
        desc_real(d, row, "max", r.max);
    }
}

static void add_notes(struct desc *d, const struct run *run)
{
    json_t *notes = desc_array(d, d->root, "notes");
    size_t i;

    for (i = 0; i < run->n_notes; i++) {
        json_t *row = desc_row(d, notes);

        desc_text(d, row, "code", run->notes[i].code);
        desc_text(d, row, "text", run->notes[i].text);
    }
}

static void add_tokens(struct desc *d, json_t *row, const char *key, int64_t tokens)
{
    if (tokens >= 0)
        desc_int(d, row, key, tokens);
    else
        desc_text(d, row, key, NULL);
}

static enum status add_exchange(struct desc *d, json_t *rows, const struct run *run, const struct exchange *x,
                                struct error *err)
{
    AUTO(reply) r = {0};
    json_t *row = desc_row(d, rows);
    bool has_content;

    TRY(reply_read(&r, x, run->events + x->first_event, run->bytes, err));
    has_content = r.first_content_ns != NS_UNKNOWN;
    desc_text(d, row, "task", x->task);
    desc_int(d, row, "turn", x->turn);
    desc_int(d, row, "repeat", x->repeat);
    desc_text(d, row, "state", reply_state_name(r.state));
    desc_int(d, row, "status", r.status);
    add_tokens(d, row, "prompt_tokens", r.prompt_tokens);
    add_tokens(d, row, "reply_tokens", r.completion_tokens);
    desc_real(d, row, "ttft_ms", has_content ? (double)(r.first_content_ns - r.sent_ns) / 1e6 : NAN);
    desc_text(d, row, "finish", buf_text(&r.finish_reason));
    desc_text(d, row, "text", buf_text(r.error.len ? &r.error : &r.text));
    return OK;
}

static enum status add_exchanges(struct desc *d, const struct run *run, struct error *err)
{
    json_t *rows = desc_array(d, d->root, "requests");
    size_t i;

    for (i = 0; i < run->n_exchanges; i++)
        TRY(add_exchange(d, rows, run, &run->exchanges[i], err));
    return OK;
}

enum status inspect_run(struct desc *d, const struct run *run, const char *path, struct error *err)
{
    TRY(desc_init(d, "run", path, err));
    add_provenance(d, &run->provenance);
    add_place(d, "observed_on", &run->provenance.observed_on);
    add_place(d, "computed_on", &run->provenance.computed_on);
    add_load(d, &run->provenance);
    add_dumps(d, &run->provenance);
    add_axes(d, &run->axes);
    add_cubes(d, run);
    inspect_fingerprints(d, run);
    add_notes(d, run);
    TRY(add_exchanges(d, run, err));
    return desc_check(d, err);
}

enum status inspect_recording(struct desc *d, const struct run *run, const char *path, struct error *err)
{
    TRY(desc_init(d, "recording", path, err));
    add_provenance(d, &run->provenance);
    add_place(d, "observed_on", &run->provenance.observed_on);
    TRY(add_exchanges(d, run, err));
    return desc_check(d, err);
}
