/* goals.h - limits of latency that a request must keep to be a good one: "ttft:200 tpot:50". */
#ifndef CORE_METRICS_GOALS_H
#define CORE_METRICS_GOALS_H

#include "core/base/error.h"
#include "core/metrics/metric.h"

#include <stddef.h>

enum { MAX_GOALS = 16 };

struct goal {
    const struct metric *metric; /* latency.NAME */
    double limit;                /* in its unit  */
};

struct goals {
    struct goal goal[MAX_GOALS];
    size_t n;
};

/* NAME:LIMIT apart by spaces or commas, NAME that of a latency metric without "latency.", LIMIT in its unit. Empty text
 * states no limits. ERR_USAGE says what is wrong. */
MUST_CHECK enum status goals_read(struct goals *g, const char *text, struct error *err);

/* 1 when all limits hold, 0 when one is broken or the request failed, NaN when a value is missing or none is stated. A
 * time per token that a reply of one token cannot have is no breach. */
double goals_met(const struct goals *g, const struct reply_view *view);

#endif
