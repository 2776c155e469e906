/* row_entropy_isa.h - the passes over one row, once for each instruction set; row_entropy_cpu() chooses. */
#ifndef KERNELS_ROW_ENTROPY_ISA_H
#define KERNELS_ROW_ENTROPY_ISA_H

#include "kernels/row_finish.h"

enum { ROW_PAD = 16, ROW_LIMITS = 8, ROW_ORDER_MAX = 64 };

/* What is at least `hi`, and what was packed: at least `lo` and less than `hi`. Sums are of floats, or exact in double
 * where that was asked for. */
struct row_split {
    double above, between;
    size_t n_above, n_between;
};

/* `weights`: n elements of `type`, taken times row_unit(type). */
struct row_isa {
    /* `query` counts from the first weight. A `ref` near log2 of the typical weight keeps the terms small, and so
     * exact; it is -60 to -1. */
    void (*sums)(const void *weights, size_t n, enum dtype type, int ref, int64_t query, struct row_sums *ret);

    /* Packs what lies between the limits to `to`, which has room for n + ROW_PAD floats, in some order that depends on
     * nothing but the input. */
    void (*split)(const void *weights, size_t n, enum dtype type, bool is_exact, float lo, float hi, float *to,
                  struct row_split *ret);

    /* What the weights add up to that are less than limit[i], in floats, of every `step`-th run of ROW_PAD keys.
     * Returns the share of the row that those are. */
    double (*masses)(const void *weights, size_t n, enum dtype type, size_t step, const float limit[ROW_LIMITS],
                     float ret[ROW_LIMITS]);

    /* The n <= ROW_PAD weights from number `at` on; ret: ROW_PAD, zeros after them. */
    void (*few)(const void *weights, size_t at, size_t n, enum dtype type, float *ret);

    /* n <= ROW_ORDER_MAX floats in descending order; both have room for ROW_PAD more. */
    void (*order)(const float *x, size_t n, float *ret);

    /* Scores to weights 2^((x - top) * factor), 0 where x is `masked` or less; to: room for n + ROW_PAD. Returns their
     * sum. */
    double (*weigh)(const void *scores, size_t n, enum dtype type, double masked, double top, double factor, float *to);

    /* The largest score that is no NaN, -inf when there is none; *ret_special: one is NaN or +inf. */
    double (*top)(const void *scores, size_t n, enum dtype type, bool *ret_special);
};

extern const struct row_isa row_entropy_avx512, row_entropy_avx2, row_entropy_portable;

/* That of the instruction set in use. */
const struct row_isa *row_isa_chosen(void);

#endif
