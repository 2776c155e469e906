#include "kernels/qk_rows.h"

#include "core/base/checked.h"
#include "kernels/row_finish.h"

#include <math.h>

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
    for (size_t i = 0; i < args->n_rows; i++)
        if (args->spans[i].lo < args->spans[i].hi && args->spans[i].hi > args->n_cols)
            return error_set(err, ERR_LIMIT, "row %zu sees keys up to %u of %zu", i, args->spans[i].hi, args->n_cols);
    return OK;
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

struct qk_state qk_row_state(const struct row_stat *row)
{
    return (struct qk_state){.m = row->sum,
                             .l = row->entropy_bits,
                             .t = row->max_weight,
                             .squares = row->square_sum,
                             .sink = row->sink_weight,
                             .distance = row->distance};
}

void qk_row_hold(struct row_stat *row, struct qk_state state)
{
    row->sum = state.m;
    row->entropy_bits = state.l;
    row->max_weight = state.t;
    row->square_sum = state.squares;
    row->sink_weight = state.sink;
    row->distance = state.distance;
}

static struct row_stat finish(struct qk_state s, uint32_t n_keys)
{
    struct row_stat row = row_without_value(ROW_OK, n_keys);
    double bits = log2(s.l) - s.t / s.l;

    if (isinf(s.m))
        row.status = s.m > 0 ? ROW_INF : ROW_ZERO;
    else if (isnan(s.t) || !(s.l > 0))
        row.status = ROW_NAN;
    if (row.status != ROW_OK)
        return row;
    row.sum = 1;
    row.entropy_bits = bits > 0 ? fmin(bits, log2(n_keys)) : 0;
    row.max_weight = 1 / s.l;
    row.square_sum = s.squares / (s.l * s.l);
    row.sink_weight = exp2(s.sink - s.m) / s.l;
    row.distance = s.distance / s.l;
    row.sees_sink = isinf(s.sink) ? 0 : 1;
    return row;
}

struct row_stat qk_row_finish(const struct row_stat *row)
{
    return row->status == QK_PENDING ? finish(qk_row_state(row), row->n_keys) : *row;
}

/* Adds one finite score of a key that is `keys` away from the query. */
static void absorb(struct qk_state *s, double y, double keys)
{
    double shift = s->m - y, weight = exp2(-fabs(shift));

    if (y > s->m) {
        s->t = s->l > 0 && weight > 0 ? weight * (s->t + s->l * shift) : 0;
        s->l = s->l * weight + 1;
        s->squares = s->squares * weight * weight + 1;
        s->distance = s->distance * weight + keys;
        s->m = y;
    } else if (weight > 0) {
        s->t -= weight * shift;
        s->l += weight;
        s->squares += weight * weight;
        s->distance += weight * keys;
    }
}

/* Vectors so long that float could overflow: everything in double, one key at a time. */
static struct row_stat slow_row(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row,
                                const double *query, double *key)
{
    struct row_span span = args->spans[row];
    struct qk_state s = QK_NO_KEY;

    for (size_t j = span.lo; j < span.hi; j++) {
        double y = 0;

        dtype_to_double(keys->k, keys->dtype, j * keys->dim, keys->dim, key);
        for (size_t d = 0; d < keys->dim; d++)
            y += query[d] * (key[d] - keys->mean[d]);
        if (args->softcap > 0)
            y = qk_softcap_factor(args) * tanh(y);
        if (isnan(y) || (isinf(y) && y > 0))
            return row_without_value(isnan(y) ? ROW_NAN : ROW_INF, span.hi - span.lo);
        if ((int64_t)j == args->sink_col)
            s.sink = y;
        if (!isinf(y))
            absorb(&s, y, fabs((double)(args->query_col + (int64_t)row - (int64_t)j)));
    }
    return finish(s, span.hi - span.lo);
}

struct row_stat qk_row_begin(const struct qk_entropy_args *args, const struct qk_keys *keys, size_t row, double norm,
                             double *scratch)
{
    struct row_span span = args->spans[row];
    struct row_stat pending = {.n_keys = span.hi - span.lo, .status = QK_PENDING};

    if (span.lo >= span.hi)
        return row_without_value(ROW_EMPTY, 0);
    if (isnan(norm) || keys->n_bad[span.hi] != keys->n_bad[span.lo])
        return row_without_value(ROW_NAN, span.hi - span.lo);
    if (norm > MAX_FAST_NORM || keys->max_norm > MAX_FAST_NORM)
        return slow_row(args, keys, row, scratch, scratch + keys->dim);
    qk_row_hold(&pending, (struct qk_state)QK_NO_KEY);
    return pending;
}
