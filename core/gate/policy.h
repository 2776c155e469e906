/* policy.h - what a finding may be before it fails: roles, margins, absolute limits. */
#ifndef CORE_GATE_POLICY_H
#define CORE_GATE_POLICY_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/metrics/attention_options.h"
#include "core/model/cube.h"

#include <stdbool.h>
#include <stddef.h>

enum role { ROLE_PRIMARY, ROLE_ADVISORY, ROLE_OFF };
enum margin_kind { MARGIN_NONE, MARGIN_ABS, MARGIN_REL, MARGIN_RUN_SD };

/* What a significant move of a should-not-move metric is: by default regressed at an equal prompt, else changed. */
enum on_change { ON_CHANGE_DEFAULT, ON_CHANGE_REGRESSED, ON_CHANGE_CHANGED };

enum limit_op { LIMIT_LT, LIMIT_LE, LIMIT_GT, LIMIT_GE }; /* what must hold: "value op limit" */
enum severity { SEVERITY_WARN, SEVERITY_FAIL };

struct limit {
    enum limit_op op;
    double value;
    enum severity severity;
    char *reason;
};

/* One entry of "metrics": for the names that `glob` matches; the longest matching glob wins. */
struct rule_for {
    char *glob;
    enum role role;
    bool has_better;
    enum better better; /* overrides the metric's own when has_better */
    enum margin_kind margin_kind;
    double margin;
    enum on_change on_change;
    bool required;
    char *stat;   /* "mean", "p50", "p95", "p99"; NULL = mean: of a run-noise metric, and what limits look at */
    char *reason; /* why the margin is what it is; may be NULL */
    struct limit *limits;
    size_t n_limits;
};

struct policy {
    struct arena arena;      /* owns everything below */
    char *name;              /* the file's name, for messages and reports */
    double alpha;            /* in (0, 0.5) */
    bool inconclusive_fails; /* on_inconclusive "fail": exit 3 instead of 0 */
    double max_errors;       /* share of requests that may have failed, in [0,1] */
    bool has_collapse;       /* attn.collapse must have been measured with these numbers */
    struct collapse collapse;
    struct rule_for *rules;
    size_t n_rules;
};

/* An unknown key, a glob that names no metric, a number out of range: ERR_USAGE with file and JSON pointer. */
MUST_CHECK enum status policy_load(struct policy *p, const char *path, struct error *err);
MUST_CHECK enum status policy_parse(struct policy *p, const char *name, const char *text, size_t len,
                                    struct error *err);
void policy_done(struct policy *p);

/* The rule for a metric; a built-in advisory rule when no glob matches. */
const struct rule_for *policy_rule(const struct policy *p, const char *metric);

const char *role_name(enum role r); /* "primary", "advisory", "off" */

#endif
