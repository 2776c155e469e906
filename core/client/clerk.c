#include "core/client/clerk.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Where the two threads compete for a core, the one with the clocks goes first. */
enum { NICER_BY = 5 };

static void work(struct clerk_job *job)
{
    job->status = OK;
    if (job->journal)
        job->status = journal_append(job->journal, &job->exchange, job->events, job->bytes, &job->error);
    if (job->status == OK)
        job->status = reply_read(&job->reply, &job->exchange, job->events, job->bytes, &job->error);
}

static void *run(void *ctx)
{
    struct clerk *c = ctx;

    setpriority(PRIO_PROCESS, (id_t)gettid(), NICER_BY); /* a help only: nothing depends on it */
    pthread_mutex_lock(&c->lock);
    while (c->first || !c->ends) {
        struct clerk_job *job = c->first;

        if (!job) {
            pthread_cond_wait(&c->has_work, &c->lock);
            continue;
        }
        c->first = job->next;
        pthread_mutex_unlock(&c->lock);
        work(job);
        pthread_mutex_lock(&c->lock);
        job->next = c->done;
        c->done = job;
        if (!job->next)
            c->on_done(c->ctx);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

enum status clerk_init(struct clerk *c, void (*on_done)(void *ctx), void *ctx, struct error *err)
{
    sigset_t all, before;
    int failed;

    memset(c, 0, sizeof *c);
    c->on_done = on_done;
    c->ctx = ctx;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->has_work, NULL);
    sigfillset(&all); /* signals are for the thread that waits for the network */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    failed = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return error_set(err, ERR_MEMORY, "no thread for the journal: %s", strerror(failed));
    c->is_running = true;
    return OK;
}

void clerk_done(struct clerk *c)
{
    if (!c->is_running)
        return;
    pthread_mutex_lock(&c->lock);
    c->ends = true;
    pthread_cond_signal(&c->has_work);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->is_running = false;
    pthread_cond_destroy(&c->has_work);
    pthread_mutex_destroy(&c->lock);
}

void clerk_give(struct clerk *c, struct clerk_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&c->lock);
    if (c->first)
        c->last->next = job;
    else
        c->first = job;
    c->last = job;
    pthread_cond_signal(&c->has_work);
    pthread_mutex_unlock(&c->lock);
}

struct clerk_job *clerk_take(struct clerk *c)
{
    struct clerk_job *list, *oldest = NULL;

    pthread_mutex_lock(&c->lock);
    list = c->done;
    c->done = NULL;
    pthread_mutex_unlock(&c->lock);
    while (list) {
        struct clerk_job *next = list->next;

        list->next = oldest;
        oldest = list;
        list = next;
    }
    return oldest;
}
