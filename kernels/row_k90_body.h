/* row_k90_body.h - the passes that row_k90.c asks for, and what few keys weigh; part of row_entropy_body.h. */
#ifndef KERNELS_ROW_K90_BODY_H
#define KERNELS_ROW_K90_BODY_H

#include "kernels/row_entropy_isa.h"
#include "kernels/row_load.h"

enum { PAIR = 2 * VECTOR, BLOCK_PAIRS = 16 };

LANES_INLINE double lanes_sum(struct v16f a)
{
    return v8d_sum(v8d_add_halves(v8d_zero(), a));
}

/* What a split has found, in two parts that do not wait for each other. */
struct split_lanes {
    struct v16f above[2];
    struct v16i n_above[2];
    float *to; /* where the next key goes that lies between */
};

LANES_INLINE void split_vector(struct split_lanes *s, int part, struct v16f p, struct v16f lo, struct v16f hi)
{
    lanes_mask between = v16f_split(p, lo, hi, &s->above[part], &s->n_above[part]);

    v16f_pack(s->to, between, p);
    s->to += lanes_count(between);
}

LANES_INLINE double sum_of_packed(const float *p, size_t n, size_t run)
{
    struct v8d sum = v8d_zero();

    for (size_t i = 0; i < n;) {
        struct v16f acc = v16f_set(0);
        size_t stop = i + run < n ? i + run : n;

        for (; i + VECTOR <= stop; i += VECTOR)
            acc = v16f_add(acc, v16f_load(p + i));
        if (i < stop)
            acc = v16f_add(acc, load_part((const char *)p, (int64_t)i, DTYPE_F32, 0, (int)(stop - i)));
        i = stop;
        sum = v8d_add_halves(sum, acc);
    }
    return v8d_sum(sum);
}

LANES_INLINE void split_of(const void *weights, size_t n, enum dtype type, size_t run, float lo, float hi, float *to,
                           struct row_split *ret)
{
    const char *p = (const char *)weights;
    const struct v16f none = v16f_set(0), lows = v16f_set(lo), highs = v16f_set(hi);
    struct split_lanes s = {.n_above = {v16i_set(0), v16i_set(0)}, .to = to};
    struct v8d above = v8d_zero();
    size_t i = 0;

    while (i < n) {
        size_t stop = i + run < n ? i + run : n;

        s.above[0] = s.above[1] = none;
        for (; i + PAIR <= stop; i += PAIR) {
            split_vector(&s, 0, load_weights(p + i * bytes_of(type), type), lows, highs);
            split_vector(&s, 1, load_weights(p + (i + VECTOR) * bytes_of(type), type), lows, highs);
        }
        if (i + VECTOR <= stop) {
            split_vector(&s, 0, load_weights(p + i * bytes_of(type), type), lows, highs);
            i += VECTOR;
        }
        if (i < stop) { /* the lanes without an element are under every limit */
            int left = (int)(stop - i);
            struct v16f lacking = v16f_only((lanes_mask) ~((1U << left) - 1), v16f_set(1));

            split_vector(&s, 0, v16f_sub(load_part(p, (int64_t)i, type, 0, left), lacking), lows, highs);
            i = stop;
        }
        above = v8d_add_halves(above, v16f_add(s.above[0], s.above[1]));
    }
    ret->above = v8d_sum(above);
    ret->n_above = v16i_sum(v16i_add(s.n_above[0], s.n_above[1]));
    ret->n_between = (size_t)(s.to - to);
    ret->between = sum_of_packed(to, ret->n_between, run);
}

static void split(const void *weights, size_t n, enum dtype type, bool is_exact, float lo, float hi, float *to,
                  struct row_split *ret)
{
    size_t run = is_exact ? VECTOR : VECTOR * BLOCK_PAIRS;

#define SPLIT(TYPE) split_of(weights, n, TYPE, run, lo, hi, to, ret)
    BY_TYPE(type, SPLIT)
#undef SPLIT
}

/* As many sums at a time as the registers hold. */
#ifdef LANES_FEW_REGISTERS
enum { MASSES_AT_ONCE = 2 };
#else
enum { MASSES_AT_ONCE = ROW_LIMITS };
#endif

LANES_INLINE void masses_of(const void *weights, size_t n, enum dtype type, size_t step, const float *limit, float *ret)
{
    const char *p = (const char *)weights;
    struct v16f acc[MASSES_AT_ONCE], limits[MASSES_AT_ONCE];
    size_t i = 0;

    for (int m = 0; m < MASSES_AT_ONCE; m++) {
        acc[m] = v16f_set(0);
        limits[m] = v16f_set(limit[m]);
    }
    for (; i + VECTOR <= n; i += VECTOR * step) {
        struct v16f x = load_weights(p + i * bytes_of(type), type);

        LANES_UNROLL
        for (int m = 0; m < MASSES_AT_ONCE; m++)
            acc[m] = v16f_add_less(acc[m], x, limits[m]);
    }
    if (i < n) {
        struct v16f x = load_part(p, (int64_t)i, type, 0, (int)(n - i));

        LANES_UNROLL
        for (int m = 0; m < MASSES_AT_ONCE; m++)
            acc[m] = v16f_add_less(acc[m], x, limits[m]);
    }
    for (int m = 0; m < MASSES_AT_ONCE; m++)
        ret[m] = v16f_sum(acc[m]);
}

static double masses(const void *weights, size_t n, enum dtype type, size_t step, const float limit[ROW_LIMITS],
                     float ret[ROW_LIMITS])
{
    size_t n_vectors = (n + VECTOR - 1) / VECTOR, n_taken = (n_vectors + step - 1) / step;

#define MASSES(TYPE) masses_of(weights, n, TYPE, step, limit + m, ret + m)
    for (int m = 0; m < ROW_LIMITS; m += MASSES_AT_ONCE)
        BY_TYPE(type, MASSES)
#undef MASSES
    return (double)n_taken / (double)n_vectors;
}

static void few(const void *weights, size_t at, size_t n, enum dtype type, float *ret)
{
#define FEW(TYPE) v16f_store(ret, load_part(weights, (int64_t)at, TYPE, 0, (int)n))
    BY_TYPE(type, FEW)
#undef FEW
}

/* Each key goes to where as many stand before it as are greater; equal ones to the same place, which are then told. */
static void order(const float *x, size_t n, float *ret)
{
    uint32_t at[ROW_ORDER_MAX + VECTOR];

    for (size_t i = 0; i < n; i += VECTOR) {
        struct v16f own = v16f_load(x + i);
        struct v16i before = v16i_set(0);

        for (size_t j = 0; j < n; j++)
            before = v16i_count_gt(before, v16f_set(x[j]), own);
        v16i_store(at + i, before);
        v16f_store(ret + i, v16f_set(-1));
    }
    for (size_t i = 0; i < n; i++)
        ret[at[i]] = x[i];
    for (size_t i = 1; i < n; i++)
        ret[i] = ret[i] < 0 ? ret[i - 1] : ret[i];
}

#endif
