#include "kernels/parallel.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_ITEMS = 1000, N_THREADS = 4 };

struct counts {
    atomic_int seen[N_ITEMS];
    atomic_int bad_threads, inner;
};

static void count(void *context, size_t item, int thread)
{
    struct counts *c = context;

    atomic_fetch_add(&c->seen[item], 1);
    if (thread < 0 || thread >= N_THREADS)
        atomic_fetch_add(&c->bad_threads, 1);
}

static int n_not_once(struct counts *c, size_t n)
{
    int bad = atomic_load(&c->bad_threads);

    for (size_t i = 0; i < N_ITEMS; i++)
        bad += atomic_load(&c->seen[i]) != (i < n);
    return bad;
}

Test(parallel, every_item_is_done_once_however_many_loops_follow_each_other)
{
    static const size_t lens[] = {0, 1, 2, 3, 5, 64, N_ITEMS};

    for (int round = 0; round < 500; round++) {
        static struct counts c;
        size_t n = lens[(size_t)round % (sizeof lens / sizeof *lens)];

        c = (struct counts){0};
        parallel_for(n, 1 + round % N_THREADS, count, &c);
        cr_assert_eq(n_not_once(&c, n), 0, "round %d, %zu items", round, n);
    }
}

static void count_alone(void *context, size_t item, int thread)
{
    struct counts *c = context;

    (void)item;
    atomic_fetch_add(&c->inner, 1);
    if (thread != 0)
        atomic_fetch_add(&c->bad_threads, 1);
}

static void loop_inside(void *context, size_t item, int thread)
{
    count(context, item, thread);
    parallel_for(10, N_THREADS, count_alone, context);
}

Test(parallel, a_loop_inside_of_a_loop_runs_on_its_own_thread)
{
    static struct counts c;

    parallel_for(N_ITEMS, N_THREADS, loop_inside, &c);
    cr_assert_eq(n_not_once(&c, N_ITEMS), 0);
    cr_assert_eq(atomic_load(&c.inner), 10 * N_ITEMS);
}

Test(parallel, a_child_process_has_loops_of_its_own)
{
    static struct counts before, after;
    int state = -1;
    pid_t child;

    parallel_for(N_ITEMS, N_THREADS, count, &before);
    child = fork();
    if (child == 0) {
        static struct counts inside;

        parallel_for(N_ITEMS, N_THREADS, count, &inside);
        _exit(n_not_once(&inside, N_ITEMS) != 0);
    }
    cr_assert_eq(waitpid(child, &state, 0), child);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    parallel_for(N_ITEMS, N_THREADS, count, &after);
    cr_assert_eq(n_not_once(&after, N_ITEMS), 0);
}
