/* row_k90.h - the fewest keys that hold 90 % of a row. */
#ifndef KERNELS_ROW_K90_H
#define KERNELS_ROW_K90_H

#include "kernels/row_entropy_isa.h"

/* Room for n + ROW_PAD floats each. */
struct k90_scratch {
    float *a, *b;
};

/* Exact to within 2^-40 of the sum: sums that could be rounded to either side are added up again in double. `sum`,
 * `max`: of the row's n weights, as row_isa takes them, good, and `sum` within 18 * 2^-24. */
uint32_t row_k90(const struct row_isa *isa, const void *weights, size_t n, enum dtype type, double sum, float max,
                 struct k90_scratch *scratch);

#endif
