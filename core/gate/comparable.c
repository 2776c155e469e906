#include "core/base/scope.h"
#include "core/gate/changes.h"
#include "core/gate/decide.h"

#include "core/base/scope.h"
#include "core/metrics/attention_options.h"

#include <string.h>

/* The first digits of a hash are enough for a reader. */
enum { SHORT = 12 };

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *known(const char *text)
{
    return text[0] ? text : "not recorded";
}

static enum status check_complete(const struct run *r, const char *which, struct error *err)
{
    if (r->provenance.is_complete)
        return OK;
    return error_set(err, ERR_NO_VERDICT, "the %s run is incomplete: resume it or run again", which);
}

static enum status check_taskset(const struct provenance *b, const struct provenance *c, struct error *err)
{
    if (same(b->taskset_hash.hex, c->taskset_hash.hex))
        return OK;
    if (!b->taskset_hash.hex[0] || !c->taskset_hash.hex[0])
        return error_set(
            err, ERR_NO_VERDICT, "not comparable: the %s run has the task set '%s %s', the %s run has none",
            b->taskset_hash.hex[0] ? "base" : "candidate", b->taskset_hash.hex[0] ? b->taskset_name : c->taskset_name,
            b->taskset_hash.hex[0] ? b->taskset_version : c->taskset_version,
            b->taskset_hash.hex[0] ? "candidate" : "base");
    return error_set(err, ERR_NO_VERDICT,
                     "not comparable: the task sets differ, base '%s %s' (%.*s), candidate '%s %s' (%.*s)",
                     b->taskset_name, b->taskset_version, SHORT, b->taskset_hash.hex, c->taskset_name,
                     c->taskset_version, SHORT, c->taskset_hash.hex);
}

/* A run without replies has no sampling: that is no difference. */
static enum status check_sampling(const struct run *base, const struct run *cand, struct error *err)
{
    const char *b = base->provenance.sampling, *c = cand->provenance.sampling;

    if (same(b, c) || (!b[0] && !base->n_exchanges) || (!c[0] && !cand->n_exchanges))
        return OK;
    return error_set(err, ERR_NO_VERDICT, "not comparable: the sampling settings differ, base %.200s, candidate %.200s",
                     known(b), known(c));
}

/* Where both have attention it must have been measured alike: another epsilon alone moves every entropy. */
static enum status check_attention(const struct run *base, const struct run *cand, struct error *err)
{
    AUTO(buf) words = {0};

    if (!attention_measured(base) || !attention_measured(cand))
        return OK;
    TRY(attention_options_differ(base, cand, &words, err));
    if (!words.len)
        return OK;
    return error_set(err, ERR_NO_VERDICT,
                     "not comparable: attention was measured in another way: %s: measure one of them again with the "
                     "options of the other",
                     buf_text(&words));
}

static enum status check_metrics(const struct run *base, const struct run *cand, struct error *err)
{
    const unsigned cells = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD);
    size_t i;

    for (i = 0; i < cand->n_cubes; i++) {
        const struct cube *c = &cand->cubes[i];
        const struct cube *b = run_cube(base, c->metric);

        if (!b)
            continue;
        if (b->version != c->version)
            return error_set(err, ERR_NO_VERDICT,
                             "not comparable: metric '%s' has definition version %d in the base run and %d in the "
                             "candidate: replay the older run with this program",
                             c->metric, b->version, c->version);
        if ((b->axes & cells) != (c->axes & cells) || (b->unit && c->unit && !same(b->unit, c->unit)))
            return error_set(err, ERR_NO_VERDICT,
                             "not comparable: metric '%s' is in '%s' over other axes or in another unit than '%s'",
                             c->metric, c->unit ? c->unit : "", b->unit ? b->unit : "");
        if (b->better != c->better || b->noise != c->noise)
            return error_set(err, ERR_NO_VERDICT,
                             "not comparable: metric '%s' is defined with another direction or another unit of noise "
                             "in the candidate than in the base: replay both runs with this program",
                             c->metric);
    }
    return OK;
}

static enum status check_tasks(const struct run *base, const struct run *cand, struct error *err)
{
    size_t i;

    for (i = 0; i < cand->axes.n[AXIS_TASK]; i++)
        if (axes_find_task(&base->axes, cand->axes.task[i]) != SIZE_MAX)
            return OK;
    if (!base->axes.n[AXIS_TASK] || !cand->axes.n[AXIS_TASK])
        return error_set(err, ERR_NO_VERDICT, "not comparable: the %s run has no task",
                         base->axes.n[AXIS_TASK] ? "candidate" : "base");
    return error_set(
        err, ERR_NO_VERDICT,
        "not comparable: the runs have no task in common, base begins with '%.60s', candidate with '%.60s'",
        base->axes.task[0], cand->axes.task[0]);
}

enum status comparable_check(const struct run *base, const struct run *cand, struct error *err)
{
    TRY(check_complete(base, "base", err));
    TRY(check_complete(cand, "candidate", err));
    TRY(check_taskset(&base->provenance, &cand->provenance, err));
    TRY(check_sampling(base, cand, err));
    TRY(check_attention(base, cand, err));
    TRY(check_metrics(base, cand, err));
    return check_tasks(base, cand, err);
}

enum status comparable_versions(const struct run *a, const struct run *b, struct buf *ret, struct error *err)
{
    AUTO(judgement) among = {0};
    size_t i;

    TRY(changes_find(&among, a, b, err));
    for (i = 0; i < among.n_changes; i++) {
        const struct change *c = &among.changes[i];

        /* A metric of another definition is refused as such, whatever tool wrote it; a variant is but a label. */
        if (c->explains_latency_only || same(c->what, "tool") || same(c->what, "variant of the dumps"))
            continue;
        buf_printf(ret, "%s %.60s and %.60s", c->what, c->base, c->cand);
        break;
    }
    return buf_check(ret, err);
}

/* side: "base" or "candidate" */
static enum status check_versions(const struct run *runs, size_t n, const char *side, const char *remedy,
                                  struct error *err)
{
    size_t i;

    for (i = 1; i < n; i++) {
        AUTO(buf) what = {0};

        TRY(comparable_versions(&runs[0], &runs[i], &what, err));
        if (what.len)
            return error_set(err, ERR_NO_VERDICT, "not comparable: the %s runs are not of one version, %s: %s", side,
                             buf_text(&what), remedy);
    }
    return OK;
}

enum status comparable_base(const struct run *base, size_t n_base, struct error *err)
{
    return check_versions(base, n_base, "base", "drop those of the other version from the baseline, or name a run file",
                          err);
}

enum status comparable_candidates(const struct run *cand, size_t n_cand, struct error *err)
{
    size_t i;

    for (i = 1; i < n_cand; i++)
        TRY(comparable_check(&cand[0], &cand[i], err));
    return check_versions(cand, n_cand, "candidate", "judge each version by itself", err);
}
