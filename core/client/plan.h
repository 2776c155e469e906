/* plan.h - which conversation is held when: sample, order, repeats, arms; and when each is due. Pure. */
#ifndef CORE_CLIENT_PLAN_H
#define CORE_CLIENT_PLAN_H

#include "core/base/error.h"
#include "core/model/taskset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arrivals { ARRIVE_CLOSED, ARRIVE_CONSTANT, ARRIVE_POISSON, ARRIVE_GAMMA };

struct plan_options {
    uint64_t seed;
    double sample;        /* share of the tasks, (0, 1]                                                 */
    size_t repeats;       /* 0: without end, for a run that a time or a number ends                     */
    bool shuffles;        /* a new order for each repeat                                                */
    size_t n_arms, block; /* arms take turns in blocks of so many tasks: ABBA                           */
    enum arrivals arrivals;
    double rate;  /* conversations a second                                                     */
    double shape; /* of ARRIVE_GAMMA: 1 is Poisson, less is burstier                             */
};

/* One conversation to hold. */
struct plan_unit {
    size_t task; /* index in the task set */
    size_t arm;
    int64_t repeat; /* from 1 */
    int64_t due_ns; /* after the start of the load; NS_UNKNOWN in a closed loop */
};

struct plan {
    struct plan_options options;
    size_t *sampled; /* owned: [n] indices of the tasks that take part, in the order of the task set */
    size_t *order;   /* owned: [n] the present repeat's order                                        */
    size_t n;
    size_t next; /* number of the next unit                                                   */
    double due_s;
};

/* ERR_USAGE when the sample leaves no task. The sample goes by the hash of the task's id alone: the same tasks for
 * every version of a model, whatever the seed, and a larger share holds a smaller one. */
MUST_CHECK enum status plan_init(struct plan *p, const struct taskset *tasks, const struct plan_options *o,
                                 struct error *err);
void plan_done(struct plan *p);

/* False when all is said. */
bool plan_next(struct plan *p, struct plan_unit *ret);

/* Units in all; SIZE_MAX without end. */
size_t plan_total(const struct plan *p);

bool plan_takes(const struct plan *p, size_t task);

#endif
