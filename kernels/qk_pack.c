#include "kernels/qk_pack.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "kernels/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Through memcpy: elements in a mapped file may stand in any alignment. */
void dtype_to_double(const void *elements, enum dtype type, size_t first, size_t n, double *to)
{
    const char *p = (const char *)elements + first * dtype_bytes(type);
    uint16_t half;
    float single;

    switch (type) {
    case DTYPE_F64:
        memcpy(to, p, n * sizeof *to);
        return;
    case DTYPE_F32:
        for (size_t i = 0; i < n; i++) {
            memcpy(&single, p + i * sizeof single, sizeof single);
            to[i] = (double)single;
        }
        return;
    case DTYPE_F16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&half, p + i * sizeof half, sizeof half);
            to[i] = (double)float_from_f16(half);
        }
        return;
    case DTYPE_BF16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&half, p + i * sizeof half, sizeof half);
            to[i] = (double)float_from_bf16(half);
        }
        return;
    case DTYPE_U8:
    case DTYPE_I8:
    case DTYPE_F8_E4M3:
    case DTYPE_F8_E5M2:
    default:
        for (size_t i = 0; i < n; i++)
            to[i] = dtype_load(p, type, i);
        return;
    }
}

static double norm(const double *row, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += row[i] * row[i];
    return sqrt(sum);
}

static int is_finite_row(const double *row, size_t n)
{
    double zero = 0; /* times a finite number stays zero, times the others becomes NaN */

    for (size_t i = 0; i < n; i++)
        zero += row[i] * 0;
    return !isnan(zero);
}

/* Keys of one item of work. */
enum { CHUNK_KEYS = 512, MAX_DIM_ON_STACK = 8192 };

struct survey {
    struct qk_keys *keys;
    size_t lo, hi;
    double *norms; /* owned: by chunk, the largest of its good keys */
};

static void survey_done(struct survey *s)
{
    free(s->norms);
}

static void survey_chunk(void *context, size_t item, int thread)
{
    const struct survey *s = context;
    struct qk_keys *keys = s->keys;
    size_t lo = s->lo + item * CHUNK_KEYS, hi = lo + CHUNK_KEYS < s->hi ? lo + CHUNK_KEYS : s->hi;
    double row[MAX_DIM_ON_STACK], largest = 0;

    (void)thread;
    for (size_t j = lo; j < hi; j++) {
        dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, row);
        keys->n_bad[j + 1] = !is_finite_row(row, keys->dim);
        if (!keys->n_bad[j + 1])
            largest = fmax(largest, norm(row, keys->dim));
    }
    s->norms[item] = largest;
}

/* Of the first good keys; n_bad still says of each whether it is bad. */
static void find_mean(struct qk_keys *keys, size_t lo, size_t hi)
{
    double row[MAX_DIM_ON_STACK], n_good = 0;

    for (size_t j = lo; j < hi && n_good < SURVEY_KEYS; j++) {
        if (keys->n_bad[j + 1])
            continue;
        dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, row);
        for (size_t d = 0; d < keys->dim; d++)
            keys->mean[d] += row[d];
        n_good++;
    }
    for (size_t d = 0; d < keys->dim; d++)
        keys->mean[d] /= fmax(n_good, 1);
}

enum status qk_keys_survey(struct qk_keys *keys, size_t lo, size_t hi, int is_centred, int n_threads, struct error *err)
{
    size_t n_chunks = (hi - lo + CHUNK_KEYS - 1) / CHUNK_KEYS;
    AUTO(survey) s = {.keys = keys, .lo = lo, .hi = hi};

    memset(keys->mean, 0, keys->dim * sizeof *keys->mean);
    memset(keys->n_bad, 0, (keys->n + 1) * sizeof *keys->n_bad);
    keys->max_norm = 0;
    TRY(mem_new(n_chunks, sizeof *s.norms, &s.norms, err));
    parallel_for(n_chunks, n_threads, survey_chunk, &s);
    for (size_t i = 0; i < n_chunks; i++)
        keys->max_norm = fmax(keys->max_norm, s.norms[i]);
    if (is_centred)
        find_mean(keys, lo, hi);
    keys->max_norm += norm(keys->mean, keys->dim);
    for (size_t j = 0; j < keys->n; j++)
        keys->n_bad[j + 1] += keys->n_bad[j];
    return OK;
}

struct packing {
    const struct qk_keys *keys;
    size_t lo, hi, panel_keys;
    float *to;
};

static void pack_panel(void *context, size_t panel, int thread)
{
    const struct packing *p = context;
    const struct qk_keys *keys = p->keys;
    double row[MAX_DIM_ON_STACK];

    (void)thread;
    for (size_t i = 0; i < p->panel_keys; i++) {
        float *column = p->to + panel * p->panel_keys * keys->dim + i;
        size_t j = p->lo + panel * p->panel_keys + i;
        int is_good = j < p->hi && keys->n_bad[j + 1] == keys->n_bad[j];

        if (is_good)
            dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, row);
        for (size_t d = 0; d < keys->dim; d++)
            column[d * p->panel_keys] = is_good ? (float)(row[d] - keys->mean[d]) : 0;
    }
}

void qk_keys_pack(const struct qk_keys *keys, size_t lo, size_t hi, size_t panel_keys, float *to, int n_threads)
{
    struct packing p = {keys, lo, hi, panel_keys, to};

    parallel_for((hi - lo + panel_keys - 1) / panel_keys, n_threads, pack_panel, &p);
}

double qk_query_pack(const void *q, enum dtype dtype, size_t index, size_t dim, double factor, size_t micro_rows,
                     size_t i, float *to, double *row)
{
    dtype_to_double(q, dtype, index * dim, dim, row);
    for (size_t d = 0; d < dim; d++) {
        row[d] *= factor;
        to[d * micro_rows + i] = (float)row[d];
    }
    return is_finite_row(row, dim) ? norm(row, dim) : NAN;
}
