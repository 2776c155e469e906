/* load.h - holds the conversations of a plan with one endpoint or several, and keeps what came back in journals. */
#ifndef CORE_CLIENT_LOAD_H
#define CORE_CLIENT_LOAD_H

#include "core/base/error.h"
#include "core/client/journal.h"
#include "core/client/lag.h"
#include "core/client/plan.h"
#include "core/client/request.h"
#include "core/client/transport.h"
#include "core/io/prompt.h"
#include "core/model/run.h"
#include "core/model/taskset.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One endpoint under one prompt: what a run file will be of. Everything is borrowed. */
struct load_arm {
    const char *url, *path;
    const void *lines;  /* struct curl_slist: request headers */
    const char *secret; /* NULL for none                      */
    const struct prompt *prompt;
    struct request_options request;
    struct journal *journal;
    const struct run *before; /* what an earlier session finished; NULL for none */
};

/* How far it is, for people. */
struct load_state {
    size_t n_total; /* conversations; SIZE_MAX where only a time or a number ends it */
    size_t n_done;  /* conversations that are over                                   */
    size_t n_sent, n_answered, n_failed, n_retries, n_active;
    int64_t elapsed_ns, left_ns; /* left: NS_UNKNOWN where it cannot be told                      */
    double mean_ttft_ms;         /* of those that were answered; NaN before the first              */
};

struct load_options {
    struct plan_options plan;
    size_t concurrency;  /* conversations at once; in an open loop the most there may be     */
    double max_rate;     /* requests begun a second, 0 without limit                         */
    size_t warmup;       /* requests before the first that counts                            */
    int64_t duration_ns; /* nothing is begun after; 0 without limit                          */
    size_t max_requests; /* 0 without limit                                                  */
    size_t max_retries;  /* of one request                                                   */
    int64_t max_wait_ns; /* before a retry                                                   */
    size_t max_errors;   /* requests that may fail; SIZE_MAX: see max_error_share            */
    double max_error_share;
    bool uses_reference; /* as history, instead of the model's own replies                   */
    uint64_t seed;
    struct transport_options transport;
    volatile sig_atomic_t *stop; /* 1: begin nothing more, 2: end at once; NULL for none    */
    void (*on_progress)(void *ctx, const struct load_state *s);
    void *ctx;
};

enum load_end { LOAD_FINISHED, LOAD_INTERRUPTED, LOAD_TOO_MANY_ERRORS, LOAD_UNREACHABLE };

/* What a reader of the numbers must know of how they were made. */
struct load_stats {
    enum load_end end;
    char last_failure[480];
    size_t failed_arm;  /* whose that was                                                         */
    bool is_unanswered; /* that arm answered nothing, this session or an earlier one             */
    struct load_state state;
    size_t n_not_asked;              /* turns after one that failed                              */
    size_t n_unfinished;             /* conversations begun and not ended                        */
    double offered_rate;             /* conversations a second as scheduled; 0 in a closed loop  */
    double achieved_rate;            /* … as begun                                               */
    double mean_active, mean_wanted; /* requests on their way while there was work: as it was, as asked */
    double work_s;                   /* how long there was work            */
    size_t max_active;
    int64_t lag_p50_ns, lag_p99_ns, lag_max_ns; /* from readable to taken, at most        */
    int64_t timer_p99_ns;                       /* from due to called                     */
    uint64_t n_reads, n_timers;
    double busy;                    /* share of the time that the loop was not waiting */
    int64_t cpu_ns, journal_cpu_ns; /* of this process; of it for the journal          */
    int64_t began_ns, ended_ns;
    bool is_first_pass_whole; /* every task that takes part was asked once, to its end    */
};

/* ERR_IO when a journal cannot be written; a server that fails is a way to end, not an error. `tasks` must outlive the
 * call. */
MUST_CHECK enum status load_run(const struct load_options *o, const struct taskset *tasks, const struct load_arm *arms,
                                size_t n_arms, struct load_stats *ret, struct error *err);

/* Why the client, and not the server, may have made the numbers: in words, or NULL. */
const char *load_bottleneck(const struct load_options *o, const struct load_stats *s);

#endif
