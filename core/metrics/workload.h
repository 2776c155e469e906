/* workload.h - a run's requests taken together: how long it lasted, how many were under way, what came out. */
#ifndef CORE_METRICS_WORKLOAD_H
#define CORE_METRICS_WORKLOAD_H

#include "core/base/error.h"
#include "core/client/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What counts of one reply. */
struct workload_item {
    int64_t begin_ns, end_ns; /* sent, and the last of the reply; NS_UNKNOWN */
    double tokens;            /* NaN where not known                         */
    double good;              /* 1 within the stated limits, 0 not, NaN where nothing can be said */
    bool is_answer;
};

struct twins; /* see twins.h */

struct workload {
    struct workload_item *items; /* owned */
    size_t n, cap;
    double wall_s; /* first request sent to last reply's end; NaN when the requests share no clock */
    double tokens; /* of all answers; NaN when one's count is not known                            */
    size_t n_answers, n_good;
    bool has_good;              /* limits were stated and judged for every request                              */
    double concurrency;         /* requests under way, mean over the time; NaN likewise                         */
    size_t peak;                /* most at once                                                                 */
    double single_tokens_per_s; /* of a run with one request at a time; 0 not known                     */
    const struct twins *twins;  /* borrowed                                                             */
};

void workload_done(struct workload *l);

/* `good`: see workload_item. */
MUST_CHECK enum status workload_add(struct workload *l, const struct reply *r, double good, struct error *err);

/* Sums up. Requests share no clock when there are several and all were sent at the same instant: a recording that
 * counts every exchange from zero. */
MUST_CHECK enum status workload_sum(struct workload *l, struct error *err);

#endif
