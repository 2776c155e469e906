/* One line a family and finding, or one a metric of a single run; 17 significant digits, missing as "nan". */
#include "core/base/num.h"
#include "core/model/span.h"
#include "reports/escape.h"
#include "reports/formats.h"
#include "reports/series.h"
#include "reports/show.h"

#include <inttypes.h>

static void put_text(struct buf *out, const char *text)
{
    if (text)
        escape_csv(out, text);
    buf_putc(out, ',');
}

static void put_value(struct buf *out, double value)
{
    num_append17(out, value);
    buf_putc(out, ',');
}

static void put_label(struct buf *out, int64_t label)
{
    if (label >= 0)
        buf_printf(out, "%" PRId64, label);
    buf_putc(out, ',');
}

static void put_row(struct buf *out, const char *kind, const struct finding *f)
{
    const struct effect *e = &f->effect;
    const double values[] = {e->base,   e->cand, e->delta, e->ci_lo, e->ci_hi, e->bca_lo,
                             e->bca_hi, e->p,    e->p_adj, e->p_min, e->mde};
    size_t i;

    put_text(out, kind);
    put_text(out, f->metric);
    put_text(out, f->unit);
    put_text(out, f->where.task);
    put_label(out, f->where.turn);
    put_label(out, f->where.layer);
    put_label(out, f->where.head);
    buf_printf(out, "%zu,", e->n);
    for (i = 0; i < sizeof values / sizeof *values; i++)
        put_value(out, values[i]);
    put_value(out, f->margin);
    put_text(out, verdict_name(f->verdict));
    put_text(out, role_name(f->role));
    buf_putc(out, ','); /* no exit code of its own */
    escape_csv(out, show_or(f->words, ""));
    buf_puts(out, "\n");
}

static void put_judgement(const struct report_input *in, struct buf *out)
{
    const struct judgement *j = in->judgement;
    size_t i;

    buf_puts(
        out,
        "kind,metric,unit,task,turn,layer,head,n,base,cand,delta,ci_lo,ci_hi,bca_lo,bca_hi,p,p_adj,p_min,mde,margin,"
        "verdict,role,exit,words\n");
    buf_printf(out, "verdict,,,,,,,%zu,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan,%s,,%d,", j->n_pairs,
               verdict_name(j->verdict), in->exit_code);
    escape_csv(out, show_or(j->headline, ""));
    buf_puts(out, "\n");
    for (i = 0; i < j->n_families; i++) {
        const struct family *f = &j->families[i];
        struct finding row = {.metric = f->metric,
                              .unit = f->unit,
                              .where = series_all(),
                              .effect = f->effect,
                              .margin = f->margin,
                              .verdict = f->verdict,
                              .role = f->role,
                              .words = f->words};

        put_row(out, "family", &row);
    }
    for (i = 0; i < j->n_findings; i++)
        put_row(out, "finding", &j->findings[i]);
}

static void put_run(const struct run *r, struct buf *out)
{
    size_t i;

    buf_puts(out, "metric,unit,better,n,n_cells,mean,sd,min,max\n");
    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *c = &r->cubes[i];
        struct span s = cube_span_by_unit(c, 0, NULL);

        put_text(out, c->metric);
        put_text(out, c->unit);
        put_text(out, better_name(c->better));
        buf_printf(out, "%zu,%zu,", s.n, cube_count(c));
        put_value(out, s.mean);
        put_value(out, s.sd);
        put_value(out, s.min);
        num_append17(out, s.max);
        buf_puts(out, "\n");
    }
}

static void write_csv(const struct report_input *in, struct buf *out)
{
    if (in->judgement)
        put_judgement(in, out);
    else
        put_run(in->cand, out);
}

const struct report report_csv = {".csv", "CSV", "a line a family and finding", write_csv};
