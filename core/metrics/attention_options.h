/* attention_options.h - how attention is measured where there is a choice; the numbers depend on it, so the run's
 * provenance keeps it. */
#ifndef CORE_METRICS_ATTENTION_OPTIONS_H
#define CORE_METRICS_ATTENTION_OPTIONS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/run.h"
#include "kernels/row_entropy.h"

#include <stdbool.h>
#include <stddef.h>

/* A head collapses in a sample when its mean entropy is under `bits` and its mean largest weight over `weight`; that it
 * does so in `samples` in a row is noted. */
struct collapse {
    double bits, weight;
    size_t samples;
};

struct attention_options {
    struct collapse collapse;
    enum eps_form eps_form;
    double entropy_eps;
    bool implicit_sink, check_mask;
    bool fail_on_nan; /* changes no number: is not kept */
};

/* What holds when nothing is said: 0.15 bit, 0.95, 3 samples; no epsilon, no sink, the hidden part not read. */
struct attention_options attention_options_default(void);

/* "add:1e-9", "clamp:1e-6" or "none"; "0.15,0.95,3". ERR_USAGE says what may stand there; `what` begins the message. */
MUST_CHECK enum status attention_options_eps(struct attention_options *o, const char *what, const char *text,
                                             struct error *err);
MUST_CHECK enum status collapse_parse(struct collapse *ret, const char *what, const char *text, struct error *err);

/* The texts that these read: the shortest digits. */
void attention_options_eps_text(const struct attention_options *o, struct buf *out);
void collapse_text(const struct collapse *c, struct buf *out);

/* All of it in one line: "entropy-eps none, collapse 0.15,0.95,3", with the flags that are set. */
void attention_options_text(const struct attention_options *o, struct buf *out);

/* Into a run's provenance, and out of one; a run of before these choices has the defaults. */
MUST_CHECK enum status attention_options_keep(const struct attention_options *o, struct run *run, struct error *err);
MUST_CHECK enum status attention_options_of(struct attention_options *ret, const struct run *run, struct error *err);

/* Whether the run holds anything of attention. */
bool attention_measured(const struct run *run);

/* Appends what differs between two runs' options in words, nothing where nothing does. check_mask is left out: it adds
 * a metric and changes none. */
MUST_CHECK enum status attention_options_differ(const struct run *base, const struct run *cand, struct buf *out,
                                                struct error *err);

#endif
