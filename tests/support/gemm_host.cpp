/* The face of kernels/gemm.h on the CPU: products in double, rounded to float once, as good as any GPU's, unless the
 * test asks for coarse ones. What the product does not reach keeps what it had. */
#include "kernels/gemm.h"

#include "kernels/dtype.h"
#include "tests/support/cuda_harness_control.h"

#include <cstdint>

static bool adds_in_float;

void harness_coarse_products(int is_coarse)
{
    adds_in_float = is_coarse != 0;
}

enum status gemm_ready(struct error *)
{
    return OK;
}

static double element(const struct gemm_tile *t, const void *p, size_t i)
{
    return t->type == GEMM_F16 ? (double)float_from_f16(((const uint16_t *)p)[i]) : (double)((const float *)p)[i];
}

enum status gemm_start(const struct gemm_tile *t, int, void *, struct error *err)
{
    if (t->depth % (t->type == GEMM_F16 ? 8 : 4) != 0 || t->pitch % 4 != 0 || t->n_keys > t->pitch)
        return error_set(err, ERR_INTERNAL, "a tile of depth %zu, pitch %zu, %zu keys", t->depth, t->pitch, t->n_keys);
    for (size_t h = 0; h < t->n_heads; h++)
        for (size_t i = 0; i < t->n_rows; i++)
            for (size_t j = 0; j < t->n_keys; j++) {
                double sum = 0;

                for (size_t d = t->depth; d-- > 0;) {
                    sum += element(t, t->q, h * t->q_stride + i * t->depth + d) *
                           element(t, t->k, h * t->k_stride + j * t->depth + d);
                    sum = adds_in_float ? (double)(float)sum : sum;
                }
                t->scores[h * t->score_stride + i * t->pitch + j] = (float)sum;
            }
    return OK;
}
