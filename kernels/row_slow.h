/* row_slow.h - every statistic of any row of weights or scores, in double and one value at a time: for rows that the
 * float passes cannot hold, and forms that are rarely asked for. */
#ifndef KERNELS_ROW_SLOW_H
#define KERNELS_ROW_SLOW_H

#include "kernels/row_entropy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row `index` of n_heads x n_rows; adds to `profile`, its head's PROFILE_BUCKETS, unless NULL. */
struct row_stat row_slow(const struct row_entropy_args *args, size_t index, uint64_t *profile);

/* NaN in every value. */
struct row_stat row_without_value(enum row_status status, uint32_t n_keys);

/* sum |value| of the tile's keys that row `index` does not see, times its scale; for scores, the sum of their e^score
 * over that of the visible ones: `lse` is the row's natural log of the latter. +inf where it cannot be added up. */
double row_leak(const struct row_entropy_args *args, size_t index, double lse);

/* H of a row of sum `sum` < 1 with one key more that holds the rest; `bits` itself from 1 on. */
double row_with_sink(double bits, double sum);

/* The bucket of the distance `keys` >= 0. */
int profile_bucket(uint64_t keys);

/* Adds `from` to a head's profile, and clears it. Several threads may have rows of one head: whole numbers add up in
 * any order. */
void profile_add(uint64_t *to, uint64_t *from);

/* `share` of a row in units of PROFILE_UNIT. */
uint64_t profile_units(double share);

/* Scores up to this stand for masked keys; -inf where only that one does. */
double masked_score(enum dtype type);
bool is_masked_score(double score, enum dtype type);

#ifdef __cplusplus
}
#endif
#endif
