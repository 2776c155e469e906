/* JUnit XML: a suite a role, a case a family and a regressed cell, so that CI lists them among its tests.
 * A failure stands for what fails the gate; an advisory regression shows as skipped, with its words. */
#include "core/base/scope.h"
#include "core/model/span.h"
#include "reports/escape.h"
#include "reports/formats.h"
#include "reports/show.h"

#include <math.h>

enum outcome { PASSED, FAILED, SKIPPED, ERRED, N_OUTCOMES };

struct suite {
    struct buf cases; /* XML of the test cases */
    size_t n[N_OUTCOMES];
};

static void suite_done(struct suite *s)
{
    buf_done(&s->cases);
}

/* `metric` NULL: a name without one. `text` goes into the element, or to system-out when the case passed. */
static void add_case(struct suite *s, const char *group, const char *metric, const char *name, enum outcome o,
                     const char *message, const char *text)
{
    static const char *const element[] = {"system-out", "failure", "skipped", "error"};
    struct buf *out = &s->cases;

    s->n[o]++;
    buf_printf(out, "    <testcase classname=\"tare.%s", group);
    if (metric) {
        buf_putc(out, '.');
        escape_xml(out, metric);
    }
    buf_puts(out, "\" name=\"");
    escape_xml(out, name);
    buf_puts(out, "\" time=\"0\">");
    buf_printf(out, "<%s", element[o]);
    if (o != PASSED) {
        buf_puts(out, " message=\"");
        escape_xml(out, message);
        buf_putc(out, '"');
        if (o != SKIPPED)
            buf_printf(out, " type=\"%s\"", o == FAILED ? "regressed" : "no-verdict");
    }
    buf_putc(out, '>');
    escape_xml(out, text);
    buf_printf(out, "</%s></testcase>\n", element[o]);
}

static void put_counts(struct buf *out, const size_t n[N_OUTCOMES])
{
    buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\">\n",
               n[PASSED] + n[FAILED] + n[SKIPPED] + n[ERRED], n[FAILED], n[ERRED], n[SKIPPED]);
}

static enum outcome outcome_of(enum verdict v, enum role role)
{
    if (v == VERDICT_REGRESSED)
        return role == ROLE_PRIMARY ? FAILED : SKIPPED;
    return v == VERDICT_INCONCLUSIVE || v == VERDICT_NONE ? SKIPPED : PASSED;
}

static void put_numbers(struct buf *out, const struct effect *e, double margin, const char *unit, const char *words)
{
    buf_puts(out, show_or(words, ""));
    buf_puts(out, "\nbase ");
    show_number(out, e->base);
    buf_puts(out, ", candidate ");
    show_number(out, e->cand);
    buf_puts(out, ", delta ");
    show_delta(out, e->delta);
    buf_printf(out, "%s%s, interval ", *show_unit(unit) ? " " : "", show_unit(unit));
    show_interval(out, e->ci_lo, e->ci_hi);
    buf_puts(out, ", adjusted p ");
    show_p(out, e->p_adj);
    buf_puts(out, ", margin ");
    show_margin(out, margin);
    buf_printf(out, ", pairs %zu", e->n);
}

static void add_family(struct suite *s, const struct family *f)
{
    AUTO(buf) text = {0};
    AUTO(buf) message = {0};

    buf_printf(&message, "%s%s: %s", f->role == ROLE_PRIMARY ? "" : "advisory, ", show_part(f->verdict),
               show_or(f->words, ""));
    put_numbers(&text, &f->effect, f->margin, f->unit, f->words);
    add_case(s, role_name(f->role), NULL, f->metric, outcome_of(f->verdict, f->role), buf_text(&message),
             buf_text(&text));
}

static void add_finding(struct suite *s, const struct finding *f)
{
    AUTO(buf) text = {0};
    AUTO(buf) message = {0};
    AUTO(buf) where = {0};

    show_where(&where, &f->where);
    buf_printf(&message, "%s%s: %s", f->role == ROLE_PRIMARY ? "" : "advisory, ", show_part(f->verdict),
               show_or(f->words, ""));
    put_numbers(&text, &f->effect, f->margin, f->unit, f->words);
    add_case(s, role_name(f->role), f->metric, buf_text(&where), outcome_of(f->verdict, f->role), buf_text(&message),
             buf_text(&text));
}

/* `total` grows by the suite's counts. */
static void put_suite(struct buf *out, const struct suite *s, const char *name, size_t total[N_OUTCOMES],
                      const char *system_out)
{
    int o;
    size_t n = 0;

    for (o = 0; o < N_OUTCOMES; o++)
        n += s->n[o];
    out->failed |= s->cases.failed;
    if (n == 0)
        return;
    for (o = 0; o < N_OUTCOMES; o++)
        total[o] += s->n[o];
    buf_printf(out, "  <testsuite name=\"tare.%s\"", name);
    put_counts(out, s->n);
    buf_puts(out, buf_text(&s->cases));
    if (*system_out) {
        buf_puts(out, "    <system-out>");
        escape_xml(out, system_out);
        buf_puts(out, "</system-out>\n");
    }
    buf_puts(out, "  </testsuite>\n");
}

static void put_overall(struct buf *out, const struct report_input *in, size_t total[N_OUTCOMES])
{
    const struct judgement *j = in->judgement;
    enum outcome o = outcome_of(j->verdict, ROLE_PRIMARY);
    AUTO(suite) s = {0};
    AUTO(buf) message = {0};
    AUTO(buf) text = {0};
    size_t i;

    if (o != FAILED && in->exit_code != 0)
        o = in->exit_code == 1 ? FAILED : ERRED;
    buf_printf(&message, "%s: %s", show_verdict(j->verdict), show_headline(j));
    show_exit(&text, in);
    for (i = 0; i < show_n_reasons(j); i++)
        buf_printf(&text, "\n%s", show_or(j->reasons[i], ""));
    buf_puts(&s.cases, "    <properties><property name=\"verdict\" value=\"");
    escape_xml(&s.cases, verdict_name(j->verdict));
    buf_printf(&s.cases, "\"/><property name=\"exit\" value=\"%d\"/></properties>\n", in->exit_code);
    add_case(&s, "verdict", NULL, "overall", o, buf_text(&message), buf_text(&text));
    put_suite(out, &s, "verdict", total, "");
}

static void put_role(struct buf *out, const struct report_input *in, enum role role, size_t *shown,
                     size_t total[N_OUTCOMES])
{
    const struct judgement *j = in->judgement;
    AUTO(suite) s = {0};
    AUTO(buf) rest = {0};
    size_t n_rest = 0, i;

    for (i = 0; i < j->n_families; i++)
        if (j->families[i].role == role)
            add_family(&s, &j->families[i]);
    for (i = 0; i < j->n_findings; i++) {
        if (j->findings[i].role != role || j->findings[i].verdict != VERDICT_REGRESSED)
            continue;
        if (*shown < in->max_findings) {
            ++*shown;
            add_finding(&s, &j->findings[i]);
        } else {
            n_rest++;
        }
    }
    if (n_rest)
        buf_printf(&rest, "%zu more regressed cells are not listed", n_rest);
    put_suite(out, &s, role_name(role), total, buf_text(&rest));
}

static void put_limits(struct buf *out, const struct report_input *in, size_t total[N_OUTCOMES])
{
    const struct judgement *j = in->judgement;
    size_t n_broken = 0, i;
    AUTO(suite) s = {0};
    AUTO(buf) rest = {0};

    for (i = 0; i < j->n_limits; i++) {
        const struct limit_result *l = &j->limits[i];
        enum outcome o = !l->broken                                                 ? PASSED
                         : l->limit.severity == SEVERITY_FAIL && !l->broken_by_base ? FAILED
                                                                                    : SKIPPED;
        AUTO(buf) where = {0};

        n_broken += l->broken;
        if (l->broken && n_broken > in->max_findings)
            continue;
        show_where(&where, &l->where);
        add_case(&s, "limits", l->metric, buf_text(&where), o, show_or(l->words, "limit broken"),
                 show_or(l->limit.reason, ""));
    }
    if (n_broken > in->max_findings)
        buf_printf(&rest, "%zu more places that break a limit are not listed", n_broken - in->max_findings);
    put_suite(out, &s, "limits", total, buf_text(&rest));
}

static void put_not_measured(struct buf *out, const struct judgement *j, size_t total[N_OUTCOMES])
{
    AUTO(suite) s = {0};
    size_t i;

    for (i = 0; i < j->n_not_measured; i++)
        add_case(&s, "not-measured", NULL, j->not_measured[i], SKIPPED, "not measured in the candidate", "");
    put_suite(out, &s, "not-measured", total, "");
}

/* One run: a case a metric; a run that is not complete is an error. */
static void put_run(struct buf *out, const struct report_input *in, size_t total[N_OUTCOMES])
{
    const struct run *r = in->cand;
    AUTO(suite) s = {0};
    AUTO(buf) notes = {0};
    size_t i;

    add_case(&s, "run", NULL, "complete", r->provenance.is_complete ? PASSED : ERRED, "the run is not complete", "");
    for (i = 0; i < r->n_cubes; i++) {
        struct span sum = cube_span_by_unit(&r->cubes[i], 0, NULL);
        AUTO(buf) text = {0};

        buf_puts(&text, "mean ");
        show_number(&text, sum.mean);
        buf_printf(&text, "%s%s over %zu %ss", *show_unit(r->cubes[i].unit) ? " " : "", show_unit(r->cubes[i].unit),
                   sum.n, noise_counts(r->cubes[i].noise));
        add_case(&s, "run", NULL, r->cubes[i].metric, sum.n ? PASSED : SKIPPED, "no value", buf_text(&text));
    }
    for (i = 0; i < r->n_notes; i++)
        buf_printf(&notes, "%s: %s\n", r->notes[i].code, r->notes[i].text);
    put_suite(out, &s, "run", total, buf_text(&notes));
}

static void write_junit(const struct report_input *in, struct buf *out)
{
    AUTO(buf) suites = {0};
    size_t total[N_OUTCOMES] = {0}, shown = 0;

    if (in->judgement) {
        put_overall(&suites, in, total);
        put_role(&suites, in, ROLE_PRIMARY, &shown, total);
        put_role(&suites, in, ROLE_ADVISORY, &shown, total);
        put_limits(&suites, in, total);
        put_not_measured(&suites, in->judgement, total);
    } else {
        put_run(&suites, in, total);
    }
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tare\"");
    put_counts(out, total);
    buf_puts(out, buf_text(&suites));
    buf_puts(out, "</testsuites>\n");
    out->failed |= suites.failed;
}

const struct report report_junit = {".junit.xml", "JUnit", "test cases for a CI server", write_junit};
