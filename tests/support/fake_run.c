#include "tests/support/fake_run.h"

#include "core/base/rng.h"
#include "core/metrics/registry.h"
#include "tests/support/must.h"

#include <stdio.h>

static struct error err;

void fake_run(struct run *r, size_t n_tasks, size_t n_turns, size_t n_layers, size_t n_heads)
{
    const size_t n[N_AXES] = {0, n_turns, 1, n_layers, n_heads};
    char id[24];
    size_t i, axis;

    MUST(run_init(r, &err));
    r->provenance.is_complete = true;
    for (i = 0; i < n_tasks; i++) {
        snprintf(id, sizeof id, "t%02zu", i);
        MUST(axes_add_task(&r->axes, id, &r->arena, &err));
    }
    for (axis = AXIS_TURN; axis < N_AXES; axis++)
        for (i = 0; i < n[axis]; i++)
            MUST(axes_add(&r->axes, (enum axis)axis, (int64_t)i + (axis < AXIS_LAYER), &err));
}

struct cube *fake_cube(struct run *r, const char *metric, double value)
{
    const struct metric *m = metric_find(metric);
    struct cube c;
    size_t i;

    cr_assert(m != NULL, "no metric '%s'", metric);
    MUST(cube_init(&c, m->name, m->version, m->axes, &r->axes, &err));
    MUST(cube_describe(&c, m->unit, m->help, m->better, m->noise, &err));
    for (i = 0; i < cube_len(&c); i++)
        c.values[i] = value;
    MUST(run_add_cube(r, &c, &err));
    return run_cube(r, metric);
}

void fake_noise(struct cube *c, double amount, uint64_t salt)
{
    size_t per_task = cube_len(c) / c->dim[AXIS_TASK], i;

    for (i = 0; i < cube_len(c); i++) {
        /* Tasks go in pairs: the second has the first one's noise turned over. */
        size_t task = i / per_task;
        uint64_t index = task / 2 * per_task + i % per_task;
        double u = rng_at(1, salt, index).word[0] / 2147483647.5 - 1;

        c->values[i] += amount * (task % 2 ? -u : u);
    }
}

void fake_shift(struct cube *c, int layer, int head, double shift)
{
    size_t at[N_AXES] = {0}, i;

    for (i = 0; i < cube_len(c); i++) {
        at[AXIS_HEAD] = i % c->dim[AXIS_HEAD];
        at[AXIS_LAYER] = i / c->dim[AXIS_HEAD] % c->dim[AXIS_LAYER];
        if ((layer < 0 || at[AXIS_LAYER] == (size_t)layer) && (head < 0 || at[AXIS_HEAD] == (size_t)head))
            c->values[i] += shift;
    }
}

void fake_digests(struct run *r, size_t layer, int head)
{
    struct fingerprints *f = &r->fingerprints;
    size_t len, i;

    fingerprints_done(f);
    MUST(fingerprints_init(f, &r->axes, &err));
    len = fingerprints_len(f);
    for (i = 0; i < len; i++) {
        size_t h = i % f->dim[AXIS_HEAD], l = i / f->dim[AXIS_HEAD] % f->dim[AXIS_LAYER];
        bool other = l > layer || (l == layer && (head < 0 || h == (size_t)head));

        f->digest[i * DIGEST_BYTES] = 1;
        f->digest[i * DIGEST_BYTES + 1] = (unsigned char)i;
        f->digest[i * DIGEST_BYTES + 15] = other;
    }
}

char *fake_text(struct run *r, const char *text)
{
    char *copy = NULL;

    MUST(arena_strdup(&r->arena, text, &copy, &err));
    return copy;
}
