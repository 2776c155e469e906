#include "core/model/taskset.h"

#include <string.h>

void taskset_done(struct taskset *t)
{
    arena_done(&t->arena);
    memset(t, 0, sizeof *t);
}

const struct task *taskset_find(const struct taskset *t, const char *id)
{
    size_t i;

    for (i = 0; i < t->n_tasks; i++)
        if (strcmp(t->tasks[i].id, id) == 0)
            return &t->tasks[i];
    return NULL;
}

const struct turn *task_turn(const struct task *task, int64_t turn)
{
    if (!task || turn < 1 || (uint64_t)turn > task->n_turns)
        return NULL;
    return &task->turns[turn - 1];
}
