#include "kernels/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_THREADS = 256 };

struct loop {
    parallel_body *body;
    void *context;
    size_t n_items;
    atomic_size_t next;
};

struct worker {
    struct loop *loop;
    pthread_t thread;
    int index;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct loop *loop = w->loop;

    for (;;) {
        size_t item = atomic_fetch_add(&loop->next, 1);

        if (item >= loop->n_items)
            return NULL;
        loop->body(loop->context, item, w->index);
    }
}

void parallel_for(size_t n_items, int n_threads, parallel_body *body, void *context)
{
    struct loop loop = {.body = body, .context = context, .n_items = n_items};
    struct worker workers[MAX_THREADS];
    int n = n_threads < MAX_THREADS ? n_threads : MAX_THREADS, n_started = 1;

    atomic_init(&loop.next, 0);
    workers[0] = (struct worker){.loop = &loop};
    while (n_started < n && (size_t)n_started < n_items) {
        workers[n_started] = (struct worker){.loop = &loop, .index = n_started};
        if (pthread_create(&workers[n_started].thread, NULL, work, &workers[n_started]))
            break;
        n_started++;
    }
    work(&workers[0]);
    for (int i = 1; i < n_started; i++)
        pthread_join(workers[i].thread, NULL);
}
