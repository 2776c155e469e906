/* html.h - the parts of the page; each appends its section, or nothing when there is nothing to show. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "reports/series.h"

extern const char html_style[]; /* html/style.css, NUL-terminated */

/* Foreign text: one line of at most `columns`, escaped for an element or a quoted attribute. */
void html_text(struct buf *out, const char *text, size_t columns);

/* A number as show.h has it, with a true minus sign; `show` is one of its functions. */
void html_number(struct buf *out, double value, void (*show)(struct buf *out, double value));
void html_interval(struct buf *out, double lo, double hi);
void html_where(struct buf *out, const struct where *w);

/* "<td class=num data-l=label>number</td>" */
void html_cell(struct buf *out, const char *label, double value, void (*show)(struct buf *out, double value));
void html_chip(struct buf *out, enum verdict v);

/* Tables of the judgement (html_judgement.c) and of the runs (html_runs.c). */
void html_banner(struct buf *out, const struct report_input *in);
void html_findings(struct buf *out, const struct report_input *in);
void html_families(struct buf *out, const struct report_input *in);
void html_limits(struct buf *out, const struct report_input *in);
void html_calibration(struct buf *out, const struct report_input *in);
void html_changes(struct buf *out, const struct report_input *in);
void html_metrics(struct buf *out, const struct report_input *in); /* of a single run */
void html_tasks(struct buf *out, const struct series *s);
void html_notes(struct buf *out, const struct report_input *in);
void html_provenance(struct buf *out, const struct report_input *in);

/* Pictures. */
void html_interval_plot(struct buf *out, const struct effect *e, double margin);
void html_attention(struct buf *out, const struct series *s);
void html_turns(struct buf *out, const struct series *s);
void html_latency(struct buf *out, const struct series *s);

/* Layer x head of one metric: the difference, or the value when there is no base. */
void html_heat(struct buf *out, const struct series *s, const char *metric);

/* Layer x head of how far the two sides' profiles are apart; nothing where that is not known, or they are the same. */
void html_divergence(struct buf *out, const struct series *s);

#endif
