#include "core/model/merge.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/model/observed.h"

#include <math.h>
#include <string.h>

/* One text of the provenance in both runs; "" is not known and differs from nothing. */
static enum status same_text(const char *what, const char *a, const char *b, struct error *err)
{
    if (!a[0] || !b[0] || strcmp(a, b) == 0)
        return OK;
    return error_set(err, ERR_NO_VERDICT, "not parts of one run: %s differs, '%.80s' and '%.80s'", what, a, b);
}

static enum status check_same(const struct run *a, const struct run *b, struct error *err)
{
    const struct provenance *p = &a->provenance, *q = &b->provenance;

    if (strcmp(p->taskset_hash.hex, q->taskset_hash.hex) != 0)
        return error_set(err, ERR_NO_VERDICT, "not parts of one run: the task set differs, '%s %s' and '%s %s'",
                         p->taskset_name, p->taskset_version, q->taskset_name, q->taskset_version);
    if (same_text("the prompt", p->prompt_hash.hex, q->prompt_hash.hex, NULL) != OK)
        return error_set(err, ERR_NO_VERDICT, "not parts of one run: the prompt differs, '%s' (%.12s) and '%s' (%.12s)",
                         p->prompt_version, p->prompt_hash.hex, q->prompt_version, q->prompt_hash.hex);
    TRY(same_text("the model asked for", p->model_asked, q->model_asked, err));
    TRY(same_text("the model served", p->model_served, q->model_served, err));
    TRY(same_text("the weights' hash", p->weights_sha256, q->weights_sha256, err));
    TRY(same_text("the weights' version", p->weights_version, q->weights_version, err));
    TRY(same_text("the sampling", p->sampling, q->sampling, err));
    TRY(same_text("the entropy epsilon", p->entropy_eps, q->entropy_eps, err));
    TRY(same_text("the collapse numbers", p->collapse, q->collapse, err));
    if (p->collapse[0] && q->collapse[0])
        TRY(same_text("the implicit sink", p->implicit_sink ? "yes" : "no", q->implicit_sink ? "yes" : "no", err));
    TRY(same_text("the processor observed on", p->observed_on.cpu, q->observed_on.cpu, err));
    TRY(same_text("the GPU observed on", p->observed_on.gpu, q->observed_on.gpu, err));
    return same_text("the server", p->observed_on.server, q->observed_on.server, err);
}

static bool asked_in(const struct run *r, const struct exchange *x)
{
    size_t i;

    for (i = 0; i < r->n_exchanges; i++)
        if (r->exchanges[i].turn == x->turn && r->exchanges[i].repeat == x->repeat &&
            strcmp(r->exchanges[i].task, x->task) == 0)
            return true;
    return false;
}

/* What is added to the repeats of `from`: 0 for a shard, the last repeat of `into` for another repeat. */
static int64_t repeat_shift(const struct run *into, const struct run *from)
{
    size_t i, n = into->axes.n[AXIS_REPEAT];

    for (i = 0; i < from->n_exchanges; i++)
        if (asked_in(into, &from->exchanges[i]))
            return n ? into->axes.number[AXIS_REPEAT][n - 1] : 0;
    return 0;
}

static enum status add_axes(struct axes *ret, const struct axes *from, int64_t shift, struct arena *strings,
                            struct error *err)
{
    size_t a, i;

    for (i = 0; i < from->n[AXIS_TASK]; i++)
        TRY(axes_add_task(ret, from->task[i], strings, err));
    for (a = AXIS_TURN; a < N_AXES; a++)
        for (i = 0; i < from->n[a]; i++)
            TRY(axes_add(ret, (enum axis)a, from->number[a][i] + (a == AXIS_REPEAT ? shift : 0), err));
    return OK;
}

/* Where index `i` of an axis of `from` lies in `to`. */
static size_t moved(const struct axes *to, const struct axes *from, size_t axis, size_t i, int64_t shift)
{
    if (axis == AXIS_TASK)
        return axes_find_task(to, from->task[i]);
    return axes_find(to, (enum axis)axis, from->number[axis][i] + (axis == AXIS_REPEAT ? shift : 0));
}

/* Copies the cells of `from` to their places; a cell that is filled already must hold the same value. */
static enum status pour(struct cube *to, const struct axes *to_axes, const struct cube *from,
                        const struct axes *from_axes, int64_t shift, struct error *err)
{
    size_t len = cube_len(from), i;

    for (i = 0; i < len; i++) {
        size_t at[N_AXES] = {0}, rest = i, a, k;
        double *cell;

        if (isnan(from->values[i]))
            continue;
        for (a = N_AXES; a-- > 0;) {
            k = rest % from->dim[a];
            rest /= from->dim[a];
            if (from->axes & AXIS_BIT(a))
                at[a] = moved(to_axes, from_axes, a, k, shift);
        }
        cell = &to->values[cube_index(to, at)];
        if (!isnan(*cell) && (*cell < from->values[i] || *cell > from->values[i]))
            return error_set(err, ERR_FORMAT,
                             "both runs hold %s of task '%s', as %.9g and %.9g: these are no shards of one run",
                             to->metric, to_axes->task[at[AXIS_TASK]], *cell, from->values[i]);
        *cell = from->values[i];
    }
    return OK;
}

/* The cube of one metric over the joint axes. */
static enum status join_cube(struct cube *ret, const struct axes *axes, const struct run *into, const struct run *from,
                             const struct cube *like, int64_t shift, struct error *err)
{
    const struct cube *a = run_cube(into, like->metric), *b = run_cube(from, like->metric);

    if (a && b && (a->version != b->version || a->axes != b->axes))
        return error_set(err, ERR_NO_VERDICT, "not parts of one run: metric '%s' has definition versions %d and %d",
                         like->metric, a->version, b->version);
    TRY(cube_init(ret, like->metric, like->version, like->axes, axes, err));
    TRY(cube_describe(ret, like->unit, like->help, like->better, like->noise, err));
    if (a)
        TRY(pour(ret, axes, a, &into->axes, 0, err));
    return b ? pour(ret, axes, b, &from->axes, shift, err) : OK;
}

static enum status join_cubes(struct run *into, const struct run *from, const struct axes *axes, int64_t shift,
                              struct error *err)
{
    size_t i, n = into->n_cubes;

    for (i = 0; i < n; i++) {
        AUTO(cube) joint = {0};

        TRY(join_cube(&joint, axes, into, from, &into->cubes[i], shift, err));
        cube_done(&into->cubes[i]);
        into->cubes[i] = joint;
        memset(&joint, 0, sizeof joint);
    }
    for (i = 0; i < from->n_cubes; i++) {
        AUTO(cube) joint = {0};

        if (run_cube(into, from->cubes[i].metric))
            continue;
        TRY(join_cube(&joint, axes, into, from, &from->cubes[i], shift, err));
        TRY(run_add_cube(into, &joint, err));
    }
    return OK;
}

/* The fingerprints of both over the joint axes. */
static enum status join_fingerprints(struct run *into, const struct run *from, const struct axes *axes,
                                     struct error *err)
{
    AUTO(fingerprints) joint = {0};
    size_t clash = SIZE_MAX;

    if (!fingerprints_len(&into->fingerprints) && !fingerprints_len(&from->fingerprints))
        return OK;
    TRY(fingerprints_init(&joint, axes, err));
    fingerprints_pour(&joint, axes, &into->fingerprints, &into->axes, &clash);
    fingerprints_pour(&joint, axes, &from->fingerprints, &from->axes, &clash);
    if (clash != SIZE_MAX)
        return error_set(err, ERR_FORMAT,
                         "both runs hold attention of task '%s', and its bits differ: these are no shards of one run",
                         axes->task[clash / (fingerprints_len(&joint) / joint.dim[AXIS_TASK])]);
    fingerprints_done(&into->fingerprints);
    into->fingerprints = joint;
    memset(&joint, 0, sizeof joint);
    return OK;
}

static enum status add_observations(struct run *into, const struct run *from, int64_t shift, struct error *err)
{
    size_t i;

    TRY(mem_grow(&into->exchanges, &into->cap_exchanges, into->n_exchanges + from->n_exchanges, sizeof *into->exchanges,
                 err));
    TRY(mem_grow(&into->events, &into->cap_events, into->n_events + from->n_events, sizeof *into->events, err));
    TRY(mem_grow(&into->bytes, &into->cap_bytes, into->n_bytes + from->n_bytes, 1, err));
    for (i = 0; i < from->n_exchanges; i++) {
        struct exchange x = from->exchanges[i];

        TRY(arena_strdup(&into->arena, x.task, &x.task, err));
        TRY(arena_strdup(&into->arena, x.path, &x.path, err));
        TRY(arena_strdup(&into->arena, x.request, &x.request, err));
        TRY(arena_strdup(&into->arena, x.headers, &x.headers, err));
        x.repeat += shift;
        x.first_event += into->n_events;
        into->exchanges[into->n_exchanges + i] = x;
    }
    for (i = 0; i < from->n_events; i++) {
        into->events[into->n_events + i] = from->events[i];
        into->events[into->n_events + i].offset += into->n_bytes;
    }
    if (from->n_bytes)
        memcpy(into->bytes + into->n_bytes, from->bytes, from->n_bytes);
    into->n_exchanges += from->n_exchanges;
    into->n_events += from->n_events;
    into->n_bytes += from->n_bytes;
    return OK;
}

static bool has_dump(const struct provenance *p, const struct dump_source *d)
{
    size_t i;

    for (i = 0; i < p->n_dumps; i++)
        if (dump_source_is_same(&p->dumps[i], d))
            return true;
    return false;
}

static enum status copy_dump(struct dump_source *ret, const struct dump_source *d, struct arena *a, struct error *err)
{
    *ret = *d;
    TRY(arena_strdup(a, d->path, &ret->path, err));
    TRY(arena_strdup(a, d->model_name, &ret->model_name, err));
    TRY(arena_strdup(a, d->weights_sha256, &ret->weights_sha256, err));
    TRY(arena_strdup(a, d->prompt_version, &ret->prompt_version, err));
    TRY(arena_strdup(a, d->prompt_sha256, &ret->prompt_sha256, err));
    TRY(arena_strdup(a, d->compute_dtype, &ret->compute_dtype, err));
    TRY(arena_strdup(a, d->store_dtype, &ret->store_dtype, err));
    TRY(arena_strdup(a, d->capture, &ret->capture, err));
    TRY(arena_strdup(a, d->layout, &ret->layout, err));
    return arena_strdup(a, d->variant, &ret->variant, err);
}

static enum status add_dumps(struct run *into, const struct run *from, struct error *err)
{
    struct provenance *p = &into->provenance;
    struct dump_source *all = NULL;
    size_t i, n = p->n_dumps;

    TRY(arena_new(&into->arena, n + from->provenance.n_dumps, sizeof *all, &all, err));
    if (n)
        memcpy(all, p->dumps, n * sizeof *all);
    for (i = 0; i < from->provenance.n_dumps; i++)
        if (!has_dump(p, &from->provenance.dumps[i]))
            TRY(copy_dump(&all[n++], &from->provenance.dumps[i], &into->arena, err));
    p->dumps = all;
    p->n_dumps = n;
    return OK;
}

/* A text that only `from` knows. */
static enum status fill(struct run *into, char **text, const char *other, struct error *err)
{
    return (*text)[0] ? OK : arena_strdup(&into->arena, other, text, err);
}

static enum status add_provenance(struct run *into, const struct run *from, struct error *err)
{
    struct provenance *p = &into->provenance;
    const struct provenance *q = &from->provenance;

    if (!p->prompt_hash.hex[0]) {
        p->prompt_hash = q->prompt_hash;
        TRY(arena_strdup(&into->arena, q->prompt_version, &p->prompt_version, err));
        TRY(arena_strdup(&into->arena, from->prompt_json, &into->prompt_json, err));
    }
    if (!p->collapse[0])
        p->implicit_sink = q->implicit_sink;
    p->mask_checked = p->mask_checked || q->mask_checked;
    TRY(fill(into, &p->entropy_eps, q->entropy_eps, err));
    TRY(fill(into, &p->collapse, q->collapse, err));
    TRY(fill(into, &p->model_asked, q->model_asked, err));
    TRY(fill(into, &p->model_served, q->model_served, err));
    TRY(fill(into, &p->weights_sha256, q->weights_sha256, err));
    TRY(fill(into, &p->weights_version, q->weights_version, err));
    TRY(fill(into, &p->sampling, q->sampling, err));
    TRY(fill(into, &p->observed_on.host, q->observed_on.host, err));
    TRY(fill(into, &p->observed_on.cpu, q->observed_on.cpu, err));
    TRY(fill(into, &p->observed_on.gpu, q->observed_on.gpu, err));
    TRY(fill(into, &p->observed_on.server, q->observed_on.server, err));
    TRY(add_dumps(into, from, err));
    return OK;
}

enum status run_merge(struct run *into, const struct run *from, struct error *err)
{
    AUTO(axes) axes = {0};
    struct axes old;
    int64_t shift;
    size_t i;

    TRY(check_same(into, from, err));
    if (observed_twice(into, from))
        return error_set(err, ERR_USAGE,
                         "holds replies that the runs before it hold already, to the nanosecond: counted "
                         "twice they would look like repeats without noise");
    shift = repeat_shift(into, from);
    TRY(add_axes(&axes, &into->axes, 0, &into->arena, err));
    TRY(add_axes(&axes, &from->axes, shift, &into->arena, err));
    TRY(join_cubes(into, from, &axes, shift, err));
    TRY(join_fingerprints(into, from, &axes, err));
    TRY(add_observations(into, from, shift, err));
    TRY(add_provenance(into, from, err));
    for (i = 0; i < from->n_notes; i++)
        if (strcmp(from->notes[i].code, "partial") != 0)
            TRY(run_note(into, err, from->notes[i].code, "%s", from->notes[i].text));
    old = into->axes;
    into->axes = axes;
    axes = old;
    return OK;
}
