/* Layer x head: blue where the candidate is lower, orange where it is higher, the ground where nothing moved. */
#include "reports/html.h"
#include "reports/show.h"
#include "reports/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 16384, LEFT = 34, TOP = 8 };

struct heat {
    const struct series *s;
    const char *metric;
    size_t n_layers, n_heads;
    double *value; /* owned: n_layers x n_heads */
    bool has_base;
    bool is_divergence; /* of the judgement, not of a cube */
    double most;        /* largest |value|: full colour */
    double width, cell_w, cell_h;
};

static struct where cell_of(const struct heat *h, size_t layer, size_t head)
{
    struct where w = series_all();

    w.layer = h->s->in->cand->axes.number[AXIS_LAYER][layer];
    w.head = h->s->in->cand->axes.number[AXIS_HEAD][head];
    return w;
}

static void heat_size(struct heat *h)
{
    h->cell_w = fmin(34, fmax(7, 780.0 / (double)h->n_layers));
    h->cell_h = fmin(24, fmax(7, fmin(h->cell_w, 420.0 / (double)h->n_heads)));
    h->width = fmax(LEFT + h->cell_w * (double)h->n_layers + 8, 320);
}

static bool heat_fill(struct heat *h, const struct series *s, const char *metric)
{
    const struct cube *c = series_cube(s, metric);
    size_t i;

    memset(h, 0, sizeof *h);
    h->s = s;
    h->metric = metric;
    h->n_layers = c->dim[AXIS_LAYER];
    h->n_heads = c->dim[AXIS_HEAD];
    h->has_base = series_has(s, SIDE_BASE, metric);
    h->value = calloc(h->n_layers * h->n_heads + 1, sizeof *h->value);
    if (!h->value)
        return false;
    for (i = 0; i < h->n_layers * h->n_heads; i++) {
        struct where w = cell_of(h, i / h->n_heads, i % h->n_heads);

        h->value[i] =
            h->has_base ? series_paired(s, metric, &w).delta : series_at(s, SIDE_CAND, metric, &w, AXIS_TASK).mean;
        if (isfinite(h->value[i]))
            h->most = fmax(h->most, fabs(h->value[i]));
    }
    heat_size(h);
    return true;
}

/* The divergences by the labels of the candidate. */
static bool heat_fill_divergence(struct heat *h, const struct series *s)
{
    const struct divergence *d = &s->in->judgement->divergence;
    const struct axes *axes = &s->in->cand->axes;
    size_t i;

    memset(h, 0, sizeof *h);
    h->s = s;
    h->metric = "attn.distance_js";
    h->is_divergence = true;
    h->n_layers = axes->n[AXIS_LAYER];
    h->n_heads = axes->n[AXIS_HEAD];
    h->value = calloc(h->n_layers * h->n_heads + 1, sizeof *h->value);
    if (!h->value)
        return false;
    for (i = 0; i < h->n_layers * h->n_heads; i++)
        h->value[i] = NAN;
    for (i = 0; i < d->n_cells; i++) {
        size_t layer = axes_find(axes, AXIS_LAYER, d->cells[i].where.layer);
        size_t head = axes_find(axes, AXIS_HEAD, d->cells[i].where.head);

        if (layer == SIZE_MAX || head == SIZE_MAX || isnan(d->cells[i].js))
            continue;
        h->value[layer * h->n_heads + head] = d->cells[i].js;
        h->most = fmax(h->most, d->cells[i].js);
    }
    heat_size(h);
    return true;
}

/* The finding of this cell, or NULL. */
static const struct finding *finding_at(const struct heat *h, const struct where *w)
{
    const struct judgement *j = h->s->in->judgement;
    size_t i;

    for (i = 0; j && i < j->n_findings; i++) {
        const struct finding *f = &j->findings[i];

        if (strcmp(f->metric, h->metric) == 0 && !f->where.task && f->where.turn < 0 && f->where.layer == w->layer &&
            f->where.head == w->head)
            return f;
    }
    return NULL;
}

static void put_fill(struct buf *out, const struct heat *h, double value)
{
    double share = h->most > 0 ? fmin(1, fabs(value) / h->most) : 0;

    /* The square root keeps small differences visible beside one head that collapsed. */
    buf_printf(out, " class=\"%s\" fill-opacity=\"%.2f\"",
               !h->has_base ? "value"
               : value < 0  ? "lower"
                            : "higher",
               h->has_base ? sqrt(share) : share);
}

static void put_cell(struct buf *out, const struct heat *h, size_t layer, size_t head)
{
    double value = h->value[layer * h->n_heads + head];
    double x = LEFT + h->cell_w * (double)layer, y = TOP + h->cell_h * (double)head;
    struct where w = cell_of(h, layer, head);
    const struct finding *f = finding_at(h, &w);

    buf_printf(out, "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x + 0.5, y + 0.5, h->cell_w - 1,
               h->cell_h - 1);
    if (isfinite(value))
        put_fill(out, h, value);
    else
        buf_puts(out, " class=\"empty\"");
    buf_printf(out, "/>");
    if (f)
        buf_printf(out, "<rect class=\"beyond\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", x + 1.3,
                   y + 1.3, h->cell_w - 2.6, h->cell_h - 2.6);
    buf_printf(out, "<title>layer %" PRId64 ", head %" PRId64 ": ", w.layer, w.head);
    html_number(out, value, h->has_base ? show_delta : show_number);
    if (f) {
        buf_printf(out, ", %s, adjusted p ", verdict_name(f->verdict));
        html_number(out, f->effect.p_adj, show_p);
    }
    buf_puts(out, "</title></g>\n");
}

static void put_labels(struct buf *out, const struct heat *h)
{
    double bottom = TOP + h->cell_h * (double)h->n_heads;
    size_t every_layer = (size_t)ceil(22 / h->cell_w), every_head = (size_t)ceil(13 / h->cell_h), i;

    for (i = 0; i < h->n_heads; i += every_head)
        buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%" PRId64 "</text>", LEFT - 5,
                   TOP + h->cell_h * ((double)i + 0.5) + 3.8, cell_of(h, 0, i).head);
    for (i = 0; i < h->n_layers; i += every_layer)
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRId64 "</text>",
                   LEFT + h->cell_w * ((double)i + 0.5), bottom + 14, cell_of(h, i, 0).layer);
    buf_printf(out, "<text x=\"%d\" y=\"%.1f\">layer</text><text x=\"0\" y=\"%.1f\">head</text>\n", LEFT, bottom + 28,
               bottom + 14);
}

/* From the strongest blue over nothing to the strongest orange, with the numbers at the ends. */
static void put_scale(struct buf *out, const struct heat *h, double y)
{
    double x = h->width - 230;
    int i;

    for (i = h->has_base ? -10 : 0; i <= 10; i++) {
        buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"9\"", x + 8 * (i + 10), y);
        put_fill(out, h, h->most / 10 * i);
        buf_puts(out, "/>");
    }
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x + (h->has_base ? -4 : 76), y + 9);
    html_number(out, h->has_base ? -h->most : 0, h->has_base ? show_delta : show_number);
    buf_printf(out, "</text><text x=\"%.1f\" y=\"%.1f\">", x + 172, y + 9);
    html_number(out, h->most, h->has_base ? show_delta : show_number);
    buf_puts(out, "</text>\n");
}

static void put_map(struct buf *out, const struct heat *h)
{
    double bottom = TOP + h->cell_h * (double)h->n_heads;
    size_t i;

    buf_puts(out, "<figure class=\"card\" style=\"margin-top:1rem\"><figcaption><h3>");
    html_text(out, h->metric, 60);
    if (h->is_divergence)
        buf_puts(out,
                 ", by layer and head</h3><small>How far a head's weight moved between distances, in bit: 0 for the "
                 "same profile, 1 for none in common. Darker is further.");
    else
        buf_puts(out, h->has_base ? ", difference by layer and head</h3><small>Blue: lower in the candidate; orange: "
                                    "higher; colour grows with the square root. "
                                    "Outlined cells are significant and beyond the margin."
                                  : " by layer and head</h3><small>Darker is higher.");
    buf_printf(out,
               "</small></figcaption>\n<div class=\"scroll\"><svg viewBox=\"0 0 %.0f %.0f\" style=\"min-width:%.0fpx;"
               "max-width:%.0fpx\" role=\"img\" aria-label=\"",
               h->width, bottom + 52, fmin(h->width * 0.72, 560), h->width * 1.4);
    html_text(out, h->metric, 60);
    buf_printf(out, " by %zu layers and %zu heads, largest absolute value ", h->n_layers, h->n_heads);
    html_number(out, h->most, show_small);
    buf_printf(out, "\">\n<rect class=\"zero\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\"/>\n", LEFT, TOP,
               h->cell_w * (double)h->n_layers, h->cell_h * (double)h->n_heads);
    for (i = 0; i < h->n_layers * h->n_heads; i++)
        put_cell(out, h, i / h->n_heads, i % h->n_heads);
    put_labels(out, h);
    put_scale(out, h, bottom + 38); /* under the word "layer", which a narrow map has at the same place */
    buf_puts(out, "</svg></div></figure>\n");
}

void html_heat(struct buf *out, const struct series *s, const char *metric)
{
    const struct cube *c = series_cube(s, metric);
    struct heat h;

    if (!c || !(c->axes & AXIS_BIT(AXIS_LAYER)) || !(c->axes & AXIS_BIT(AXIS_HEAD)) || cube_count(c) == 0)
        return;
    if (c->dim[AXIS_LAYER] * c->dim[AXIS_HEAD] > MOST_CELLS) {
        buf_puts(
            out,
            "<p class=\"soft\">The map of layers and heads has too many cells for a page; the CSV has them.</p>\n");
        return;
    }
    if (heat_fill(&h, s, metric))
        put_map(out, &h);
    else
        out->failed = true;
    free(h.value);
}

void html_divergence(struct buf *out, const struct series *s)
{
    struct heat h;

    if (!s->in->judgement || !s->in->judgement->divergence.n_cells ||
        s->in->cand->axes.n[AXIS_LAYER] * s->in->cand->axes.n[AXIS_HEAD] > MOST_CELLS)
        return;
    if (!heat_fill_divergence(&h, s))
        out->failed = true;
    else if (h.most > 0)
        put_map(out, &h);
    free(h.value);
}
