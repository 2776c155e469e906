/* lanes_avx512.h - the virtual lanes of lanes.h in one 512-bit register each; needs AVX-512 F, BW, DQ and VL. */
#ifndef KERNELS_LANES_AVX512_H
#define KERNELS_LANES_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_NAME(name) name##_avx512
#define LANES_MICRO_ROWS 12
#define LANES_MICRO_VECS 2

struct v16f {
    __m512 v;
};
struct v16i {
    __m512i v;
};
struct v8d {
    __m512d v;
};

static inline struct v16f v16f_set(float x)
{
    return (struct v16f){_mm512_set1_ps(x)};
}

static inline struct v16f v16f_load(const float *p)
{
    return (struct v16f){_mm512_loadu_ps(p)};
}

static inline void v16f_store(float *p, struct v16f a)
{
    _mm512_storeu_ps(p, a.v);
}

static inline struct v16f v16f_load_f32(const void *p)
{
    return (struct v16f){_mm512_loadu_ps(p)};
}

static inline struct v16f v16f_load_f16(const void *p)
{
    return (struct v16f){_mm512_cvtph_ps(_mm256_loadu_si256(p))};
}

static inline struct v16f v16f_load_bf16(const void *p)
{
    return (struct v16f){_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16))};
}

static inline struct v16f v16f_load_f64(const void *p)
{
    __m256 lo = _mm512_cvtpd_ps(_mm512_loadu_pd(p));
    __m256 hi = _mm512_cvtpd_ps(_mm512_loadu_pd((const double *)p + 8));

    return (struct v16f){_mm512_insertf32x8(_mm512_castps256_ps512(lo), hi, 1)};
}

static inline struct v16f v16f_load_u8(const void *p)
{
    return (struct v16f){_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(p)))};
}

static inline struct v16f v16f_load_i8(const void *p)
{
    return (struct v16f){_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(p)))};
}

/* Sixteen bytes as halves, each shifted to the left. */
static inline struct v16f v16f_load_e5m2(const void *p)
{
    return (struct v16f){_mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(p)), 8))};
}

/* The value times 2^-8; 0x7f and 0xff as if they were the next number. */
static inline struct v16f v16f_load_e4m3(const void *p)
{
    __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(p));
    __m256i half = _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16((int16_t)0xbfff));

    return (struct v16f){_mm512_cvtph_ps(half)};
}

/* Lanes [from, to); the others are 0 and not read. */
static inline struct v16f v16f_part_f32(const void *p, int from, int to)
{
    return (struct v16f){_mm512_maskz_loadu_ps((__mmask16)((1U << to) - (1U << from)), p)};
}

static inline __m256i part16(const void *p, int from, int to)
{
    return _mm256_maskz_loadu_epi16((__mmask16)((1U << to) - (1U << from)), p);
}

static inline struct v16f v16f_part_f16(const void *p, int from, int to)
{
    return (struct v16f){_mm512_cvtph_ps(part16(p, from, to))};
}

static inline struct v16f v16f_part_bf16(const void *p, int from, int to)
{
    return (struct v16f){_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(part16(p, from, to)), 16))};
}

static inline struct v16f v16f_add(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_add_ps(a.v, b.v)};
}

static inline struct v16f v16f_sub(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_sub_ps(a.v, b.v)};
}

static inline struct v16f v16f_mul(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_mul_ps(a.v, b.v)};
}

static inline struct v16f v16f_div(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_div_ps(a.v, b.v)};
}

static inline struct v16f v16f_fma(struct v16f a, struct v16f b, struct v16f c)
{
    return (struct v16f){_mm512_fmadd_ps(a.v, b.v, c.v)};
}

static inline struct v16f v16f_max(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_max_ps(a.v, b.v)};
}

static inline struct v16f v16f_min(struct v16f a, struct v16f b)
{
    return (struct v16f){_mm512_min_ps(a.v, b.v)};
}

/* x > limit ? a : 0 */
static inline struct v16f v16f_where_gt(struct v16f x, struct v16f limit, struct v16f a)
{
    return (struct v16f){_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, limit.v, _CMP_GT_OQ), a.v)};
}

static inline struct v16i v16f_bits(struct v16f a)
{
    return (struct v16i){_mm512_castps_si512(a.v)};
}

static inline struct v16f v16i_as_float(struct v16i a)
{
    return (struct v16f){_mm512_castsi512_ps(a.v)};
}

static inline struct v16f v16i_to_float(struct v16i a)
{
    return (struct v16f){_mm512_cvtepi32_ps(a.v)};
}

static inline struct v16i v16i_set(int32_t x)
{
    return (struct v16i){_mm512_set1_epi32(x)};
}

static inline struct v16i v16i_add(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm512_add_epi32(a.v, b.v)};
}

static inline struct v16i v16i_sub(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm512_sub_epi32(a.v, b.v)};
}

static inline struct v16i v16i_and(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm512_and_si512(a.v, b.v)};
}

static inline struct v16i v16i_max_unsigned(struct v16i a, struct v16i b)
{
    return (struct v16i){_mm512_max_epu32(a.v, b.v)};
}

static inline struct v16i v16i_shr23_signed(struct v16i a)
{
    return (struct v16i){_mm512_srai_epi32(a.v, 23)};
}

static inline struct v16i v16i_shr19(struct v16i a)
{
    return (struct v16i){_mm512_srli_epi32(a.v, 19)};
}

/* floor(log2) of a positive normal float, given by its bits. */
static inline struct v16f v16i_exponent(struct v16i a)
{
    return (struct v16f){_mm512_getexp_ps(_mm512_castsi512_ps(a.v))};
}

/* The mantissa of a float, in [1, 2), given by its bits. */
static inline struct v16f v16i_mantissa(struct v16i a)
{
    return (struct v16f){_mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(a.v, _mm512_set1_epi32(0x7fffff), _mm512_set1_epi32(0x3f800000), 0xea))};
}

static inline struct v16i v16i_shl23(struct v16i a)
{
    return (struct v16i){_mm512_slli_epi32(a.v, 23)};
}

static inline uint32_t v16i_reduce_max_unsigned(struct v16i a)
{
    return _mm512_reduce_max_epu32(a.v);
}

static inline float v16f_sum(struct v16f a)
{
    return _mm512_reduce_add_ps(a.v);
}

static inline float v16f_reduce_max(struct v16f a)
{
    return _mm512_reduce_max_ps(a.v);
}

/* table[index mod 16]. */
static inline struct v16f v16f_lookup16(const float *table, struct v16i index)
{
    return (struct v16f){_mm512_permutexvar_ps(index.v, _mm512_loadu_ps(table))};
}

static inline struct v8d v8d_zero(void)
{
    return (struct v8d){_mm512_setzero_pd()};
}

/* acc + (lanes 0-7 of x + lanes 8-15 of x), in double. */
static inline struct v8d v8d_add_halves(struct v8d acc, struct v16f x)
{
    __m512d lo = _mm512_cvtps_pd(_mm512_castps512_ps256(x.v));
    __m512d hi = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x.v, 1));

    return (struct v8d){_mm512_add_pd(acc.v, _mm512_add_pd(lo, hi))};
}

static inline void v8d_store(double *p, struct v8d a)
{
    _mm512_storeu_pd(p, a.v);
}

/* A set of lanes: bit i is lane i. */
typedef __mmask16 lanes_mask;

static inline int lanes_count(lanes_mask mask)
{
    return __builtin_popcount(mask);
}

/* Adds the lanes that are at least hi to *above and counts them in *n_above, lane by lane; returns those of the others
 * that are at least lo. */
static inline lanes_mask v16f_split(struct v16f x, struct v16f lo, struct v16f hi, struct v16f *above,
                                    struct v16i *n_above)
{
    __mmask16 high = _mm512_cmp_ps_mask(x.v, hi.v, _CMP_GE_OQ);

    above->v = _mm512_mask_add_ps(above->v, high, above->v, x.v);
    n_above->v = _mm512_mask_add_epi32(n_above->v, high, n_above->v, _mm512_set1_epi32(1));
    return _kandn_mask16(high, _mm512_cmp_ps_mask(x.v, lo.v, _CMP_GE_OQ));
}

/* a + x in the lanes where x is less than limit, a in the others. */
static inline struct v16f v16f_add_less(struct v16f a, struct v16f x, struct v16f limit)
{
    a.v = _mm512_mask_add_ps(a.v, _mm512_cmp_ps_mask(x.v, limit.v, _CMP_LT_OQ), a.v, x.v);
    return a;
}

static inline void v16i_store(uint32_t *p, struct v16i a)
{
    _mm512_storeu_si512(p, a.v);
}

/* n + 1 where a is greater than b. */
static inline struct v16i v16i_count_gt(struct v16i n, struct v16f a, struct v16f b)
{
    return (struct v16i){
        _mm512_mask_add_epi32(n.v, _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ), n.v, _mm512_set1_epi32(1))};
}

static inline uint32_t v16i_sum(struct v16i a)
{
    return (uint32_t)_mm512_reduce_add_epi32(a.v);
}

/* The lanes of the set, 0 in the others. */
static inline struct v16f v16f_only(lanes_mask mask, struct v16f x)
{
    return (struct v16f){_mm512_maskz_mov_ps(mask, x.v)};
}

/* Writes the lanes of the set one after the other, and overwrites up to sixteen floats from `to` on. */
static inline void v16f_pack(float *to, lanes_mask mask, struct v16f x)
{
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, x.v));
}

#endif
