#include "kernels/qk_pack.h"

#include <math.h>
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

void qk_keys_survey(struct qk_keys *keys, size_t lo, size_t hi, int is_centred, double *row)
{
    double n_good = 0;

    memset(keys->mean, 0, keys->dim * sizeof *keys->mean);
    keys->max_norm = 0;
    keys->n_bad[0] = 0;
    for (size_t j = 0; j < keys->n; j++) {
        keys->n_bad[j + 1] = keys->n_bad[j];
        if (j < lo || j >= hi)
            continue;
        dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, row);
        if (!is_finite_row(row, keys->dim)) {
            keys->n_bad[j + 1]++;
            continue;
        }
        keys->max_norm = fmax(keys->max_norm, norm(row, keys->dim));
        n_good++;
        for (size_t d = 0; is_centred && d < keys->dim; d++)
            keys->mean[d] += row[d];
    }
    for (size_t d = 0; is_centred && d < keys->dim; d++)
        keys->mean[d] /= fmax(n_good, 1);
    keys->max_norm += norm(keys->mean, keys->dim);
}

void qk_keys_pack(const struct qk_keys *keys, size_t lo, size_t hi, size_t panel_keys, float *to, double *row)
{
    size_t n_panels = (hi - lo + panel_keys - 1) / panel_keys;

    for (size_t i = 0; i < n_panels * panel_keys; i++) {
        float *column = to + i / panel_keys * panel_keys * keys->dim + i % panel_keys;
        size_t j = lo + i;
        int is_good = j < hi && keys->n_bad[j + 1] == keys->n_bad[j];

        if (is_good)
            dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, row);
        for (size_t d = 0; d < keys->dim; d++)
            column[d * panel_keys] = is_good ? (float)(row[d] - keys->mean[d]) : 0;
    }
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
