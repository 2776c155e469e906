#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "core/gate/exchange_runs.h"
#include "core/gate/halves.h"
#include "core/gate/repeats.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error err;

TestSuite(calibrate, .init = folder_make, .fini = folder_drop);

enum { RUNS = 3, TASKS = 24 };

static const char policy_text[] = "{\"schema\": 1, \"metrics\": {"
                                  "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}},"
                                  "\"intent.alignment\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}},"
                                  "\"latency.*\": {\"role\": \"advisory\", \"margin\": {\"rel\": 0.1}}}}";

/* Reruns: each value with noise of its own, uniform in +-amount; latencies of 100, 101, 102 ms. */
static void reruns(struct run *runs, double amount)
{
    size_t i;

    for (i = 0; i < RUNS; i++) {
        fake_run(&runs[i], TASKS, 2, 2, 2);
        fake_noise(fake_cube(&runs[i], "attn.entropy", 3), amount, 10 + i);
        fake_noise(fake_cube(&runs[i], "intent.alignment", 0.7), amount, 20 + i);
        fake_cube(&runs[i], "latency.ttft", 100 + (double)i);
    }
}

static void reruns_done(struct run *runs)
{
    size_t i;

    for (i = 0; i < RUNS; i++)
        run_done(&runs[i]);
}

static void calibrate_by(struct calibration *ret, const struct run *runs, size_t n, size_t n_exchanges)
{
    AUTO(policy) p = {0};

    MUST(policy_parse(&p, "policy.json", policy_text, sizeof policy_text - 1, &err));
    MUST(calibrate(ret, runs, n, &p, 0, n_exchanges, &err));
}

static const struct calibration_metric *metric(const struct calibration *c, const char *name)
{
    size_t i;

    for (i = 0; i < c->n_metrics; i++)
        if (strcmp(c->metrics[i].metric, name) == 0)
            return &c->metrics[i];
    cr_assert(false, "no metric '%s'", name);
    return NULL;
}

Test(calibrate, finds_noise_false_alarms_and_power)
{
    struct run runs[RUNS];
    AUTO(calibration) c = {0};
    const struct calibration_metric *m;

    reruns(runs, 0.02);
    calibrate_by(&c, runs, RUNS, 60);
    cr_assert(c.pairs.n == 6 && c.exchanged.n == 60 && c.can_exchange && c.n_tasks == TASKS);
    cr_assert(calibration_alarms(&c.pairs) == 0 && calibration_alarms(&c.exchanged) == 0);
    m = metric(&c, "attn.entropy");
    /* Cells are means of two turns, each uniform in +-0.02: a difference of two runs has deviation
     * 0.02 / sqrt(3) sqrt(2 / 2) = 0.01155, the mean of four cells half of it. 3 x 24 samples, in twelve pairs: within
     * a third; the noisiest of twelve within four fifths more. */
    cr_assert(m->mean_sd > 0.0039 && m->mean_sd < 0.0077, "%g", m->mean_sd);
    cr_assert(m->cell_sd > 0.0098 && m->cell_sd < 0.021 && m->cell.layer >= 0, "%g", m->cell_sd);
    cr_assert(m->n_trials == 60 && m->n_found[1] == 60, "%zu", m->n_found[1]);
    cr_assert(m->n_found[0] > 15, "some of five columns lie beyond their margin: %zu", m->n_found[0]);
    m = metric(&c, "latency.ttft");
    cr_assert(close_to(m->mean_sd, 1, (struct tol){1e-12, 0}) && m->n_trials == 0);
    reruns_done(runs);
}

Test(calibrate, same_seed_same_numbers)
{
    struct run runs[RUNS];
    AUTO(calibration) a = {0};
    AUTO(calibration) b = {0};
    AUTO(buf) first = {0};
    AUTO(buf) second = {0};

    reruns(runs, 0.2);
    calibrate_by(&a, runs, RUNS, 20);
    calibrate_by(&b, runs, RUNS, 20);
    MUST(calibration_json(&first, &a, &err));
    MUST(calibration_json(&second, &b, &err));
    cr_assert(eq(str, (char *)buf_text(&first), (char *)buf_text(&second)));
    cr_assert(metric(&a, "intent.alignment")->n_found[0] < 20, "so much noise hides a margin");
    reruns_done(runs);
}

/* Tasks of which every cell has a value of its own, uniform in +-0.02: cells are means of two turns, 0.02 / sqrt(6)
 * between tasks, times sqrt(2) for two of them 0.01155, and half of that in the mean of four cells; within a third for
 * 24 tasks. Twelve pairs find a shift of two margins, which lies nine deviations of their mean away. */
Test(calibrate, one_run_is_resampled)
{
    struct run runs[RUNS];
    AUTO(calibration) c = {0};
    AUTO(calibration) again = {0};
    AUTO(buf) first = {0};
    AUTO(buf) second = {0};
    const struct calibration_metric *m;

    reruns(runs, 0.02);
    calibrate_by(&c, runs, 1, 60);
    cr_assert(c.n_runs == 1 && c.pairs.n == 0 && c.exchanged.n == 0 && !c.can_exchange && c.n_tasks == TASKS);
    cr_assert(eq(sz, c.halves.n, 60));
    cr_assert(eq(sz, calibration_alarms(&c.halves), 0));
    m = metric(&c, "attn.entropy");
    cr_assert(m->mean_sd > 0.0039 && m->mean_sd < 0.0077, "%g", m->mean_sd);
    cr_assert(m->cell_sd > 0.0077 && m->cell_sd < 0.021 && m->cell.layer >= 0, "%g", m->cell_sd);
    cr_assert(m->n_trials == 60 && m->n_found[1] == 60, "%zu", m->n_found[1]);
    m = metric(&c, "latency.ttft");
    cr_assert(isnan(m->mean_sd) && m->n_trials == 0 && m->noise == NOISE_RUN, "one run does not show it");
    calibrate_by(&again, runs, 1, 60);
    MUST(calibration_json(&first, &c, &err));
    MUST(calibration_json(&second, &again, &err));
    cr_assert(eq(str, (char *)buf_text(&first), (char *)buf_text(&second)));
    reruns_done(runs);
}

/* Values that hardly differ within a task but as far between tasks that half of the pairs lie beyond the margin: the
 * significance stage has its level in halves, 5 % of 400 within four deviations of a binomial share, and margins make
 * it no larger. */
Test(calibrate, halves_of_noisy_tasks_keep_the_level)
{
    struct run runs[RUNS];
    AUTO(calibration) c = {0};

    reruns(runs, 3);
    calibrate_by(&c, runs, 1, 400);
    cr_assert(calibration_alarms(&c.halves) <= 37, "%zu", calibration_alarms(&c.halves));
    reruns_done(runs);
}

Test(calibrate, halving_keeps_every_value_of_an_even_number_of_tasks)
{
    struct run runs[RUNS];
    AUTO(halves) h = {0};
    size_t draw, half, i, moved = 0;

    reruns(runs, 0.5);
    MUST(halves_init(&h, &runs[0], &err));
    cr_assert(h.n == TASKS / 2 && h.runs[0].n_cubes == 2 && h.runs[1].axes.n[AXIS_TASK] == TASKS / 2);
    for (draw = 0; draw < 4; draw++) {
        size_t seen[TASKS] = {0};

        halves_draw(&h, 3, draw);
        for (half = 0; half < 2; half++)
            for (i = 0; i < h.n; i++) {
                size_t task = h.order[half * h.n + i];

                seen[task]++;
                moved += task != half * h.n + i;
                cr_assert(memcmp(h.runs[half].cubes[0].values + i * 8, runs[0].cubes[0].values + task * 8,
                                 8 * sizeof(double)) == 0);
            }
        for (i = 0; i < TASKS; i++)
            cr_assert(eq(sz, seen[i], 1));
    }
    cr_assert(moved > 0);
    reruns_done(runs);
}

Test(calibrate, few_tasks_and_incomplete_runs_are_refused)
{
    struct run runs[RUNS];
    AUTO(policy) p = {0};
    AUTO(run) small = {0};
    struct calibration c;

    reruns(runs, 0.1);
    MUST(policy_parse(&p, "policy.json", policy_text, sizeof policy_text - 1, &err));
    fake_run(&small, 3, 1, 2, 2);
    fake_cube(&small, "attn.entropy", 3);
    cr_assert(calibrate(&c, &small, 1, &p, 0, 10, NULL) == ERR_USAGE);
    runs[1].provenance.is_complete = false;
    cr_assert(calibrate(&c, runs, 2, &p, 0, 10, &err) == ERR_NO_VERDICT);
    cr_assert(strstr(err.context, "run 2 against run 1") != NULL, "%s", err.context);
    error_clear(&err);
    cr_assert(calibrate(&c, &runs[1], 1, &p, 0, 10, &err) == ERR_NO_VERDICT);
    reruns_done(runs);
}

Test(calibrate, runs_of_other_tasks_are_compared_and_not_exchanged)
{
    struct run runs[RUNS];
    AUTO(calibration) c = {0};

    reruns(runs, 0.01);
    runs[1].axes.task[3] = fake_text(&runs[1], "other");
    calibrate_by(&c, runs, RUNS, 10);
    cr_assert(c.pairs.n == 6 && c.exchanged.n == 0 && c.can_exchange == false);
    reruns_done(runs);
}

/* What a draw gives is what was there: each task's values in some order, the same for all cubes. */
Test(calibrate, exchanging_keeps_every_value)
{
    struct run runs[RUNS];
    AUTO(exchanged) x = {0};
    size_t draw, task, i, k, moved = 0;

    reruns(runs, 0.5);
    cr_assert(exchanged_can(runs, RUNS));
    MUST(exchanged_init(&x, runs, RUNS, &err));
    for (draw = 0; draw < 4; draw++) {
        exchanged_draw(&x, 3, draw);
        for (task = 0; task < TASKS; task++)
            for (i = 0; i < RUNS; i++) {
                const double *attn = x.runs[i].cubes[0].values + task * 8,
                             *intent = x.runs[i].cubes[1].values + task * 2;

                for (k = 0; k < RUNS && memcmp(attn, runs[k].cubes[0].values + task * 8, 8 * sizeof *attn) != 0; k++)
                    continue;
                cr_assert(k < RUNS && memcmp(intent, runs[k].cubes[1].values + task * 2, 2 * sizeof *intent) == 0);
                moved += k != i;
            }
        cr_assert(close_to(x.runs[0].cubes[2].values[0], 100 + (double)(draw % RUNS), (struct tol){0, 0}));
    }
    /* Two of three are moved on average: 288 x 2/3 = 192, sd about 10 */
    cr_assert(moved > 150 && moved < 235, "%zu", moved);
    reruns_done(runs);
}

Test(calibrate, is_kept_and_recalled)
{
    struct run runs[RUNS];
    AUTO(calibration) c = {0};
    AUTO(calibration) back = {0};
    struct calibration broken;
    AUTO(buf) json = {0};
    AUTO(buf) again = {0};
    AUTO(buf) line = {0};
    bool found;
    AUTO(json) doc = {0};
    char dir[300];

    snprintf(dir, sizeof dir, "%s", folder_file("b"));
    MUST(dir_make(dir, &err));
    MUST(calibration_read(&back, dir, &found, &err));
    cr_assert(found == false);
    reruns(runs, 0.02);
    calibrate_by(&c, runs, RUNS, 30);
    MUST(calibration_json(&json, &c, &err));
    MUST(json_parse(&doc, "calibration.json", json.data, json.len, &err));
    MUST(file_write(folder_file("b/calibration.json"), json.data, json.len, &err));
    MUST(calibration_read(&back, dir, &found, &err));
    cr_assert(found && back.n_metrics == c.n_metrics && back.n_tasks == TASKS && back.exchanged.n == 30);
    cr_assert(metric(&back, "attn.entropy")->n_found[1] == metric(&c, "attn.entropy")->n_found[1]);
    cr_assert(
        close_to(metric(&back, "attn.entropy")->cell_sd, metric(&c, "attn.entropy")->cell_sd, (struct tol){0, 1e-5}));
    cr_assert(metric(&back, "attn.entropy")->cell.head == metric(&c, "attn.entropy")->cell.head);
    MUST(calibration_json(&again, &back, &err));
    cr_assert(eq(sz, again.len, json.len));
    calibration_put_line(&line, &back);
    cr_assert(
        eq(str, (char *)buf_text(&line), "3 runs, policy policy.json, false alarms 0 of 30 (95 % interval 0 to 12 %)"));
    MUST(file_write(folder_file("b/calibration.json"), "{\"schema\": 9}", 13, &err));
    cr_assert(calibration_read(&broken, dir, &found, NULL) == ERR_FORMAT);
    MUST(file_write(folder_file("b/calibration.json"), "{\"schema\": 1, \"runs\": 2", 23, &err));
    cr_assert(calibration_read(&broken, dir, &found, NULL) == ERR_FORMAT);
    reruns_done(runs);
}

/* A run that asked three times is three runs, of which each has its own replies and all the same attention. */
Test(calibrate, repeats_are_runs)
{
    AUTO(repeats) r = {0};
    AUTO(run) run = {0};
    struct cube *c;
    size_t i;

    fake_run(&run, 2, 2, 1, 1);
    MUST(axes_add(&run.axes, AXIS_REPEAT, 2, &err));
    MUST(axes_add(&run.axes, AXIS_REPEAT, 3, &err));
    fake_cube(&run, "attn.entropy", 3);
    c = fake_cube(&run, "intent.alignment", 0);
    for (i = 0; i < cube_len(c); i++)
        c->values[i] = (double)i;
    MUST(repeats_init(&r, &run, &err));
    cr_assert(r.n == 3 && cube_len(run_cube(&r.runs[2], "intent.alignment")) == 4);
    for (i = 0; i < 12; i++)
        cr_assert(close_to(run_cube(&r.runs[i % 3], "intent.alignment")->values[i / 3], (double)i, (struct tol){0, 0}));
    cr_assert(close_to(run_cube(&r.runs[2], "attn.entropy")->values[3], 3, (struct tol){0, 0}));
}
