/* The view for a desk: verdict first, then what changed, the table, the findings, what to do next. */
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "core/gate/limits.h"
#include "core/model/span.h"
#include "reports/formats.h"
#include "reports/show.h"
#include "reports/table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 100, LABEL = 14, FINDINGS = 10, LISTED = 8, REASONS = 5 };

#define BOLD  "\x1b[1m"
#define PLAIN "\x1b[0m"

static const char *colour_of(enum verdict v)
{
    static const char *const colours[] = {"\x1b[2m", "\x1b[32m", "\x1b[36m", "\x1b[35m", "\x1b[33m", "\x1b[31m"};

    return colours[v];
}

/* "label         text", wrapped; an empty label continues the one above. */
static void put_line(struct buf *out, const char *label, const char *text)
{
    buf_printf(out, "%-*s", LABEL, label);
    show_wrap(out, text, LABEL, COLUMNS);
    buf_putc(out, '\n');
}

static void put_verdict(struct buf *out, const struct report_input *in, bool colour)
{
    const struct judgement *j = in->judgement;
    const char *name = show_verdict(j->verdict);
    size_t indent = strlen(name) + 2, i;
    AUTO(buf) exit_words = {0};

    if (colour)
        buf_printf(out, "%s%s", BOLD, colour_of(j->verdict));
    for (i = 0; name[i]; i++)
        buf_putc(out, (char)toupper((unsigned char)name[i]));
    if (colour)
        buf_puts(out, PLAIN);
    buf_puts(out, "  ");
    show_wrap(out, show_headline(j), indent, COLUMNS);
    buf_putc(out, '\n');
    show_exit(&exit_words, in);
    buf_printf(out, "%*s%s\n\n", (int)indent, "", buf_text(&exit_words));
    for (i = 0; i < show_n_reasons(j) && i < REASONS; i++)
        put_line(out, i ? "" : "why", show_or(j->reasons[i], ""));
    if (show_n_reasons(j) > REASONS)
        buf_printf(out, "%*sand %zu more reasons\n", LABEL, "", show_n_reasons(j) - REASONS);
}

static void put_changes(struct buf *out, const struct judgement *j)
{
    size_t i;

    if (j->n_changes == 0)
        put_line(out, "changed", "nothing that is recorded of the two runs");
    for (i = 0; i < j->n_changes; i++) {
        AUTO(buf) text = {0};

        show_clip(&text, show_or(j->changes[i].what, "?"), 24);
        buf_puts(&text, ": ");
        show_clip(&text, show_or(j->changes[i].base, "not known"), 60);
        buf_puts(&text, " -> ");
        show_clip(&text, show_or(j->changes[i].cand, "not known"), 60);
        put_line(out, i ? "" : "changed", buf_text(&text));
    }
    if (j->causes_confounded)
        put_line(out, "",
                 "several of prompt, weights and served model changed at once: their effects cannot be told "
                 "apart");
}

static void put_pairs(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    AUTO(buf) text = {0};
    AUTO(buf) names = {0};

    show_clip(&names, show_base(in), 60);
    if (in->n_base > 1)
        buf_printf(&names, " (%zu runs)", in->n_base);
    buf_puts(&names, " -> ");
    show_clip(&names, show_cand(in), 60);
    put_line(out, "runs", buf_text(&names));
    put_changes(out, j);
    buf_printf(&text, "%zu tasks in both; ", j->n_pairs);
    buf_printf(&text, "%s%zu%s %s", j->is_enumerated ? "all " : "", j->n_resamples, j->is_enumerated ? "" : " random",
               j->n_base + j->n_cand > 2 ? "exchanges of runs" : "sign flips");
    buf_printf(&text, ", seed %llu, alpha %.4g", (unsigned long long)j->seed, j->alpha);
    buf_puts(&text, ", policy ");
    show_clip(&text, show_policy(j), 60);
    put_line(out, "pairs", buf_text(&text));
    if (in->calibration) {
        AUTO(buf) line = {0};

        calibration_put_line(&line, in->calibration);
        put_line(out, "calibration", buf_text(&line));
    }
}

/* One cell from a function that shows a number. */
static void number_cell(struct table *t, double value, void (*show)(struct buf *out, double value))
{
    AUTO(buf) text = {0};

    show(&text, value);
    table_cell(t, buf_text(&text), 20);
}

static void name_cell(struct table *t, const char *metric, const char *unit)
{
    AUTO(buf) text = {0};

    show_clip(&text, metric, 40);
    if (*show_unit(unit)) {
        buf_putc(&text, ' ');
        show_clip(&text, show_unit(unit), 12);
    }
    table_cell(t, buf_text(&text), 60);
}

static void put_family(struct table *t, const struct family *f)
{
    AUTO(buf) interval = {0};
    AUTO(buf) n = {0};

    table_cell(t, show_mark(f->role, f->verdict), 1);
    name_cell(t, f->metric, f->unit);
    number_cell(t, f->effect.base, show_number);
    number_cell(t, f->effect.cand, show_number);
    number_cell(t, f->effect.delta, show_delta);
    show_interval(&interval, f->effect.ci_lo, f->effect.ci_hi);
    table_cell(t, buf_text(&interval), 30);
    number_cell(t, f->effect.p_adj, show_p);
    number_cell(t, f->effect.mde, show_small);
    number_cell(t, f->margin, show_margin);
    buf_printf(&n, "%zu", f->effect.n);
    table_cell(t, buf_text(&n), 8);
    table_cell(t, show_part(f->verdict), 12);
}

static void put_families(struct buf *out, const struct judgement *j, bool colour)
{
    static const char *const heads[] = {"",      "metric", "base",   "cand", "delta",  NULL,
                                        "p adj", "mde",    "margin", "n",    "verdict"};
    struct table t = {.n_columns = 11, .align = "llrrrrrrrrl"};
    AUTO(buf) level = {0};
    size_t i;

    if (j->n_families == 0)
        return;
    buf_printf(&level, "%.4g %% interval", 100 * (1 - 2 * j->alpha));
    for (i = 0; i < t.n_columns; i++)
        table_cell(&t, heads[i] ? heads[i] : buf_text(&level), 20);
    for (i = 0; i < j->n_families; i++) {
        put_family(&t, &j->families[i]);
        if (colour && i + 1 < TABLE_ROWS)
            t.colour[i + 1] = colour_of(j->families[i].verdict);
    }
    buf_putc(out, '\n');
    table_print(&t, out, 0, COLUMNS, 1);
    table_done(&t);
    buf_puts(
        out,
        "! primary and regressed   \xc2\xb7 advisory: never decides   mde: smallest effect this sample would show\n");
}

static void interval_cell(struct table *t, double lo, double hi)
{
    AUTO(buf) text = {0};

    show_interval(&text, lo, hi);
    table_cell(t, buf_text(&text), 24);
}

/* What the first table has no room for. */
static void put_numbers(struct buf *out, const struct judgement *j)
{
    static const char *const heads[] = {"metric", "p", "least p", "decides", "BCa", "cells", "beyond", "needed"};
    struct table t = {.n_columns = 8, .align = "lrrrrrrr"};
    size_t i, k;

    for (i = 0; i < t.n_columns; i++)
        table_cell(&t, heads[i], 20);
    for (i = 0; i < j->n_families; i++) {
        const struct family *f = &j->families[i];
        const size_t counts[] = {f->n_compared, f->n_beyond, f->n_needed};

        name_cell(&t, f->metric, f->unit);
        number_cell(&t, f->effect.p, show_p);
        number_cell(&t, f->effect.p_min, show_p);
        interval_cell(&t, f->effect.ci_lo, f->effect.ci_hi);
        interval_cell(&t, f->effect.bca_lo, f->effect.bca_hi);
        for (k = 0; k < 3; k++) {
            AUTO(buf) n = {0};

            buf_printf(&n, "%zu", counts[k]);
            table_cell(&t, buf_text(&n), 10);
        }
    }
    buf_putc(out, '\n');
    table_print(&t, out, 0, COLUMNS, 0);
    table_done(&t);
    buf_puts(out,
             "least p: smallest that so many tasks or runs can give   decides: the test inverted   BCa: bootstrap, "
             "for the eye\nneeded: tasks, or runs on each side, that would decide\n");
}

static void put_findings(struct buf *out, const struct judgement *j)
{
    size_t n = j->n_findings < FINDINGS ? j->n_findings : FINDINGS, i;

    if (n)
        buf_puts(out, "\nfindings\n");
    for (i = 0; i < n; i++) {
        const struct finding *f = &j->findings[i];

        buf_printf(out, "%3zu. ", i + 1);
        show_wrap(out, show_or(f->words, f->metric), 5, COLUMNS);
        buf_putc(out, '\n');
    }
    if (n < j->n_findings)
        buf_printf(out, "     and %zu more; a report with -o FILE.html or .csv has all of them\n", j->n_findings - n);
}

static void put_list(struct buf *out, const char *label, const char *const *texts, size_t n)
{
    AUTO(buf) line = {0};
    size_t shown = n < LISTED ? n : LISTED, i;

    if (n == 0)
        return;
    for (i = 0; i < shown; i++) {
        buf_puts(&line, i ? ", " : "");
        show_clip(&line, texts[i], 40);
    }
    if (shown < n)
        buf_printf(&line, " and %zu more", n - shown);
    put_line(out, label, buf_text(&line));
}

/* A limit at the worst of its places, and how many more there are; at all of them where every number is wanted. */
static void put_limits(struct buf *out, const struct judgement *j, bool is_verbose)
{
    size_t n_held = 0, n = 0, i, k, len;
    bool first = true;

    for (i = 0; i < j->n_limits; i += len, n++) {
        len = limits_of_one(j, i);
        if (!j->limits[i].broken) {
            n_held++;
            continue;
        }
        for (k = 0; k < (is_verbose ? len : 1); k++) {
            AUTO(buf) line = {0};

            buf_puts(&line, show_or(j->limits[i + k].words, j->limits[i + k].metric));
            if (!is_verbose)
                show_more_places(&line, len - 1);
            put_line(out, first ? "limit broken" : "", buf_text(&line));
            first = false;
        }
    }
    if (n_held)
        buf_printf(out, "%-*s%zu of %zu hold\n", LABEL, "limits", n_held, n);
}

/* The strongest primary family that is undecided and says how many more tasks or runs would decide. */
static const struct family *undecided(const struct judgement *j)
{
    size_t i;

    for (i = 0; i < j->n_families; i++)
        if (j->families[i].verdict == VERDICT_INCONCLUSIVE && j->families[i].n_needed)
            return &j->families[i];
    return NULL;
}

/* A command line to copy, where the names are short and plain enough for one. */
static const char *name_or(const char *name, const char *other)
{
    size_t i;

    for (i = 0; name[i]; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("/._-+", name[i]))
            return other;
    return i > 0 && i <= 60 && name[0] != '-' ? name : other;
}

static void put_next(struct buf *out, const struct report_input *in)
{
    const struct judgement *j = in->judgement;
    const struct family *f = j->verdict == VERDICT_INCONCLUSIVE ? undecided(j) : NULL;
    const char *base = name_or(show_base(in), "BASE"), *cand = name_or(show_cand(in), "CANDIDATE");
    AUTO(buf) text = {0};

    switch (j->verdict) {
    case VERDICT_NONE:
        buf_puts(&text, "measure what is missing, or compare with a run of the same task set and sampling");
        break;
    case VERDICT_PASS:
    case VERDICT_IMPROVED:
        buf_printf(&text, "'tare baseline accept %s --name NAME --reason TEXT', %s", cand,
                   j->verdict == VERDICT_PASS ? "if it is the new reference" : "so that the gain is held from now on");
        break;
    case VERDICT_INCONCLUSIVE:
        buf_puts(&text, "add tasks or repeats, or widen the margin with a reason in the policy");
        break;
    default:
        buf_printf(&text, "look where it %s with 'tare report %s %s -o page.html'; %s",
                   j->verdict == VERDICT_CHANGED ? "moved" : "fell", base, cand,
                   j->verdict == VERDICT_CHANGED ? "accept it if it was meant" : "fix it, or accept it with a reason");
    }
    if (f) {
        buf_printf(&text, "; about %zu %s would decide ", f->n_needed,
                   f->noise == NOISE_RUN ? "runs on each side" : "tasks");
        show_clip(&text, f->metric, 40);
    }
    put_line(out, "next", buf_text(&text));
}

static void put_notes(struct buf *out, const char *label, const struct run *r)
{
    size_t i;

    for (i = 0; i < r->n_notes && i < LISTED; i++)
        put_line(out, i ? "" : label, r->notes[i].text);
    if (r->n_notes > LISTED)
        buf_printf(out, "%*sand %zu more notes\n", LABEL, "", r->n_notes - LISTED);
}

/* Notes of another run of the candidate that the first has not. */
static void put_other_notes(struct buf *out, const struct run *first, const struct run *r)
{
    size_t i, k, said = 0;

    for (i = 0; i < r->n_notes && said < LISTED; i++) {
        for (k = 0; k < first->n_notes && strcmp(first->notes[k].text, r->notes[i].text) != 0; k++)
            continue;
        if (k < first->n_notes)
            continue;
        put_line(out, "", r->notes[i].text);
        said++;
    }
}

static void put_judgement(const struct report_input *in, bool colour, struct buf *out)
{
    const struct judgement *j = in->judgement;
    size_t i;

    put_verdict(out, in, colour);
    if (in->n_base == 0) { /* nothing was compared: the headline says why */
        put_line(out, "candidate", show_cand(in));
        put_notes(out, "notes", in->cand);
        put_next(out, in);
        return;
    }
    put_pairs(out, in);
    put_families(out, j, colour);
    if (in->is_verbose && j->n_families)
        put_numbers(out, j);
    put_findings(out, j);
    buf_putc(out, '\n');
    put_limits(out, j, in->is_verbose);
    put_list(out, "not measured", j->not_measured, j->n_not_measured);
    put_list(out, "missing tasks", j->missing, j->n_missing);
    put_list(out, "added tasks", j->added, j->n_added);
    put_notes(out, "notes", in->cand);
    for (i = 1; i < in->n_cand; i++)
        put_other_notes(out, in->cand, &in->cand[i]);
    put_next(out, in);
}

static void pair_line(struct buf *out, const char *label, const char *a, const char *b)
{
    AUTO(buf) text = {0};

    show_clip(&text, show_or(a, "not known"), 60);
    if (b && *b) {
        buf_putc(&text, ' ');
        show_clip(&text, b, 20);
    }
    put_line(out, label, buf_text(&text));
}

static void put_run(const struct report_input *in, struct buf *out)
{
    static const char *const heads[] = {"metric", "n", "mean", "sd", "least", "most"};
    const struct run *r = in->cand;
    const struct provenance *p = &r->provenance;
    struct table t = {.n_columns = 6, .align = "lrrrrr"};
    size_t i;

    pair_line(out, "run", show_cand(in), p->is_complete ? "" : "(incomplete)");
    pair_line(out, "task set", p->taskset_name, p->taskset_version);
    pair_line(out, "prompt", p->prompt_version, NULL);
    pair_line(out, "model", p->model_served, p->weights_version);
    pair_line(out, "source", p->source, NULL);
    buf_putc(out, '\n');
    for (i = 0; i < t.n_columns; i++)
        table_cell(&t, heads[i], 10);
    for (i = 0; i < r->n_cubes; i++) {
        struct span s = cube_span_by_unit(&r->cubes[i], 0, NULL);

        AUTO(buf) n = {0};

        name_cell(&t, r->cubes[i].metric, r->cubes[i].unit);
        buf_printf(&n, "%zu", s.n);
        table_cell(&t, buf_text(&n), 10);
        number_cell(&t, s.mean, show_number);
        number_cell(&t, s.sd, show_small);
        number_cell(&t, s.min, show_number);
        number_cell(&t, s.max, show_number);
    }
    table_print(&t, out, 0, COLUMNS, 0);
    table_done(&t);
    buf_putc(out, '\n');
    put_notes(out, "notes", r);
}

void report_terminal(const struct report_input *in, bool colour, struct buf *out)
{
    if (in->judgement)
        put_judgement(in, colour, out);
    else
        put_run(in, out);
}
