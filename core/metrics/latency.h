/* latency.h - what the latency metrics share: durations within a reply, and its gaps. */
#ifndef CORE_METRICS_LATENCY_H
#define CORE_METRICS_LATENCY_H

#include "core/client/reply.h"
#include "core/metrics/metric.h"

/* Milliseconds between two times of one clock; NaN when either is not known, or `to` lies before `from`. */
double latency_between(int64_t from_ns, int64_t to_ns);

/* The same for a reply that has an answer, else NaN. `is_stream`: only for one that was streamed. */
double latency_of_reply(const struct reply *r, int64_t from_ns, int64_t to_ns, bool is_stream);

/* Quantile of the gaps between reads with content, ms; NaN with fewer than two such reads. */
double latency_gap_quantile(const struct reply *r, double q);

/* Quantile over the tokens after the first read: a read of k tokens gives k values of gap / k, ms. NaN unless k is
 * known for every read. */
double latency_itl_quantile(const struct reply *r, double q);

#endif
