#include "core/model/run.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void place_init(struct place *p, char *empty)
{
    p->host = p->os = p->cpu = p->gpu = p->driver = p->server = p->when_utc = empty;
}

enum status run_init(struct run *r, struct error *err)
{
    struct provenance *p = &r->provenance;
    char *empty = NULL;

    memset(r, 0, sizeof *r);
    TRY(arena_strdup(&r->arena, "", &empty, err));
    p->taskset_name = p->taskset_version = p->prompt_version = p->model_asked = p->model_served = empty;
    p->weights_version = p->weights_sha256 = p->sampling = p->source = p->context_limit_from = empty;
    p->tool_version = p->tool_build = p->load = p->entropy_eps = p->collapse = empty;
    p->goodput = p->single_tokens_per_s = empty;
    place_init(&p->observed_on, empty);
    place_init(&p->computed_on, empty);
    return OK;
}

void run_done(struct run *r)
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++)
        cube_done(&r->cubes[i]);
    free(r->cubes);
    fingerprints_done(&r->fingerprints);
    free(r->notes);
    free(r->exchanges);
    free(r->events);
    free(r->bytes);
    axes_done(&r->axes);
    arena_done(&r->arena);
    memset(r, 0, sizeof *r);
}

void run_list_free(struct run *list, size_t n)
{
    size_t i;

    for (i = 0; list && i < n; i++)
        run_done(&list[i]);
    free(list);
}

struct cube *run_cube(const struct run *r, const char *metric)
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++)
        if (strcmp(r->cubes[i].metric, metric) == 0)
            return &r->cubes[i];
    return NULL;
}

enum status run_add_cube(struct run *r, struct cube *c, struct error *err)
{
    if (run_cube(r, c->metric))
        return error_set(err, ERR_INTERNAL, "metric '%s' was computed twice", c->metric);
    TRY(mem_grow(&r->cubes, &r->cap_cubes, r->n_cubes + 1, sizeof *r->cubes, err));
    r->cubes[r->n_cubes++] = *c;
    memset(c, 0, sizeof *c);
    return OK;
}

bool run_has_task(const struct run *r, size_t task)
{
    size_t i, k;

    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *c = &r->cubes[i];
        size_t n = c->axes & AXIS_BIT(AXIS_TASK) ? cube_len(c) / c->dim[AXIS_TASK] : 0;

        for (k = 0; k < n; k++) /* a task's cells lie side by side */
            if (!isnan(c->values[task * n + k]))
                return true;
    }
    return false;
}

size_t run_count_tasks(const struct run *r)
{
    size_t n = 0, i;

    for (i = 0; i < r->axes.n[AXIS_TASK]; i++)
        n += run_has_task(r, i);
    return n;
}

enum status run_note(struct run *r, struct error *err, const char *code, const char *fmt, ...)
{
    struct note n = {0};
    char text[640];
    va_list args;
    size_t i;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (i = 0; i < r->n_notes; i++)
        if (strcmp(r->notes[i].code, code) == 0 && strcmp(r->notes[i].text, text) == 0)
            return OK;
    TRY(mem_grow(&r->notes, &r->cap_notes, r->n_notes + 1, sizeof *r->notes, err));
    TRY(arena_strdup(&r->arena, code, &n.code, err));
    TRY(arena_strdup(&r->arena, text, &n.text, err));
    r->notes[r->n_notes++] = n;
    return OK;
}
