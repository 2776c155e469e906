#include "core/base/scope.h"
#include "reports/series.h"
#include "tests/support/close.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* Means of at most 16 doubles near 1: 16 roundings of 2^-53 each, with room. */
static const struct tol near = {1e-14, 1e-14};

Test(series, pairs_tasks_by_name_and_not_by_place)
{
    AUTO(series) s = {0};
    struct fake f;
    struct where all = series_all();
    const struct cube *cand, *base;
    double sum = 0;
    size_t i;

    fake_init(&f);
    cr_assert(series_init(&s, &f.input, NULL) == OK);
    cand = run_cube(&f.cand, "intent.alignment");
    base = run_cube(&f.base, "intent.alignment");
    for (i = 0; i < f.cand.axes.n[AXIS_TASK]; i++) {
        size_t at[N_AXES] = {i}, to[N_AXES] = {axes_find_task(&f.base.axes, f.cand.axes.task[i])};
        struct paired p = series_task(&s, "intent.alignment", i);
        double want = cube_span(cand, AXIS_BIT(AXIS_TASK), at).mean - cube_span(base, AXIS_BIT(AXIS_TASK), to).mean;

        cr_assert(to[0] != i, "the runs have the tasks in different orders");
        cr_assert(close_to(p.delta, want, near));
        sum += want;
    }
    cr_assert(close_to(series_paired(&s, "intent.alignment", &all).delta, sum / 16, near));
    fake_done(&f);
}

Test(series, several_base_runs_are_averaged)
{
    AUTO(series) one = {0};
    AUTO(series) two = {0};
    struct where cell = {NULL, -1, 9, 2};
    struct run base[2];
    struct fake f;
    double alone;

    fake_init(&f);
    base[0] = f.base;
    base[1] = f.cand;
    cr_assert(series_init(&one, &f.input, NULL) == OK);
    alone = series_paired(&one, "attn.entropy", &cell).delta;
    f.input.base = base;
    f.input.n_base = 2;
    cr_assert(series_init(&two, &f.input, NULL) == OK);
    cr_assert(close_to(series_paired(&two, "attn.entropy", &cell).delta, alone / 2, near),
              "half of the base is the candidate itself");
    fake_done(&f);
}

Test(series, what_is_not_there_is_no_number)
{
    AUTO(series) s = {0};
    struct where nowhere = {NULL, -1, 99, -1}, all = series_all();
    struct fake f;

    fake_init(&f);
    cr_assert(series_init(&s, &f.input, NULL) == OK);
    cr_assert(series_paired(&s, "no.metric", &all).n == 0);
    cr_assert(isnan(series_paired(&s, "attn.entropy", &nowhere).delta));
    cr_assert(series_at(&s, SIDE_BASE, "attn.entropy", &nowhere, AXIS_HEAD).n == 0);
    fake_done(&f);
}
