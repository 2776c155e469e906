#include "kernels/qk_kept.h"

#include "core/base/checked.h"
#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

size_t qk_kept_place_bytes(size_t longest)
{
    return (longest + QK_PAD) * sizeof(float);
}

void qk_kept_done(struct qk_kept *k)
{
    for (int i = 0; k->scratch && i < k->n_threads; i++) {
        free(k->scratch[i].a);
        free(k->scratch[i].b);
    }
    free(k->scratch);
    free(k->scores);
    memset(k, 0, sizeof *k);
}

enum status qk_kept_init(struct qk_kept *k, size_t n_places, size_t longest, int n_threads, struct error *err)
{
    size_t n;

    k->stride = longest + QK_PAD;
    k->n_threads = n_threads;
    if (!size_mul(n_places, k->stride, &n))
        return error_set(err, ERR_LIMIT, "%zu rows of %zu scores are too many", n_places, longest);
    TRY(mem_new(n, sizeof *k->scores, &k->scores, err));
    TRY(mem_new((size_t)n_threads, sizeof *k->scratch, &k->scratch, err));
    for (int i = 0; i < n_threads; i++) {
        TRY(mem_new(k->stride, sizeof(float), &k->scratch[i].a, err));
        TRY(mem_new(k->stride, sizeof(float), &k->scratch[i].b, err));
    }
    return OK;
}

void qk_kept_put(const struct qk_kept *k, size_t place, size_t first, const float *y, size_t n)
{
    if (k->stride)
        memcpy(k->scores + place * k->stride + first, y, n * sizeof *y);
}

uint32_t qk_kept_k90(const struct qk_kept *k, const struct qk_isa *isa, size_t place, size_t n, double m, int thread)
{
    float *y = k->scores + place * k->stride;

    if (!k->stride)
        return 0;
    return row_k90(row_isa_chosen(), y, n, DTYPE_F32, isa->weigh(y, n, m), 1, &k->scratch[thread]);
}
