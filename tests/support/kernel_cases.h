/* kernel_cases.h - inputs for the kernels' tests, made from seeds, and the comparison of their results. */
#ifndef TESTS_SUPPORT_KERNEL_CASES_H
#define TESTS_SUPPORT_KERNEL_CASES_H

#include "kernels/dtype.h"
#include "kernels/row_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The n doubles rounded to `type`, in new memory; release with free(). uint8 holds 255 times them, int8 127 times. */
void *cases_encode(const double *values, size_t n, enum dtype type);

/* Uniform in [0, 1), and normal, as functions of seed and index. */
double cases_uniform(uint64_t seed, uint64_t index);
double cases_normal(uint64_t seed, uint64_t index);

/* Fills p[n] with the softmax of normal scores of standard deviation `sd`. */
void cases_softmax(double *p, size_t n, double sd, uint64_t seed);

/* Causal spans of the last n_rows queries over n_cols keys, within `window` where that is not 0. */
void cases_causal(struct row_span *spans, size_t n_rows, size_t n_cols, size_t window);

/* The first row where they differ in status, in keys, by more than `bits` of entropy, or by more than the relative
 * `rel` in sum or maximum; n when there is none. `text` then says how. */
size_t cases_compare(const struct row_stat *got, const struct row_stat *want, size_t n, double bits, double rel,
                     char text[512]);

/* The same, and then the other members. */
size_t cases_compare_all(const struct row_stat *got, const struct row_stat *want, size_t n, double bits, double rel,
                         char text[512]);

/* The first bucket of n_heads profiles that differs by more than 1e-6 of `rows`, or 1e-5 of itself; their number when
 * there is none. */
size_t cases_compare_profiles(const uint64_t *got, const uint64_t *want, size_t n_heads, double rows);

/* The same bits in every member. */
bool cases_identical(const struct row_stat *a, const struct row_stat *b, size_t n);

#endif
