#include "cli/stamp.h"

#include "cli/version.h"
#include "core/base/scope.h"
#include "core/io/machine.h"
#include "kernels/backend.h"

#include <inttypes.h>
#include <string.h>

static enum status keep_text(struct arena *strings, const char *text, char **ret, struct error *err)
{
    return arena_strdup(strings, text ? text : "", ret, err);
}

/* The dump's texts live as long as the dump; the run's copy must live as long as the run. */
static enum status keep_dump(struct run *run, const struct dump *d, struct dump_source *ret, struct error *err)
{
    const struct dump_source *s = &d->source;
    struct arena *a = &run->arena;

    ret->hash = s->hash;
    ret->content = s->content;
    TRY(arena_strdup(a, d->path, &ret->path, err));
    TRY(keep_text(a, s->model_name, &ret->model_name, err));
    TRY(keep_text(a, s->weights_sha256, &ret->weights_sha256, err));
    TRY(keep_text(a, s->prompt_version, &ret->prompt_version, err));
    TRY(keep_text(a, s->prompt_sha256, &ret->prompt_sha256, err));
    TRY(keep_text(a, s->compute_dtype, &ret->compute_dtype, err));
    TRY(keep_text(a, s->store_dtype, &ret->store_dtype, err));
    TRY(keep_text(a, s->capture, &ret->capture, err));
    TRY(keep_text(a, s->layout, &ret->layout, err));
    return keep_text(a, s->variant, &ret->variant, err);
}

static bool differ(const char *a, const char *b)
{
    return a[0] && b[0] && strcmp(a, b) != 0;
}

/* A text that the run has not yet comes from the dump. */
static void fill_in(char **text, char *from)
{
    if (*text && !(*text)[0] && from[0])
        *text = from;
}

static enum status agree(struct run *run, struct dump_source *d, struct error *err)
{
    struct provenance *p = &run->provenance;

    if (differ(p->weights_sha256, d->weights_sha256))
        TRY(run_note(run, err, "dump-weights",
                     "dump '%s' is of other weights (%.12s) than the rest of the run (%.12s): what it shows is not of "
                     "the model that answered",
                     d->path, d->weights_sha256, p->weights_sha256));
    if (differ(p->prompt_hash.hex, d->prompt_sha256))
        TRY(run_note(run, err, "dump-prompt",
                     "dump '%s' was made with another prompt ('%s', %.12s) than the rest of the run ('%s', %.12s)",
                     d->path, d->prompt_version, d->prompt_sha256, p->prompt_version, p->prompt_hash.hex));
    fill_in(&p->weights_sha256, d->weights_sha256);
    if (!p->prompt_hash.hex[0] && strlen(d->prompt_sha256) + 1 == sizeof p->prompt_hash.hex) {
        memcpy(p->prompt_hash.hex, d->prompt_sha256, sizeof p->prompt_hash.hex);
        fill_in(&p->prompt_version, d->prompt_version);
    }
    fill_in(&p->model_asked, d->model_name);
    return OK;
}

enum status stamp_dumps(struct run *run, const struct inputs *in, const struct replay *replay, struct error *err)
{
    struct provenance *p = &run->provenance;
    size_t i;

    if (in->copies_attention) {
        p->dumps = replay->dumps;
        p->n_dumps = replay->n_dumps;
        return OK;
    }
    TRY(arena_new(&run->arena, in->n_dumps, sizeof *p->dumps, &p->dumps, err));
    for (i = 0; i < in->n_dumps; i++)
        TRY(keep_dump(run, &in->dumps[i], &p->dumps[i], err));
    p->n_dumps = in->n_dumps;
    for (i = 0; i < p->n_dumps; i++)
        TRY(agree(run, &p->dumps[i], err));
    return OK;
}

static bool was_asked(const struct run *run, const char *task, int64_t turn, int64_t repeat)
{
    size_t i;

    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];

        if (x->turn == turn && x->repeat == repeat && strcmp(x->task, task) == 0)
            return true;
    }
    return false;
}

/* Requests that the task set asks for, and those of them that are not there. */
struct census {
    size_t n, n_missing;
    const char *first; /* task of the first one missing */
};

static void count_task(struct census *c, const struct run *run, const struct task *task)
{
    size_t t, r;

    for (t = 0; t < task->n_turns; t++)
        for (r = 0; r < run->axes.n[AXIS_REPEAT]; r++) {
            c->n++;
            if (was_asked(run, task->id, (int64_t)t + 1, run->axes.number[AXIS_REPEAT][r]))
                continue;
            c->n_missing++;
            if (!c->first)
                c->first = task->id;
        }
}

enum status stamp_complete(struct run *run, const struct taskset *tasks, struct error *err)
{
    struct census c = {0};
    size_t i;

    if (!tasks || run->n_exchanges == 0 || run->provenance.load[0]) /* a live run knows itself what was to be asked */
        return OK;
    for (i = 0; i < tasks->n_tasks; i++)
        count_task(&c, run, &tasks->tasks[i]);
    if (c.n_missing == 0)
        return OK;
    run->provenance.is_complete = false;
    return run_note(run, err, "partial",
                    "%zu of %zu requests of the task set are missing, the first of task '%s': a partial run is not "
                    "gated; record the rest",
                    c.n_missing, c.n, c.first);
}

enum status stamp_tool(struct run *run, uint64_t seed, bool is_reproducible, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(buf) build = {0};

    version_build(&build);
    buf_printf(&build, ", %s", backend_isa());
    TRY(buf_check(&build, err));
    TRY(arena_strdup(&run->arena, tool_version, &p->tool_version, err));
    TRY(arena_strdup(&run->arena, buf_text(&build), &p->tool_build, err));
    p->seed = seed;
    p->is_reproducible = is_reproducible;
    if (!is_reproducible)
        return machine_describe(&p->computed_on, &run->arena, err);
    TRY(arena_strdup(&run->arena, "", &p->computed_on.host, err));
    p->computed_on.os = p->computed_on.cpu = p->computed_on.gpu = p->computed_on.driver = p->computed_on.server =
        p->computed_on.when_utc = p->computed_on.host;
    p->computed_on.cores = 0;
    return OK;
}
