#include "kernels/row_slow.h"

#include "kernels/row_finish.h"

#include <math.h>
#include <string.h>

static const double LOG2_E = 0x1.71547652b82fep0;

/* One row on its way. Weights are taken relative to the largest, which then lies in [1, 2); scores as e^(x - top). */
struct slow_row {
    const struct row_entropy_args *args;
    const void *elements; /* n of them */
    size_t n;
    struct row_place place;
    double scale, top;
    int exponent;
};

/* Sums over the relative weights w. */
struct slow_sums {
    double sum, log_sum, square_sum, distance, bucket[PROFILE_BUCKETS];
};

struct row_stat row_without_value(enum row_status status, uint32_t n_keys)
{
    return (struct row_stat){.sum = NAN,
                             .entropy_bits = NAN,
                             .max_weight = NAN,
                             .square_sum = NAN,
                             .sink_weight = NAN,
                             .sink4_weight = NAN,
                             .distance = NAN,
                             .leak = NAN,
                             .n_keys = n_keys,
                             .status = status};
}

int profile_bucket(uint64_t keys)
{
    int bucket = keys ? 64 - __builtin_clzll((unsigned long long)keys) : 0;

    return bucket < PROFILE_BUCKETS ? bucket : PROFILE_BUCKETS - 1;
}

void profile_add(uint64_t *to, uint64_t *from)
{
    for (int b = 0; b < PROFILE_BUCKETS; b++)
        if (from[b])
            __atomic_fetch_add(&to[b], from[b], __ATOMIC_RELAXED);
    memset(from, 0, PROFILE_BUCKETS * sizeof *from);
}

uint64_t profile_units(double share)
{
    return (uint64_t)(share * (1 / PROFILE_UNIT) + 0.5);
}

double masked_score(enum dtype type)
{
    switch (type) {
    case DTYPE_U8:
    case DTYPE_I8:
        return -INFINITY;
    case DTYPE_F16:
        return -65504;
    case DTYPE_F8_E4M3:
        return -448;
    case DTYPE_F8_E5M2:
        return -57344;
    case DTYPE_F32:
    case DTYPE_BF16:
    case DTYPE_F64:
    default:
        return -1e30;
    }
}

bool is_masked_score(double score, enum dtype type)
{
    return score <= masked_score(type);
}

static double row_scale(const struct row_entropy_args *args, size_t index)
{
    return args->value_scales ? args->value_scales[index] : 1;
}

/* Element i as a weight, or as a score with -inf for masked. */
static double value_at(const struct slow_row *r, size_t i)
{
    double x = dtype_load(r->elements, r->args->dtype, i);

    if (r->args->kind == ROWS_SCORES && is_masked_score(x, r->args->dtype))
        return -INFINITY;
    return x * r->scale;
}

static double weight_at(const struct slow_row *r, size_t i)
{
    double x = value_at(r, i);

    return r->args->kind == ROWS_SCORES ? exp(x - r->top) : ldexp(x, -r->exponent);
}

/* The status of a row that holds x besides what made it `status`; NaN is seen to before. */
static enum row_status worse(enum row_status status, double x, int is_scores)
{
    if (isinf(x) && (x > 0 || !is_scores))
        return status == ROW_NAN ? status : ROW_INF;
    return x < 0 && !is_scores && status == ROW_OK ? ROW_NEGATIVE : status;
}

/* NaN before infinity before negative: what is worse names the row. Sets `top` where the row is all right. */
static enum row_status classify(struct slow_row *r)
{
    int is_scores = r->args->kind == ROWS_SCORES;
    enum row_status status = isfinite(r->scale) ? ROW_OK : ROW_NAN;
    double max = is_scores ? -INFINITY : 0;

    for (size_t i = 0; i < r->n; i++) {
        double x = value_at(r, i);

        if (isnan(x))
            return ROW_NAN;
        status = worse(status, x, is_scores);
        max = x > max ? x : max;
    }
    r->top = max;
    if (status == ROW_OK && (is_scores ? isinf(max) : !(max > 0)))
        status = ROW_ZERO;
    r->exponent = status == ROW_OK && !is_scores ? ilogb(max) : 0;
    return status;
}

static void add_up(const struct slow_row *r, struct slow_sums *s)
{
    for (size_t i = 0; i < r->n; i++) {
        double w = weight_at(r, i);
        double keys = fabs((double)((int64_t)i - r->place.query));

        s->sum += w;
        s->square_sum += w * w;
        s->distance += w * keys;
        s->bucket[profile_bucket((uint64_t)keys)] += w;
        if (w > 0)
            s->log_sum += r->args->kind == ROWS_SCORES ? w * (value_at(r, i) - r->top) * LOG2_E : w * log2(w);
    }
}

/* Mass and number of the weights whose bits begin as `prefix` does, by their next byte. */
struct by_byte {
    double mass[256];
    uint32_t n[256];
};

static void part_by_byte(const struct slow_row *r, uint64_t prefix, int shift, struct by_byte *parts)
{
    memset(parts, 0, sizeof *parts);
    for (size_t i = 0; i < r->n; i++) {
        double w = weight_at(r, i);
        uint64_t bits;

        w = w > 0 ? w : 0; /* -0 */
        memcpy(&bits, &w, sizeof bits);
        if (shift < 56 && bits >> (shift + 8) != prefix)
            continue;
        parts->mass[bits >> shift & 255] += w;
        parts->n[bits >> shift & 255]++;
    }
}

/* Takes the largest weights, byte by byte of their bits, until the next of them would be too much; those left in the
 * end are all equal. */
static uint32_t k90(const struct slow_row *r, double sum)
{
    double need = 0.9 * sum - 0x1p-40 * sum;
    uint64_t prefix = 0;
    uint32_t taken = 0;
    double w;

    for (int shift = 56; shift >= 0; shift -= 8) {
        struct by_byte parts;
        int byte = 255;

        part_by_byte(r, prefix, shift, &parts);
        while (byte > 0 && parts.mass[byte] < need) {
            need -= parts.mass[byte];
            taken += parts.n[byte--];
        }
        prefix = prefix << 8 | (uint64_t)byte;
    }
    memcpy(&w, &prefix, sizeof w);
    return taken + (w > 0 ? (uint32_t)ceil(need / w) : 0);
}

static double first_keys(const struct slow_row *r, int64_t n_keys)
{
    double sum = 0;

    for (int64_t i = r->place.sink; i < r->place.sink + n_keys; i++)
        if (i >= 0 && i < (int64_t)r->n)
            sum += weight_at(r, (size_t)i);
    return sum;
}

/* H within what any distribution over n keys has; a row with all its weight on one key has exactly none. */
static double clamped(double bits, double sum, double max, double most)
{
    return sum > max && bits > 0 ? fmin(bits, most) : 0;
}

/* `unit`: the weight that a relative weight of 1 stands for. */
static double entropy_with_eps(const struct slow_row *r, double unit)
{
    double eps = r->args->entropy_eps, bits = 0;

    for (size_t i = 0; i < r->n; i++) {
        double p = weight_at(r, i) * unit;

        if (p > 0)
            bits -= p * log2(r->args->eps_form == EPS_CLAMP ? fmax(p, eps) : p + eps);
    }
    return bits;
}

double row_with_sink(double bits, double sum)
{
    double rest = 1 - sum;

    return rest > 0 ? sum * (bits - log2(sum)) - rest * log2(rest) : bits;
}

static double entropy(const struct slow_row *r, const struct slow_sums *s, double max, double unit)
{
    double bits = clamped(log2(s->sum) - s->log_sum / s->sum, s->sum, max, log2((double)r->n));

    if (r->args->eps_form != EPS_NONE)
        return entropy_with_eps(r, unit);
    return r->args->implicit_sink && r->args->kind == ROWS_WEIGHTS ? row_with_sink(bits, s->sum * unit) : bits;
}

double row_leak(const struct row_entropy_args *args, size_t index, double lse)
{
    struct row_span span = args->spans[index % args->n_rows];
    size_t bytes = dtype_bytes(args->dtype);
    struct slow_row r = {.args = args,
                         .elements = (const char *)args->weights + index * args->n_cols * bytes,
                         .scale = row_scale(args, index)};
    double sum = 0;

    for (size_t j = 0; j < args->n_cols; j++)
        if (j < span.lo || j >= span.hi) {
            double x = value_at(&r, j);

            sum += args->kind == ROWS_SCORES ? exp(x - lse) : fabs(x);
        }
    return isnan(sum) ? INFINITY : sum;
}

struct row_stat row_slow(const struct row_entropy_args *args, size_t index, uint64_t *profile)
{
    struct row_span span = args->spans[index % args->n_rows];
    size_t bytes = dtype_bytes(args->dtype), n = span.lo < span.hi ? span.hi - span.lo : 0;
    struct slow_row r = {.args = args,
                         .elements = (const char *)args->weights + (index * args->n_cols + span.lo) * bytes,
                         .n = n,
                         .place = row_place(args, index % args->n_rows),
                         .scale = row_scale(args, index)};
    struct slow_sums s = {0};
    struct row_stat row = row_without_value(n ? classify(&r) : ROW_EMPTY, (uint32_t)n);
    int is_scores = args->kind == ROWS_SCORES;
    double unit, max;

    if (row.status != ROW_OK)
        return row;
    add_up(&r, &s);
    unit = is_scores ? 1 / s.sum : ldexp(1, r.exponent);
    max = is_scores ? 1 : ldexp(r.top, -r.exponent);
    row.sum = is_scores ? 1 : s.sum * unit;
    row.max_weight = max * unit;
    row.entropy_bits = entropy(&r, &s, max, unit);
    row.square_sum = s.square_sum * unit * unit;
    row.distance = s.distance * unit;
    row.sink_weight = first_keys(&r, 1) * unit;
    row.sink4_weight = first_keys(&r, 4) * unit;
    row.sees_sink = r.place.sink >= 0 && r.place.sink < (int64_t)n;
    row.k90 = k90(&r, s.sum);
    if (args->check_mask)
        row.leak = row_leak(args, index, is_scores ? r.top + log(s.sum) : 0);
    for (int b = 0; profile && b < PROFILE_BUCKETS; b++)
        profile[b] += profile_units(s.bucket[b] / s.sum);
    return row;
}
