/* multiple.h - p-values adjusted for being several. */
#ifndef CORE_STATS_MULTIPLE_H
#define CORE_STATS_MULTIPLE_H

#include "core/base/error.h"

#include <stddef.h>

/* Holm (1979): family-wise error rate, under any dependence. p and ret: [n], may be the same array. NaN is not a test:
 * it stays NaN and does not count. */
MUST_CHECK enum status multiple_holm(const double *p, size_t n, double *ret, struct error *err);

/* Benjamini and Hochberg (1995): false discovery rate, under positive dependence. The same rules. */
MUST_CHECK enum status multiple_bh(const double *p, size_t n, double *ret, struct error *err);

#endif
