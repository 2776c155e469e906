#include "kernels/dtype.h"
#include "kernels/row_stats.h"
#include "tests/support/close.h"
#include "tests/support/kernel_cases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

Test(row_stats, counts_every_row_and_averages_the_good_ones)
{
    static const struct row_stat rows[] = {
        {1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, ROW_OK},
        {1.01, 2, 0.25, 0.255, 0.25, 0.5, 3, 0.5, 4, 1, 4, ROW_OK},
        {0.9, 1.5, 0.5, 0.3, 0, 0, 2, 0.25, 0, 0, 8, ROW_OK},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 4, ROW_NAN},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 0, ROW_EMPTY},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 4, ROW_ZERO},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 4, ROW_INF},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 4, ROW_NEGATIVE},
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 4, ROW_NAN},
    };
    struct head_stats h;

    head_stats_init(&h, NULL);
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
    cr_assert(eq(u64, h.n_k90, 2));
    cr_assert(eq(u64, h.n_sink_rows, 2));
    cr_assert(h.k90_sum == 5 && h.sink4_sum == 1.5 && h.leak_sum == 0.75);
}

/* Rows of a weight of 1/3 on each of two keys, and the rest on a sink that is no key: log2 3 of 3 keys. */
Test(row_stats, a_sink_that_is_no_key_counts_among_the_keys)
{
    const struct row_stat rows[] = {{2.0 / 3, log2(3), 1.0 / 3, 2.0 / 9, 0, 0, 0, 0, 2, 0, 2, ROW_OK},
                                    {0.5, 1, 0.5, 0.25, 0, 0, 0, 0, 1, 0, 1, ROW_OK}};
    struct head_stats h;

    head_stats_init(&h, NULL);
    h.n_more_keys = 1;
    head_stats_add(&h, rows, 2, 1e-3);
    cr_assert(eq(u64, h.n_multi, 2));
    cr_assert(close_to(h.entropy_norm_sum, 2, (struct tol){1e-15, 0}));
    cr_assert(close_to(h.utilization_sum, 2, (struct tol){1e-15, 0}));
}

Test(row_stats, equal_weights_on_eight_keys_and_more_are_counted)
{
    static const struct row_stat rows[] = {{1, 3, 0.125, 0.125, 0, 0, 0, 0, 8, 0, 8, ROW_OK},
                                           {0.5, 3, 0.0625, 0.03125, 0, 0, 0, 0, 8, 0, 8, ROW_OK},
                                           {1, 2, 0.25, 0.25, 0, 0, 0, 0, 4, 0, 4, ROW_OK},
                                           {1, 2.9999, 0.1251, 0.125, 0, 0, 0, 0, 8, 0, 8, ROW_OK}};
    struct head_stats h;

    head_stats_init(&h, NULL);
    head_stats_add(&h, rows, sizeof rows / sizeof *rows, 1e-3);
    cr_assert(eq(u64, h.n_uniform, 2));
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

static struct row_stat ok_row(double bits, double max_weight, uint32_t n_keys)
{
    return (struct row_stat){1, bits, max_weight, 0.5, 0.25, 0.25, 3, NAN, 2, 1, n_keys, ROW_OK};
}

/* Entropy of row i of n in several orders; a sorted copy is the reference. */
static double in_order(int kind, size_t i, size_t n)
{
    switch (kind) {
    case 0:
        return cases_uniform(3, i);
    case 1:
        return (double)i;
    case 2:
        return (double)(n - i);
    case 3:
        return 1;
    case 4:
        return (double)(i % 3);
    default:
        return (double)(i < n / 2 ? i : n - i); /* an organ pipe */
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void check_quantiles(int kind, size_t n)
{
    static const double quantiles[] = ENTROPY_QUANTILES;
    double *room = calloc(n, sizeof *room), *sorted = calloc(n, sizeof *sorted);
    struct head_stats h;

    head_stats_init(&h, room);
    for (size_t i = 0; i < n; i++) {
        struct row_stat row = ok_row(in_order(kind, i, n), 0.5, 4);

        sorted[i] = row.entropy_bits;
        head_stats_add(&h, &row, 1, 1e-3);
    }
    head_stats_finish(&h);
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t q = 0; q < 3; q++) {
        double at = quantiles[q] * (double)(n - 1);
        size_t k = (size_t)at;
        double next = k + 1 < n ? sorted[k + 1] : sorted[k];

        cr_assert(
            close_to(h.entropy_quantile[q], sorted[k] + (at - (double)k) * (next - sorted[k]), (struct tol){0, 1e-15}),
            "%zu rows, order %d, quantile %g", n, kind, quantiles[q]);
    }
    free(room);
    free(sorted);
}

Test(row_stats, quantiles_are_those_of_the_sorted_rows)
{
    static const size_t lengths[] = {1, 2, 3, 5, 20, 21, 1510, 5000};

    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int kind = 0; kind < 6; kind++)
            check_quantiles(kind, lengths[l]);
}

/* python3 -c 'import numpy as np; h = np.array([0, 0.5, 1.25, 3, 2.75, 0.1]); print(h.std(),
 * np.quantile(h, [.05, .5, .95]))' */
Test(row_stats, spread_and_quantiles_agree_with_numpy)
{
    static const double bits[] = {0, 0.5, 1.25, 3, 2.75, 0.1};
    double room[6];
    struct head_stats h;

    head_stats_init(&h, room);
    for (size_t i = 0; i < 6; i++) {
        struct row_stat row = ok_row(bits[i], 0.5, i ? 8 : 1);

        head_stats_add(&h, &row, 1, 1e-3);
    }
    cr_assert(isnan(h.entropy_std) && isnan(h.entropy_quantile[1]), "not before the last row");
    head_stats_finish(&h);
    cr_assert(close_to(h.entropy_std, 1.2081896466292956, (struct tol){0, 1e-15}));
    cr_assert(close_to(h.entropy_quantile[0], 0.025, (struct tol){0, 1e-14}));
    cr_assert(close_to(h.entropy_quantile[1], 0.875, (struct tol){0, 1e-15}));
    cr_assert(close_to(h.entropy_quantile[2], 2.9375, (struct tol){0, 1e-15}));
    cr_assert(h.entropy_min == 0.1, "the row with one key does not count");
    cr_assert(h.participation_sum == 12 && h.sink_sum == 1.5 && h.distance_sum == 18);
    cr_assert(h.sum_error_sum == 0);
}

Test(row_stats, a_head_collapses_by_its_means)
{
    static const struct {
        double bits, max_weight;
        int collapsed;
    } heads[] = {{0.149, 0.951, 1}, {0.151, 0.951, 0}, {0.149, 0.949, 0}, {0, 1, 1}};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct row_stat rows[] = {ok_row(0, 1, 1), ok_row(heads[i].bits, heads[i].max_weight, 9)};
        struct head_stats h;

        head_stats_init(&h, NULL);
        head_stats_add(&h, rows, 1, 1e-3);
        cr_assert(eq(int, head_has_collapsed(&h, 0.15, 0.95), 0), "one visible key says nothing");
        head_stats_add(&h, rows + 1, 1, 1e-3);
        cr_assert(eq(int, head_has_collapsed(&h, 0.15, 0.95), heads[i].collapsed), "case %zu", i);
    }
}
