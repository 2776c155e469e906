#include "core/client/plan.h"

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/model/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of random numbers that nothing else uses. */
#define STREAM_SAMPLE   rng_stream("plan sample")
#define STREAM_SHUFFLE  rng_stream("plan shuffle")
#define STREAM_ARRIVALS rng_stream("plan arrivals")

/* Draws of one gamma variate, after which the last proposal is taken: rejecting so often has probability 1e-80. */
enum { MAX_DRAWS = 64 };

void plan_done(struct plan *p)
{
    free(p->sampled);
    free(p->order);
    memset(p, 0, sizeof *p);
}

/* In (0, 1), from 52 bits. */
static double uniform(uint32_t high, uint32_t low)
{
    return ((double)(((uint64_t)high << 20) | (low >> 12)) + 0.5) / 4503599627370496.0;
}

struct draw {
    double hash;
    size_t task;
};

static int by_hash(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;

    if (x->hash < y->hash || x->hash > y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static int by_task(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* The tasks of the least hashes, so many that the share is reached. */
static enum status sample(struct plan *p, const struct taskset *tasks, struct error *err)
{
    size_t n = (size_t)ceil(p->options.sample * (double)tasks->n_tasks - 1e-9), i;
    struct draw *draws = NULL;

    TRY(mem_new(tasks->n_tasks, sizeof *draws, &draws, err));
    for (i = 0; i < tasks->n_tasks; i++) {
        struct rng_block b = rng_at(rng_stream(tasks->tasks[i].id), STREAM_SAMPLE, 0);

        draws[i] = (struct draw){.hash = uniform(b.word[0], b.word[1]), .task = i};
    }
    qsort(draws, tasks->n_tasks, sizeof *draws, by_hash);
    for (i = 0; i < n && i < tasks->n_tasks; i++)
        p->sampled[p->n++] = draws[i].task;
    free(draws);
    qsort(p->sampled, p->n, sizeof *p->sampled, by_task);
    return OK;
}

enum status plan_init(struct plan *p, const struct taskset *tasks, const struct plan_options *o, struct error *err)
{
    memset(p, 0, sizeof *p);
    p->options = *o;
    TRY(mem_new(tasks->n_tasks, sizeof *p->sampled, &p->sampled, err));
    TRY(mem_new(tasks->n_tasks, sizeof *p->order, &p->order, err));
    TRY(sample(p, tasks, err));
    if (p->n == 0)
        return error_set(err, ERR_USAGE, "a sample of %g %% leaves none of the %zu tasks: take a larger one",
                         o->sample * 100, tasks->n_tasks);
    return OK;
}

bool plan_takes(const struct plan *p, size_t task)
{
    size_t i;

    for (i = 0; i < p->n; i++)
        if (p->sampled[i] == task)
            return true;
    return false;
}

size_t plan_total(const struct plan *p)
{
    return p->options.repeats ? p->options.repeats * p->n * p->options.n_arms : SIZE_MAX;
}

/* Fisher-Yates; an index for each repeat and place. */
static void shuffle(struct plan *p, size_t repeat)
{
    size_t i;

    memcpy(p->order, p->sampled, p->n * sizeof *p->order);
    for (i = p->n; p->options.shuffles && i > 1; i--) {
        struct rng_block b = rng_at(p->options.seed, STREAM_SHUFFLE, ((uint64_t)repeat << 32) + i);
        size_t k = (size_t)(uniform(b.word[0], b.word[1]) * (double)i), t = p->order[i - 1];

        p->order[i - 1] = p->order[k];
        p->order[k] = t;
    }
}

/* Blocks of tasks go to arm 0, 1, then 1, 0: a drift over time hits both alike. */
static void place(const struct plan *p, size_t at, struct plan_unit *ret)
{
    size_t arms = p->options.n_arms, span = p->options.block * arms;
    size_t first = at / span * p->options.block, inside = at % span;
    size_t len = p->n - first < p->options.block ? p->n - first : p->options.block;
    size_t arm = inside / len;

    ret->arm = at / span % 2 ? arms - 1 - arm : arm;
    ret->task = p->order[first + inside % len];
}

/* The nth draw of the arrivals' stream. */
static struct rng_block draw(const struct plan *p, size_t unit, size_t n)
{
    return rng_at(p->options.seed, STREAM_ARRIVALS, (uint64_t)unit * (MAX_DRAWS + 1) + n);
}

/* Of shape k >= 1 and scale 1: Marsaglia and Tsang, ACM TOMS 26 (2000), 363. */
static double gamma_from_one(const struct plan *p, size_t unit, double k)
{
    double d = k - 1.0 / 3, c = 1 / sqrt(9 * d), v = 1;
    size_t i;

    for (i = 1; i <= MAX_DRAWS; i++) {
        struct rng_block b = draw(p, unit, i);
        double radius = sqrt(-2 * log(uniform(b.word[0], b.word[1])));
        double x = radius * cos(2 * 3.14159265358979323846 * ((double)b.word[2] / 4294967296.0));
        double u = uniform(b.word[3], b.word[2]);

        v = pow(1 + c * x, 3);
        if (v > 0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            break;
        v = 1;
    }
    return d * v;
}

/* Mean 1. Shapes below 1 by Gamma(k) = Gamma(k + 1) U^(1/k). */
static double gap(const struct plan *p, size_t unit)
{
    struct rng_block b = draw(p, unit, 0);
    double u = uniform(b.word[0], b.word[1]), k = p->options.shape;

    if (p->options.arrivals == ARRIVE_CONSTANT)
        return 1;
    if (p->options.arrivals == ARRIVE_POISSON)
        return -log(u);
    return k >= 1 ? gamma_from_one(p, unit, k) / k : gamma_from_one(p, unit, k + 1) * pow(u, 1 / k) / k;
}

bool plan_next(struct plan *p, struct plan_unit *ret)
{
    size_t pass = p->n * p->options.n_arms, repeat = p->next / pass;

    if (p->next >= plan_total(p))
        return false;
    if (p->next % pass == 0)
        shuffle(p, repeat);
    place(p, p->next % pass, ret);
    ret->repeat = (int64_t)repeat + 1;
    ret->due_ns = NS_UNKNOWN;
    if (p->options.arrivals != ARRIVE_CLOSED) {
        ret->due_ns = (int64_t)(p->due_s * 1e9);
        p->due_s += gap(p, p->next) / p->options.rate;
    }
    p->next++;
    return true;
}
