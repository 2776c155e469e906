/* False alarms of the whole gate on real runs of one version. tests/study/pairs.sh builds and runs it.
 *   pairs_study POLICY SEED SETS RUN RUN…
 * Judges every run against every other as they are, then SETS sets of as many tasks drawn with replacement, each from a
 * random pair in a random order: what other tasks like these would have said. Beside it, on the same sets: the gate's
 * tests with every margin 0, and what naive tests say, each cell of the primary metrics by a t test of its own, paired
 * and unpaired. */
#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "core/gate/pairs.h"
#include "core/io/runfile.h"
#include "core/stats/binomial.h"
#include "core/stats/mde.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 32 };

static const double ALPHA = 0.05;

struct counts {
    size_t n, of[VERDICT_REGRESSED + 1];
    size_t significant, cells_paired, cells_unpaired;
};

static void stop(const char *what)
{
    fprintf(stderr, "pairs_study: %s\n", what);
    exit(1);
}

static void must(enum status st, const struct error *err)
{
    if (st != OK)
        stop(err->message);
}

/* A number below n, the `index`-th of a set. */
static size_t below(uint64_t seed, size_t set, size_t index, size_t n)
{
    return (size_t)(((uint64_t)rng_at(seed, set + 1, index).word[0] * n) >> 32);
}

/* A run of the tasks at[0], at[1], …, each under a name of its own. */
static void gather(struct run *to, const struct run *from, const size_t *at, size_t n, struct error *err)
{
    char name[32];
    size_t i, k;

    must(run_init(to, err), err);
    to->provenance = from->provenance;
    for (i = 0; i < n; i++) {
        snprintf(name, sizeof name, "drawn-%04zu", i);
        must(axes_add_task(&to->axes, name, &to->arena, err), err);
    }
    for (i = AXIS_TURN; i < N_AXES; i++)
        for (k = 0; k < from->axes.n[i]; k++)
            must(axes_add(&to->axes, (enum axis)i, from->axes.number[i][k], err), err);
    for (k = 0; k < from->n_cubes; k++) {
        const struct cube *c = &from->cubes[k];
        size_t per_task = cube_len(c) / c->dim[AXIS_TASK];
        struct cube out;

        if (!(c->axes & AXIS_BIT(AXIS_TASK)))
            continue;
        must(cube_init(&out, c->metric, c->version, c->axes, &to->axes, err), err);
        must(cube_describe(&out, c->unit, c->help, c->better, c->noise, err), err);
        for (i = 0; i < n; i++)
            memcpy(out.values + i * per_task, c->values + at[i] * per_task, per_task * sizeof *out.values);
        must(run_add_cube(to, &out, err), err);
    }
}

/* Two-sided p of a t statistic; 1 where nothing varies. */
static double t_p(double t, size_t df)
{
    return isfinite(t) ? 2 * (1 - mde_t_cdf(fabs(t), df)) : 1;
}

/* Whether a cell of a primary metric differs by a t test of its own at 5 %. */
static void naive(struct counts *to, const struct run *a, const struct run *b, const struct policy *policy,
                  struct error *err)
{
    bool paired = false, unpaired = false;
    size_t i, k, t;

    for (i = 0; i < b->n_cubes; i++) {
        const char *metric = b->cubes[i].metric;
        struct pairs p = {0};
        double *column;

        if (policy_rule(policy, metric)->role != ROLE_PRIMARY || b->cubes[i].noise == NOISE_RUN || !run_cube(a, metric))
            continue;
        must(pairs_init(&p, a, 1, b, 1, metric, err), err);
        column = calloc(3 * p.n_tasks + 1, sizeof *column);
        for (k = 0; column && k < p.n_cells; k++) {
            struct summary s[3];

            for (t = 0; t < p.n_tasks; t++) {
                column[t] = p.diff[t * p.n_columns + k];
                column[p.n_tasks + t] = p.base[t * p.n_columns + k];
                column[2 * p.n_tasks + t] = p.cand[t * p.n_columns + k];
            }
            for (t = 0; t < 3; t++)
                summary_of(&s[t], column + t * p.n_tasks, p.n_tasks);
            if (s[0].n < 2)
                continue;
            paired = paired || t_p(s[0].mean / (s[0].sd / sqrt((double)s[0].n)), s[0].n - 1) <= ALPHA;
            unpaired = unpaired ||
                       t_p((s[1].mean - s[2].mean) / sqrt((s[1].sd * s[1].sd + s[2].sd * s[2].sd) / (double)s[1].n),
                           2 * s[1].n - 2) <= ALPHA;
        }
        free(column);
        pairs_done(&p);
    }
    to->cells_paired += paired;
    to->cells_unpaired += unpaired;
}

static void judge(struct counts *to, const struct run *base, const struct run *cand, const struct policy *policy,
                  const struct policy *sharp, struct error *err)
{
    struct judgement j = {0};
    size_t i;
    bool any = false;

    must(decide(&j, base, 1, cand, 1, policy, 0, err), err);
    to->n++;
    to->of[j.verdict]++;
    judgement_done(&j);
    memset(&j, 0, sizeof j);
    must(decide(&j, base, 1, cand, 1, sharp, 0, err), err);
    for (i = 0; i < j.n_families; i++)
        any = any || (j.families[i].role == ROLE_PRIMARY && j.families[i].n_beyond > 0);
    to->significant += any;
    judgement_done(&j);
    naive(to, base, cand, policy, err);
}

static void put_rate(const char *what, size_t k, size_t n)
{
    struct binomial_interval two = binomial_interval(k, n, 0.95), one = binomial_interval(k, n, 0.90);

    printf("  %-44s %5zu of %zu: %5.2f %% (95 %% interval %.2f to %.2f; upper bound %.2f)\n", what, k, n,
           100 * (double)k / (double)n, 100 * two.lo, 100 * two.hi, 100 * one.hi);
}

static void put(const char *title, const struct counts *c)
{
    if (!c->n)
        return;
    printf("%s\n", title);
    put_rate("false alarms (regressed or changed)", c->of[VERDICT_REGRESSED] + c->of[VERDICT_CHANGED], c->n);
    put_rate("improved", c->of[VERDICT_IMPROVED], c->n);
    put_rate("undecided (inconclusive or no verdict)", c->of[VERDICT_INCONCLUSIVE] + c->of[VERDICT_NONE], c->n);
    put_rate("significant alone, every margin 0", c->significant, c->n);
    put_rate("naive: any cell by a paired t test", c->cells_paired, c->n);
    put_rate("naive: any cell by an unpaired t test", c->cells_unpaired, c->n);
}

static void margins_to_zero(struct policy *p)
{
    size_t i;

    for (i = 0; i < p->n_rules; i++) {
        if (p->rules[i].margin_kind == MARGIN_NONE)
            continue;
        p->rules[i].margin_kind = MARGIN_ABS;
        p->rules[i].margin = 0;
    }
}

int main(int argc, char **argv)
{
    static struct run runs[MAX_RUNS];
    struct counts as_they_are = {0}, drawn = {0};
    struct policy policy = {0}, sharp = {0};
    struct error err = {0};
    size_t n_runs, n_sets, set, i, k, n_tasks, *at;
    uint64_t seed;

    if (argc < 6 || argc > 4 + MAX_RUNS)
        stop("say POLICY SEED SETS RUN RUN…");
    seed = strtoull(argv[2], NULL, 10);
    n_sets = strtoul(argv[3], NULL, 10);
    n_runs = (size_t)argc - 4;
    must(policy_load(&policy, argv[1], &err), &err);
    must(policy_load(&sharp, argv[1], &err), &err);
    margins_to_zero(&sharp);
    for (i = 0; i < n_runs; i++)
        must(runfile_read(&runs[i], argv[4 + i], &err), &err);
    n_tasks = runs[0].axes.n[AXIS_TASK];
    for (i = 1; i < n_runs; i++)
        for (k = 0; k < n_tasks; k++)
            if (runs[i].axes.n[AXIS_TASK] != n_tasks || strcmp(runs[i].axes.task[k], runs[0].axes.task[k]) != 0)
                stop("the runs must have the same tasks in the same order");
    for (i = 0; i < n_runs; i++)
        for (k = 0; k < n_runs; k++)
            if (i != k)
                judge(&as_they_are, &runs[i], &runs[k], &policy, &sharp, &err);
    at = calloc(n_tasks + 1, sizeof *at);
    for (set = 0; at && set < n_sets; set++) {
        size_t a = below(seed, set, n_tasks, n_runs), b = below(seed, set, n_tasks + 1, n_runs - 1);
        struct run base, cand;

        for (i = 0; i < n_tasks; i++)
            at[i] = below(seed, set, i, n_tasks);
        gather(&base, &runs[a], at, n_tasks, &err);
        gather(&cand, &runs[b < a ? b : b + 1], at, n_tasks, &err);
        judge(&drawn, &base, &cand, &policy, &sharp, &err);
        run_done(&base);
        run_done(&cand);
    }
    printf("%zu runs of %zu tasks, policy %s, seed %llu\n", n_runs, n_tasks, argv[1], (unsigned long long)seed);
    put("every run against every other", &as_they_are);
    put("sets of tasks drawn with replacement from random pairs", &drawn);
    for (i = 0; i < n_runs; i++)
        run_done(&runs[i]);
    free(at);
    policy_done(&policy);
    policy_done(&sharp);
    return 0;
}
