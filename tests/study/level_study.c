/* Level and power of the tests that the gate rests on, by simulation. tests/study/level.sh builds and runs it.
 *   level_study [SEED [PAIRS]]      default: seed 1, 2000 pairs of runs a setting
 * Level: pairs in which nothing changed, margin 0, alpha 0.05; the share in which a family is rejected, with its 95 %
 * interval. Beside it what naive tests say of the same data. */
#include "core/base/rng.h"
#include "core/stats/binomial.h"
#include "core/stats/mde.h"
#include "core/stats/relabel.h"
#include "core/stats/run_t.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 999, MAX_TASKS = 1000, MAX_CELLS = 1024, MAX_RUNS = 10, TURNS = 4 };

static const double ALPHA = 0.05;

/* A stream of random numbers. */
struct source {
    uint64_t seed, stream, next;
};

static double uniform(struct source *s)
{
    return (rng_at(s->seed, s->stream, s->next++).word[0] + 0.5) / 4294967296.0;
}

static double normal(struct source *s)
{
    double r = sqrt(-2 * log(uniform(s)));

    return r * cos(6.283185307179586 * uniform(s));
}

/* Student's t with 3 degrees of freedom: its fourth moment is infinite. */
static double heavy(struct source *s)
{
    double a = normal(s), b = normal(s), c = normal(s);

    return normal(s) / sqrt((a * a + b * b + c * c) / 3);
}

static void stop(const char *what)
{
    fprintf(stderr, "level_study: %s\n", what);
    exit(1);
}

struct setting {
    const char *name;
    size_t n_tasks, n_base, n_cand, n_cells;
    double correlation; /* between the cells of a task            */
    double cluster;     /* share of variance that a task's turns have in common */
    double (*noise)(struct source *s);
};

static const struct setting settings[] = {
    {"normal, one cell", 12, 1, 1, 1, 0, 0, normal},
    {"normal, one cell", 12, 5, 1, 1, 0, 0, normal},
    {"normal, one cell", 12, 5, 5, 1, 0, 0, normal},
    {"heavy tails, one cell", 12, 1, 1, 1, 0, 0, heavy},
    {"heavy tails, one cell", 12, 5, 1, 1, 0, 0, heavy},
    {"heavy tails, one cell", 12, 5, 5, 1, 0, 0, heavy},
    {"turns in clusters", 30, 1, 1, 1, 0, 0.8, normal},
    {"turns in clusters", 30, 5, 1, 1, 0, 0.8, normal},
    {"32 heads, correlated 0.9", 20, 1, 1, 32, 0.9, 0, normal},
    {"32 heads, correlated 0.9", 20, 5, 1, 32, 0.9, 0, normal},
    {"32 heads, correlated 0.9", 20, 5, 5, 32, 0.9, 0, normal},
    {"32 heads, heavy tails", 20, 1, 1, 32, 0.5, 0, heavy},
    {"32 heads, heavy tails", 20, 5, 1, 32, 0.5, 0, heavy},
};

/* value[run][task][cell][turn], a level of each task in common; the candidate's runs come first. */
static double value[MAX_RUNS][MAX_TASKS][MAX_CELLS][TURNS];

static void draw_runs(const struct setting *set, struct source *s)
{
    size_t t, r, k, u;

    for (t = 0; t < set->n_tasks; t++) {
        double level = 3 * normal(s);

        for (r = 0; r < set->n_base + set->n_cand; r++) {
            double shared = set->noise(s);

            for (k = 0; k < set->n_cells; k++) {
                double cell = sqrt(set->correlation) * shared + sqrt(1 - set->correlation) * set->noise(s);

                for (u = 0; u < TURNS; u++)
                    value[r][t][k][u] =
                        level +
                        (set->cluster > 0 ? sqrt(set->cluster) * cell + sqrt(1 - set->cluster) * set->noise(s) : cell);
            }
        }
    }
}

static double cell_mean(size_t run, size_t task, size_t cell)
{
    const double *v = value[run][task][cell];

    return (v[0] + v[1] + v[2] + v[3]) / TURNS;
}

/* Rows of the differences with the runs moved on by 0, 1, … places; diff: n_tasks x runs x n_cells. */
static void differences(const struct setting *set, double *diff)
{
    size_t t, r, j, k, m = set->n_cand, n = set->n_base + m;

    for (t = 0; t < set->n_tasks; t++)
        for (r = 0; r < n; r++)
            for (k = 0; k < set->n_cells; k++) {
                double cand = 0, base = 0;

                for (j = 0; j < m; j++)
                    cand += cell_mean((j + r) % n, t, k);
                for (j = m; j < n; j++)
                    base += cell_mean((j + r) % n, t, k);
                diff[(t * n + r) * set->n_cells + k] = cand / (double)m - base / (double)(n - m);
            }
}

/* Smallest adjusted p of the family. */
static double family_p(const struct setting *set, const double *diff, uint64_t seed, struct signflip_cell *cells)
{
    uint64_t stream[MAX_TASKS];
    size_t options[MAX_TASKS], i;
    struct relabel r = {0};
    double p = 1;

    for (i = 0; i < set->n_tasks; i++) {
        stream[i] = i + 1;
        options[i] = set->n_base + set->n_cand;
    }
    if (relabel_init(&r, stream, options, set->n_tasks, seed, RESAMPLES, NULL) != OK ||
        relabel_test(&r, diff, set->n_cells, cells, NULL) != OK)
        stop("the test failed");
    relabel_done(&r);
    for (i = 0; i < set->n_cells; i++)
        p = fmin(p, cells[i].p_adj);
    return p;
}

/* Two-sided p of a t statistic. */
static double t_p(double t, size_t df)
{
    return 2 * (1 - mde_t_cdf(fabs(t), df));
}

/* Two samples of n with equal weight. */
static double unpaired_p(const double *a, const double *b, size_t n)
{
    struct summary x, y;

    summary_of(&x, a, n);
    summary_of(&y, b, n);
    return t_p((x.mean - y.mean) / sqrt((x.sd * x.sd + y.sd * y.sd) / (double)n), 2 * n - 2);
}

/* Smallest p over the cells of run 0 against the next: tasks unpaired, turns as if each were a sample, cells
 * uncorrected.
 */
static void naive_p(const struct setting *set, double *unpaired, double *turns, double *uncorrected)
{
    static double a[MAX_TASKS], b[MAX_TASKS], d[MAX_TASKS * TURNS];
    struct summary s;
    size_t t, k, u;

    *unpaired = *turns = *uncorrected = 1;
    for (k = 0; k < set->n_cells; k++) {
        for (t = 0; t < set->n_tasks; t++) {
            a[t] = cell_mean(0, t, k);
            b[t] = cell_mean(1, t, k);
            for (u = 0; u < TURNS; u++)
                d[t * TURNS + u] = value[0][t][k][u] - value[1][t][k][u];
        }
        *unpaired = fmin(*unpaired, unpaired_p(a, b, set->n_tasks));
        summary_of(&s, d, set->n_tasks * TURNS);
        *turns = fmin(*turns, t_p(s.mean / (s.sd / sqrt((double)s.n)), s.n - 1));
        for (t = 0; t < set->n_tasks; t++)
            d[t] = a[t] - b[t];
        summary_of(&s, d, set->n_tasks);
        *uncorrected = fmin(*uncorrected, t_p(s.mean / (s.sd / sqrt((double)s.n)), s.n - 1));
    }
}

static void put_rate(size_t k, size_t n)
{
    struct binomial_interval ci = binomial_interval(k, n, 0.95);

    printf("%5.2f %% (%5.2f to %5.2f)", 100 * (double)k / (double)n, 100 * ci.lo, 100 * ci.hi);
}

/* Whether 5 % lies inside the interval. */
static bool holds(size_t k, size_t n)
{
    struct binomial_interval ci = binomial_interval(k, n, 0.95);

    return ci.lo <= ALPHA && ci.hi >= ALPHA;
}

static void study_level(const struct setting *set, uint64_t seed, size_t n_pairs)
{
    double *diff = calloc(set->n_tasks * (set->n_base + set->n_cand) * set->n_cells, sizeof *diff);
    struct signflip_cell *cells = calloc(set->n_cells, sizeof *cells);
    size_t i, rejected = 0, unpaired = 0, turns = 0, uncorrected = 0;
    struct source s = {.seed = seed, .stream = rng_stream(set->name) + set->n_base + 100 * (set->n_cand - 1)};

    for (i = 0; i < n_pairs; i++) {
        double u, t, c;

        draw_runs(set, &s);
        differences(set, diff);
        rejected += family_p(set, diff, seed + i, cells) <= ALPHA;
        naive_p(set, &u, &t, &c);
        unpaired += u <= ALPHA;
        turns += t <= ALPHA;
        uncorrected += c <= ALPHA;
    }
    printf("%-26s %3zu %2zu %2zu  ", set->name, set->n_tasks, set->n_base, set->n_cand);
    put_rate(rejected, n_pairs);
    printf("%c  %5.1f %%   %5.1f %%   %5.1f %%\n", holds(rejected, n_pairs) ? ' ' : '*',
           100 * (double)unpaired / (double)n_pairs, 100 * (double)turns / (double)n_pairs,
           100 * (double)uncorrected / (double)n_pairs);
    free(diff);
    free(cells);
}

/* Latencies with 5 % between runs and 20 % between requests; `worse` is the candidate's true slow-down. */
static void study_runs(size_t n_base, size_t n_cand, double worse, uint64_t seed, size_t n_pairs)
{
    struct source s = {.seed = seed, .stream = 77 + n_base * 10 + n_cand};
    double base[16], cand[16], a[50], b[50];
    size_t i, k, found = 0, naive = 0;

    for (i = 0; i < n_pairs; i++) {
        struct run_t r;

        for (k = 0; k < n_base; k++)
            base[k] = 1 + 0.05 * normal(&s);
        for (k = 0; k < n_cand; k++)
            cand[k] = (1 + worse) * (1 + 0.05 * normal(&s));
        for (k = 0; k < 50; k++) {
            a[k] = base[0] * (1 + 0.2 * normal(&s));
            b[k] = cand[0] * (1 + 0.2 * normal(&s));
        }
        found += run_t_test(&r, base, n_base, cand, n_cand, ALPHA, 0.8) && r.p <= ALPHA;
        naive += unpaired_p(a, b, 50) <= ALPHA;
    }
    printf("  %2zu + %zu runs, %2.0f %% slower     ", n_base, n_cand, 100 * worse);
    put_rate(found, n_pairs);
    printf("   over 50 tasks: %5.1f %%\n", 100 * (double)naive / (double)n_pairs);
}

/* Every run shifts all of its tasks by a third of a task's noise, as where a server draws it from one seed: what the
 * test over tasks makes of it, and t over the runs' means. */
static void study_luck(size_t n_base, size_t n_cand, uint64_t seed, size_t n_pairs)
{
    const struct setting set = {"luck", 18, n_base, n_cand, 1, 0, 0, normal};
    struct source s = {.seed = seed, .stream = 5000 + n_base * 10 + n_cand};
    static double diff[MAX_TASKS * MAX_RUNS];
    double mean[MAX_RUNS];
    size_t i, r, t, u, over_tasks = 0, over_runs = 0;

    for (i = 0; i < n_pairs; i++) {
        struct signflip_cell cell;
        struct run_t test;

        draw_runs(&set, &s);
        for (r = 0; r < n_base + n_cand; r++) {
            double luck = normal(&s) / 3;

            mean[r] = 0;
            for (t = 0; t < set.n_tasks; t++) {
                for (u = 0; u < TURNS; u++)
                    value[r][t][0][u] += luck;
                mean[r] += cell_mean(r, t, 0) / (double)set.n_tasks;
            }
        }
        differences(&set, diff);
        over_tasks += family_p(&set, diff, seed + i, &cell) <= ALPHA;
        over_runs += run_t_test(&test, mean + n_cand, n_base, mean, n_cand, ALPHA, 0.8) && test.p <= ALPHA;
    }
    printf("  %zu + %zu runs   ", n_base, n_cand);
    put_rate(over_tasks, n_pairs);
    if (n_base + n_cand > 2) {
        printf("   over runs: ");
        put_rate(over_runs, n_pairs);
    }
    putchar('\n');
}

/* Right or wrong on n tasks, 10 % of them otherwise in the candidate, 3.7 points fewer right. */
static void study_accuracy(size_t n, uint64_t seed, size_t n_pairs)
{
    const struct setting set = {"accuracy", n, 1, 1, 1, 0, 0, normal};
    static double diff[2 * MAX_TASKS], a[MAX_TASKS], b[MAX_TASKS];
    struct source s = {.seed = seed, .stream = 900 + n};
    size_t i, t, paired = 0, unpaired = 0;
    struct signflip_cell cell;

    for (i = 0; i < n_pairs; i++) {
        for (t = 0; t < n; t++) {
            double u = uniform(&s);

            a[t] = u < 0.0685 || u > 0.3; /* 0.0685 lost, 0.0315 won, 0.2 wrong in both, the rest right in both */
            b[t] = (u >= 0.0685 && u < 0.1) || u > 0.3;
            diff[2 * t] = b[t] - a[t];
            diff[2 * t + 1] = a[t] - b[t];
        }
        paired += family_p(&set, diff, seed + i, &cell) <= ALPHA;
        unpaired += unpaired_p(a, b, n) <= ALPHA;
    }
    printf("  accuracy -3.7 points, n = %-4zu ", n);
    put_rate(paired, n_pairs);
    printf("   unpaired: %5.1f %%\n", 100 * (double)unpaired / (double)n_pairs);
}

/* One of 1,024 heads moved by 0.6 deviations over 50 tasks. */
static void study_heads(uint64_t seed, size_t n_pairs)
{
    enum { N = 50, HEADS = 1024 };
    const struct setting set = {"heads", N, 1, 1, HEADS, 0, 0, normal};
    double *diff = calloc((size_t)2 * N * HEADS, sizeof *diff);
    struct signflip_cell *cells = calloc(HEADS, sizeof *cells);
    struct source s = {.seed = seed, .stream = 4096};
    size_t i, t, k, maxt = 0, bonferroni = 0;

    for (i = 0; i < n_pairs; i++) {
        for (t = 0; t < N; t++) {
            double shared = normal(&s);

            for (k = 0; k < HEADS; k++) {
                double d = sqrt(0.9) * shared + sqrt(0.1) * normal(&s) + (k == 17 ? 0.6 : 0);

                diff[2 * t * HEADS + k] = d;
                diff[(2 * t + 1) * HEADS + k] = -d;
            }
        }
        (void)family_p(&set, diff, seed + i, cells);
        maxt += cells[17].p_adj <= ALPHA;
        bonferroni += t_p(cells[17].t, N - 1) * HEADS <= ALPHA;
    }
    printf("  1 of 1024 heads by 0.6 sd       ");
    put_rate(maxt, n_pairs);
    printf("   Bonferroni: %5.1f %%\n", 100 * (double)bonferroni / (double)n_pairs);
    free(diff);
    free(cells);
}

int main(int argc, char **argv)
{
    static const size_t accuracy[] = {100, 200, 500, 1000};
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    size_t n_pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000, i;

    if (n_pairs < 1)
        stop("PAIRS is a number from 1 on");
    printf("seed %llu, %zu pairs a setting, alpha %.2f, %d resamples; 95 %% intervals\n\n", (unsigned long long)seed,
           n_pairs, ALPHA, RESAMPLES);
    printf("level: nothing changed                family rejected              unpaired   turns     cells\n"
           "                             n  k  m  step-down max-T              t test     as n      alone\n");
    for (i = 0; i < sizeof settings / sizeof *settings; i++) {
        study_level(&settings[i], seed, n_pairs);
        fflush(stdout);
    }
    printf("* 5 %% lies outside the interval, as it does in one of twenty by chance\n");
    printf("\nlatency, runs that differ by 5 %%: t over runs, and t over the tasks of one run each\n");
    study_runs(5, 1, 0, seed, n_pairs);
    study_runs(5, 5, 0, seed, n_pairs);
    study_runs(5, 1, 0.1, seed, n_pairs);
    study_runs(5, 5, 0.1, seed, n_pairs);
    study_runs(10, 5, 0.1, seed, n_pairs);
    printf("\ntasks that share their luck, nothing changed: over 18 tasks\n");
    study_luck(1, 1, seed, n_pairs);
    study_luck(2, 2, seed, n_pairs);
    study_luck(5, 5, seed, n_pairs);
    printf("\npower at alpha %.2f\n", ALPHA);
    for (i = 0; i < sizeof accuracy / sizeof *accuracy; i++)
        study_accuracy(accuracy[i], seed, n_pairs / 4 + 1);
    study_heads(seed, n_pairs / 10 + 1);
    return 0;
}
