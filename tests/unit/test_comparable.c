#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <stdio.h>
#include <string.h>

static struct error err;

enum { BASE, CAND };

static void complete(struct run *r, int side)
{
    r[side].provenance.is_complete = false;
}

static void other_taskset(struct run *r, int side)
{
    snprintf(r[BASE].provenance.taskset_hash.hex, 65, "%064d", 1);
    snprintf(r[CAND].provenance.taskset_hash.hex, 65, "%064d", 2);
    r[BASE].provenance.taskset_name = fake_text(&r[BASE], "smoke");
    r[CAND].provenance.taskset_name = fake_text(&r[CAND], "smoke");
    r[side].provenance.taskset_version = fake_text(&r[side], "7");
}

static void no_taskset(struct run *r, int side)
{
    snprintf(r[side].provenance.taskset_hash.hex, 65, "%064d", 1);
    r[side].provenance.taskset_name = fake_text(&r[side], "smoke");
}

static void other_sampling(struct run *r, int side)
{
    r[BASE].provenance.sampling = fake_text(&r[BASE], "{\"temperature\":0}");
    r[CAND].provenance.sampling = fake_text(&r[CAND], "{\"temperature\":0}");
    r[side].provenance.sampling = fake_text(&r[side], "{\"temperature\":0.7}");
}

static void other_version(struct run *r, int side)
{
    run_cube(&r[side], "attn.entropy")->version = 5;
}

static void other_epsilon(struct run *r, int side)
{
    r[side].provenance.entropy_eps = fake_text(&r[side], "add:1e-6");
}

static void other_axes(struct run *r, int side)
{
    run_cube(&r[side], "attn.entropy")->axes &= ~AXIS_BIT(AXIS_HEAD);
}

static void other_direction(struct run *r, int side)
{
    run_cube(&r[side], "attn.entropy")->better = BETTER_LOWER;
}

static void other_noise(struct run *r, int side)
{
    run_cube(&r[side], "attn.entropy")->noise = NOISE_RUN;
}

static void other_tasks(struct run *r, int side)
{
    size_t i;

    for (i = 0; i < r[side].axes.n[AXIS_TASK]; i++)
        r[side].axes.task[i] = fake_text(&r[side], "x");
}

static const struct {
    void (*change)(struct run *r, int side);
    const char *says[2];
} rows[] = {
    {complete, {"the base run is incomplete: resume it or run again", "the candidate run is incomplete: resume it"}},
    {other_taskset, {"the task sets differ, base 'smoke 7' (000000000000)", "candidate 'smoke 7' (000000000000)"}},
    {no_taskset, {"the base run has the task set 'smoke ', the candidate run has none", "the base run has none"}},
    {other_sampling, {"base {\"temperature\":0.7}, candidate {\"temperature\":0}", "candidate {\"temperature\":0.7}"}},
    {other_version, {"definition version 5 in the base", "definition version 1 in the base run and 5"}},
    {other_epsilon,
     {"entropy epsilon base add:1e-06, candidate none", "entropy epsilon base none, candidate add:1e-06"}},
    {other_axes, {"over other axes", "over other axes"}},
    {other_direction, {"defined with another direction", "defined with another direction"}},
    {other_noise, {"another unit of noise", "another unit of noise"}},
    {other_tasks, {"no task in common, base begins with 'x'", "candidate with 'x'"}},
};

static void two_runs(struct run *r)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        fake_run(&r[i], 4, 1, 2, 2);
        fake_cube(&r[i], "attn.entropy", 3);
    }
}

Test(comparable, names_what_differs)
{
    size_t i;
    int side;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        for (side = 0; side < 2; side++) {
            AUTO(judgement) j = {0};
            struct policy none = {.alpha = 0.05};
            struct run r[2];

            two_runs(r);
            rows[i].change(r, side);
            error_clear(&err);
            cr_assert(eq(int, comparable_check(&r[BASE], &r[CAND], &err), ERR_NO_VERDICT), "row %zu", i);
            cr_assert(strstr(err.message, rows[i].says[side]) != NULL, "row %zu: %s", i, err.message);
            cr_assert(eq(int, decide(&j, &r[BASE], 1, &r[CAND], 1, &none, 0, NULL), ERR_NO_VERDICT),
                      "decide looks too");
            run_done(&r[BASE]);
            run_done(&r[CAND]);
        }
}

Test(comparable, what_may_differ_does)
{
    struct run r[2];

    two_runs(r);
    r[CAND].provenance.prompt_version = fake_text(&r[CAND], "v2");
    r[CAND].provenance.weights_version = fake_text(&r[CAND], "w2");
    r[CAND].provenance.model_served = fake_text(&r[CAND], "m2");
    r[CAND].provenance.sampling = fake_text(&r[CAND], "{\"temperature\":0}");
    r[CAND].axes.task[1] = fake_text(&r[CAND], "another");
    MUST(comparable_check(&r[BASE], &r[CAND], &err)); /* the base has no replies, hence no sampling */
    run_done(&r[BASE]);
    run_done(&r[CAND]);
}
