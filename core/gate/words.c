#include "core/gate/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void words_number(struct buf *b, double value)
{
    double size = fabs(value);

    if (isnan(value))
        buf_puts(b, "not known");
    else if (!(size > 0))
        buf_putc(b, '0');
    else if (size >= 1000 && size < 1e15)
        buf_printf(b, "%.0f", value);
    else if (size >= 1)
        buf_printf(b, "%.4g", value);
    else
        buf_printf(b, "%.3g", value);
}

void words_quantity(struct buf *b, double value, const char *unit)
{
    words_number(b, value);
    if (unit && unit[0] && strcmp(unit, "1") != 0)
        buf_printf(b, " %s", unit);
}

void words_place(struct buf *b, const char *metric, const struct where *where)
{
    char text[160];

    buf_puts(b, metric);
    if (!where->task && where->turn < 0 && where->layer < 0 && where->head < 0)
        return;
    where_text(where, text, sizeof text);
    buf_printf(b, " at %s", text);
}

/* A mean of differences that cancel is not quite 0: sums of some thousand values are off by less than this. */
static const double ROUNDING = 1e-12;

void words_move(struct buf *b, const struct effect *e, const char *unit)
{
    if (!(fabs(e->delta) > ROUNDING * fmax(fabs(e->base), fabs(e->cand)))) {
        buf_puts(b, "did not move (");
        words_quantity(b, e->cand, unit);
        buf_putc(b, ')');
        return;
    }
    buf_puts(b, e->delta > 0 ? "rose by " : "fell by ");
    words_quantity(b, fabs(e->delta), unit);
    buf_puts(b, " (");
    words_number(b, e->base);
    buf_puts(b, " → ");
    words_number(b, e->cand);
    buf_putc(b, ')');
}

bool words_interval(struct buf *b, const struct effect *e, double alpha)
{
    if (isnan(e->ci_lo) || isnan(e->ci_hi))
        return false;
    buf_printf(b, "%.4g %% interval ", 100 * (1 - 2 * alpha));
    words_number(b, e->ci_lo);
    buf_puts(b, " to ");
    words_number(b, e->ci_hi);
    return true;
}

static void put_p(struct buf *b, const struct effect *e)
{
    if (isnan(e->p_adj))
        return;
    buf_puts(b, "; adjusted p = ");
    buf_printf(b, "%.2g", e->p_adj);
}

static void put_margin(struct buf *b, double margin, const char *unit)
{
    if (isnan(margin)) {
        buf_puts(b, "no margin");
        return;
    }
    buf_puts(b, "margin ");
    words_quantity(b, margin, unit);
}

void words_finding(struct buf *b, const struct finding *f, double alpha)
{
    words_place(b, f->metric, &f->where);
    buf_putc(b, ' ');
    words_move(b, &f->effect, f->unit);
    buf_puts(b, "; ");
    if (words_interval(b, &f->effect, alpha))
        buf_puts(b, "; ");
    buf_printf(b, "%zu tasks", f->effect.n);
    put_p(b, &f->effect);
    buf_puts(b, "; ");
    put_margin(b, f->margin, f->unit);
}

/* The mean of the family: how it moved, its interval, the margin. */
static void put_mean(struct buf *b, const struct family *f, double alpha)
{
    buf_puts(b, "the mean ");
    words_move(b, &f->effect, f->unit);
    buf_puts(b, "; ");
    if (words_interval(b, &f->effect, alpha))
        buf_puts(b, "; ");
    put_margin(b, f->margin, f->unit);
}

static void put_cells_beyond(struct buf *b, const struct family *f, size_t n_open)
{
    char text[160];

    if (f->n_compared < 2)
        return;
    where_text(&f->worst.where, text, sizeof text);
    if (f->n_beyond) {
        buf_printf(b, "; %zu of %zu cells beyond it, most at %s: ", f->n_beyond, f->n_compared, text);
        words_move(b, &f->worst.effect, f->unit);
        if (n_open)
            buf_printf(b, "; %zu more without being significant", n_open);
    } else if (n_open) {
        buf_printf(b, "; %zu of %zu cells beyond it without being significant, most at %s: ", n_open, f->n_compared,
                   text);
        words_move(b, &f->worst.effect, f->unit);
    } else {
        buf_printf(b, "; none of %zu cells beyond it", f->n_compared);
    }
}

/* What this number of tasks can and cannot show. */
static void put_power(struct buf *b, const struct family *f, const struct words_about *about)
{
    const struct effect *e = &f->effect;

    if (about->p_floor > about->alpha) {
        buf_printf(b, "; with %zu task%s %sp cannot be below %.2g", e->n, e->n == 1 ? "" : "s",
                   about->p_floor > e->p_min ? "adjusted " : "", fmin(1, about->p_floor));
    } else if (!isnan(e->mde)) {
        buf_printf(b, "; %zu tasks detect ", e->n);
        words_quantity(b, e->mde, f->unit);
        buf_puts(b, " or more");
        if (e->mde > f->margin)
            buf_puts(b, ", more than the margin: too few to gate on it");
    }
    if (f->n_needed)
        buf_printf(b, "; about %zu tasks would decide", f->n_needed);
    else if (f->verdict == VERDICT_INCONCLUSIVE)
        buf_puts(b, "; it lies so close to the margin that more tasks would hardly decide");
}

void words_lost(struct buf *b, const struct lost *lost)
{
    char place[200];

    where_text(&lost->first, place, sizeof place);
    buf_printf(b, "%zu of %zu values that the base has %s missing in the candidate, the first at %s: measure %s too",
               lost->n, lost->n_base, lost->n == 1 ? "is" : "are", place, lost->n == 1 ? "it" : "them");
}

void words_family(struct buf *b, const struct family *f, const struct words_about *about)
{
    if (about->lost->n) {
        words_lost(b, about->lost);
        buf_puts(b, "; what both have: ");
    }
    if (about->is_identical) {
        buf_printf(b, "identical in %s%zu task%s", f->effect.n > 1 ? "all " : "", f->effect.n,
                   f->effect.n == 1 ? "" : "s");
        return;
    }
    if (f->verdict == VERDICT_INCONCLUSIVE && !about->lost->n)
        buf_puts(b, "undecided: ");
    put_mean(b, f, about->alpha);
    if (isnan(f->margin)) {
        buf_puts(b, "; no margin is known for it, so it is not judged");
        return;
    }
    put_cells_beyond(b, f, about->n_open);
    if (about->lost->n)
        return;
    if (f->verdict == VERDICT_INCONCLUSIVE || (f->verdict == VERDICT_PASS && f->effect.mde > f->margin))
        put_power(b, f, about);
    if (about->follows_length)
        buf_puts(b, "; it follows the prompt's length by itself, so that between prompts it informs and "
                    "attn.entropy_norm decides");
}

void words_layers(struct buf *b, int64_t first, int64_t last)
{
    if (first == last)
        buf_printf(b, "layer %lld", (long long)first);
    else
        buf_printf(b, "layers %lld to %lld", (long long)first, (long long)last);
}
