#include "kernels/qk_rows.h"

#include "core/base/checked.h"
#include "kernels/row_finish.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DIM = 8192 };

static const double LOG2_E = 0x1.71547652b82fep0;

/* Norms up to this multiply and add up in float without overflow; longer vectors take the slow path in double. */
static const double MAX_FAST_NORM = 0x1p60;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum status qk_check(const struct qk_entropy_args *args, struct error *err)
{
    size_t q, k;

    if (args->n_kv_heads == 0 || args->n_heads % args->n_kv_heads != 0)
        return error_set(err, ERR_FORMAT, "%zu query heads are no multiple of %zu key heads", args->n_heads,
                         args->n_kv_heads);
    if (args->dim == 0 || args->dim > MAX_DIM)
        return error_set(err, args->dim ? ERR_LIMIT : ERR_FORMAT, "head size %zu: it must be 1 to %d", args->dim,
                         MAX_DIM);
    if (!isfinite(args->scale) || !isfinite(args->softcap) || args->softcap < 0)
        return error_set(err, ERR_FORMAT, "scale %g and softcap %g: both must be finite, softcap 0 or more",
                         args->scale, args->softcap);
    if (!size_mul(args->n_heads, args->n_rows, &q) || !size_mul(q, args->dim * dtype_bytes(args->dtype), &q) ||
        !size_mul(args->n_kv_heads, args->n_cols, &k) || !size_mul(k, args->dim * dtype_bytes(args->dtype), &k) ||
        q > PTRDIFF_MAX || k > PTRDIFF_MAX || args->n_cols >= UINT32_MAX)
        return error_set(err, ERR_LIMIT, "%zu heads x %zu rows and %zu keys of %zu numbers are too large to address",
                         args->n_heads, args->n_rows, args->n_cols, args->dim);
    return row_spans_check(args->spans, args->n_rows, args->n_cols, args->query_col, err);
}

struct row_span qk_seen(const struct qk_entropy_args *args)
{
    size_t lo = args->n_cols, hi = 0;

    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].lo < args->spans[i].hi) {
            lo = min_size(lo, args->spans[i].lo);
            hi = args->spans[i].hi > hi ? args->spans[i].hi : hi;
        }
    return lo < hi ? (struct row_span){(uint32_t)lo, (uint32_t)hi} : (struct row_span){0, 0};
}

double qk_query_factor(const struct qk_entropy_args *args)
{
    return args->softcap > 0 ? args->scale / args->softcap : args->scale * LOG2_E;
}

double qk_softcap_factor(const struct qk_entropy_args *args)
{
    return args->softcap * LOG2_E;
}

void qk_state_init(struct qk_state *s)
{
    *s = (struct qk_state){.m = -INFINITY};
    for (int i = 0; i < SINK_KEYS; i++)
        s->sink[i] = -INFINITY;
}

void qk_state_raise(struct qk_state *s, double m)
{
    double shift = s->m - m, factor = exp2(shift);

    if (s->l > 0) {
        s->t = factor > 0 ? factor * (s->t + s->l * shift) : 0;
        s->l *= factor;
        s->squares *= factor * factor;
        s->distance *= factor;
        for (int b = 0; b < PROFILE_BUCKETS; b++)
            s->bucket[b] *= factor;
    }
    s->m = m;
}

static struct row_stat without_value(enum row_status status, uint32_t n_keys, struct qk_extra extra)
{
    if (extra.lse)
        *extra.lse = status == ROW_EMPTY || status == ROW_ZERO ? -INFINITY : NAN;
    return row_without_value(status, n_keys);
}

struct row_stat qk_row_finish(const struct qk_state *s, uint32_t n_keys, struct qk_extra extra)
{
    struct row_stat row = {.status = ROW_OK, .n_keys = n_keys, .leak = NAN, .sum = 1};
    double bits = log2(s->l) - s->t / s->l;

    if (isinf(s->m))
        return without_value(s->m > 0 ? ROW_INF : ROW_ZERO, n_keys, extra);
    if (isnan(s->t) || !(s->l > 0))
        return without_value(ROW_NAN, n_keys, extra);
    row.entropy_bits = bits > 0 ? fmin(bits, log2(n_keys)) : 0;
    row.max_weight = 1 / s->l;
    row.square_sum = s->squares / (s->l * s->l);
    row.distance = s->distance / s->l;
    row.sink_weight = exp2(s->sink[0] - s->m) / s->l;
    row.sees_sink = s->sink[0] > -INFINITY;
    for (int i = 0; i < SINK_KEYS; i++)
        row.sink4_weight += exp2(s->sink[i] - s->m) / s->l;
    for (int b = 0; extra.profile && b < PROFILE_BUCKETS; b++)
        if (s->bucket[b] > 0)
            extra.profile[b] += profile_units(s->bucket[b] / s->l);
    if (extra.lse)
        *extra.lse = (s->m + log2(s->l) + s->shift) / LOG2_E;
    return row;
}

/* Adds one finite score of a key that is `keys` away from the query. */
static void absorb(struct qk_state *s, double y, int64_t keys)
{
    double weight;

    if (y > s->m)
        qk_state_raise(s, y);
    weight = exp2(y - s->m);
    if (!(weight > 0))
        return;
    s->t += weight * (y - s->m);
    s->l += weight;
    s->squares += weight * weight;
    s->distance += weight * (double)llabs(keys);
    s->bucket[profile_bucket((uint64_t)llabs(keys))] += weight;
}

/* Vectors so long that float could overflow: everything in double, one key at a time. */
static struct row_stat slow_row(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row,
                                const double *query, double *key, struct qk_state *s, struct qk_extra extra)
{
    struct row_span span = args->spans[row];

    for (size_t j = span.lo; j < span.hi; j++) {
        int64_t sink = (int64_t)j - args->sink_col;
        double y = 0;

        dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, key);
        for (size_t d = 0; d < keys->dim; d++)
            y += query[d] * (key[d] - keys->mean[d]);
        if (args->softcap > 0)
            y = qk_softcap_factor(args) * tanh(y);
        if (isnan(y) || (isinf(y) && y > 0))
            return without_value(isnan(y) ? ROW_NAN : ROW_INF, span.hi - span.lo, extra);
        if (sink >= 0 && sink < SINK_KEYS)
            s->sink[sink] = y;
        if (!isinf(y))
            absorb(s, y, args->query_col + (int64_t)row - (int64_t)j);
    }
    return qk_row_finish(s, span.hi - span.lo, extra);
}

struct row_stat qk_row_begin(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row, double norm,
                             double *scratch, struct qk_state *state, struct qk_extra extra)
{
    struct row_span span = args->spans[row];

    if (span.lo >= span.hi)
        return without_value(ROW_EMPTY, 0, extra);
    if (isnan(norm) || keys->n_bad[span.hi] != keys->n_bad[span.lo])
        return without_value(ROW_NAN, span.hi - span.lo, extra);
    qk_state_init(state);
    for (size_t d = 0; extra.lse && d < keys->dim; d++)
        state->shift += scratch[d] * keys->mean[d];
    if (norm > MAX_FAST_NORM || keys->max_norm > MAX_FAST_NORM)
        return slow_row(args, keys, row, scratch, scratch + keys->dim, state, extra);
    return (struct row_stat){.n_keys = span.hi - span.lo, .status = QK_PENDING};
}
