/* Prometheus text exposition 0.0.4, for a textfile collector or a push gateway. */
#include "core/base/num.h"
#include "core/model/span.h"
#include "reports/escape.h"
#include "reports/formats.h"
#include "reports/show.h"

#include <math.h>

static void put_value(struct buf *out, double value)
{
    buf_putc(out, ' ');
    if (isnan(value))
        buf_puts(out, "NaN");
    else if (isinf(value))
        buf_puts(out, value > 0 ? "+Inf" : "-Inf");
    else
        num_append(out, value);
    buf_putc(out, '\n');
}

static void put_head(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_sample(struct buf *out, const char *name, const char *metric, const char *unit, const char *run,
                       double value)
{
    buf_printf(out, "%s{metric=\"", name);
    escape_prometheus(out, metric);
    buf_puts(out, "\",unit=\"");
    escape_prometheus(out, show_or(unit, "1"));
    if (run)
        buf_printf(out, "\",run=\"%s", run);
    buf_puts(out, "\"}");
    put_value(out, value);
}

/* One gauge over all families. */
static void put_gauge(struct buf *out, const struct judgement *j, const char *name, const char *help,
                      double (*value)(const struct family *f))
{
    size_t i;

    put_head(out, name, help);
    for (i = 0; i < j->n_families; i++)
        put_sample(out, name, j->families[i].metric, j->families[i].unit, NULL, value(&j->families[i]));
}

static double delta_of(const struct family *f)
{
    return f->effect.delta;
}

static double p_of(const struct family *f)
{
    return f->effect.p_adj;
}

static double margin_of(const struct family *f)
{
    return f->margin;
}

static double regressed_of(const struct family *f)
{
    return f->verdict == VERDICT_REGRESSED ? 1 : 0;
}

static void put_verdict(struct buf *out, const struct report_input *in)
{
    int v;

    put_head(out, "tare_verdict", "1 for the verdict of the comparison, 0 for the others.");
    for (v = VERDICT_NONE; v <= VERDICT_REGRESSED; v++)
        buf_printf(out, "tare_verdict{verdict=\"%s\"} %d\n", verdict_name((enum verdict)v),
                   v == (int)in->judgement->verdict);
    put_head(out, "tare_exit_code", "What the command exits with.");
    buf_printf(out, "tare_exit_code %d\n", in->exit_code);
    put_head(out, "tare_pairs", "Tasks that both runs have.");
    buf_printf(out, "tare_pairs %zu\n", in->judgement->n_pairs);
}

static void put_judgement(const struct report_input *in, struct buf *out)
{
    const struct judgement *j = in->judgement;
    size_t i;

    put_verdict(out, in);
    put_head(out, "tare_metric_mean", "Mean of a metric over the tasks that both runs have.");
    for (i = 0; i < j->n_families; i++) {
        const struct family *f = &j->families[i];

        put_sample(out, "tare_metric_mean", f->metric, f->unit, "base", f->effect.base);
        put_sample(out, "tare_metric_mean", f->metric, f->unit, "cand", f->effect.cand);
    }
    put_gauge(out, j, "tare_delta", "Candidate minus base.", delta_of);
    put_gauge(out, j, "tare_p_adjusted", "Two-sided p, adjusted over the families.", p_of);
    put_gauge(out, j, "tare_margin", "Smallest difference that counts, by the policy.", margin_of);
    put_gauge(out, j, "tare_regressed", "1 where the metric regressed.", regressed_of);
}

static void write_prometheus(const struct report_input *in, struct buf *out)
{
    const struct run *r = in->cand;
    size_t i;

    if (in->judgement) {
        put_judgement(in, out);
        return;
    }
    put_head(out, "tare_metric_mean", "Mean of a metric over the tasks of the run.");
    for (i = 0; i < r->n_cubes; i++)
        put_sample(out, "tare_metric_mean", r->cubes[i].metric, r->cubes[i].unit, "cand",
                   cube_span_by_unit(&r->cubes[i], 0, NULL).mean);
}

const struct report report_prometheus = {".prom", "Prometheus", "text exposition for a textfile collector",
                                         write_prometheus};
