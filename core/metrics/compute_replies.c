#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/client/talk.h"
#include "core/metrics/compute.h"
#include "core/metrics/compute_cubes.h"
#include "core/metrics/goals.h"
#include "core/metrics/twins.h"
#include "core/metrics/workload.h"

#include <string.h>

enum { SHARE_CACHED_PERCENT = 50 };

/* What the run's reader must know of its replies as a whole. */
struct tally {
    size_t n_answered, n_tokens_from_chunks, n_tokens_from_plain, n_cut_short;
    int64_t cached_tokens, prompt_tokens; /* of the replies whose server tells what it had cached */
};

/* One pass over the exchanges: its cubes, and what it gathers for those that need all of them. */
struct pass {
    struct run *run;
    const struct intent *intent; /* NULL without a task set */
    struct goals goals;
    struct metric_cubes cubes;
    struct workload load;
    struct twins twins;
    struct tally tally;
    bool has_redacted;
};

static void pass_done(struct pass *p)
{
    metric_cubes_done(&p->cubes);
    workload_done(&p->load);
    twins_done(&p->twins);
}

bool compute_notes_words(const char *code)
{
    return strcmp(code, "identical-replies") == 0 || strcmp(code, "reply-too-long") == 0;
}

static bool reads_reply(const struct metric *metric)
{
    return metric->of_reply || metric->of_workload;
}

/* The name that the server gave itself; a second name in one run is worth a note, since an alias may have moved. */
static enum status see_model(struct run *run, const struct reply *r, struct error *err)
{
    struct provenance *p = &run->provenance;

    if (!r->model.len)
        return OK;
    if (!p->model_served[0])
        return arena_strdup(&run->arena, buf_text(&r->model), &p->model_served, err);
    if (strcmp(p->model_served, buf_text(&r->model)) != 0)
        return run_note(run, err, "served-models", "the server named more than one model: '%s' and '%s'",
                        p->model_served, buf_text(&r->model));
    return OK;
}

static enum status see_failure(struct run *run, const struct exchange *x, const struct reply *r, struct error *err)
{
    AUTO(buf) fault = {0};

    reply_put_fault(&fault, r);
    TRY(buf_check(&fault, err));
    return run_note(run, err, talk_was_asked(x) ? "reply-failed" : "not-asked", "task '%s', turn %lld, repeat %lld: %s",
                    x->task, (long long)x->turn, (long long)x->repeat, fault.data);
}

static enum status see_reply(struct run *run, const struct exchange *x, const struct reply *r, struct tally *tally,
                             struct error *err)
{
    TRY(see_model(run, r, err));
    tally->n_cut_short += reply_was_cut_short(r);
    if (r->cached_tokens >= 0 && r->prompt_tokens > 0) {
        tally->cached_tokens += r->cached_tokens;
        tally->prompt_tokens += r->prompt_tokens;
    }
    if (!reply_has_answer(r))
        return see_failure(run, x, r, err);
    tally->n_answered++;
    tally->n_tokens_from_chunks += r->completion_tokens_from == TOKENS_FROM_CHUNKS;
    tally->n_tokens_from_plain += r->completion_tokens_from == TOKENS_FROM_PLAIN;
    return OK;
}

static enum status note_tally(struct run *run, const struct tally *tally, struct error *err)
{
    if (tally->n_tokens_from_chunks)
        TRY(run_note(run, err, "tokens-from-chunks",
                     "%zu of %zu replies came without a token count: chunks were counted instead, so their "
                     "latency.tpot is an estimate",
                     tally->n_tokens_from_chunks, tally->n_answered));
    if (tally->n_cut_short)
        TRY(run_note(run, err, "prompt-cut",
                     "the server read clearly fewer tokens than were sent in %zu of %zu requests, and said nothing: it "
                     "cuts prompts (context.truncated)",
                     tally->n_cut_short, run->n_exchanges));
    if (tally->n_tokens_from_plain)
        TRY(run_note(
            run, err, "tokens-from-plain",
            "%zu of %zu streams brought no token count: the server's count of a plain request of the same text is used",
            tally->n_tokens_from_plain, tally->n_answered));
    if (tally->prompt_tokens && tally->cached_tokens * 100 >= tally->prompt_tokens * SHARE_CACHED_PERCENT)
        TRY(run_note(
            run, err, "warm-cache",
            "%lld of %lld prompt tokens came from the server's cache: times to first token are those of a warm "
            "cache, compare them with no cold ones",
            (long long)tally->cached_tokens, (long long)tally->prompt_tokens));
    return OK;
}

/* Longer than any reply that a rubric is meant for: a pattern may take for ever on it. */
enum { MAX_SCORED = 1 << 20 };

static enum status score_intent(struct run *run, const struct intent *intent, const struct exchange *x,
                                const struct reply *r, struct intent_score *score, const struct intent_score **ret,
                                struct error *err)
{
    if (r->text.len > MAX_SCORED)
        return run_note(run, err, "reply-too-long",
                        "task '%s', turn %lld, repeat %lld: a reply of %zu bytes is not scored, %d are the limit",
                        x->task, (long long)x->turn, (long long)x->repeat, r->text.len, MAX_SCORED);
    TRY(intent_score(intent, x->task, x->turn, buf_text(&r->text), r->text.len, score, err));
    *ret = score;
    return OK;
}

static void place(const struct run *run, const struct exchange *x, size_t at[N_AXES])
{
    memset(at, 0, N_AXES * sizeof *at);
    at[AXIS_TASK] = axes_find_task(&run->axes, x->task);
    at[AXIS_TURN] = axes_find(&run->axes, AXIS_TURN, x->turn);
    at[AXIS_REPEAT] = axes_find(&run->axes, AXIS_REPEAT, x->repeat);
}

static enum status gather(struct pass *p, const struct reply *r, const struct reply_view *view, size_t prompt,
                          struct error *err)
{
    TRY(workload_add(&p->load, r, goals_met(&p->goals, view), err));
    return twins_add(&p->twins, prompt, buf_text(&r->text), reply_has_answer(r) ? r->text.len : 0, err);
}

static enum status compute_one(struct pass *p, const struct exchange *x, struct error *err)
{
    AUTO(reply) r = {0};
    struct intent_score score;
    struct reply_view view = {.reply = &r, .provenance = &p->run->provenance, .goals = p->goals.n ? &p->goals : NULL};
    size_t at[N_AXES], i;

    place(p->run, x, at);
    TRY(reply_read(&r, x, p->run->events + x->first_event, p->run->bytes, err));
    TRY(see_reply(p->run, x, &r, &p->tally, err));
    if (x->is_redacted)
        buf_clear(&r.text); /* placeholders */
    else if (p->intent && reply_has_answer(&r))
        TRY(score_intent(p->run, p->intent, x, &r, &score, &view.intent, err));
    p->has_redacted |= x->is_redacted;
    for (i = 0; i < p->cubes.n; i++) {
        const struct metric *m = p->cubes.metrics[i];

        if (m->of_reply && !(x->is_redacted && m->reads_words))
            p->cubes.cubes[i].values[cube_index(&p->cubes.cubes[i], at)] = m->of_reply(&view);
    }
    return gather(p, &r, &view, at[AXIS_TASK] * p->run->axes.n[AXIS_TURN] + at[AXIS_TURN], err);
}

static enum status compute_each(struct pass *p, struct error *err)
{
    size_t i;

    for (i = 0; i < p->run->n_exchanges; i++) {
        const struct exchange *x = &p->run->exchanges[i];
        enum status st = compute_one(p, x, err);

        if (st != OK) {
            error_context(err, "task '%s', turn %lld, repeat %lld", x->task, (long long)x->turn, (long long)x->repeat);
            return st;
        }
    }
    return OK;
}

static void fill_together(struct pass *p, const struct metric *m, struct cube *c)
{
    size_t at[N_AXES], i;

    if (!m->of_workload || (m->compares_words && p->has_redacted))
        return;
    for (i = 0; i < p->run->n_exchanges; i++) {
        place(p->run, &p->run->exchanges[i], at);
        if (p->load.items[i].is_answer)
            c->values[cube_index(c, at)] = m->of_workload(&p->load, i);
    }
}

/* Metrics that need all replies: how many were under way, which are the same. */
static enum status compute_together(struct pass *p, struct error *err)
{
    size_t i;

    p->load.twins = &p->twins;
    num_double(p->run->provenance.single_tokens_per_s, &p->load.single_tokens_per_s);
    TRY(workload_sum(&p->load, err));
    if (!p->has_redacted)
        TRY(twins_find(&p->twins, p->run, err));
    for (i = 0; i < p->cubes.n; i++)
        fill_together(p, p->cubes.metrics[i], &p->cubes.cubes[i]);
    return OK;
}

enum status compute_replies(struct run *run, const struct taskset *tasks, struct error *err)
{
    AUTO(intent) intent = {0};
    AUTO(pass) p = {.run = run, .intent = tasks ? &intent : NULL};

    if (run->n_exchanges == 0)
        return OK;
    if (tasks)
        TRY(intent_init(&intent, tasks, err));
    TRY(goals_read(&p.goals, run->provenance.goodput, err));
    TRY(metric_cubes_init(&p.cubes, run, reads_reply, err));
    TRY(compute_each(&p, err));
    TRY(compute_together(&p, err));
    TRY(note_tally(run, &p.tally, err));
    TRY(metric_cubes_keep(&p.cubes, run, err));
    return compute_turns(run, err);
}
