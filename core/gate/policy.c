#include "core/gate/policy.h"

#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/metrics/registry.h"
#include "core/metrics/reserved.h"

#include <math.h>
#include <string.h>

enum { POLICY_SCHEMA = 1, MAX_BYTES = 1 << 20, MAX_RULES = 1000, MAX_LIMITS = 100 };

/* What holds for a metric that the policy does not name. */
static const struct rule_for unnamed = {.glob = (char *)"*", .role = ROLE_ADVISORY};

const char *role_name(enum role r)
{
    static const char *const names[] = {"primary", "advisory", "off"};

    return names[r];
}

void policy_done(struct policy *p)
{
    arena_done(&p->arena);
    memset(p, 0, sizeof *p);
}

/* One of n words; an absent key leaves *ret. */
static enum status take_word(const struct json_at *at, const char *key, const char *const *words, int n, int *ret,
                             struct error *err)
{
    struct json_at member;
    AUTO(buf) list = {0};
    const char *text;
    int i;

    TRY(json_text_or(at, key, NULL, &text, err));
    if (!text)
        return OK;
    for (i = 0; i < n; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return OK;
        }
        buf_printf(&list, "%s'%s'", i ? ", " : "", words[i]);
    }
    TRY(json_get(at, key, JSON_STRING, &member, err));
    return json_bad(&member, err, "'%.40s' is not one of %s", text, buf_text(&list));
}

/* A number in [min, max]; an absent key leaves *ret. */
static enum status take_number(const struct json_at *at, const char *key, double min, double max, double *ret,
                               struct error *err)
{
    struct json_at member;
    double value;

    TRY(json_opt(at, key, JSON_REAL, &member, err));
    if (!member.value)
        return OK;
    TRY(json_double_or(at, key, 0, &value, err));
    if (!(value >= min && value <= max))
        return json_bad(&member, err, "%g is not between %g and %g", value, min, max);
    *ret = value;
    return OK;
}

static enum status take_text(struct policy *p, const struct json_at *at, const char *key, char **ret, struct error *err)
{
    const char *text;

    TRY(json_text_or(at, key, NULL, &text, err));
    return arena_strdup(&p->arena, text, ret, err);
}

static enum status take_margin(struct rule_for *r, const struct json_at *rule, struct error *err)
{
    static const char *const kinds[] = {"abs", "rel", "run_sd"};
    static const enum margin_kind kind[] = {MARGIN_ABS, MARGIN_REL, MARGIN_RUN_SD};
    static const double max[] = {1e12, 10, 100};
    struct json_at margin;
    size_t i, n = 0;

    TRY(json_opt(rule, "margin", JSON_OBJECT, &margin, err));
    if (!margin.value)
        return OK;
    TRY(json_only_keys(&margin, kinds, 3, err));
    for (i = 0; i < 3; i++) {
        double value = NAN;

        TRY(take_number(&margin, kinds[i], 0, max[i], &value, err));
        if (isnan(value))
            continue;
        r->margin_kind = kind[i];
        r->margin = value;
        n++;
    }
    if (n != 1)
        return json_bad(&margin, err, "a margin has exactly one of 'abs', 'rel', 'run_sd'");
    return OK;
}

static enum status take_limit(struct policy *p, struct limit *l, const struct json_at *at, struct error *err)
{
    static const char *const keys[] = {"op", "value", "severity", "reason"};
    static const char *const ops[] = {"<", "<=", ">", ">="};
    static const char *const severities[] = {"warn", "fail"};
    struct json_at must;
    int op = 0, severity = SEVERITY_FAIL;

    TRY(json_only_keys(at, keys, 4, err));
    TRY(json_get(at, "op", JSON_STRING, &must, err));
    TRY(take_word(at, "op", ops, 4, &op, err));
    TRY(json_get(at, "value", JSON_REAL, &must, err));
    TRY(take_number(at, "value", -1e300, 1e300, &l->value, err));
    TRY(take_word(at, "severity", severities, 2, &severity, err));
    TRY(take_text(p, at, "reason", &l->reason, err));
    l->op = (enum limit_op)op;
    l->severity = (enum severity)severity;
    return OK;
}

static enum status take_limits(struct policy *p, struct rule_for *r, const struct json_at *rule, struct error *err)
{
    struct json_at limits, item;
    size_t i;

    TRY(json_opt(rule, "limits", JSON_ARRAY, &limits, err));
    if (!limits.value)
        return OK;
    if (json_array_size(limits.value) > MAX_LIMITS)
        return json_bad(&limits, err, "%zu limits, %d are the most", json_array_size(limits.value), MAX_LIMITS);
    r->n_limits = json_array_size(limits.value);
    TRY(arena_new(&p->arena, r->n_limits, sizeof *r->limits, &r->limits, err));
    for (i = 0; i < r->n_limits; i++) {
        TRY(json_item(&limits, i, JSON_OBJECT, &item, err));
        TRY(take_limit(p, &r->limits[i], &item, err));
    }
    return OK;
}

static enum status take_rule(struct policy *p, struct rule_for *r, const char *glob, const struct json_at *at,
                             struct error *err)
{
    static const char *const keys[] = {"role",     "direction", "margin", "on_change",
                                       "required", "stat",      "limits", "reason"};
    static const char *const roles[] = {"primary", "advisory", "off"};
    static const char *const directions[] = {"higher", "lower", "neither"};
    static const char *const on_changes[] = {"", "regressed", "changed"};
    static const char *const stats[] = {"mean", "p50", "p95", "p99"};
    int role = ROLE_ADVISORY, better = -1, on_change = ON_CHANGE_DEFAULT, stat = 0;

    TRY(json_only_keys(at, keys, sizeof keys / sizeof *keys, err));
    TRY(arena_strdup(&p->arena, glob, &r->glob, err));
    TRY(take_word(at, "role", roles, 3, &role, err));
    TRY(take_word(at, "direction", directions, 3, &better, err));
    TRY(take_word(at, "on_change", on_changes + 1, 2, &on_change, err));
    TRY(take_word(at, "stat", stats, 4, &stat, err));
    TRY(take_margin(r, at, err));
    TRY(json_bool_or(at, "required", false, &r->required, err));
    TRY(take_text(p, at, "reason", &r->reason, err));
    TRY(take_limits(p, r, at, err));
    r->role = (enum role)role;
    r->has_better = better >= 0;
    r->better = better >= 0 ? (enum better)better : BETTER_NEITHER;
    if (json_object_get(at->value, "on_change"))
        r->on_change = (enum on_change)(on_change + 1);
    TRY(arena_strdup(&p->arena, stats[stat], &r->stat, err));
    if (r->role == ROLE_OFF && r->required)
        return json_bad(at, err, "a metric cannot be 'off' and required");
    return OK;
}

static enum status know_glob(const struct json_at *at, const char *glob, struct error *err)
{
    const char *near;

    if (metric_glob_known(glob) || reserved_glob_known(glob))
        return OK;
    near = metric_similar(glob);
    if (near)
        return json_bad(at, err, "no metric is named '%.60s', did you mean '%s'?", glob, near);
    return json_bad(at, err, "no metric is named '%.60s': 'tare explain' lists them", glob);
}

static enum status take_rules(struct policy *p, const struct json_at *top, struct error *err)
{
    struct json_at metrics, rule;
    const char *glob;
    json_t *value;

    TRY(json_get(top, "metrics", JSON_OBJECT, &metrics, err));
    if (json_object_size(metrics.value) > MAX_RULES)
        return json_bad(&metrics, err, "%zu entries, %d are the most", json_object_size(metrics.value), MAX_RULES);
    TRY(arena_new(&p->arena, json_object_size(metrics.value), sizeof *p->rules, &p->rules, err));
    json_object_foreach (metrics.value, glob, value) {
        TRY(json_get(&metrics, glob, JSON_OBJECT, &rule, err));
        TRY(know_glob(&rule, glob, err));
        TRY(take_rule(p, &p->rules[p->n_rules++], glob, &rule, err));
    }
    return OK;
}

static const struct rule_for *best_rule(const struct policy *p, const char *metric, const struct rule_for **ret_other)
{
    const struct rule_for *best = NULL;
    size_t i;

    *ret_other = NULL;
    for (i = 0; i < p->n_rules; i++) {
        const struct rule_for *r = &p->rules[i];

        if (strcmp(r->glob, metric) == 0) {
            *ret_other = NULL;
            return r;
        }
        if (!metric_glob_matches(r->glob, metric) || (best && strlen(best->glob) > strlen(r->glob)))
            continue;
        *ret_other = best && strlen(best->glob) == strlen(r->glob) ? best : NULL;
        best = r;
    }
    return best;
}

/* Two globs of one length for one metric: no order would be the right one. */
static enum status check_ambiguous(const struct policy *p, const struct json_at *top, struct error *err)
{
    size_t i, n = 0;
    const struct metric *const *all = metrics_all(&n);

    for (i = 0; i < n; i++) {
        const struct rule_for *other;
        const struct rule_for *best = best_rule(p, all[i]->name, &other);

        if (other)
            return error_set(err, ERR_USAGE,
                             "'%s' at /metrics: '%.60s' and '%.60s' both stand for '%s', make one of them longer",
                             top->file, other->glob, best->glob, all[i]->name);
    }
    return OK;
}

static enum status take_collapse(struct policy *p, const struct json_at *top, struct error *err)
{
    static const char *const keys[] = {"bits", "weight", "samples"};
    double value[3] = {NAN, NAN, NAN};
    static const double max[3] = {64, 1, 1e6};
    struct json_at at;
    size_t i;

    TRY(json_opt(top, "collapse", JSON_OBJECT, &at, err));
    if (!at.value)
        return OK;
    TRY(json_only_keys(&at, keys, 3, err));
    for (i = 0; i < 3; i++) {
        TRY(take_number(&at, keys[i], 0, max[i], &value[i], err));
        if (isnan(value[i]))
            return json_bad(&at, err, "'collapse' needs bits, weight and samples, '%s' is missing", keys[i]);
    }
    if (!(value[0] > 0 && value[2] >= 1) || fabs(value[2] - floor(value[2])) > 0)
        return json_bad(&at, err, "bits must be over 0, samples a whole number from 1");
    p->has_collapse = true;
    p->collapse = (struct collapse){value[0], value[1], (size_t)value[2]};
    return OK;
}

static enum status take_top(struct policy *p, const struct json_at *top, struct error *err)
{
    static const char *const keys[] = {"schema",  "alpha",       "on_inconclusive", "max_errors",
                                       "metrics", "description", "collapse"};
    static const char *const outcomes[] = {"pass", "fail"};
    struct json_at must;
    const char *description;
    int64_t schema;
    int outcome = 0;

    TRY(json_is(top, JSON_OBJECT, err));
    TRY(json_get_i64(top, "schema", 1, INT64_MAX, &schema, err));
    if (schema > POLICY_SCHEMA)
        return json_bad(top, err, "policy schema %lld is newer than this program reads (%d): use a newer one",
                        (long long)schema, POLICY_SCHEMA);
    TRY(json_only_keys(top, keys, sizeof keys / sizeof *keys, err));
    TRY(json_text_or(top, "description", "", &description, err));
    p->alpha = 0.05;
    TRY(take_number(top, "alpha", 0, 0.5, &p->alpha, err));
    if (!(p->alpha > 0 && p->alpha < 0.5)) {
        TRY(json_get(top, "alpha", JSON_REAL, &must, err));
        return json_bad(&must, err, "alpha must lie between 0 and 0.5, both excluded");
    }
    TRY(take_word(top, "on_inconclusive", outcomes, 2, &outcome, err));
    p->inconclusive_fails = outcome == 1;
    TRY(take_number(top, "max_errors", 0, 1, &p->max_errors, err));
    TRY(take_collapse(p, top, err));
    TRY(take_rules(p, top, err));
    return check_ambiguous(p, top, err);
}

static enum status take_document(struct policy *p, const struct json *doc, struct error *err)
{
    struct json_at top = json_top(doc);

    TRY(arena_strdup(&p->arena, doc->name, &p->name, err));
    return take_top(p, &top, err);
}

/* A policy is configuration: whatever is wrong with the file, the user's call is what has to change. */
static enum status fail(enum status st, const struct error *why, struct error *err)
{
    if (st == ERR_FORMAT || st == ERR_IO || st == ERR_LIMIT)
        st = ERR_USAGE;
    return error_set(err, st, "policy %s", why->message);
}

/* `st` is how reading the document went, with its reason in `why`. */
static enum status finish(struct policy *p, const struct json *doc, enum status st, struct error *why,
                          struct error *err)
{
    struct policy out = {0};

    if (st == OK)
        st = take_document(&out, doc, why);
    if (st == OK) {
        *p = out;
        return OK;
    }
    policy_done(&out);
    return fail(st, why, err);
}

enum status policy_load(struct policy *p, const char *path, struct error *err)
{
    AUTO(json) doc = {0};
    struct error why = {0};
    enum status st = json_read(&doc, path, MAX_BYTES, &why);

    return finish(p, &doc, st, &why, err);
}

enum status policy_parse(struct policy *p, const char *name, const char *text, size_t len, struct error *err)
{
    AUTO(json) doc = {0};
    struct error why = {0};
    enum status st = json_parse(&doc, name, text, len, &why);

    return finish(p, &doc, st, &why, err);
}

const struct rule_for *policy_rule(const struct policy *p, const char *metric)
{
    const struct rule_for *other;
    const struct rule_for *best = best_rule(p, metric, &other);

    return best ? best : &unnamed;
}
