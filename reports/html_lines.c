/* Line charts of a metric by layer or by turn: one line a side, a band or bars for how far the parts spread. */
#include "reports/html.h"
#include "reports/show.h"
#include "reports/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1024, WIDTH = 420, HEIGHT = 236, MOST_CHARTS = 12 };

struct lines {
    const char *metric, *unit;
    enum axis axis, spread;
    size_t n;
    const int64_t *label; /* borrowed from the candidate's axes */
    struct span *at[2];   /* owned: [n] each side; lo and hi are what the band spans */
    bool has[2];
};

static const char *const side_class[] = {"base", "cand"};

static void lines_done(struct lines *l)
{
    free(l->at[SIDE_BASE]);
    free(l->at[SIDE_CAND]);
}

/* Turns show the standard error of the mean over tasks; layers the range over their heads. */
static void ends_of(struct span *s, enum axis spread)
{
    double se = s->n > 1 ? s->sd / sqrt((double)s->n) : NAN;

    if (spread != AXIS_TASK)
        return;
    s->min = isnan(se) ? s->mean : s->mean - se;
    s->max = isnan(se) ? s->mean : s->mean + se;
}

static bool lines_fill(struct lines *l, const struct series *s, const struct cube *c, enum axis axis)
{
    struct where w = series_all();
    size_t side, i;

    memset(l, 0, sizeof *l);
    l->metric = c->metric;
    l->unit = c->unit;
    l->axis = axis;
    l->spread = axis == AXIS_LAYER && c->axes & AXIS_BIT(AXIS_HEAD) ? AXIS_HEAD : AXIS_TASK;
    l->n = c->dim[axis] < MOST_POINTS ? c->dim[axis] : MOST_POINTS;
    l->label = s->in->cand->axes.number[axis];
    for (side = 0; side < 2; side++) {
        l->at[side] = calloc(l->n + 1, sizeof *l->at[side]);
        if (!l->at[side])
            return false;
        for (i = 0; i < l->n; i++) {
            *(axis == AXIS_LAYER ? &w.layer : &w.turn) = l->label[i];
            l->at[side][i] = series_at(s, (enum side)side, l->metric, &w, l->spread);
            ends_of(&l->at[side][i], l->spread);
            l->has[side] |= l->at[side][i].n > 0;
        }
    }
    return true;
}

static struct svg_plot plot_of(const struct lines *l)
{
    struct svg_plot p = {46, WIDTH - 8, 26, HEIGHT - 34, 0, 1, INFINITY, -INFINITY};
    size_t side, i;

    for (side = 0; side < 2; side++)
        for (i = 0; i < l->n; i++) {
            if (l->at[side][i].n == 0)
                continue;
            p.y_lo = fmin(p.y_lo, l->at[side][i].min);
            p.y_hi = fmax(p.y_hi, l->at[side][i].max);
        }
    svg_range(&p.y_lo, &p.y_hi, 0.06);
    if (l->axis == AXIS_TURN && !*show_unit(l->unit) && p.y_lo > -0.2 && p.y_hi < 1.2) {
        p.y_lo = fmin(0, p.y_lo);
        p.y_hi = fmax(1, p.y_hi);
    }
    p.x_lo = l->n ? (double)l->label[0] : 0;
    p.x_hi = l->n ? (double)l->label[l->n - 1] : 1;
    if (l->n < 2 || l->axis == AXIS_TURN) {
        p.x_lo -= 0.4;
        p.x_hi += 0.4;
    }
    return p;
}

/* Labels of the x axis, thinned so that they never touch. */
static void put_x_labels(struct buf *out, const struct lines *l, const struct svg_plot *p)
{
    size_t step = (l->n + 13) / 14, i;

    if (step == 0)
        return;
    for (i = 0; i < l->n; i += step)
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRId64 "</text>",
                   svg_x(p, (double)l->label[i]), p->bottom + 15, l->label[i]);
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", p->right, p->bottom + 29,
               axis_names[l->axis]);
}

/* The range as an area: along the tops, back along the bottoms. */
static void put_band(struct buf *out, const struct lines *l, const struct svg_plot *p, enum side side)
{
    const struct span *at = l->at[side];
    size_t i;

    buf_printf(out, "<polygon class=\"b-%s\" points=\"", side_class[side]);
    for (i = 0; i < l->n; i++)
        if (at[i].n)
            buf_printf(out, "%.1f,%.1f ", svg_x(p, (double)l->label[i]), svg_y(p, at[i].max));
    for (i = l->n; i-- > 0;)
        if (at[i].n)
            buf_printf(out, "%.1f,%.1f ", svg_x(p, (double)l->label[i]), svg_y(p, at[i].min));
    buf_puts(out, "\"/>\n");
}

static void put_bars(struct buf *out, const struct lines *l, const struct svg_plot *p, enum side side)
{
    const struct span *at = l->at[side];
    double shift = side == SIDE_BASE ? -2.5 : 2.5;
    size_t i;

    for (i = 0; i < l->n; i++)
        if (at[i].n)
            buf_printf(out, "<line class=\"bar %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                       side_class[side], svg_x(p, (double)l->label[i]) + shift, svg_x(p, (double)l->label[i]) + shift,
                       svg_y(p, at[i].min), svg_y(p, at[i].max));
}

static void put_line(struct buf *out, const struct lines *l, const struct svg_plot *p, enum side side)
{
    const struct span *at = l->at[side];
    double shift = l->spread != AXIS_TASK ? 0 : side == SIDE_BASE ? -2.5 : 2.5;
    size_t i;

    buf_printf(out, "<polyline class=\"l-%s\" points=\"", side_class[side]);
    for (i = 0; i < l->n; i++)
        if (at[i].n)
            buf_printf(out, "%.1f,%.1f ", svg_x(p, (double)l->label[i]) + shift, svg_y(p, at[i].mean));
    buf_puts(out, "\"/>\n");
    for (i = 0; i < l->n; i++) {
        if (at[i].n == 0)
            continue;
        buf_printf(out, "<circle class=\"d-%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s, %s %" PRId64 ": ",
                   side_class[side], svg_x(p, (double)l->label[i]) + shift, svg_y(p, at[i].mean),
                   side == SIDE_BASE ? "base" : "candidate", axis_names[l->axis], l->label[i]);
        html_number(out, at[i].mean, show_number);
        buf_printf(out, " (%zu tasks)</title></circle>\n", at[i].n);
    }
}

/* What a listener hears: the ends of both lines. */
static void put_label(struct buf *out, const struct lines *l)
{
    size_t side;

    html_text(out, l->metric, 60);
    buf_printf(out, " by %s", axis_names[l->axis]);
    for (side = 0; side < 2; side++) {
        if (!l->has[side] || l->n == 0)
            continue;
        buf_printf(out, "; %s from ", side == SIDE_BASE ? "base" : "candidate");
        html_number(out, l->at[side][0].mean, show_number);
        buf_puts(out, " to ");
        html_number(out, l->at[side][l->n - 1].mean, show_number);
    }
}

/* "- - o base   --- o candidate" at the top right. */
static void put_legend(struct buf *out, const struct lines *l)
{
    static const char *const names[] = {"base", "candidate"};
    double x = WIDTH - 158;
    size_t side;

    if (!l->has[SIDE_BASE])
        return;
    for (side = 0; side < 2; side++, x += 72)
        buf_printf(out,
                   "<line class=\"l-%s\" x1=\"%.0f\" x2=\"%.0f\" y1=\"12\" y2=\"12\"/><circle class=\"d-%s\" "
                   "cx=\"%.0f\" cy=\"12\" r=\"3\"/><text x=\"%.0f\" y=\"16\">%s</text>\n",
                   side_class[side], x, x + 22, side_class[side], x + 11, x + 27, names[side]);
}

static void put_chart(struct buf *out, const struct lines *l)
{
    struct svg_plot p = plot_of(l);
    size_t side;

    buf_puts(out, "<figure class=\"card\"><figcaption><h3>");
    html_text(out, l->metric, 60);
    buf_printf(out, " by %s</h3><small>%s</small></figcaption>\n", axis_names[l->axis],
               l->spread == AXIS_HEAD ? "Mean over tasks and heads; the band spans the heads."
                                      : "Mean over tasks; bars are one standard error.");
    buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    put_label(out, l);
    buf_puts(out, "\">\n");
    svg_grid_y(out, &p, show_unit(l->unit));
    put_x_labels(out, l, &p);
    for (side = 0; side < 2; side++) {
        if (!l->has[side])
            continue;
        if (l->spread == AXIS_TASK)
            put_bars(out, l, &p, (enum side)side);
        else
            put_band(out, l, &p, (enum side)side);
    }
    for (side = 0; side < 2; side++)
        if (l->has[side])
            put_line(out, l, &p, (enum side)side);
    put_legend(out, l);
    buf_puts(out, "</svg></figure>\n");
}

static void put_chart_of(struct buf *out, const struct series *s, const struct cube *c, enum axis axis)
{
    struct lines l;

    if (!lines_fill(&l, s, c, axis))
        out->failed = true;
    else if (l.has[SIDE_CAND])
        put_chart(out, &l);
    lines_done(&l);
}

static bool is_by_layer(const struct cube *c)
{
    return c->axes & AXIS_BIT(AXIS_LAYER) && cube_count(c);
}

static bool is_by_turn(const struct cube *c)
{
    return !(c->axes & AXIS_BIT(AXIS_LAYER)) && c->axes & AXIS_BIT(AXIS_TURN) && c->dim[AXIS_TURN] > 1 &&
           c->noise == NOISE_TASK && c->better == BETTER_HIGHER && cube_count(c);
}

/* The metric of that name, or else the first that is wanted; not `but`. NULL when there is none. */
static const struct cube *choose(const struct run *r, const char *name, bool (*is_wanted)(const struct cube *c),
                                 const struct cube *but)
{
    const struct cube *named = run_cube(r, name);
    size_t i;

    if (named && is_wanted(named) && named != but)
        return named;
    for (i = 0; i < r->n_cubes; i++)
        if (is_wanted(&r->cubes[i]) && &r->cubes[i] != but)
            return &r->cubes[i];
    return NULL;
}

/* The two metrics that a reader wants first, then the others in a fold. */
static void put_charts(struct buf *out, const struct series *s, enum axis axis, const char *const names[2],
                       bool (*is_wanted)(const struct cube *c))
{
    const struct run *r = s->in->cand;
    const struct cube *first = choose(r, names[0], is_wanted, NULL);
    const struct cube *second = choose(r, names[1], is_wanted, first);
    size_t shown = 0, i;

    if (!first)
        return;
    buf_puts(out, "<div class=\"pair\">\n");
    put_chart_of(out, s, first, axis);
    if (second)
        put_chart_of(out, s, second, axis);
    buf_puts(out, "</div>\n");
    for (i = 0; i < r->n_cubes && shown < MOST_CHARTS; i++) {
        const struct cube *c = &r->cubes[i];

        if (c == first || c == second || !is_wanted(c))
            continue;
        if (shown == 0)
            buf_puts(out, "<details><summary>More charts</summary>\n<div class=\"pair\">\n");
        put_chart_of(out, s, c, axis);
        shown++;
    }
    if (shown)
        buf_puts(out, "</div></details>\n");
}

static bool any(const struct run *r, bool (*is_wanted)(const struct cube *c))
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++)
        if (is_wanted(&r->cubes[i]))
            return true;
    return false;
}

void html_attention(struct buf *out, const struct series *s)
{
    static const char *const maps[] = {"attn.entropy_norm", "attn.entropy", "attn.max_weight"};
    static const char *const first[] = {"attn.entropy", "attn.entropy_norm"};
    size_t i;

    if (!any(s->in->cand, is_by_layer))
        return;
    buf_puts(out,
             "<section id=\"attention\"><h2>Attention</h2>\n<p class=\"lead\">Where the heads look. Entropy is high "
             "when a head spreads its attention, low when it fixes on few tokens. A shift says that the inside moved; "
             "what it means for replies stands in the quality metrics.</p>\n");
    put_charts(out, s, AXIS_LAYER, first, is_by_layer);
    for (i = 0; i < sizeof maps / sizeof *maps; i++)
        if (series_cube(s, maps[i]) && series_cube(s, maps[i])->axes & AXIS_BIT(AXIS_HEAD)) {
            html_heat(out, s, maps[i]);
            break;
        }
    html_divergence(out, s);
    buf_puts(out, "</section>\n");
}

void html_turns(struct buf *out, const struct series *s)
{
    static const char *const first[] = {"intent.alignment", "intent.entities"};

    if (!any(s->in->cand, is_by_turn))
        return;
    buf_puts(
        out,
        "<section id=\"turns\"><h2>Intent over turns</h2>\n<p class=\"lead\">How far replies fulfil what each turn "
        "asks, from 0 to 1. Later turns have fewer tasks, so their bars are longer.</p>\n");
    put_charts(out, s, AXIS_TURN, first, is_by_turn);
    buf_puts(out, "</section>\n");
}
