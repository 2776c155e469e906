#include "core/io/dump_lse.h"

#include "core/base/mem.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows looked at in a layer, as far as that many multiplications go: a wrong attribute shows in any of them. */
enum { MAX_ROWS = 64, ROWS_AT_ONCE = 8 };
#define MAX_WORK ((size_t)1 << 24)

/* A row: what q·k gives for each key before anything is done to it, and what was stored. */
struct lse_row {
    const struct dump_sample *sample;
    size_t index;     /* of the row */
    double lse;       /* natural log */
    double product;   /* the largest, each of its terms taken as positive */
    double *products; /* [n_cols] */
};

struct lse_rows {
    const struct dump_layer *layer;
    struct lse_row row[MAX_ROWS];
    size_t n;
    double *products; /* owned: MAX_ROWS x n_cols, or fewer */
};

/* What a dump states, or might have stated. */
struct claim {
    struct dump_layer layer;
    double lse_factor; /* stored value to natural log */
    const char *words; /* what is different */
};

/* Half the distance of two neighbours, relative. */
static double rounding_of(enum dtype t)
{
    static const double half[N_DTYPES] = {[DTYPE_F32] = 0x1p-24, [DTYPE_F16] = 0x1p-11,    [DTYPE_BF16] = 0x1p-8,
                                          [DTYPE_F64] = 0x1p-53, [DTYPE_F8_E4M3] = 0x1p-4, [DTYPE_F8_E5M2] = 0x1p-3};

    return half[t];
}

static double lse_of(const struct claim *c, const struct lse_row *r, struct row_span span)
{
    double most = -INFINITY, sum = 0;
    size_t j;

    for (j = span.lo; j < span.hi; j++) {
        double s = c->layer.scale * r->products[j];

        s = c->layer.softcap > 0 ? c->layer.softcap * tanh(s / c->layer.softcap) : s;
        if (s > most) {
            sum = sum * exp(most - s) + 1;
            most = s;
        } else {
            sum += exp(s - most);
        }
    }
    return span.lo < span.hi ? most + log(sum) : -INFINITY;
}

/* Span of one row: dump_spans() of a layer that has that row alone. */
static struct row_span span_of(const struct dump_layer *l, const struct lse_row *r)
{
    struct dump_layer one = *l;
    struct dump_sample s = *r->sample;
    struct row_span span;

    one.n_rows = 1;
    s.query_start += (int64_t)r->index;
    dump_spans(&one, &s, &span);
    return span;
}

/* Scores are off by what rounding q and k may do, the value by its type's rounding, and sums of exponentials in float32
 * by a few of their last places. */
double dump_lse_tolerance(const struct dump_layer *l, double want, double product)
{
    double u = rounding_of(l->stored) + rounding_of(l->k_stored);

    return 1e-4 + l->scale * u * product + fabs(want) * (rounding_of(l->lse_dtype) + 0x1p-20);
}

/* Does the row's stored value belong to the claim? */
static bool fits(const struct claim *c, const struct lse_row *r, double *ret_want)
{
    struct row_span span = span_of(&c->layer, r);
    double got = r->lse * c->lse_factor;

    *ret_want = lse_of(c, r, span);
    if (isinf(*ret_want) || isinf(got))
        return isinf(*ret_want) && isinf(got);
    return fabs(got - *ret_want) <= dump_lse_tolerance(&c->layer, *ret_want, r->product);
}

static size_t count_fits(const struct lse_rows *rows, const struct claim *c, size_t *ret_first_bad, double *ret_want)
{
    size_t n = 0, i;
    double want;

    *ret_first_bad = SIZE_MAX;
    for (i = 0; i < rows->n; i++) {
        if (fits(c, &rows->row[i], &want)) {
            n++;
        } else if (*ret_first_bad == SIZE_MAX) {
            *ret_first_bad = i;
            *ret_want = want;
        }
    }
    return n;
}

/* Products of a query with all keys of its head. */
static void multiply(const struct dump_layer *l, const void *q, size_t row, const void *k, struct lse_row *r)
{
    double most = 0;
    size_t i, j;

    for (j = 0; j < l->n_cols; j++) {
        double dot = 0, size = 0;

        for (i = 0; i < l->dim; i++) {
            double term = dtype_load(q, l->dtype, row * l->dim + i) * dtype_load(k, l->dtype, j * l->dim + i);

            dot += term;
            size += fabs(term);
        }
        r->products[j] = dot;
        most = size > most ? size : most;
    }
    r->product = most;
}

/* Some rows of one head of one sample, evenly over it. */
static enum status take_rows(struct lse_rows *rows, struct dump *d, size_t sample, size_t head, size_t n, void *q,
                             void *k, struct error *err)
{
    const struct dump_layer *l = rows->layer;
    size_t layer = (size_t)(l - d->layers), i;

    TRY(dump_read_k(d, layer, sample, head / (l->n_heads / l->n_kv_heads), k, err));
    for (i = 0; i < n; i++) {
        struct lse_row *r = &rows->row[rows->n];
        size_t row = n > 1 ? i * (l->n_rows - 1) / (n - 1) : l->n_rows - 1;

        *r = (struct lse_row){
            .sample = &d->samples[sample], .index = row, .products = rows->products + rows->n * l->n_cols};
        if (span_of(l, r).lo >= span_of(l, r).hi) /* padding: whatever stands there */
            continue;
        TRY(dump_read_q(d, layer, sample, head, row, 1, q, err));
        TRY(dump_read_row_numbers(d, l, "lse", l->lse_dtype, sample, head, row, 1, &r->lse, err));
        multiply(l, q, 0, k, r);
        if (isfinite(r->product)) /* what is NaN in q or k is counted when it is measured */
            rows->n++;
    }
    return OK;
}

/* Heads and samples in turn, until there are enough rows. */
static enum status take_all(struct lse_rows *rows, struct dump *d, size_t n_max, void *q, void *k, struct error *err)
{
    const struct dump_layer *l = rows->layer;
    size_t n_pairs = d->n_samples * l->n_heads, at_once = ROWS_AT_ONCE, step, i;

    at_once = at_once < n_max ? at_once : n_max;
    at_once = at_once < l->n_rows ? at_once : l->n_rows;
    step = n_pairs / (n_max / at_once) + 1;
    for (i = 0; i < n_pairs && rows->n + at_once <= n_max; i += step)
        TRY(take_rows(rows, d, i / l->n_heads, i % l->n_heads, at_once, q, k, err));
    return OK;
}

static void say_what_fits(const struct claim *fits, char *ret, size_t size)
{
    if (strcmp(fits->words, "scale") == 0)
        snprintf(ret, size, "with scale %.17g they fit: write that", fits->layer.scale);
    else if (strcmp(fits->words, "softcap") == 0)
        snprintf(ret, size, "with softcap %g they fit: write that", fits->layer.softcap);
    else if (strcmp(fits->words, "causal") == 0)
        snprintf(ret, size, "with causal %d they fit: write that", fits->layer.causal);
    else if (strcmp(fits->words, "window") == 0)
        snprintf(ret, size, "without window they fit: write 0");
    else
        snprintf(ret, size, "with lse_base \"%s\" they fit: write that", fits->lse_factor < 1 ? "2" : "e");
}

/* Tries what people leave out or write wrong, one change at a time. */
static bool explain(const struct lse_rows *rows, const struct claim *said, char *ret, size_t size)
{
    double root = 1 / sqrt((double)rows->layer->dim), want;
    const double scales[] = {root, 1, 1 / (double)rows->layer->dim, said->layer.scale * root, said->layer.scale / root};
    struct claim tries[12];
    size_t n = 0, bad, i;

    for (i = 0; i < sizeof scales / sizeof *scales; i++) {
        tries[n] = *said;
        tries[n].words = "scale";
        tries[n++].layer.scale = scales[i];
    }
    for (i = 0; i < 2; i++) {
        tries[n] = *said;
        tries[n].words = "softcap";
        tries[n++].layer.softcap = i ? 0 : 50;
    }
    tries[n] = *said;
    tries[n].words = "causal";
    tries[n++].layer.causal = !said->layer.causal;
    tries[n] = *said;
    tries[n].words = "window";
    tries[n++].layer.window = 0;
    tries[n] = *said;
    tries[n].words = "lse_base";
    tries[n++].lse_factor = said->lse_factor < 1 ? 1 : M_LN2;
    for (i = 0; i < n; i++) {
        if (count_fits(rows, &tries[i], &bad, &want) != rows->n)
            continue;
        say_what_fits(&tries[i], ret, size);
        return true;
    }
    return false;
}

static enum status judge(const struct dump *d, const struct lse_rows *rows, struct error *err)
{
    const struct dump_layer *l = rows->layer;
    struct claim said = {.layer = *l, .lse_factor = l->lse_is_base2 ? M_LN2 : 1};
    char hint[160] = "no other scale, softcap, causal, window or base explains it: are q and k those after rotary "
                     "embedding and norms?";
    size_t bad = SIZE_MAX, n;
    double want = 0;

    if (rows->n == 0)
        return OK;
    n = count_fits(rows, &said, &bad, &want);
    if (n == rows->n)
        return OK;
    explain(rows, &said, hint, sizeof hint);
    return dump_layout_bad(
        d, dump_layout_name(l, "lse").text, err,
        "q and k do not give it: %zu of %zu rows differ, row %zu of sample '%.40s' has %.7g, they give "
        "%.7g; %s",
        rows->n - n, rows->n, rows->row[bad].index, rows->row[bad].sample->id, rows->row[bad].lse * said.lse_factor,
        want, hint);
}

enum status dump_lse_check(struct dump *d, const struct dump_layer *l, struct error *err)
{
    struct lse_rows rows = {.layer = l};
    size_t n_max = MAX_WORK / l->dim / l->n_cols, element = dtype_bytes(l->dtype);
    void *q = NULL, *k = NULL;
    enum status st;

    n_max = n_max < 2 ? 2 : n_max < MAX_ROWS ? n_max : MAX_ROWS;
    st = mem_new(n_max * l->n_cols, sizeof *rows.products, &rows.products, err);
    if (st == OK)
        st = mem_new(l->dim, element, &q, err);
    if (st == OK)
        st = mem_new(l->n_cols * l->dim, element, &k, err);
    if (st == OK)
        st = take_all(&rows, d, n_max, q, k, err);
    if (st == OK)
        st = judge(d, &rows, err);
    free(rows.products);
    free(q);
    free(k);
    return st;
}
