#include "kernels/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MAX_THREADS = 256 };

struct loop {
    parallel_body *body;
    void *context;
    size_t n_items;
    atomic_size_t next;
};

/* Threads 1 to n_threads, which sleep until `turn` moves on; the caller of a loop is thread 0. */
struct pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    struct loop *loop; /* NULL between loops */
    atomic_ulong turn;
    int n_threads, n_called; /* those that are there; that the loop wants */
    atomic_int n_busy;       /* … and that have not left it */
};

static struct pool pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .begin = PTHREAD_COND_INITIALIZER, .end = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_inside; /* of a loop */

/* Loops follow each other closely, and to wake a thread takes as long as many items: it looks around before it sleeps.
 */
enum { LOOKS = 4000 };

static void pause_briefly(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void run_items(struct loop *loop, int thread)
{
    for (;;) {
        size_t item = atomic_fetch_add(&loop->next, 1);

        if (item >= loop->n_items)
            return;
        loop->body(loop->context, item, thread);
    }
}

/* A thread that is made while a loop begins takes part in it: the lock is held until then. */
static void *serve(void *arg)
{
    int thread = (int)(size_t)arg;
    unsigned long turn = 0;

    is_inside = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        struct loop *loop;

        while (turn == atomic_load(&pool.turn))
            pthread_cond_wait(&pool.begin, &pool.lock);
        turn = atomic_load(&pool.turn);
        loop = pool.loop;
        if (!loop || thread > pool.n_called)
            continue;
        pthread_mutex_unlock(&pool.lock);
        run_items(loop, thread);
        pthread_mutex_lock(&pool.lock);
        if (atomic_fetch_sub(&pool.n_busy, 1) == 1)
            pthread_cond_signal(&pool.end);
        pthread_mutex_unlock(&pool.lock);
        for (int i = 0; i < LOOKS && turn == atomic_load(&pool.turn); i++)
            pause_briefly();
        pthread_mutex_lock(&pool.lock);
    }
    return NULL;
}

/* The child of fork() has none of the threads, and a lock that nobody gives back. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.begin, NULL);
    pthread_cond_init(&pool.end, NULL);
    pool.loop = NULL;
    pool.n_threads = pool.n_called = 0;
    atomic_store(&pool.n_busy, 0);
    is_inside = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Called with the lock held. Fewer threads where no more can be had. */
static void make_threads(int n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t attr;

    pthread_once(&once, watch_forks);
    if (pool.n_threads >= n || pthread_attr_init(&attr))
        return;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (pool.n_threads < n) {
        pthread_t thread;

        if (pthread_create(&thread, &attr, serve, (void *)(size_t)(pool.n_threads + 1)))
            break;
        pool.n_threads++;
    }
    pthread_attr_destroy(&attr);
}

/* False when another thread has the pool, or it has no threads. */
static bool call_pool(struct loop *loop, int n)
{
    bool is_called = false;

    pthread_mutex_lock(&pool.lock);
    if (!pool.loop) {
        make_threads(n);
        pool.n_called = pool.n_threads < n ? pool.n_threads : n;
        is_called = pool.n_called > 0;
    }
    if (is_called) {
        pool.loop = loop;
        atomic_store(&pool.n_busy, pool.n_called);
        atomic_fetch_add(&pool.turn, 1);
        pthread_cond_broadcast(&pool.begin);
    }
    pthread_mutex_unlock(&pool.lock);
    return is_called;
}

static void leave_pool(void)
{
    for (int i = 0; i < LOOKS && atomic_load(&pool.n_busy) > 0; i++)
        pause_briefly();
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.n_busy) > 0)
        pthread_cond_wait(&pool.end, &pool.lock);
    pool.loop = NULL;
    pthread_mutex_unlock(&pool.lock);
}

void parallel_for(size_t n_items, int n_threads, parallel_body *body, void *context)
{
    struct loop loop = {.body = body, .context = context, .n_items = n_items};
    size_t most = n_items < MAX_THREADS ? n_items : MAX_THREADS;
    size_t n = n_threads > 0 && (size_t)n_threads < most ? (size_t)n_threads : most;
    bool is_shared;

    atomic_init(&loop.next, 0);
    is_shared = !is_inside && n_threads > 1 && n > 1 && call_pool(&loop, (int)n - 1);
    if (is_shared)
        is_inside = true;
    run_items(&loop, 0);
    if (is_shared) {
        is_inside = false;
        leave_pool();
    }
}
