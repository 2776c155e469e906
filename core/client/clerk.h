/* clerk.h - a thread that writes finished requests to their journal and reads what they say, so that neither the disk
 * nor JSON delays the clock of those still on their way. */
#ifndef CORE_CLIENT_CLERK_H
#define CORE_CLIENT_CLERK_H

#include "core/base/error.h"
#include "core/client/journal.h"
#include "core/client/reply.h"
#include "core/model/exchange.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct clerk_job {
    struct clerk_job *next;
    struct journal *journal; /* NULL: only read it                                  */
    struct exchange exchange;
    const struct read_event *events; /* borrowed until it comes back */
    const unsigned char *bytes;
    void *owner;
    struct reply reply; /* the answer, once it is back; release with reply_done()  */
    enum status status; /* of journaling and reading                               */
    struct error error;
};

struct clerk {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct clerk_job *first, *last; /* to do                       */
    struct clerk_job *done;         /* newest first                */
    bool is_running, ends;
    void (*on_done)(void *ctx); /* called in the thread when there is something to take */
    void *ctx;
};

MUST_CHECK enum status clerk_init(struct clerk *c, void (*on_done)(void *ctx), void *ctx, struct error *err);

/* Finishes what was given to it first. */
void clerk_done(struct clerk *c);

void clerk_give(struct clerk *c, struct clerk_job *job);

/* All that came back since, oldest first; NULL for none. */
struct clerk_job *clerk_take(struct clerk *c);

#endif
