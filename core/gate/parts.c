#include "core/gate/parts.h"

#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TAGS = 256, MAX_SAID = 3 };

/* A tag or a task and how its tasks moved. */
struct part {
    const char *name; /* borrowed */
    double sum;       /* of differences */
    size_t n;         /* tasks          */
    double harm;      /* mean move to the worse side; either way for what should not move */
};

struct parts {
    struct part *items; /* owned */
    size_t n, cap;
};

static void parts_done(struct parts *p)
{
    free(p->items);
    memset(p, 0, sizeof *p);
}

static enum status add(struct parts *p, const char *name, double diff, struct error *err)
{
    size_t i;

    for (i = 0; i < p->n && strcmp(p->items[i].name, name) != 0; i++)
        continue;
    if (i == p->n) {
        TRY(mem_grow(&p->items, &p->cap, p->n + 1, sizeof *p->items, err));
        p->items[p->n++] = (struct part){.name = name};
    }
    p->items[i].sum += diff;
    p->items[i].n++;
    return OK;
}

/* The task's object in a task set's document; NULL when there is none. */
static const json_t *find_task(const json_t *root, const char *id)
{
    const json_t *tasks = json_object_get(root, "tasks"), *task;
    size_t i;

    json_array_foreach (tasks, i, task) {
        const char *name = json_string_value(json_object_get(task, "id"));

        if (name && strcmp(name, id) == 0)
            return task;
    }
    return NULL;
}

static enum status add_tags(struct parts *tags, const json_t *root, const char *task, double diff, struct error *err)
{
    const json_t *tag;
    size_t i;

    json_array_foreach (json_object_get(find_task(root, task), "tags"), i, tag)
        if (json_is_string(tag) && tags->n < MAX_TAGS)
            TRY(add(tags, json_string_value(tag), diff, err));
    return OK;
}

static int by_harm(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->harm > y->harm || x->harm < y->harm)
        return x->harm > y->harm ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void rank(struct parts *p, enum better better)
{
    size_t i;

    for (i = 0; i < p->n; i++) {
        double mean = p->items[i].sum / (double)p->items[i].n;

        p->items[i].harm = better == BETTER_HIGHER ? -mean : (better == BETTER_LOWER ? mean : fabs(mean));
    }
    if (p->n)
        qsort(p->items, p->n, sizeof *p->items, by_harm);
}

/* The parts that got worse, the worst first; returns how many it said. */
static size_t put_parts(struct buf *b, const struct parts *p, size_t min, size_t max, const char *unit)
{
    size_t i, said = 0;

    for (i = 0; i < p->n && said < MAX_SAID; i++) {
        const struct part *part = &p->items[i];

        if (!(part->harm > 0) || part->n < min || part->n > max)
            continue;
        buf_printf(b, "%s'%.60s' %s ", said++ ? ", " : "", part->name, part->sum > 0 ? "rose by" : "fell by");
        words_quantity(b, fabs(part->sum / (double)part->n), unit);
        if (max > 1)
            buf_printf(b, " (%zu tasks)", part->n);
    }
    return said;
}

static enum status gather(const struct pairs *p, const json_t *root, struct parts *tags, struct parts *tasks,
                          struct error *err)
{
    size_t i;

    for (i = 0; i < p->n_tasks; i++) {
        double diff = p->diff[i * p->n_columns + p->n_cells];

        if (!isfinite(diff))
            continue;
        TRY(add(tasks, p->task[i], diff, err));
        if (root)
            TRY(add_tags(tags, root, p->task[i], diff, err));
    }
    return OK;
}

enum status parts_words(const struct tested *t, const struct run *run, struct arena *texts, const char **ret,
                        struct error *err)
{
    AUTO(json) doc = {0};
    AUTO(parts) tags = {0};
    AUTO(parts) tasks = {0};
    AUTO(buf) b = {0};
    AUTO(buf) by_tag = {0};
    AUTO(buf) by_task = {0};
    struct error ignored = {0};
    char *text = NULL;

    *ret = NULL;
    if (t->state != FAMILY_TESTED || t->pairs.has_layers)
        return OK;
    /* Without a task set, or with one that does not read, tasks have no tags: nothing else hangs on it here. */
    if (run->taskset_json &&
        json_parse(&doc, "taskset.json", run->taskset_json, strlen(run->taskset_json), &ignored) != OK)
        memset(&doc, 0, sizeof doc);
    TRY(gather(&t->pairs, doc.root, &tags, &tasks, err));
    rank(&tags, t->family.better);
    rank(&tasks, t->family.better);
    if (!put_parts(&by_task, &tasks, 1, 1, t->family.unit))
        return OK;
    buf_printf(&b, "where %s moved most, described and not tested: ", t->family.metric);
    /* A tag that all tasks have says what the mean says; one task is no tag's worth. */
    if (put_parts(&by_tag, &tags, 2, t->pairs.n_tasks - 1, t->family.unit))
        buf_printf(&b, "tags %s; ", buf_text(&by_tag));
    buf_printf(&b, "tasks %s", buf_text(&by_task));
    TRY(buf_check(&b, err));
    TRY(arena_strdup(texts, buf_text(&b), &text, err));
    *ret = text;
    return OK;
}
