#include "core/metrics/compute.h"

#include <string.h>

static enum status unknown_task(const struct taskset *tasks, const char *id, const char *from, struct error *err)
{
    return error_set(err, ERR_FORMAT,
                     "%s: task '%s' is not in the task set '%s' %s: record it again, or name its task set", from, id,
                     tasks->name, tasks->version);
}

static enum status check_task(const struct taskset *tasks, const char *id, int64_t turn, const char *from,
                              struct error *err)
{
    const struct task *task;

    if (!tasks)
        return OK;
    task = taskset_find(tasks, id);
    if (!task)
        return unknown_task(tasks, id, from, err);
    if (!task_turn(task, turn))
        return error_set(err, ERR_FORMAT,
                         "%s: task '%s' has %zu turns in the task set '%s' %s, turn %lld is not one of them", from, id,
                         task->n_turns, tasks->name, tasks->version, (long long)turn);
    return OK;
}

static enum status add_exchanges(struct run *run, const struct taskset *tasks, struct error *err)
{
    size_t i;

    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];

        TRY(check_task(tasks, x->task, x->turn, "recording", err));
        TRY(axes_add_task(&run->axes, x->task, &run->arena, err));
        TRY(axes_add(&run->axes, AXIS_TURN, x->turn, err));
        TRY(axes_add(&run->axes, AXIS_REPEAT, x->repeat, err));
    }
    return OK;
}

static enum status add_dump(struct run *run, const struct taskset *tasks, const struct dump *d, struct error *err)
{
    size_t i, h;

    for (i = 0; i < d->n_samples; i++) {
        const struct dump_sample *s = &d->samples[i];

        TRY(check_task(tasks, s->task, s->turn, d->path, err));
        TRY(axes_add_task(&run->axes, s->task, &run->arena, err));
        TRY(axes_add(&run->axes, AXIS_TURN, s->turn, err));
    }
    for (i = 0; i < d->n_layers; i++) {
        TRY(axes_add(&run->axes, AXIS_LAYER, d->layers[i].index, err));
        for (h = run->axes.n[AXIS_HEAD]; h < d->layers[i].n_heads; h++)
            TRY(axes_add(&run->axes, AXIS_HEAD, (int64_t)h, err));
    }
    return OK;
}

static bool have_layer(const struct dump *d, int64_t index)
{
    size_t i;

    for (i = 0; i < d->n_layers; i++)
        if (d->layers[i].index == index)
            return true;
    return false;
}

/* Two dumps may hold other layers of the same samples, or other samples of the same layers, but no cell twice. */
static enum status check_apart(const struct dump *a, const struct dump *b, struct error *err)
{
    size_t i, j, k;

    for (i = 0; i < b->n_layers; i++) {
        if (!have_layer(a, b->layers[i].index))
            continue;
        for (j = 0; j < a->n_samples; j++)
            for (k = 0; k < b->n_samples; k++)
                if (strcmp(a->samples[j].id, b->samples[k].id) == 0)
                    return error_set(err, ERR_FORMAT, "'%s' and '%s' both hold sample '%s', layer %lld: leave one out",
                                     a->path, b->path, b->samples[k].id, (long long)b->layers[i].index);
    }
    return OK;
}

/* The option and the server were asked before; the task set's own statement is the last resort. */
static enum status settle_context_limit(struct run *run, const struct taskset *tasks, struct error *err)
{
    struct provenance *p = &run->provenance;

    if (p->context_limit > 0 || !tasks || tasks->context_limit <= 0)
        return OK;
    p->context_limit = tasks->context_limit;
    return arena_strdup(&run->arena, "taskset", &p->context_limit_from, err);
}

enum status compute_axes(struct run *run, const struct taskset *tasks, struct dump *const *dumps, size_t n_dumps,
                         struct error *err)
{
    size_t i, j;

    TRY(settle_context_limit(run, tasks, err));
    for (i = 0; tasks && i < tasks->n_tasks; i++)
        TRY(axes_add_task(&run->axes, tasks->tasks[i].id, &run->arena, err));
    TRY(add_exchanges(run, tasks, err));
    for (i = 0; i < n_dumps; i++) {
        for (j = 0; j < i; j++)
            TRY(check_apart(dumps[j], dumps[i], err));
        TRY(add_dump(run, tasks, dumps[i], err));
    }
    return OK;
}
