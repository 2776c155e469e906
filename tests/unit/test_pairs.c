#include "core/base/scope.h"
#include "core/gate/pairs.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <math.h>

static struct error err;

/* Sums of at most four small numbers. */
static const struct tol tight = {1e-14, 0};

Test(pairs, heads_are_cells_and_turns_are_averaged)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(pairs) p = {0};
    struct cube *c;

    fake_run(&base, 3, 2, 2, 2);
    fake_run(&cand, 3, 2, 2, 2);
    fake_cube(&base, "attn.entropy", 1);
    c = fake_cube(&cand, "attn.entropy", 1);
    c->values[0] = 3;       /* task 0, turn 1, layer 0, head 0 */
    c->values[4 + 1] = NAN; /* task 0, turn 2, layer 0, head 1 */
    c->values[1] = 2;       /* task 0, turn 1, layer 0, head 1 */
    MUST(pairs_init(&p, &base, 1, &cand, 1, "attn.entropy", &err));
    cr_assert(p.n_tasks == 3 && p.n_cells == 4 && p.n_columns == 5 && p.has_layers);
    cr_assert(p.cell[3].layer == 1 && p.cell[3].head == 1 && p.cell[3].turn == -1 && p.cell[4].layer == -1);
    cr_assert(close_to(p.diff[0], 1, tight), "mean of 2 and 0 over turns");
    cr_assert(close_to(p.diff[1], 1, tight), "the turn that both sides have");
    cr_assert(close_to(p.diff[4], 0.5, tight), "mean over cells");
    cr_assert(close_to(pairs_mean(&p, p.diff, 4), 0.5 / 3, tight));
    cr_assert(not(pairs_identical(&p)));
}

Test(pairs, labels_match_and_not_places)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(pairs) p = {0};

    fake_run(&base, 3, 3, 0, 0);
    fake_run(&cand, 2, 2, 0, 0);
    cand.axes.number[AXIS_TURN][0] = 2; /* turns 2 and 7 */
    cand.axes.number[AXIS_TURN][1] = 7;
    fake_cube(&base, "intent.alignment", 0.5);
    fake_cube(&cand, "intent.alignment", 0.75);
    MUST(pairs_init(&p, &base, 1, &cand, 1, "intent.alignment", &err));
    cr_assert(p.n_tasks == 2 && p.n_cells == 2 && p.cell[0].turn == 2 && p.cell[1].turn == 7);
    cr_assert(close_to(p.diff[0], 0.25, tight) && isnan(p.diff[1]) && close_to(p.diff[2], 0.25, tight));
    cr_assert(isnan(pairs_mean(&p, p.diff, 1)));
}

Test(pairs, of_a_cube_without_tasks_there_are_none)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(pairs) p = {0};
    struct cube c;

    fake_run(&base, 5, 1, 0, 0);
    fake_run(&cand, 5, 1, 0, 0);
    MUST(cube_init(&c, "x.scalar", 1, 0, &cand.axes, &err));
    c.values[0] = 1;
    MUST(run_add_cube(&cand, &c, &err));
    MUST(cube_init(&c, "x.scalar", 1, 0, &base.axes, &err));
    c.values[0] = 0;
    MUST(run_add_cube(&base, &c, &err));
    MUST(pairs_init(&p, &base, 1, &cand, 1, "x.scalar", &err));
    cr_assert(p.n_tasks == 0 && !pairs_identical(&p));
}
