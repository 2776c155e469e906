#include "core/metrics/latency.h"

#include "core/base/mem.h"
#include "core/stats/summary.h"

#include <math.h>
#include <stdlib.h>

double latency_between(int64_t from_ns, int64_t to_ns)
{
    if (from_ns == NS_UNKNOWN || to_ns == NS_UNKNOWN || to_ns < from_ns)
        return NAN;
    return ((double)to_ns - (double)from_ns) / 1e6;
}

double latency_of_reply(const struct reply *r, int64_t from_ns, int64_t to_ns, bool is_stream)
{
    return reply_has_answer(r) && (r->is_stream || !is_stream) ? latency_between(from_ns, to_ns) : NAN;
}

static double gap_before(const struct reply *r, size_t i)
{
    return latency_between(r->arrivals[i - 1].t_ns, r->arrivals[i].t_ns);
}

static bool has_gaps(const struct reply *r)
{
    return reply_has_answer(r) && r->is_stream && r->n_arrivals >= 2;
}

double latency_gap_quantile(const struct reply *r, double q)
{
    double *gaps = NULL, value = NAN;
    size_t n = 0, i;

    if (!has_gaps(r) || mem_new(r->n_arrivals, sizeof *gaps, &gaps, NULL) != OK)
        return NAN;
    for (i = 1; i < r->n_arrivals; i++) {
        gaps[n] = gap_before(r, i);
        n += !isnan(gaps[n]);
    }
    summary_sort(gaps, n);
    value = summary_quantile(gaps, n, q);
    free(gaps);
    return value;
}

struct step {
    double ms;
    uint64_t n_tokens;
};

static int by_ms(const void *a, const void *b)
{
    double x = ((const struct step *)a)->ms, y = ((const struct step *)b)->ms;

    return (x > y) - (x < y);
}

/* The token with that index (from 0) when each stands in line with its step's duration. */
static double token_at(const struct step *steps, uint64_t index)
{
    while (index >= steps->n_tokens) {
        index -= steps->n_tokens;
        steps++;
    }
    return steps->ms;
}

/* As summary_quantile() over the steps' tokens, which need not be written out for it. */
static double token_quantile(struct step *steps, size_t n, uint64_t n_tokens, double q)
{
    double at = q * (double)(n_tokens - 1);
    uint64_t low = (uint64_t)at;
    double below, above;

    qsort(steps, n, sizeof *steps, by_ms);
    below = token_at(steps, low);
    above = token_at(steps, low + 1 < n_tokens ? low + 1 : low);
    return below + (above - below) * (at - (double)low);
}

double latency_itl_quantile(const struct reply *r, double q)
{
    struct step *steps = NULL;
    uint64_t n_tokens = 0;
    double value = NAN;
    size_t n = 0, i;

    if (!has_gaps(r) || r->arrivals[0].n_tokens < 0 || mem_new(r->n_arrivals, sizeof *steps, &steps, NULL) != OK)
        return NAN;
    for (i = 1; i < r->n_arrivals && r->arrivals[i].n_tokens > 0; i++) {
        uint64_t k = (uint64_t)r->arrivals[i].n_tokens;

        steps[n++] = (struct step){.ms = gap_before(r, i) / (double)k, .n_tokens = k};
        n_tokens += k;
        if (isnan(steps[n - 1].ms))
            break;
    }
    if (i == r->n_arrivals)
        value = token_quantile(steps, n, n_tokens, q);
    free(steps);
    return value;
}
