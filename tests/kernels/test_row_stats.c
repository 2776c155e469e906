#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

Test(row_stats, counts_every_row_and_averages_the_good_ones)
{
    static const struct row_stat rows[] = {
        {1, 0, 1, 1, ROW_OK},        {1.01, 2, 0.25, 4, ROW_OK},       {0.9, 1.5, 0.5, 8, ROW_OK},
        {NAN, NAN, NAN, 4, ROW_NAN}, {NAN, NAN, NAN, 0, ROW_EMPTY},    {NAN, NAN, NAN, 4, ROW_ZERO},
        {NAN, NAN, NAN, 4, ROW_INF}, {NAN, NAN, NAN, 4, ROW_NEGATIVE}, {NAN, NAN, NAN, 4, ROW_NAN},
    };
    struct head_stats h;

    head_stats_init(&h);
    cr_assert(h.sum_min == INFINITY && h.sum_max == -INFINITY);
    head_stats_add(&h, rows, 2, 1e-3);
    head_stats_add(&h, rows + 2, sizeof rows / sizeof *rows - 2, 1e-3);
    cr_assert(eq(u64, h.n_rows[ROW_OK], 3));
    cr_assert(eq(u64, h.n_rows[ROW_NAN], 2));
    cr_assert(eq(u64, h.n_rows[ROW_EMPTY], 1));
    cr_assert(eq(u64, h.n_rows[ROW_ZERO], 1));
    cr_assert(eq(u64, h.n_rows[ROW_INF], 1));
    cr_assert(eq(u64, h.n_rows[ROW_NEGATIVE], 1));
    cr_assert(eq(u64, h.n_multi, 2));
    cr_assert(eq(u64, h.n_sum_off, 2));
    cr_assert(eq(u64, h.n_sum_bad, 1));
    cr_assert(h.entropy_sum == 3.5 && h.entropy_norm_sum == 1.5 && h.max_weight_sum == 1.75);
    cr_assert(h.sum_min == 0.9 && h.sum_max == 1.01);
}

Test(row_stats, every_half_converts_exactly)
{
    cr_assert(float_from_f16(0x3c00) == 1 && float_from_f16(0xc000) == -2 && float_from_f16(0x7bff) == 65504);
    cr_assert(float_from_f16(1) == 0x1p-24F && float_from_f16(0x3ff) == 1023 * 0x1p-24F);
    cr_assert(float_from_f16(0x8000) == 0 && signbit(float_from_f16(0x8000)));
    cr_assert(isinf(float_from_f16(0x7c00)) && float_from_f16(0xfc00) < 0 && isnan(float_from_f16(0x7c01)));
    cr_assert(float_from_bf16(0x3f80) == 1 && float_from_bf16(1) == 0x1p-133F && isnan(float_from_bf16(0xffff)));
    for (unsigned x = 0x0400; x < 0x7c00; x++) { /* the formula of the format */
        double want = ldexp(1024 + (x & 1023), (int)(x >> 10) - 25);

        cr_assert(float_from_f16((unsigned short)x) == want, "half %#x", x);
    }
}
