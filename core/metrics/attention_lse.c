#include "core/base/mem.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_lse.h"
#include "core/io/dump_values.h"
#include "core/metrics/attention_parts.h"
#include "kernels/dtype.h"

#include <math.h>
#include <stdlib.h>

/* Euclidean norm of vector `i` of an array of them. */
static double norm_of(const struct dump_layer *l, const void *vectors, size_t i)
{
    double sum = 0;
    size_t d;

    for (d = 0; d < l->dim; d++) {
        double x = dtype_load(vectors, l->dtype, i * l->dim + d);

        sum += x * x;
    }
    return sqrt(sum);
}

double part_lse_norm(const struct part *part, const void *keys, size_t first, size_t n)
{
    double most = 0;
    size_t i;

    for (i = first; i < first + n; i++) {
        double norm = norm_of(part->layer, keys, i);

        most = norm > most ? norm : most;
    }
    return most;
}

static enum status differs(const struct part *part, size_t head, size_t row, double stored, double want,
                           struct error *err)
{
    return dump_layout_bad(part->dump, dump_layout_name(part->layer, "lse").text, err,
                           "q and k do not give it: row %zu of head %zu of sample '%.80s' has %.9g, they give %.9g; "
                           "the rows that were tried first fit, so that q, k or lse is damaged there: dump it again",
                           row, head, part->sample->id, stored, want);
}

/* By Cauchy and Schwarz no product without signs is larger than that of the norms. */
static enum status check_rows(const struct part *part, const struct lse_rows *r, size_t head, const double *stored,
                              struct error *err)
{
    const struct dump_layer *l = part->layer;
    double factor = l->lse_is_base2 ? M_LN2 : 1;
    size_t i;

    for (i = 0; i < r->n; i++) {
        size_t at = head * r->n + i;
        double got = stored[i] * factor, want = r->lse[at], product;

        if (r->rows[at].status != ROW_OK)
            continue;
        product = norm_of(l, r->q, at) * r->key_norms[head / r->group];
        if (!(fabs(got - want) <= dump_lse_tolerance(l, want, product)))
            return differs(part, part->head + r->head + head, part->first + r->row + i, got, want, err);
    }
    return OK;
}

enum status part_lse_check(const struct part *part, const struct lse_rows *r, struct error *err)
{
    double *stored = NULL;
    enum status st;
    size_t h;

    TRY(mem_new(r->n, sizeof *stored, &stored, err));
    for (h = 0, st = OK; st == OK && h < r->n_heads; h++) {
        st = dump_read_row_numbers(part->dump, part->layer, "lse", part->layer->lse_dtype, part->n_sample,
                                   part->head + r->head + h, part->first + r->row, r->n, stored, err);
        if (st == OK)
            st = check_rows(part, r, h, stored, err);
    }
    free(stored);
    return st;
}
