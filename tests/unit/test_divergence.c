/* attn.distance_js: the divergence against SciPy, and what the gate makes of it. */
#include "core/base/scope.h"
#include "core/gate/divergence.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

TestSuite(divergence, .init = folder_make, .fini = folder_drop);

/* scipy.spatial.distance.jensenshannon(p, q, base=2) ** 2, SciPy 1.17.1. Both sum a handful of terms of at most 1: a
 * few times 2^-53 apart, SciPy's square root and square included. */
Test(divergence, is_that_of_scipy)
{
    static const struct {
        double p[4], q[4], want;
    } rows[] = {
        {{0.5, 0.5, 0, 0}, {0.5, 0, 0.5, 0}, 0.5},
        {{1, 0, 0, 0}, {0, 0, 0, 1}, 1},
        {{0.25, 0.25, 0.25, 0.25}, {0.25, 0.25, 0.25, 0.25}, 0},
        {{0.1, 0.2, 0.3, 0.4}, {0.4, 0.3, 0.2, 0.1}, 0.15356065532898464},
        {{0.7, 0.1, 0.1, 0.1}, {0.69, 0.11, 0.1, 0.1}, 0.00019776235401856518},
        {{0.9, 0.1, 0, 0}, {1, 0, 0, 0}, 0.051899160321315606},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = divergence_js(rows[i].p, rows[i].q, 4), back = divergence_js(rows[i].q, rows[i].p, 4);

        cr_assert(close_to(got, rows[i].want, (struct tol){1e-15, 0}), "row %zu: %.17g", i, got);
        cr_assert(got == back, "it is symmetric");
    }
}

/* Every head half on its own key and half in bin 3, `share` of that in bin 4 at one layer and head. */
static void profiles(struct run *r, size_t layer, size_t head, double share, uint64_t salt)
{
    struct fingerprints *f = &r->fingerprints;
    size_t len, i, b;
    struct error err = {0};

    fingerprints_done(f);
    MUST(fingerprints_init(f, &r->axes, &err));
    len = fingerprints_len(f);
    for (i = 0; i < len; i++) {
        size_t h = i % f->dim[AXIS_HEAD], l = i / f->dim[AXIS_HEAD] % f->dim[AXIS_LAYER];
        double moved = l == layer && h == head ? share : 0, jitter = 1e-3 * (double)((i * 7 + salt * 13) % 11) / 11;

        for (b = 0; b < PROFILE_BINS; b++)
            f->profile[i * PROFILE_BINS + b] = 0;
        f->profile[i * PROFILE_BINS] = 0.5 + jitter;
        f->profile[i * PROFILE_BINS + 3] = (0.5 - jitter) * (1 - moved);
        f->profile[i * PROFILE_BINS + 4] = (0.5 - jitter) * moved;
    }
}

static const char metrics[] = "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}},"
                              "\"attn.distance_js\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.001}}";

Test(divergence, of_one_run_from_one_is_shown_and_not_judged)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    const struct family *f;

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .layer = -1, .head = -1});
    profiles(&base, 0, 0, 0, 1);
    profiles(&cand, 2, 1, 0.2, 1);
    gate_decide(&j, &base, 1, &cand, metrics, "");
    f = gate_family(&j, "attn.distance_js");
    cr_assert(f->verdict == VERDICT_NONE && isnan(f->effect.p_adj) && isnan(f->effect.delta) && isnan(f->effect.base));
    cr_assert(f->n_beyond == 1 && f->n_compared == 6 && f->worst.where.layer == 2 && f->worst.where.head == 1);
    cr_assert(strstr(f->words, "1 of 6 heads by more than the margin, 0.001 bit; shown and not judged") != NULL, "%s",
              f->words);
    cr_assert(j.verdict == VERDICT_PASS, "%s", j.headline); /* the entropies are the same */
    cr_assert(j.n_not_measured == 0);
    cr_assert(eq(sz, j.divergence.n_cells, 6));
    cr_assert(j.divergence.cells[5].js > 0.04 && isnan(j.divergence.cells[5].within));
}

/* Three base runs that differ by jitter: the head that looks elsewhere is found though no entropy moved, and the
 * exchange of runs alone is not. */
static void against_three(struct judgement *j, double share)
{
    struct run base[3], spare;
    AUTO(run) cand = {0};
    size_t i;

    for (i = 0; i < 3; i++) {
        gate_attention(&base[i], i ? &spare : &cand, (struct gate_change){.n_tasks = 12, .layer = -1, .head = -1});
        profiles(&base[i], 0, 0, 0, i);
        if (i)
            run_done(&spare);
    }
    profiles(&cand, 2, 1, share, 3);
    gate_decide(j, base, 3, &cand, metrics, "");
    for (i = 0; i < 3; i++)
        run_done(&base[i]);
}

Test(divergence, is_tested_by_exchanging_runs)
{
    AUTO(judgement) moved = {0};
    AUTO(judgement) same = {0};
    const struct family *f;

    against_three(&moved, 0.2);
    f = gate_family(&moved, "attn.distance_js");
    cr_assert(moved.verdict == VERDICT_REGRESSED && f->verdict == VERDICT_REGRESSED, "%s", moved.headline);
    cr_assert(f->n_beyond == 1 && f->worst.where.layer == 2 && f->worst.where.head == 1);
    cr_assert(f->effect.base > 0 && f->effect.base < 1e-5 && f->effect.cand > f->effect.base);
    against_three(&same, 0);
    f = gate_family(&same, "attn.distance_js");
    cr_assert(f->verdict == VERDICT_PASS && f->n_beyond == 0, "%s", f->words);
}

Test(divergence, is_left_out_where_neither_run_has_profiles)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    size_t i;

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .layer = -1, .head = -1});
    gate_decide(&j, &base, 1, &cand, metrics, "");
    for (i = 0; i < j.n_families; i++)
        cr_assert(divergence_is(j.families[i].metric) == false);
    cr_assert(eq(sz, j.divergence.n_cells, 0));
    cr_assert(j.n_not_measured == 1 && divergence_is(j.not_measured[0])); /* the policy wants it */
}
