/* Products of queries and keys by cuBLAS. The library is opened by name when the first product is wanted, so that the
 * program starts, and runs on the CPU, where it is not installed. Products of floats forbid TF32 (PEDANTIC): its ten
 * bits cost 4e-3 bit of entropy. A slot has a handle of its own, used on one stream at a time: the same bits on every
 * run. */
#include "kernels/cuda_check.cuh"
#include "kernels/gemm.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#define CUBLAS_NAME(major)   "libcublas.so." #major
#define CUBLAS_SONAME(major) CUBLAS_NAME(major)

namespace
{

typedef cublasStatus_t create_handle(cublasHandle_t *handle);
typedef cublasStatus_t set_stream(cublasHandle_t handle, cudaStream_t stream);
typedef cublasStatus_t gemm_batched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                    int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                    long long stride_a, const void *b, cudaDataType b_type, int ldb, long long stride_b,
                                    const void *beta, void *c, cudaDataType c_type, int ldc, long long stride_c,
                                    int n_products, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

struct cublas {
    create_handle *create;
    set_stream *use_stream;
    gemm_batched *gemm;
    cublasHandle_t handles[GEMM_SLOTS];
    bool is_ready;
};

/* Loaded for as long as the program runs: opening it takes a good part of a second. */
struct cublas cublas;

void *open_library(void)
{
    void *lib = dlopen(CUBLAS_SONAME(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);

#ifdef TARE_CUDA_LIB_DIR
    if (!lib)
        lib = dlopen(TARE_CUDA_LIB_DIR "/" CUBLAS_SONAME(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
#endif
    return lib ? lib : dlopen("libcublas.so", RTLD_NOW | RTLD_LOCAL);
}

enum status cublas_fail(struct error *err, cublasStatus_t code, const char *what)
{
    return error_set(err, ERR_DEVICE, "cuBLAS failed in %s with status %d; check the GPU, or use the device cpu", what,
                     (int)code);
}

} /* namespace */

enum status gemm_ready(struct error *err)
{
    struct cublas c = {};
    void *lib;

    if (cublas.is_ready)
        return OK;
    lib = open_library();
    if (!lib) {
        const char *why = dlerror();

        return error_set(
            err, ERR_DEVICE,
            "products on the GPU need " CUBLAS_SONAME(
                CUBLAS_VER_MAJOR) " of the CUDA toolkit: "
                                  "%.200s; install it, name its folder in LD_LIBRARY_PATH, or use the device cpu",
            why ? why : "not found");
    }
    c.create = (create_handle *)dlsym(lib, "cublasCreate_v2");
    c.use_stream = (set_stream *)dlsym(lib, "cublasSetStream_v2");
    c.gemm = (gemm_batched *)dlsym(lib, "cublasGemmStridedBatchedEx");
    if (!c.create || !c.use_stream || !c.gemm)
        return error_set(err, ERR_DEVICE, "this libcublas lacks functions of version %d; use the device cpu",
                         CUBLAS_VER_MAJOR);
    for (int i = 0; i < GEMM_SLOTS; i++) {
        cublasStatus_t code = c.create(&c.handles[i]);

        if (code != CUBLAS_STATUS_SUCCESS)
            return cublas_fail(err, code, "cublasCreate");
    }
    c.is_ready = true;
    cublas = c;
    return OK;
}

/* cuBLAS counts columns first: it sees scores^T = (keys^T)^T queries^T. */
enum status gemm_start(const struct gemm_tile *t, int slot, void *stream, struct error *err)
{
    cudaDataType type = t->type == GEMM_F16 ? CUDA_R_16F : CUDA_R_32F;
    cublasComputeType_t compute = t->type == GEMM_F16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
    float one = 1, zero = 0;
    cublasStatus_t code;

    if (t->n_keys > INT_MAX || t->n_rows > INT_MAX || t->depth > INT_MAX || t->pitch > INT_MAX || t->n_heads > INT_MAX)
        return error_set(err, ERR_LIMIT, "a tile of %zu rows and %zu keys is too large for cuBLAS", t->n_rows,
                         t->n_keys);
    code = cublas.use_stream(cublas.handles[slot], (cudaStream_t)stream);
    if (code != CUBLAS_STATUS_SUCCESS)
        return cublas_fail(err, code, "cublasSetStream");
    code = cublas.gemm(cublas.handles[slot], CUBLAS_OP_T, CUBLAS_OP_N, (int)t->n_keys, (int)t->n_rows, (int)t->depth,
                       &one, t->k, type, (int)t->depth, (long long)t->k_stride, t->q, type, (int)t->depth,
                       (long long)t->q_stride, &zero, t->scores, CUDA_R_32F, (int)t->pitch, (long long)t->score_stride,
                       (int)t->n_heads, compute, CUBLAS_GEMM_DEFAULT);
    return code == CUBLAS_STATUS_SUCCESS ? OK : cublas_fail(err, code, "cublasGemmStridedBatchedEx");
}
