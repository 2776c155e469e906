/* row_passes.cuh - what is done with the elements of a row: the sums, the search for k90, the leak. */
#ifndef KERNELS_ROW_PASSES_CUH
#define KERNELS_ROW_PASSES_CUH

#include "kernels/row_entropy.h"
#include "kernels/row_visit.cuh"

#include <math.h>

namespace
{

/* How an element x becomes a weight. Weights are themselves; scores 2^((x - top) factor), where x > masked. */
template <dtype TYPE, row_kind KIND> struct weigher {
    typedef typename element<TYPE>::type real;

    real top, masked;
    float factor;

    /* log2 of the weight, down to -125; -126 for one that counts as zero. */
    __device__ __forceinline__ float exponent(real x) const
    {
        float y = (float)(x - top) * factor;

        return x > masked && y > -125 ? y : -126;
    }
    __device__ __forceinline__ double weight(real x) const
    {
        float y;

        if (KIND == ROWS_WEIGHTS)
            return (double)x;
        y = exponent(x);
        return y > -126 ? (double)exp2f(y) : 0;
    }
};

__device__ __forceinline__ int bucket_of(int64_t keys)
{
    uint64_t distance = (uint64_t)(keys < 0 ? -keys : keys);
    int bucket = 64 - __clzll((long long)distance);

    return bucket < PROFILE_BUCKETS ? bucket : PROFILE_BUCKETS - 1;
}

/* The distance profile of what one warp sees. Most steps lie in one bucket: their lanes add up on their own until the
 * bucket changes. */
struct warp_profile {
    double *buckets; /* shared, of this warp: PROFILE_BUCKETS; NULL: not wanted */
    double mass;
    int current;

    __device__ __forceinline__ void flush(int lane)
    {
        double sum = warp_sum(mass);

        if (lane == 0 && current >= 0)
            buckets[current] += sum;
        mass = 0;
    }

    /* The lane's N weights, from `keys` (query - at) downwards; the warp's reach from `first` down to `last`. */
    template <int N>
    __device__ __forceinline__ void add(const float (&w)[N], int64_t keys, int64_t first, int64_t last, int lane)
    {
        int a = bucket_of(first), b = bucket_of(last), least = a < b ? a : b, most = a < b ? b : a;

        if (first > 0 && last < 0)
            least = 0;
        if (least == most) {
            float sum = 0;

            if (least != current)
                flush(lane);
            current = least;
#pragma unroll
            for (int i = 0; i < N; i++)
                sum += w[i];
            mass += (double)sum;
            return;
        }
        for (int bucket = least; bucket <= most; bucket++) {
            float sum = 0;
            double all;

#pragma unroll
            for (int i = 0; i < N; i++)
                sum += bucket_of(keys - i) == bucket ? w[i] : 0;
            all = warp_sum((double)sum);
            if (lane == 0)
                buckets[bucket] += all;
        }
    }
};

/* Sums over a row. A thread adds at most 18 floats to a float, then goes on in double. Weights: log_sum holds
 * p (log2 p - ref), by MUFU.LG2 of the mantissa (absolute error 2^-22), the exponent apart; zero has a finite
 * logarithm there, so that 0 log 0 = 0 needs no branch. Scores: log_sum holds e log2 e of e = 2^y. */
template <dtype TYPE, row_kind KIND> struct sum_pass {
    typedef typename element<TYPE>::type real;

    weigher<TYPE, KIND> of;
    struct warp_profile profile;
    int64_t query;
    int ref, lane;
    bool is_exact; /* fill `exact`, the sum in double */
    double exact;
    float sum, log_sum, square_sum, distance;
    uint32_t max_bits;
    double total[4];

    __device__ __forceinline__ float add_one(real x, float keys)
    {
        float p, log2_p;

        if (KIND == ROWS_WEIGHTS) {
            uint32_t bits;
            int t;

            p = (float)x;
            bits = __float_as_uint(p);
            t = (int)(bits - 0x3f3504f3U);
            log2_p = (float)((t >> 23) - ref) + __log2f(__uint_as_float(bits - ((uint32_t)t & 0xff800000U)));
            max_bits = bits > max_bits ? bits : max_bits;
        } else {
            log2_p = of.exponent(x);
            p = log2_p > -126 ? exp2f(log2_p) : 0;
        }
        sum += p;
        log_sum = fmaf(p, log2_p, log_sum);
        square_sum = fmaf(p, p, square_sum);
        distance = fmaf(p, fabsf(keys), distance);
        return p;
    }
    template <int N> __device__ __forceinline__ void add(const real (&x)[N], size_t at, size_t lo, size_t hi)
    {
        float keys = (float)(query - (int64_t)at), w[N];

#pragma unroll
        for (int i = 0; i < N; i++)
            w[i] = add_one(x[i], keys - (float)i);
        if (is_exact)
#pragma unroll
            for (int i = 0; i < N; i++)
                exact += KIND == ROWS_WEIGHTS ? (double)x[i] : (double)w[i];
        if (profile.buckets)
            profile.add(w, query - (int64_t)at, query - (int64_t)lo, query - (int64_t)(hi - 1), lane);
    }
    __device__ __forceinline__ void flush()
    {
        total[0] += (double)sum;
        total[1] += (double)log_sum;
        total[2] += (double)square_sum;
        total[3] += (double)distance;
        sum = log_sum = square_sum = distance = 0;
    }
};

/* The largest score, and whether one is NaN or +inf. */
template <dtype TYPE> struct max_pass {
    typedef typename element<TYPE>::type real;

    real max;
    int is_bad;

    template <int N> __device__ __forceinline__ void add(const real (&x)[N], size_t, size_t, size_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            max = x[i] > max ? x[i] : max;
            is_bad |= !(x[i] < (real)INFINITY);
        }
    }
    __device__ __forceinline__ void flush()
    {
    }
};

/* The floats in their order as whole numbers, without the low bits that the type does not have. */
template <dtype TYPE> struct ranking {
    enum { SHIFT = TYPE == DTYPE_F16 ? 13 : TYPE == DTYPE_F32 ? 0 : 16 };

    static __device__ __forceinline__ uint64_t rank(float x)
    {
        uint32_t bits = __float_as_uint(x);

        return (bits & 0x80000000U ? ~bits : bits | 0x80000000U) >> SHIFT;
    }
    /* The lowest float of that rank, or the one that the type has. */
    static __device__ __forceinline__ float value(uint64_t rank, bool is_own)
    {
        uint32_t bits = (uint32_t)rank << SHIFT;

        if (bits & 0x80000000U)
            return __uint_as_float(bits ^ 0x80000000U);
        return __uint_as_float(~(is_own ? bits | ((1U << SHIFT) - 1) : bits));
    }
};
template <> struct ranking<DTYPE_F64> {
    static __device__ __forceinline__ uint64_t rank(double x)
    {
        uint64_t bits = (uint64_t)__double_as_longlong(x);

        return bits >> 63 ? ~bits : bits | 1ULL << 63;
    }
    static __device__ __forceinline__ double value(uint64_t rank, bool)
    {
        return __longlong_as_double((long long)(rank >> 63 ? rank ^ 1ULL << 63 : ~rank));
    }
};

/* Mass and number of the elements from each of three limits up to `end`. */
template <dtype TYPE, row_kind KIND> struct split_pass {
    typedef typename element<TYPE>::type real;

    weigher<TYPE, KIND> of;
    real limit[3], end;
    double mass[3];
    uint32_t n[3];

    template <int N> __device__ __forceinline__ void add(const real (&x)[N], size_t, size_t, size_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (x[i] >= limit[0] && x[i] < end) {
                double w = of.weight(x[i]);

                mass[0] += w;
                n[0]++;
                mass[1] += x[i] >= limit[1] ? w : 0;
                n[1] += x[i] >= limit[1];
                mass[2] += x[i] >= limit[2] ? w : 0;
                n[2] += x[i] >= limit[2];
            }
    }
    __device__ __forceinline__ void flush()
    {
    }
};

/* Where k90 ends: elements of a rank from `lo` on hold the mass that is needed, those from `hi` on do not. */
struct bracket {
    uint64_t lo, hi;
    double n_lo, n_hi, mass_hi;
};

/* A quarter of the bracket that keeps what it promises. sums: mass from each limit, then their numbers. */
__device__ __forceinline__ void narrow(struct bracket *b, const uint64_t rank[3], const double sums[6], double need)
{
    struct bracket old = *b;

    for (int i = 0; i < 3; i++)
        if (old.mass_hi + sums[i] >= need) {
            b->lo = rank[i];
            b->n_lo = old.n_hi + sums[3 + i];
        }
    for (int i = 2; i >= 0; i--)
        if (old.mass_hi + sums[i] < need) {
            b->hi = rank[i];
            b->mass_hi = old.mass_hi + sums[i];
            b->n_hi = old.n_hi + sums[3 + i];
        }
}

/* Whether the last of the elements is not found yet. */
__device__ __forceinline__ bool is_open(const struct bracket *b)
{
    return b->hi - b->lo > 1 && b->n_lo - b->n_hi > 1.5;
}

/* The limits that cut the bracket into quarters. */
__device__ __forceinline__ void quarters(const struct bracket *b, uint64_t rank[3])
{
    uint64_t step = (b->hi - b->lo) / 4 > 1 ? (b->hi - b->lo) / 4 : 1;

    for (int i = 0; i < 3; i++) {
        rank[i] = b->lo + step * (uint64_t)(i + 1);
        rank[i] = rank[i] < b->hi ? rank[i] : b->hi - 1;
    }
}

/* Mass from each of the limits up to the bracket's end, then the numbers, over what the block visits. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ void split_sums(const struct group *g, const unsigned char *row, size_t n,
                                           const float *table, weigher<TYPE, KIND> of, const struct bracket *b,
                                           const uint64_t rank[3], typename element<TYPE>::type filler, double sums[6])
{
    typedef ranking<TYPE> order;
    split_pass<TYPE, KIND> pass = {of, {0, 0, 0}, order::value(b->hi, false), {0, 0, 0}, {0, 0, 0}};
    double all[6];

    for (int i = 0; i < 3; i++)
        pass.limit[i] = order::value(rank[i], false);
    visit<TYPE>(g, row, n, table, filler, &pass);
    for (int i = 0; i < 3; i++) {
        all[i] = pass.mass[i];
        all[3 + i] = (double)pass.n[i];
    }
    group_sums(g, all);
    for (int i = 0; i < 6; i++)
        sums[i] = all[i];
}

/* Of n elements, all of which that matter lie between these two. */
template <dtype TYPE>
__device__ __forceinline__ struct bracket bracket_of(typename element<TYPE>::type least,
                                                     typename element<TYPE>::type largest, size_t n)
{
    return {ranking<TYPE>::rank(least), ranking<TYPE>::rank(largest) + 1, (double)n, 0, 0};
}

/* Fewest elements that hold `need`: the row is read again, out of the cache, until the last of them is found. */
template <dtype TYPE, row_kind KIND>
__device__ __forceinline__ uint32_t count_k90(const struct group *g, const unsigned char *row, size_t n,
                                              const float *table, weigher<TYPE, KIND> of, double need, struct bracket b,
                                              typename element<TYPE>::type filler)
{
    double w;

    while (is_open(&b)) {
        uint64_t rank[3];
        double sums[6];

        quarters(&b, rank);
        split_sums<TYPE, KIND>(g, row, n, table, of, &b, rank, filler, sums);
        narrow(&b, rank, sums, need);
    }
    if (b.n_lo - b.n_hi < 1.5)
        return (uint32_t)b.n_hi + 1;
    w = of.weight(ranking<TYPE>::value(b.lo, true));
    return (uint32_t)b.n_hi + (uint32_t)(w > 0 ? ceil((need - b.mass_hi) / w) : 1);
}

/* What stands where the row should see nothing. */
template <dtype TYPE, row_kind KIND> struct leak_pass {
    typedef typename element<TYPE>::type real;

    real top, masked;
    double factor, sum;

    template <int N> __device__ __forceinline__ void add(const real (&x)[N], size_t, size_t, size_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (KIND == ROWS_WEIGHTS)
                sum += fabs((double)x[i]);
            else if (!(x[i] <= masked))
                sum += exp2((double)(x[i] - top) * factor);
    }
    __device__ __forceinline__ void flush()
    {
    }
};

} /* namespace */

#endif
