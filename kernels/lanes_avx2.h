/* lanes_avx2.h - the virtual lanes of lanes.h in two 256-bit registers each; needs AVX2, FMA and F16C. */
#ifndef KERNELS_LANES_AVX2_H
#define KERNELS_LANES_AVX2_H

#include "kernels/pack_table.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_NAME(name) name##_avx2
#define LANES_MICRO_ROWS 6
#define LANES_MICRO_VECS 1
#define LANES_FEW_REGISTERS

struct v16f {
    __m256 lo, hi;
};
struct v16i {
    __m256i lo, hi;
};
struct v8d {
    __m256d lo, hi;
};

static inline struct v16f v16f_set(float x)
{
    return (struct v16f){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

static inline struct v16f v16f_load(const float *p)
{
    return (struct v16f){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

static inline void v16f_store(float *p, struct v16f a)
{
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}

static inline struct v16f v16f_load_f32(const void *p)
{
    return (struct v16f){_mm256_loadu_ps(p), _mm256_loadu_ps((const float *)p + 8)};
}

static inline struct v16f v16f_load_f16(const void *p)
{
    const __m128i *half = p;

    return (struct v16f){_mm256_cvtph_ps(_mm_loadu_si128(half)), _mm256_cvtph_ps(_mm_loadu_si128(half + 1))};
}

static inline __m256 bf16_to_ps(__m128i half)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

static inline struct v16f v16f_load_bf16(const void *p)
{
    const __m128i *half = p;

    return (struct v16f){bf16_to_ps(_mm_loadu_si128(half)), bf16_to_ps(_mm_loadu_si128(half + 1))};
}

static inline __m256 f64_to_ps(const double *p)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(p + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(p)));
}

static inline struct v16f v16f_load_f64(const void *p)
{
    return (struct v16f){f64_to_ps(p), f64_to_ps((const double *)p + 8)};
}

static inline struct v16f v16f_load_u8(const void *p)
{
    __m128i bytes = _mm_loadu_si128(p);

    return (struct v16f){_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)),
                         _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)))};
}

static inline struct v16f v16f_load_i8(const void *p)
{
    __m128i bytes = _mm_loadu_si128(p);

    return (struct v16f){_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
                         _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
}

static inline struct v16f halves_to_ps(__m256i half)
{
    return (struct v16f){_mm256_cvtph_ps(_mm256_castsi256_si128(half)),
                         _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1))};
}

/* Sixteen bytes as halves, each shifted to the left. */
static inline struct v16f v16f_load_e5m2(const void *p)
{
    return halves_to_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(p)), 8));
}

/* The value times 2^-8; 0x7f and 0xff as if they were the next number. */
static inline struct v16f v16f_load_e4m3(const void *p)
{
    __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(p));

    return halves_to_ps(_mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16((int16_t)0xbfff)));
}

static inline struct v16f v16f_add(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}

static inline struct v16f v16f_sub(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}

static inline struct v16f v16f_mul(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}

static inline struct v16f v16f_div(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}

static inline struct v16f v16f_fma(struct v16f a, struct v16f b, struct v16f c)
{
    return (struct v16f){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

static inline struct v16f v16f_max(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

static inline struct v16f v16f_min(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

/* x > limit ? a : 0 */
static inline struct v16f v16f_where_gt(struct v16f x, struct v16f limit, struct v16f a)
{
    return (struct v16f){_mm256_and_ps(_mm256_cmp_ps(x.lo, limit.lo, _CMP_GT_OQ), a.lo),
                         _mm256_and_ps(_mm256_cmp_ps(x.hi, limit.hi, _CMP_GT_OQ), a.hi)};
}

static inline struct v16i v16f_bits(struct v16f a)
{
    return (struct v16i){_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)};
}

static inline struct v16f v16i_as_float(struct v16i a)
{
    return (struct v16f){_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)};
}

static inline struct v16f v16i_to_float(struct v16i a)
{
    return (struct v16f){_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}

static inline struct v16i v16i_set(int32_t x)
{
    return (struct v16i){_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}

static inline struct v16i v16i_add(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

static inline struct v16i v16i_sub(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}

static inline struct v16i v16i_and(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}

static inline struct v16i v16i_max_unsigned(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm256_max_epu32(a.lo, b.lo), _mm256_max_epu32(a.hi, b.hi)};
}

static inline struct v16i v16i_shr23_signed(struct v16i a)
{
    return (struct v16i){_mm256_srai_epi32(a.lo, 23), _mm256_srai_epi32(a.hi, 23)};
}

static inline struct v16i v16i_shr19(struct v16i a)
{
    return (struct v16i){_mm256_srli_epi32(a.lo, 19), _mm256_srli_epi32(a.hi, 19)};
}

static inline __m256 exponent_ps(__m256i bits)
{
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(127)));
}

/* floor(log2) of a positive normal float, given by its bits. */
static inline struct v16f v16i_exponent(struct v16i a)
{
    return (struct v16f){exponent_ps(a.lo), exponent_ps(a.hi)};
}

static inline __m256 mantissa_ps(__m256i bits)
{
    return _mm256_castsi256_ps(
        _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)), _mm256_set1_epi32(0x3f800000)));
}

/* The mantissa of a float, in [1, 2), given by its bits. */
static inline struct v16f v16i_mantissa(struct v16i a)
{
    return (struct v16f){mantissa_ps(a.lo), mantissa_ps(a.hi)};
}

static inline struct v16i v16i_shl23(struct v16i a)
{
    return (struct v16i){_mm256_slli_epi32(a.lo, 23), _mm256_slli_epi32(a.hi, 23)};
}

static inline uint32_t v16i_reduce_max_unsigned(struct v16i a)
{
    __m256i x = _mm256_max_epu32(a.lo, a.hi);
    __m128i y = _mm_max_epu32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));

    y = _mm_max_epu32(y, _mm_shuffle_epi32(y, 0x4e));
    y = _mm_max_epu32(y, _mm_shuffle_epi32(y, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(y);
}

static inline float v16f_sum(struct v16f a)
{
    __m256 x = _mm256_add_ps(a.lo, a.hi);
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));

    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

static inline float v16f_reduce_max(struct v16f a)
{
    __m256 x = _mm256_max_ps(a.lo, a.hi);
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));

    y = _mm_max_ps(y, _mm_shuffle_ps(y, y, 0x4e));
    y = _mm_max_ps(y, _mm_shuffle_ps(y, y, 0xb1));
    return _mm_cvtss_f32(y);
}

static inline __m256 lookup16_ps(const float *table, __m256i index)
{
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), index);

    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}

/* table[index mod 16]. */
static inline struct v16f v16f_lookup16(const float *table, struct v16i index)
{
    return (struct v16f){lookup16_ps(table, index.lo), lookup16_ps(table, index.hi)};
}

static inline struct v8d v8d_zero(void)
{
    return (struct v8d){_mm256_setzero_pd(), _mm256_setzero_pd()};
}

/* acc + (lanes 0-7 of x + lanes 8-15 of x), in double. */
static inline struct v8d v8d_add_halves(struct v8d acc, struct v16f x)
{
    __m256d a =
        _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x.lo)), _mm256_cvtps_pd(_mm256_castps256_ps128(x.hi)));
    __m256d b =
        _mm256_add_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x.lo, 1)), _mm256_cvtps_pd(_mm256_extractf128_ps(x.hi, 1)));

    return (struct v8d){_mm256_add_pd(acc.lo, a), _mm256_add_pd(acc.hi, b)};
}

static inline void v8d_store(double *p, struct v8d a)
{
    _mm256_storeu_pd(p, a.lo);
    _mm256_storeu_pd(p + 4, a.hi);
}

/* A set of lanes: bit i is lane i. */
typedef uint32_t lanes_mask;

static inline int lanes_count(lanes_mask mask)
{
    return __builtin_popcount(mask);
}

static inline uint32_t split_ps(__m256 x, __m256 lo, __m256 hi, __m256 *above, __m256i *n_above)
{
    __m256 high = _mm256_cmp_ps(x, hi, _CMP_GE_OQ);

    *above = _mm256_add_ps(*above, _mm256_and_ps(high, x));
    *n_above = _mm256_sub_epi32(*n_above, _mm256_castps_si256(high));
    return (uint32_t)_mm256_movemask_ps(_mm256_andnot_ps(high, _mm256_cmp_ps(x, lo, _CMP_GE_OQ)));
}

/* Adds the lanes that are at least hi to *above and counts them in *n_above, lane by lane; returns those of the others
 * that are at least lo. */
static inline lanes_mask v16f_split(struct v16f x, struct v16f lo, struct v16f hi, struct v16f *above,
                                    struct v16i *n_above)
{
    uint32_t first = split_ps(x.lo, lo.lo, hi.lo, &above->lo, &n_above->lo);

    return split_ps(x.hi, lo.hi, hi.hi, &above->hi, &n_above->hi) << 8 | first;
}

/* a + x in the lanes where x is less than limit, a in the others. */
static inline struct v16f v16f_add_less(struct v16f a, struct v16f x, struct v16f limit)
{
    return (struct v16f){_mm256_add_ps(a.lo, _mm256_and_ps(_mm256_cmp_ps(x.lo, limit.lo, _CMP_LT_OQ), x.lo)),
                         _mm256_add_ps(a.hi, _mm256_and_ps(_mm256_cmp_ps(x.hi, limit.hi, _CMP_LT_OQ), x.hi))};
}

static inline void v16i_store(uint32_t *p, struct v16i a)
{
    _mm256_storeu_si256((__m256i *)p, a.lo);
    _mm256_storeu_si256((__m256i *)(p + 8), a.hi);
}

/* n + 1 where a is greater than b. */
static inline struct v16i v16i_count_gt(struct v16i n, struct v16f a, struct v16f b)
{
    return (struct v16i){_mm256_sub_epi32(n.lo, _mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ))),
                         _mm256_sub_epi32(n.hi, _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ)))};
}

static inline uint32_t v16i_sum(struct v16i a)
{
    __m256i x = _mm256_add_epi32(a.lo, a.hi);
    __m128i y = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));

    y = _mm_add_epi32(y, _mm_unpackhi_epi64(y, y));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(y, _mm_shuffle_epi32(y, 1)));
}

static inline __m256 only_ps(uint32_t mask, __m256 x)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)mask), bit), bit);

    return _mm256_and_ps(_mm256_castsi256_ps(set), x);
}

/* The lanes of the set, 0 in the others. */
static inline struct v16f v16f_only(lanes_mask mask, struct v16f x)
{
    return (struct v16f){only_ps(mask, x.lo), only_ps(mask >> 8, x.hi)};
}

static inline __m256 pack_ps(uint32_t mask, __m256 x)
{
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&pack_table[mask]));

    return _mm256_permutevar8x32_ps(x, lanes);
}

/* Writes the lanes of the set one after the other, and overwrites up to sixteen floats from `to` on. */
static inline void v16f_pack(float *to, lanes_mask mask, struct v16f x)
{
    _mm256_storeu_ps(to, pack_ps(mask & 255, x.lo));
    _mm256_storeu_ps(to + __builtin_popcount(mask & 255), pack_ps(mask >> 8, x.hi));
}

#endif
