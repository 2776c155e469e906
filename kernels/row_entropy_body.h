/* row_entropy_body.h - the passes over one row, written on virtual lanes; each row_entropy_<isa>.c includes it once.
 *
 * A row has two sides of its query, and each is cut into vectors of sixteen keys that count from the query on: vector k
 * holds the distances 16k to 16k + 15, so that the buckets of the distance profile begin and end with vectors, but for
 * vector 0. Vectors go in pairs, the far ones first, and pairs in blocks of 16: a block from 512 keys on lies within
 * one bucket. Within a block a lane sums at most 17 floats, then the lanes go to eight doubles: the rounding of the
 * float sums stays under 17 * 2^-24 of the sum of |terms|, and with `ref` = -log2 n those terms add up to less than
 * KL(p|uniform) + 1.1 bits; where KL is large, few elements carry it.
 *
 * Distances: before a pair is added to the sums, the sums are added to `before`, so that an element is counted there
 * once for every whole pair that follows it: 32 keys each, for one addition. The rest of its distance depends on the
 * lane alone, and on the block.
 *
 * log2 p: p = 2^e m with m in [1, 2); in each sixteenth of that the number c in its middle (1 itself in the first)
 * gives r = m/c - 1 in [-1/34, 1/16], and log2 p = e + log2 c + r P(r) with P of degree two and |error| 2.4e-7
 * (Lawson's iteration in float64; numbers rounded to float). Powers of two come out exact. Zero gives a finite
 * logarithm, so 0 log 0 = 0 needs no branch. */
#ifndef KERNELS_ROW_ENTROPY_BODY_H
#define KERNELS_ROW_ENTROPY_BODY_H

#include "kernels/exp2_lanes.h"
#include "kernels/row_entropy_isa.h"
#include "kernels/row_k90_body.h"
#include "kernels/row_load.h"

#include <math.h>
#include <string.h>

/* 1/c rounded to float, and -log2 of that. */
static const float inverse_c[16] = {0x1p+0F,        0x1.d41d42p-1F, 0x1.bacf92p-1F, 0x1.a41a42p-1F,
                                    0x1.8f9c18p-1F, 0x1.7d05f4p-1F, 0x1.6c16c2p-1F, 0x1.5c9882p-1F,
                                    0x1.4e5e0ap-1F, 0x1.414142p-1F, 0x1.3521dp-1F,  0x1.29e412p-1F,
                                    0x1.1f7048p-1F, 0x1.15b1e6p-1F, 0x1.0c9714p-1F, 0x1.041042p-1F};
static const float log2_c[16] = {0x0p+0F,        0x1.08c588p-3F, 0x1.acf5dep-3F, 0x1.24407ap-2F,
                                 0x1.6e222p-2F,  0x1.b47ecp-2F,  0x1.f7a854p-2F, 0x1.1bf314p-1F,
                                 0x1.3abb4p-1F,  0x1.58482p-1F,  0x1.74b1fcp-1F, 0x1.900e62p-1F,
                                 0x1.aa708ep-1F, 0x1.c3e9cap-1F, 0x1.dc899ep-1F, 0x1.f45e06p-1F};

/* From a side's vectors to their distances: on the left of the query lane 15 is the nearest, on the right lane 0. */
static const float left_lane[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
static const float right_lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

struct row_lanes {
    struct v16f sum, log_sum, square_sum, before;
    struct v16i max_bits;
};

/* `shift`: ref in the place of an exponent. */
LANES_INLINE void add_weights(struct row_lanes *acc, struct v16f p, struct v16i shift)
{
    struct v16i bits = v16f_bits(p);
    struct v16i index = v16i_shr19(bits);
    struct v16f r = v16f_fma(v16i_mantissa(bits), v16f_lookup16(inverse_c, index), v16f_set(-1));
    struct v16f whole = v16f_add(v16i_exponent(v16i_sub(bits, shift)), v16f_lookup16(log2_c, index));
    struct v16f poly = v16f_fma(r, v16f_set(0x1.d64652p-2F), v16f_set(-0x1.716f78p-1F));

    poly = v16f_fma(r, poly, v16f_set(0x1.715592p+0F));
    acc->log_sum = v16f_fma(p, v16f_fma(r, poly, whole), acc->log_sum);
    acc->sum = v16f_add(acc->sum, p);
    acc->square_sum = v16f_fma(p, p, acc->square_sum);
    acc->max_bits = v16i_max_unsigned(acc->max_bits, bits);
}

/* The keys of a row on one side of its query, at the distances [near, far]. */
struct side {
    const char *weights; /* of the row */
    int64_t query, near, far;
    int is_left;
};

/* The element in the first lane of vector k; before the row's first one, or after its last, where the side ends. */
LANES_INLINE int64_t vector_at(const struct side *s, int64_t k)
{
    return s->is_left ? s->query - VECTOR * k - (VECTOR - 1) : s->query + VECTOR * k;
}

/* Vector k with zeros outside the side. */
LANES_INLINE struct v16f load_end(const struct side *s, int64_t k, enum dtype type)
{
    int64_t near = s->near - VECTOR * k, far = s->far - VECTOR * k;
    int lo = near < 0 ? 0 : near < VECTOR ? (int)near : VECTOR, hi = far < 0 ? 0 : far < VECTOR ? (int)far + 1 : VECTOR;

    return s->is_left ? load_part(s->weights, vector_at(s, k), type, VECTOR - hi, VECTOR - lo)
                      : load_part(s->weights, vector_at(s, k), type, lo, hi);
}

#ifdef LANES_FEW_REGISTERS
/* Every other vector of a run: only its own sums are in registers meanwhile. */
LANES_INLINE void add_run(struct row_lanes *acc, const char *p, int64_t n, int64_t step, enum dtype type,
                          struct v16i shift)
{
    struct row_lanes own;

    __asm__ volatile("" : : "r"(acc) : "memory"); /* the compiler would else spill the sums of both within the loop */
    own = *acc;
    for (int64_t i = 0; i < n; i++, p += step) {
        own.before = v16f_add(own.before, own.sum);
        add_weights(&own, load_weights(p, type), shift);
    }
    *acc = own;
    __asm__ volatile("" : : "r"(acc) : "memory");
}
#endif

/* Adds the pairs from `first` down to `last`. */
LANES_INLINE void add_pairs(struct row_lanes acc[2], const struct side *s, int64_t first, int64_t last, enum dtype type,
                            struct v16i shift)
{
    int64_t bytes = (int64_t)bytes_of(type), step = s->is_left ? PAIR : -PAIR, m = first, a, b;
    int64_t full_first = s->far / PAIR - (s->far % PAIR != PAIR - 1), full_last = (s->near + PAIR - 1) / PAIR;

    for (; m >= last && m > full_first; m--) {
        acc[0].before = v16f_add(acc[0].before, acc[0].sum);
        acc[1].before = v16f_add(acc[1].before, acc[1].sum);
        add_weights(&acc[0], load_end(s, 2 * m + 1, type), shift);
        add_weights(&acc[1], load_end(s, 2 * m, type), shift);
    }
    full_last = full_last > last ? full_last : last;
    a = vector_at(s, 2 * m + 1);
    b = vector_at(s, 2 * m);
#ifdef LANES_FEW_REGISTERS
    add_run(&acc[0], s->weights + a * bytes, m - full_last + 1, step * bytes, type, shift);
    add_run(&acc[1], s->weights + b * bytes, m - full_last + 1, step * bytes, type, shift);
    m = full_last - 1 < m ? full_last - 1 : m;
#else
    for (; m >= full_last; m--, a += step, b += step) {
        acc[0].before = v16f_add(acc[0].before, acc[0].sum);
        acc[1].before = v16f_add(acc[1].before, acc[1].sum);
        add_weights(&acc[0], load_weights(s->weights + a * bytes, type), shift);
        add_weights(&acc[1], load_weights(s->weights + b * bytes, type), shift);
    }
#endif
    for (; m >= last; m--) {
        acc[0].before = v16f_add(acc[0].before, acc[0].sum);
        acc[1].before = v16f_add(acc[1].before, acc[1].sum);
        add_weights(&acc[0], load_end(s, 2 * m + 1, type), shift);
        add_weights(&acc[1], load_end(s, 2 * m, type), shift);
    }
}

struct row_totals {
    struct v8d log_sum, square_sum, distance;
    struct v16i max_bits;
};

/* What has been added up since the block began, all but the sums. `last`: its last pair. */
LANES_INLINE void add_block(struct row_totals *to, const struct row_lanes acc[2], double sum, int64_t last, int is_left,
                            double *distance)
{
    struct v16f sums = v16f_add(acc[0].sum, acc[1].sum);
    struct v16f keys = v16f_mul(sums, v16f_load(is_left ? left_lane : right_lane));

    keys = v16f_fma(acc[0].sum, v16f_set(VECTOR), keys);
    keys = v16f_fma(v16f_add(acc[0].before, acc[1].before), v16f_set(PAIR), keys);
    to->log_sum = v8d_add_halves(to->log_sum, v16f_add(acc[0].log_sum, acc[1].log_sum));
    to->square_sum = v8d_add_halves(to->square_sum, v16f_add(acc[0].square_sum, acc[1].square_sum));
    to->distance = v8d_add_halves(to->distance, keys);
    to->max_bits = v16i_max_unsigned(acc[0].max_bits, acc[1].max_bits);
    *distance += (double)(PAIR * last) * sum;
}

/* Vector 0: distance 0 to 15. */
LANES_INLINE void add_nearest(double *bucket, struct v16f sum, int is_left)
{
    float lane[VECTOR], d[VECTOR];

    v16f_store(lane, sum);
    for (int i = 0; i < VECTOR; i++)
        d[i] = lane[is_left ? VECTOR - 1 - i : i];
    bucket[0] += (double)d[0];
    bucket[1] += (double)d[1];
    bucket[2] += (double)d[2] + (double)d[3];
    bucket[3] += ((double)d[4] + (double)d[5]) + ((double)d[6] + (double)d[7]);
    bucket[4] += (((double)d[8] + (double)d[9]) + ((double)d[10] + (double)d[11])) +
                 (((double)d[12] + (double)d[13]) + ((double)d[14] + (double)d[15]));
}

/* The block of the 512 nearest keys: the running sums are looked at where a bucket ends. */
LANES_INLINE void add_near(struct row_lanes acc[2], const struct side *s, int64_t first, int64_t last, enum dtype type,
                           struct v16i shift, double *bucket)
{
    double seen = 0, now;

    for (int b = 9; b >= 6; b--) {
        int64_t begin = 1 << (b - 6);

        if (first < begin || last >= 2 * begin)
            continue;
        add_pairs(acc, s, first < 2 * begin ? first : 2 * begin - 1, last > begin ? last : begin, type, shift);
        now = lanes_sum(v16f_add(acc[0].sum, acc[1].sum));
        bucket[b] += now - seen;
        seen = now;
    }
    if (last == 0) {
        struct v16f a = load_end(s, 1, type), b = load_end(s, 0, type);

        acc[0].before = v16f_add(acc[0].before, acc[0].sum);
        acc[1].before = v16f_add(acc[1].before, acc[1].sum);
        add_weights(&acc[0], a, shift);
        add_weights(&acc[1], b, shift);
        bucket[5] += lanes_sum(a);
        add_nearest(bucket, b, s->is_left);
    }
}

LANES_INLINE void add_side(struct row_totals *to, const struct side *s, enum dtype type, struct v16i shift,
                           struct row_sums *ret)
{
    int64_t last = s->near / PAIR, m = s->far / PAIR;

    while (m >= last) {
        struct v16f zero = v16f_set(0);
        struct row_lanes acc[2] = {{zero, zero, zero, zero, to->max_bits}, {zero, zero, zero, zero, to->max_bits}};
        int64_t end = m - m % BLOCK_PAIRS > last ? m - m % BLOCK_PAIRS : last;
        double sum;

        if (m < BLOCK_PAIRS)
            add_near(acc, s, m, end, type, shift, ret->bucket);
        else
            add_pairs(acc, s, m, end, type, shift);
        sum = lanes_sum(v16f_add(acc[0].sum, acc[1].sum));
        if (m >= BLOCK_PAIRS)
            ret->bucket[profile_bucket((uint64_t)m * PAIR)] += sum;
        ret->sum += sum;
        add_block(to, acc, sum, end, s->is_left, &ret->distance);
        m = end - 1;
    }
}

LANES_INLINE void sums_of(const void *weights, size_t n, enum dtype type, int ref, int64_t query, struct row_sums *ret)
{
    struct row_totals totals = {v8d_zero(), v8d_zero(), v8d_zero(), v16i_set(0)};
    struct v16i shift = v16i_set((int32_t)((uint32_t)ref << 23));
    int64_t last = (int64_t)n - 1;

    memset(ret, 0, sizeof *ret);
    if (query >= 0)
        add_side(&totals, &(struct side){weights, query, query > last ? query - last : 0, query, 1}, type, shift, ret);
    if (query < last)
        add_side(&totals, &(struct side){weights, query, query < 0 ? -query : 1, last - query, 0}, type, shift, ret);
    ret->log_sum = v8d_sum(totals.log_sum);
    ret->square_sum = v8d_sum(totals.square_sum);
    ret->distance += v8d_sum(totals.distance);
    ret->max_bits = v16i_reduce_max_unsigned(totals.max_bits);
}

static void sums(const void *weights, size_t n, enum dtype type, int ref, int64_t query, struct row_sums *ret){
#define SUMS(TYPE) sums_of(weights, n, TYPE, ref, query, ret)
    BY_TYPE(type, SUMS)
#undef SUMS
}

LANES_INLINE double top_of(const void *scores, size_t n, enum dtype type, bool *ret_special)
{
    const char *p = (const char *)scores;
    const struct v16i magnitude = v16i_set(0x7fffffff);
    struct v16f top = v16f_set(-INFINITY);
    struct v16i most = v16i_set(0);
    uint32_t most_bits;
    double max;

    for (size_t i = 0; i < n; i += VECTOR) {
        struct v16f x = i + VECTOR <= n ? load_weights(p + i * bytes_of(type), type) : load_rest(p, i, n, type);

        most = v16i_max_unsigned(most, v16i_and(v16f_bits(x), magnitude));
        top = v16f_max(top, x);
    }
    most_bits = v16i_reduce_max_unsigned(most);
    max = (double)v16f_reduce_max(top);
    *ret_special = most_bits > 0x7f800000 || (special_bits(type) < 0x7f800000 && most_bits >= special_bits(type)) ||
                   (isinf(max) && max > 0);
    return max;
}

static double top(const void *scores, size_t n, enum dtype type, bool *ret_special)
{
    double max = 0;

#define TOP(TYPE) max = top_of(scores, n, TYPE, ret_special)
    BY_TYPE(type, TOP)
#undef TOP
    return max;
}

/* x - top, of float64 before it is rounded. */
LANES_INLINE struct v16f less_top(const char *p, enum dtype type, struct v16f x, double top)
{
    double d[VECTOR];

    if (type != DTYPE_F64)
        return v16f_sub(x, v16f_set((float)top));
    memcpy(d, p, sizeof d);
    for (int i = 0; i < VECTOR; i++)
        d[i] -= top;
    return v16f_load_f64(d);
}

/* Weights under 2^-125 count as zero. Two floats make the factor, so that it does not add to what is rounded. */
LANES_INLINE struct v16f weights_of_scores(const char *p, enum dtype type, double masked, double top, double factor)
{
    const struct v16f least = v16f_set(-125);
    struct v16f x = load_weights(p, type), d = less_top(p, type, x, top), y;

    y = v16f_mul(d, v16f_set((float)(factor - (double)(float)factor)));
    y = v16f_max(v16f_min(v16f_fma(d, v16f_set((float)factor), y), v16f_set(1)), least);
    return v16f_where_gt(x, v16f_set((float)masked), v16f_where_gt(y, least, exp2_lanes(y)));
}

LANES_INLINE double weigh_of(const void *scores, size_t n, enum dtype type, double masked, double top, double factor,
                             float *to)
{
    const char *p = (const char *)scores;
    struct v8d sum = v8d_zero();
    size_t i = 0;

    for (; i + VECTOR <= n; i += VECTOR) {
        struct v16f w = weights_of_scores(p + i * bytes_of(type), type, masked, top, factor);

        v16f_store(to + i, w);
        sum = v8d_add_halves(sum, w);
    }
    if (i < n) {
        double part[VECTOR] = {0};
        struct v16f w;

        memcpy(part, p + i * bytes_of(type), (n - i) * bytes_of(type));
        w = v16f_only((lanes_mask)((1U << (n - i)) - 1),
                      weights_of_scores((const char *)part, type, masked, top, factor));
        v16f_store(to + i, w);
        sum = v8d_add_halves(sum, w);
    }
    return v8d_sum(sum);
}

static double weigh(const void *scores, size_t n, enum dtype type, double masked, double top, double factor, float *to)
{
    double sum = 0;

#define WEIGH(TYPE) sum = weigh_of(scores, n, TYPE, masked, top, factor, to)
    BY_TYPE(type, WEIGH)
#undef WEIGH
    return sum;
}

const struct row_isa LANES_NAME(row_entropy) = {
    .sums = sums, .split = split, .masses = masses, .order = order, .few = few, .weigh = weigh, .top = top};

#endif
