#include "core/base/scope.h"
#include "core/metrics/registry.h"
#include "core/metrics/twins.h"
#include "core/metrics/workload.h"
#include "tests/support/close.h"
#include "tests/support/must.h"

#include <math.h>
#include <string.h>

#define S ((int64_t)1000000000)

/* Sums of a few whole seconds and tokens: exact. */
static const struct tol exact = {0};

static void add(struct workload *w, int64_t begin_s, int64_t end_s, int64_t tokens, double good)
{
    struct reply r = {.state = tokens < 0 ? REPLY_BROKEN : REPLY_OK,
                      .sent_ns = begin_s * S,
                      .end_ns = end_s * S,
                      .completion_tokens = tokens};

    cr_assert(eq(int, workload_add(w, &r, good, NULL), OK));
}

static double value_of(const char *name, const struct workload *w)
{
    return metric_find(name)->of_workload(w, 0);
}

Test(workload, adds_up_what_was_under_way)
{
    AUTO(workload) w = {0};

    add(&w, 10, 13, 60, 1);
    add(&w, 10, 14, 40, 0);
    add(&w, 14, 18, 100, 1); /* begins as another ends: never beside it */
    w.single_tokens_per_s = 20;
    cr_assert(eq(int, workload_sum(&w, NULL), OK));
    cr_assert(close_to(w.wall_s, 8, exact));
    cr_assert(eq(sz, w.peak, 2));
    cr_assert(close_to(value_of("throughput.total", &w), 25, exact));
    cr_assert(close_to(value_of("throughput.answers", &w), 0.375, exact));
    cr_assert(close_to(value_of("throughput.concurrency", &w), 11.0 / 8, exact));
    cr_assert(close_to(value_of("throughput.efficiency", &w), 25.0 / 40, exact));
    cr_assert(close_to(value_of("goodput.rate", &w), 0.25, exact));
}

Test(workload, a_failed_request_takes_time_and_brings_nothing)
{
    AUTO(workload) w = {0};

    add(&w, 0, 2, 10, NAN);
    add(&w, 1, 4, -1, 0);
    cr_assert(eq(int, workload_sum(&w, NULL), OK));
    cr_assert(close_to(value_of("throughput.total", &w), 2.5, exact));
    cr_assert(isnan(value_of("goodput.rate", &w))); /* one could not be judged */
    cr_assert(isnan(value_of("throughput.efficiency", &w)));
}

Test(workload, requests_that_all_begin_at_zero_share_no_clock)
{
    AUTO(workload) w = {0};

    add(&w, 0, 2, 10, 1);
    add(&w, 0, 3, 10, 1);
    cr_assert(eq(int, workload_sum(&w, NULL), OK));
    cr_assert(isnan(value_of("throughput.total", &w)));
    cr_assert(isnan(value_of("throughput.concurrency", &w)));
}

static void fake_exchanges(struct run *run, size_t n)
{
    struct error err = {0};
    size_t i;

    MUST(run_init(run, &err));
    MUST(arena_new(&run->arena, n, sizeof *run->exchanges, &run->exchanges, &err));
    for (i = 0; i < n; i++)
        run->exchanges[i] = (struct exchange){.task = i % 2 ? "b" : "a", .turn = 1 + (int64_t)i / 2};
    run->n_exchanges = n;
}

static size_t find_twins(const char *const *texts, const size_t *prompts, size_t n, double *is_twin)
{
    AUTO(run) run = {0};
    AUTO(twins) t = {0};
    struct error err = {0};
    size_t i, n_notes;

    fake_exchanges(&run, n);
    for (i = 0; i < n; i++)
        MUST(twins_add(&t, prompts[i], texts[i], strlen(texts[i]), &err));
    MUST(twins_find(&t, &run, &err));
    for (i = 0; i < n; i++)
        is_twin[i] = t.list[i].is_twin;
    n_notes = run.n_notes;
    run.exchanges = NULL; /* of the arena here */
    return n_notes;
}

Test(twins, same_texts_of_other_prompts_are_found_and_noted)
{
    static const char same[] = "the very same sentence", other[] = "another sentence altogether";
    static const struct {
        const char *texts[6];
        size_t prompts[6];
        double twin[6];
        size_t n, n_notes;
    } cases[] = {
        {{same, other}, {0, 1}, {0, 0}, 2, 0},
        {{same, same}, {0, 1}, {1, 1}, 2, 1},
        {{same, same, same}, {3, 3, 3}, {0, 0, 0}, 3, 0}, /* repeats of one prompt */
        {{"yes", "yes", same}, {0, 1, 2}, {NAN, NAN, 0}, 3, 0},
        {{same, other, same, "one more that is alone", "and one more, alone too"},
         {0, 1, 2, 3, 4},
         {1, 0, 1, 0, 0},
         5,
         0}, /* two of five may be chance */
        {{same, other, same, same, "one more that is alone", "and one more, alone too"},
         {0, 1, 2, 3, 4, 5},
         {1, 0, 1, 1, 0, 0},
         6,
         1},
    };
    double twin[6];
    size_t i, k;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(eq(sz, find_twins(cases[i].texts, cases[i].prompts, cases[i].n, twin), cases[i].n_notes), "case %zu",
                  i);
        for (k = 0; k < cases[i].n; k++)
            cr_assert(close_to(twin[k], cases[i].twin[k], exact), "case %zu, reply %zu", i, k);
    }
}
