/* qk_kept.h - scores of the rows at hand, kept until a row has them all, for what one pass over the keys cannot give:
 * the fewest keys that hold 90 % of the weight. */
#ifndef KERNELS_QK_KEPT_H
#define KERNELS_QK_KEPT_H

#include "core/base/error.h"
#include "kernels/qk_entropy_isa.h"
#include "kernels/row_k90.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places for rows, each with the scores of up to `longest` keys, and room for each thread's search. */
struct qk_kept {
    float *scores;               /* owned: n_places x stride */
    size_t stride;               /* 0: nothing is kept */
    struct k90_scratch *scratch; /* owned: [n_threads] */
    int n_threads;
};

/* How many bytes a place takes. */
size_t qk_kept_place_bytes(size_t longest);

MUST_CHECK enum status qk_kept_init(struct qk_kept *k, size_t n_places, size_t longest, int n_threads,
                                    struct error *err);
void qk_kept_done(struct qk_kept *k);

/* Scores, in base 2, of n keys from the row's key `first` on. */
void qk_kept_put(const struct qk_kept *k, size_t place, size_t first, const float *y, size_t n);

/* k90 of a row whose n scores are all there, `m` the largest; the place is then free. 0 where nothing is kept. */
uint32_t qk_kept_k90(const struct qk_kept *k, const struct qk_isa *isa, size_t place, size_t n, double m, int thread);

#endif
