/* qk_entropy_isa.h - the inner loops of qk_entropy_cpu(), once for each instruction set. */
#ifndef KERNELS_QK_ENTROPY_ISA_H
#define KERNELS_QK_ENTROPY_ISA_H

#include "kernels/qk_rows.h"

/* Keys of one tile; rows of scores have room for QK_PAD more. */
enum { QK_TILE_KEYS = 256, QK_PAD = 16 };

struct qk_isa {
    size_t micro_rows; /* queries of one packed group */
    size_t panel_keys; /* keys of one packed panel    */

    /* y[i * stride + j] = q_i . k_j for one group and one panel.
     * q: dim x micro_rows, k: dim x panel_keys, row-major. */
    void (*scores)(const float *q, const float *k, size_t dim, float *y, size_t stride);

    /* y[j] = limit * tanh(y[j]) for j < n; writes up to QK_PAD elements more. */
    void (*softcap)(float *y, size_t n, float limit);

    /* Adds the n <= QK_TILE_KEYS scores y, in base 2, to the row; overwrites up to QK_PAD elements after them. `query`:
     * where the row's query stands, counted from y's key. */
    void (*absorb)(float *y, size_t n, int64_t query, struct qk_state *state);

    /* n scores, in base 2, to weights 2^(y - m); writes up to QK_PAD elements more. Returns their sum within 18 * 2^-24
     * of it. */
    double (*weigh)(float *y, size_t n, double m);
};

extern const struct qk_isa qk_entropy_avx512, qk_entropy_avx2, qk_entropy_portable;

#endif
