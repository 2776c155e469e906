#include "core/io/dump_look.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_reader.h"
#include "core/io/dump_values.h"

#include <math.h>
#include <stdlib.h>

/* Elements looked at: more say nothing new. A few rows are enough to see that all is well. */
enum { LOOK_ELEMENTS = 1 << 22, FEW_ROWS = 16 };

/* A sum this far off 1 is no rounding of any type. */
#define OFF 0.05

/* Sums of weights that were not divided by their scale. */
#define LARGE 16
#define ALIKE 1.25

/* Rows [first, first + n) of a head of the first sample. */
struct look {
    size_t first, n;
    struct row_span *spans; /* owned: of all rows */
    void *values;           /* owned: n x n_cols */
};

static void look_done(struct look *k)
{
    free(k->spans);
    free(k->values);
}

static size_t index_of(const struct dump *d, const struct dump_layer *l)
{
    return (size_t)(l - d->layers);
}

static struct dump_name name_of(const struct dump_layer *l)
{
    return dump_part_name(l, DUMP_PART_WEIGHTS);
}

/* The last rows that belong to the sample, at most FEW_ROWS and LOOK_ELEMENTS. */
static enum status look_at_last(struct look *k, struct dump *d, const struct dump_layer *l, struct error *err)
{
    size_t last = l->n_rows, most = LOOK_ELEMENTS / l->n_cols;

    TRY(mem_new(l->n_rows, sizeof *k->spans, &k->spans, err));
    dump_spans(l, &d->samples[0], k->spans);
    while (last > 0 && k->spans[last - 1].lo >= k->spans[last - 1].hi)
        last--;
    most = most < FEW_ROWS ? most : FEW_ROWS;
    k->first = last;
    while (k->first > 0 && last - k->first < most && k->spans[k->first - 1].lo < k->spans[k->first - 1].hi)
        k->first--;
    k->n = last - k->first;
    TRY(mem_new(k->n * l->n_cols, dtype_bytes(l->dtype), &k->values, err));
    return dump_read_weights(d, index_of(d, l), 0, 0, k->first, k->n, k->values, err);
}

/* No weight, or the score of a key that a mask hides. */
static bool is_unseen(const struct dump_layer *l, double value)
{
    if (l->kind == DUMP_WEIGHTS)
        return !(value > 0) && !(value < 0) && !isnan(value);
    return value <= (l->dtype == DTYPE_F16 ? -65504.0 : -1e30);
}

static bool has_seen(const struct dump_layer *l, const void *rows, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        if (!is_unseen(l, dtype_load(rows, l->dtype, i)))
            return true;
    return false;
}

enum status dump_look_above_diagonal(struct dump *d, const struct dump_layer *l, bool *ret, struct error *err)
{
    size_t n = LOOK_ELEMENTS / l->n_cols, i;
    size_t length = (size_t)d->samples[0].length < l->n_cols ? (size_t)d->samples[0].length : l->n_cols;
    unsigned char *rows = NULL;
    enum status st;
    bool sees = false;

    if (d->samples[0].query_start != 0 || d->samples[0].first != 0)
        return error_set(err, ERR_FORMAT, "the first row is not that of the first key");
    n = n < l->n_rows ? n : l->n_rows;
    TRY(mem_new(n * l->n_cols, dtype_bytes(l->dtype), &rows, err));
    st = dump_read_weights(d, index_of(d, l), 0, 0, 0, n, rows, err);
    for (i = 0; st == OK && i < n && i + 1 < length && !sees; i++)
        sees = has_seen(l, rows, i * l->n_cols + i + 1, i * l->n_cols + length);
    free(rows);
    TRY(st);
    *ret = sees;
    return OK;
}

/* How many keys back a row of the look sees; 0 where it sees none. */
static size_t reach(const struct dump_layer *l, const struct look *k, size_t row)
{
    struct row_span s = k->spans[k->first + row];
    size_t lo = s.lo;

    while (lo < s.hi && is_unseen(l, dtype_load(k->values, l->dtype, row * l->n_cols + lo)))
        lo++;
    return s.hi - lo;
}

enum status dump_look_window(struct dump *d, const struct dump_layer *l, struct error *err)
{
    AUTO(look) k = {0};
    size_t window, i;

    TRY(look_at_last(&k, d, l, err));
    window = k.n == FEW_ROWS ? reach(l, &k, 0) : 0;
    for (i = 0; i < k.n && window > 1; i++)
        if (reach(l, &k, i) != window || k.spans[k.first + i].hi - k.spans[k.first + i].lo <= window)
            return OK;
    if (window <= 1)
        return OK;
    return dump_layout_bad(
        d, name_of(l).text, err,
        "the last %zu rows give weight to exactly %zu keys each: add \"window\", %zu as an attribute "
        "of the layer or in the layout map, or 0 where that is chance",
        k.n, window, window);
}

static double sum_of(const struct dump_layer *l, const struct look *k, size_t row, bool *ret_is_negative)
{
    struct row_span s = k->spans[k->first + row];
    double sum = 0;
    size_t i;

    for (i = s.lo; i < s.hi; i++) {
        double p = dtype_load(k->values, l->dtype, row * l->n_cols + i);

        *ret_is_negative = *ret_is_negative || p < 0;
        sum += p;
    }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The factor that makes sums 1, as its maker will have written it: the nearest usual one. */
static double likely_whole(double median)
{
    static const double usual[] = {100, 127, 128, 255, 256, 32767, 65535};
    double best = median, distance = 0.1 * median;
    size_t i;

    for (i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (fabs(median - usual[i]) >= distance)
            continue;
        distance = fabs(median - usual[i]);
        best = usual[i];
    }
    return best;
}

static enum status ask_for_scale(const struct dump *d, const struct dump_layer *l, double median, bool is_negative,
                                 struct error *err)
{
    double whole = likely_whole(median);
    const char *type = dtype_name(l->stored);

    if (is_negative && l->stored == DTYPE_I8)
        return dump_layout_bad(d, name_of(l).text, err,
                               "int8 below 0: add \"zero_point\", -128 where that stands for no weight, and "
                               "\"value_scale\", such as 1/255 = %s; or these are no softmax weights",
                               dump_layout_number(1.0 / 255).text);
    if (!(median > 0))
        return dump_layout_bad(d, name_of(l).text, err, "%s without a factor: add \"value_scale\", such as 1/255 = %s",
                               type, dump_layout_number(1.0 / 255).text);
    return dump_layout_bad(
        d, name_of(l).text, err,
        "%s whose rows sum to some %.4g: add \"value_scale\", 1/%.6g = %s, as an attribute of the layer "
        "or in the layout map; or one factor a row, value_scales",
        type, median, whole, dump_layout_number(1 / whole).text);
}

/* How many of n sums are near 1. */
static size_t count_near_one(const double *sums, size_t n)
{
    size_t near = 0, i;

    for (i = 0; i < n; i++)
        near += fabs(sums[i] - 1) < OFF;
    return near;
}

/* sums: n of rows, then n of columns, of the n x n part that belongs to the sample. */
static void add_up(const struct dump_layer *l, const void *rows, size_t n, double *sums)
{
    size_t i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            double p = dtype_load(rows, l->dtype, i * l->n_cols + j);

            sums[i] += p;
            sums[n + j] += p;
        }
}

/* ERR_FORMAT where not the rows sum to 1, but the columns. */
static enum status look_which_way(struct dump *d, const struct dump_layer *l, struct error *err)
{
    const struct dump_sample *s = &d->samples[0];
    size_t n = (size_t)s->length, element = dtype_bytes(l->dtype), near_rows, near_cols;
    unsigned char *rows = NULL;
    double *sums = NULL;
    enum status st;

    if (s->first != 0 || s->query_start != 0 || l->key_start != 0 || n < 2 || n > l->n_rows || n > l->n_cols ||
        n > LOOK_ELEMENTS / l->n_cols)
        return OK;
    TRY(mem_new(n * l->n_cols * element + 2 * n * sizeof *sums, 1, &sums, err));
    rows = (unsigned char *)(sums + 2 * n);
    st = dump_read_weights(d, index_of(d, l), 0, 0, 0, n, rows, err);
    if (st == OK)
        add_up(l, rows, n, sums);
    near_rows = count_near_one(sums, n);
    near_cols = count_near_one(sums + n, n);
    free(sums);
    TRY(st);
    if (near_rows > n / 2 || near_cols <= n - n / 10 - 1)
        return OK;
    return dump_layout_bad(d, name_of(l).text, err,
                           "not the rows sum to 1, but the columns (%zu of %zu): a row must hold the weights of one "
                           "query; %s, or save numpy.swapaxes(x, -1, -2) of it",
                           near_cols, n,
                           d->is_mapped ? "let rows and cols change places in \"axes\""
                                        : "read it with a layout map whose \"axes\" are samples,heads,cols,rows");
}

enum status dump_look_at_sums(struct dump *d, const struct dump_layer *l, struct error *err)
{
    AUTO(look) k = {0};
    double sums[FEW_ROWS] = {0}, scales[FEW_ROWS];
    bool is_integer = l->dtype == DTYPE_U8 || l->dtype == DTYPE_I8, is_negative = false;
    size_t i;

    TRY(look_at_last(&k, d, l, err));
    if (k.n == 0)
        return OK;
    TRY(dump_read_scales(d, index_of(d, l), 0, 0, k.first, k.n, scales, err));
    for (i = 0; i < k.n; i++)
        sums[i] = sum_of(l, &k, i, &is_negative) * scales[i];
    if (count_near_one(sums, k.n) > k.n / 2 && (!is_integer || dump_has_scales(l)))
        return OK;
    qsort(sums, k.n, sizeof *sums, by_value);
    if (is_integer && !dump_has_scales(l))
        return ask_for_scale(d, l, sums[k.n / 2], is_negative, err);
    if (!is_negative && !dump_has_scales(l) && sums[0] > LARGE && sums[k.n - 1] < ALIKE * sums[0])
        return ask_for_scale(d, l, sums[k.n / 2], false, err);
    return look_which_way(d, l, err);
}

enum status dump_look_two_bytes(struct dump *d, const char *name, const size_t dim[4], enum dtype *ret,
                                struct error *err)
{
    static const enum dtype types[] = {DTYPE_BF16, DTYPE_F16};
    size_t cols = dim[3], n, i, j, k;
    unsigned char *rows = NULL;
    enum status st;

    *ret = N_DTYPES;
    if (cols == 0 || cols > LOOK_ELEMENTS || dim[2] == 0)
        return OK;
    n = dim[2] < FEW_ROWS ? dim[2] : FEW_ROWS;
    TRY(mem_new(n * cols, sizeof(uint16_t), &rows, err));
    st = d->reader->format->rows(d->reader, name, 0, 0, 0, n, rows, err);
    for (k = 0; st == OK && k < sizeof types / sizeof *types && *ret == N_DTYPES; k++)
        for (i = 0; i < n; i++) {
            double sum = 0;

            for (j = 0; j < cols; j++)
                sum += dtype_load(rows, types[k], i * cols + j);
            if (fabs(sum - 1) < OFF)
                *ret = types[k];
        }
    free(rows);
    return st;
}
