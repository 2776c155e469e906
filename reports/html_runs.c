/* Where the numbers come from, and what each task did. */
#include "core/base/scope.h"
#include "reports/html.h"
#include "reports/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 160, TASKS = 200, NOTES = 60 };

static const char *from(const struct provenance *p, const char *(*get)(const struct provenance *p))
{
    return p ? show_or(get(p), "") : "";
}

#define GETTER(name, expr)                                                                                             \
    static const char *name(const struct provenance *p)                                                                \
    {                                                                                                                  \
        return expr;                                                                                                   \
    }
GETTER(taskset_name, p->taskset_name)
GETTER(taskset_version, p->taskset_version)
GETTER(taskset_hash, p->taskset_hash.hex)
GETTER(prompt_version, p->prompt_version)
GETTER(prompt_hash, p->prompt_hash.hex)
GETTER(model_asked, p->model_asked)
GETTER(model_served, p->model_served)
GETTER(weights_version, p->weights_version)
GETTER(weights_hash, p->weights_sha256)
GETTER(sampling, p->sampling)
GETTER(source, p->source)
GETTER(recording_hash, p->recording_hash.hex)
GETTER(dump_hash, p->n_dumps ? dump_source_hash(&p->dumps[0])->hex : "")
GETTER(dump_dtype, p->n_dumps ? p->dumps[0].compute_dtype : "")
GETTER(observed_host, p->observed_on.host)
GETTER(observed_server, p->observed_on.server)
GETTER(observed_gpu, p->observed_on.gpu)
GETTER(observed_when, p->observed_on.when_utc)
GETTER(computed_host, p->computed_on.host)
GETTER(computed_cpu, p->computed_on.cpu)
GETTER(computed_gpu, p->computed_on.gpu)
GETTER(tool_version, p->tool_version)
GETTER(tool_build, p->tool_build)

static const struct {
    const char *name;
    const char *(*get)(const struct provenance *p);
    bool is_hash, is_input; /* an input may explain a move; the rest is for the record */
} fields[] = {
    {"task set", taskset_name, false, true},
    {"task set version", taskset_version, false, false},
    {"task set hash", taskset_hash, true, false},
    {"prompt", prompt_version, false, true},
    {"prompt hash", prompt_hash, true, true},
    {"model asked", model_asked, false, false},
    {"model served", model_served, false, true},
    {"weights", weights_version, false, true},
    {"weights hash", weights_hash, true, true},
    {"sampling", sampling, false, true},
    {"source", source, false, false},
    {"recording hash", recording_hash, true, false},
    {"dump hash", dump_hash, true, false},
    {"dump computed in", dump_dtype, false, true},
    {"server", observed_server, false, true},
    {"observed on", observed_host, false, true},
    {"observed GPU", observed_gpu, false, true},
    {"observed at", observed_when, false, false},
    {"computed on", computed_host, false, false},
    {"computing CPU", computed_cpu, false, false},
    {"computing GPU", computed_gpu, false, false},
    {"tool", tool_version, false, false},
    {"build", tool_build, false, false},
};

static void put_value(struct buf *out, const char *text, bool is_hash)
{
    if (!*text) {
        buf_puts(out, "<span class=\"same\">not known</span>");
    } else if (is_hash) {
        buf_puts(out, "<code title=\"");
        html_text(out, text, NAME);
        buf_puts(out, "\">");
        html_text(out, text, strlen(text) > 13 ? 13 : NAME);
        buf_puts(out, "</code>");
    } else {
        html_text(out, text, NAME);
    }
}

static void put_equal(struct buf *out, const struct report_input *in)
{
    bool any = false;
    size_t i;

    for (i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *b = from(&in->base[0].provenance, fields[i].get), *c = from(&in->cand->provenance, fields[i].get);

        if (!fields[i].is_input || !*b || strcmp(b, c) != 0)
            continue;
        buf_puts(out, any ? ", " : "<p>Equal in both: ");
        buf_printf(out, "%s", fields[i].name);
        any = true;
    }
    buf_puts(out, any ? ".</p>\n" : "");
}

static void put_change(struct buf *out, const struct change *c)
{
    buf_puts(out, "<tr><th scope=\"row\">");
    html_text(out, c->what, NAME);
    if (c->explains_latency_only)
        buf_puts(out, "<small>bears on latency alone</small>");
    buf_puts(out, "</th><td class=\"any\" data-l=\"base\">");
    html_text(out, show_or(c->base, "not known"), NAME);
    buf_puts(out, "</td><td class=\"any\" data-l=\"candidate\">");
    html_text(out, show_or(c->cand, "not known"), NAME);
    buf_puts(out, "</td></tr>\n");
}

void html_changes(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    size_t i;

    if (!j || in->n_base == 0)
        return;
    buf_puts(out, "<section id=\"changed\"><h2>What changed between the runs</h2>\n<div class=\"card\">\n");
    if (j->n_changes == 0)
        buf_puts(out, "<p>Nothing that is recorded of the two runs differs.</p>\n");
    else
        buf_puts(
            out,
            "<table class=\"cards\"><thead><tr><th>what</th><th>base</th><th>candidate</th></tr></thead><tbody>\n");
    for (i = 0; i < j->n_changes; i++)
        put_change(out, &j->changes[i]);
    if (j->n_changes)
        buf_puts(out, "</tbody></table>\n");
    if (j->causes_confounded)
        buf_puts(out,
                 "<p><strong>Several of prompt, weights and served model changed at once: which of them moved a metric "
                 "cannot be told from these runs.</strong></p>\n");
    if (in->base && in->n_base)
        put_equal(out, in);
    buf_puts(out, "</div></section>\n");
}

void html_metrics(struct buf *out, const struct report_input *in)
{
    const struct run *r = in->cand;
    size_t i;

    if ((in->judgement && in->n_base) || r->n_cubes == 0)
        return;
    buf_puts(out,
             "<section id=\"metrics\"><h2>Metrics</h2>\n<div class=\"card scroll\"><table class=\"cards\"><thead><tr>"
             "<th>metric</th><th class=\"num\">tasks</th><th class=\"num\">mean</th><th class=\"num\">sd</th>"
             "<th class=\"num\">least</th><th class=\"num\">most</th></tr></thead><tbody>\n");
    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *c = &r->cubes[i];
        struct span s = cube_span_by_unit(c, 0, NULL);

        buf_puts(out, "<tr><th scope=\"row\" class=\"any\"><code>");
        html_text(out, c->metric, NAME);
        buf_puts(out, "</code> <span class=\"unit\">");
        html_text(out, show_unit(c->unit), 20);
        buf_puts(out, "</span><small>");
        html_text(out, c->help, NAME);
        buf_printf(out, "</small></th><td class=\"num\" data-l=\"tasks\">%zu</td>", s.n);
        html_cell(out, "mean", s.mean, show_number);
        html_cell(out, "sd", s.sd, show_small);
        html_cell(out, "least", s.min, show_number);
        html_cell(out, "most", s.max, show_number);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div></section>\n");
}

/* A row of the task table; harm sorts it: what alignment lost first, then how far entropy moved. */
struct row {
    size_t task;
    struct paired quality, entropy;
};

static const char *first_of(const struct series *s, const char *const *metrics, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (series_cube(s, metrics[i]) && series_cube(s, metrics[i])->axes & AXIS_BIT(AXIS_TASK))
            return metrics[i];
    return NULL;
}

static int by_key(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_harm(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = by_key(x->quality.delta, y->quality.delta);

    if (order == 0)
        order = by_key(-fabs(x->entropy.delta), -fabs(y->entropy.delta));
    if (order == 0)
        order = by_key(x->quality.cand, y->quality.cand);
    return order ? order : (x->task > y->task) - (x->task < y->task);
}

static void put_task(struct buf *out, const struct series *s, const struct row *r, const char *quality,
                     const char *entropy, bool has_base)
{
    buf_puts(out, "<tr><th scope=\"row\" class=\"any\">");
    html_text(out, s->in->cand->axes.task[r->task], NAME);
    buf_puts(out, "</th>");
    if (quality && has_base)
        html_cell(out, "base", r->quality.base, show_number);
    if (quality)
        html_cell(out, "candidate", r->quality.cand, show_number);
    if (quality && has_base)
        html_cell(out, "difference", r->quality.delta, show_delta);
    if (entropy)
        html_cell(out, entropy, has_base ? r->entropy.delta : r->entropy.cand, has_base ? show_delta : show_number);
    buf_puts(out, "</tr>\n");
}

static void put_task_head(struct buf *out, const char *quality, const char *entropy, bool has_base)
{
    buf_puts(out, "<section id=\"tasks\"><h2>Tasks</h2>\n<p class=\"lead\">");
    buf_puts(out, has_base
                      ? "Most harmed first. One task is one pair: it has no p-value of its own, so read this table as "
                        "where to look, not as proof."
                      : "Lowest first.");
    buf_puts(out, "</p>\n<div class=\"card scroll\"><table class=\"cards\"><thead><tr><th>task</th>");
    if (quality && has_base)
        buf_printf(out,
                   "<th class=\"num\">%s, base</th><th class=\"num\">candidate</th><th class=\"num\">difference</th>",
                   quality);
    else if (quality)
        buf_printf(out, "<th class=\"num\">%s</th>", quality);
    if (entropy)
        buf_printf(out, "<th class=\"num\">%s%s</th>", entropy, has_base ? ", difference" : "");
    buf_puts(out, "</tr></thead><tbody>\n");
}

void html_tasks(struct buf *out, const struct series *s)
{
    static const char *const qualities[] = {"intent.alignment", "intent.entities", "intent.actions"};
    static const char *const entropies[] = {"attn.entropy_norm", "attn.entropy"};
    const char *quality = first_of(s, qualities, 3), *entropy = first_of(s, entropies, 2);
    size_t n = s->in->cand->axes.n[AXIS_TASK], shown = n < TASKS ? n : TASKS, i;
    bool has_base = s->in->base && s->in->n_base;
    struct row *rows;

    if (n == 0 || (!quality && !entropy))
        return;
    rows = calloc(n, sizeof *rows);
    if (!rows) {
        out->failed = true;
        return;
    }
    for (i = 0; i < n; i++) {
        rows[i].task = i;
        rows[i].quality = series_task(s, quality ? quality : "", i);
        rows[i].entropy = series_task(s, entropy ? entropy : "", i);
    }
    qsort(rows, n, sizeof *rows, by_harm);
    put_task_head(out, quality, entropy, has_base);
    for (i = 0; i < shown; i++)
        put_task(out, s, &rows[i], quality, entropy, has_base);
    buf_puts(out, "</tbody></table></div>\n");
    if (shown < n)
        buf_printf(out, "<p class=\"soft\">%zu more tasks, less harmed, are not listed.</p>\n", n - shown);
    buf_puts(out, "</section>\n");
    free(rows);
}

static void put_notes(struct buf *out, const char *who, const struct run *r)
{
    size_t i;

    for (i = 0; i < r->n_notes && i < NOTES; i++) {
        buf_printf(out, "<li><small>%s</small> ", who);
        html_text(out, r->notes[i].text, 600);
        buf_puts(out, "</li>\n");
    }
    if (r->n_notes > NOTES)
        buf_printf(out, "<li>%zu more notes of the %s</li>\n", r->n_notes - NOTES, who);
}

void html_notes(struct buf *out, const struct report_input *in)
{
    size_t n = 0, i;

    for (i = 0; i < in->n_cand; i++)
        n += in->cand[i].n_notes;
    for (i = 0; in->base && i < in->n_base; i++)
        n += in->base[i].n_notes;
    if (n == 0)
        return;
    buf_puts(out, "<section id=\"notes\"><h2>Notes of the runs</h2>\n<ul class=\"notes\">\n");
    for (i = 0; in->base && i < in->n_base; i++)
        put_notes(out, "base", &in->base[i]);
    for (i = 0; i < in->n_cand; i++)
        put_notes(out, in->base ? "candidate" : "", &in->cand[i]);
    buf_puts(out, "</ul></section>\n");
}

static void put_field(struct buf *out, size_t i, const struct provenance *base, const struct provenance *cand)
{
    const char *b = from(base, fields[i].get), *c = from(cand, fields[i].get);

    if (!*b && !*c)
        return;
    buf_printf(out, "<tr><th scope=\"row\">%s</th>", fields[i].name);
    if (base) {
        buf_puts(out, "<td class=\"any\" data-l=\"base\">");
        put_value(out, b, fields[i].is_hash);
        buf_puts(out, "</td>");
    }
    buf_printf(out, "<td class=\"any\" data-l=\"%s\">", base ? "candidate" : "run");
    if (base && strcmp(b, c) == 0)
        buf_puts(out, "<span class=\"same\">the same</span>");
    else
        put_value(out, c, fields[i].is_hash);
    buf_puts(out, "</td></tr>\n");
}

void html_provenance(struct buf *out, const struct report_input *in)
{
    const struct provenance *base = in->base && in->n_base ? &in->base[0].provenance : NULL;
    size_t i;

    buf_puts(out, "<section id=\"provenance\"><h2>Where the numbers come from</h2>\n");
    if (in->n_base > 1 && base)
        buf_printf(out, "<p class=\"lead\">The base is %zu accepted runs; the first is shown.</p>\n", in->n_base);
    if (in->n_cand > 1)
        buf_printf(out, "<p class=\"lead\">The candidate is %zu runs; the first is shown.</p>\n", in->n_cand);
    buf_printf(out,
               "<div class=\"card scroll\"><table class=\"cards\"><thead><tr><th>what</th>%s<th>%s</th></tr></thead>"
               "<tbody>\n",
               base ? "<th>base</th>" : "", base ? "candidate" : "run");
    for (i = 0; i < sizeof fields / sizeof *fields; i++)
        put_field(out, i, base, &in->cand->provenance);
    buf_puts(out, "</tbody></table></div></section>\n");
}
