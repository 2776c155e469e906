/* loader.h - the inside of load_run(): its state, shared by the files that make it up. */
#ifndef CORE_CLIENT_LOADER_H
#define CORE_CLIENT_LOADER_H

#include "core/client/clerk.h"
#include "core/client/earlier.h"
#include "core/client/load.h"
#include "core/client/talk.h"
#include "core/client/transport.h"

/* First in, first out. */
struct talk_list {
    struct talk *first, *last;
};

/* What an arm did, earlier sessions included. */
struct arm_tally {
    size_t n_answered, n_failed;
    char last_failure[480];
};

struct loader {
    const struct load_options *o;
    const struct taskset *tasks;
    const struct load_arm *arms;
    size_t n_arms;
    struct plan plan;
    struct earlier *earlier;   /* owned: [n_arms] */
    struct arm_tally *tallies; /* owned: [n_arms] */
    struct transport transport;
    struct clerk clerk;
    struct talk **all; /* owned: every talk there is */
    size_t n_all, cap_all;
    struct talk_list spare, ready, waiting, ended; /* at rest; to be sent; until due_ns; transfer over */
    struct plan_unit unit;                         /* the next of the plan */
    bool has_unit, is_warm, begins_nothing, is_reached;
    size_t n_open;    /* conversations that take one of the places                          */
    size_t n_pending; /* with the clerk                                                     */
    size_t n_warm_begun, n_warm_over;
    size_t n_asked_for; /* requests of the conversations begun, for max_requests             */
    size_t n_first_pass, n_unreached_in_a_row;
    int64_t zero_ns, paused_until_ns, next_start_ns, shown_ns, seen_ns;
    size_t seen_active; /* at seen_ns, and whether there was more to begin */
    bool seen_work;
    double sum_ttft_ms, active_s, work_s;
    int64_t first_due_ns, last_due_ns, first_begun_ns, last_begun_ns;
    size_t n_begun;
    struct load_stats stats;
};

void talk_list_push(struct talk_list *l, struct talk *t);
struct talk *talk_list_pop(struct talk_list *l);

/* Whether one more may be begun now, and if so, sends what is due: follow-up turns first, then retries, then new
 * conversations. `ret_next_ns`: when there is something to begin that is not due yet. */
MUST_CHECK enum status loader_begin(struct loader *l, int64_t *ret_next_ns, struct error *err);

/* Looks at every transfer that is over: another attempt, or to the clerk. */
void loader_look(struct loader *l);

/* Takes what the clerk has read: the next turn, or the conversation's end. */
MUST_CHECK enum status loader_take(struct loader *l, struct error *err);

/* The conversation is over, or given up. */
void loader_drop(struct loader *l, struct talk *t);

/* Requests that may fail before the load is given up. */
size_t loader_error_budget(const struct loader *l);

void loader_show(struct loader *l, int64_t now_ns);

/* Adds up what was going on since it was last called. */
void loader_measure(struct loader *l, int64_t now_ns);

void loader_finish(struct loader *l);

#endif
