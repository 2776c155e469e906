#include "core/model/axes.h"

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const axis_names[N_AXES] = {"task", "turn", "repeat", "layer", "head"};

void axes_done(struct axes *a)
{
    int i;

    free(a->task);
    for (i = 0; i < N_AXES; i++)
        free(a->number[i]);
    memset(a, 0, sizeof *a);
}

size_t axes_find_task(const struct axes *a, const char *id)
{
    size_t i;

    for (i = 0; i < a->n[AXIS_TASK]; i++)
        if (strcmp(a->task[i], id) == 0)
            return i;
    return SIZE_MAX;
}

/* Where `number` stands, or would stand. */
static size_t place_of(const struct axes *a, enum axis axis, int64_t number)
{
    size_t lo = 0, hi = a->n[axis];

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (a->number[axis][mid] < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t axes_find(const struct axes *a, enum axis axis, int64_t number)
{
    size_t i = place_of(a, axis, number);

    return i < a->n[axis] && a->number[axis][i] == number ? i : SIZE_MAX;
}

enum status axes_add_task(struct axes *a, const char *id, struct arena *strings, struct error *err)
{
    char *copy = NULL;

    if (axes_find_task(a, id) != SIZE_MAX)
        return OK;
    TRY(mem_grow(&a->task, &a->cap[AXIS_TASK], a->n[AXIS_TASK] + 1, sizeof *a->task, err));
    TRY(arena_strdup(strings, id, &copy, err));
    a->task[a->n[AXIS_TASK]++] = copy;
    return OK;
}

enum status axes_add(struct axes *a, enum axis axis, int64_t number, struct error *err)
{
    size_t i = place_of(a, axis, number);
    int64_t *labels;

    if (i < a->n[axis] && a->number[axis][i] == number)
        return OK;
    TRY(mem_grow(&a->number[axis], &a->cap[axis], a->n[axis] + 1, sizeof *labels, err));
    labels = a->number[axis];
    memmove(labels + i + 1, labels + i, (a->n[axis] - i) * sizeof *labels);
    labels[i] = number;
    a->n[axis]++;
    return OK;
}

size_t axes_place(const struct axes *to, const struct axes *from, enum axis axis, size_t i)
{
    /* Runs of one task set have their tasks in one order: looking there first spares a search for each of thousands. */
    if (axis == AXIS_TASK && i < to->n[AXIS_TASK] && strcmp(to->task[i], from->task[i]) == 0)
        return i;
    return axis == AXIS_TASK ? axes_find_task(to, from->task[i]) : axes_find(to, axis, from->number[axis][i]);
}
