#include "core/base/scope.h"
#include "core/metrics/compute.h"
#include "core/metrics/compute_cubes.h"

#include <string.h>

/* What the run's reader must know of its replies as a whole. */
struct tally {
    size_t n_failed, n_tokens_from_chunks, n_tokens_from_plain, n_cut_short;
};

static bool reads_reply(const struct metric *metric)
{
    return metric->of_reply != NULL;
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
    return run_note(run, err, "reply-failed", "task '%s', turn %lld, repeat %lld: %s (HTTP status %lld)%s%.200s",
                    x->task, (long long)x->turn, (long long)x->repeat, reply_state_name(r->state), (long long)r->status,
                    r->error.len ? ": " : "", buf_text(&r->error));
}

static enum status see_reply(struct run *run, const struct exchange *x, const struct reply *r, struct tally *tally,
                             struct error *err)
{
    TRY(see_model(run, r, err));
    tally->n_tokens_from_chunks += r->completion_tokens_from == TOKENS_FROM_CHUNKS;
    tally->n_tokens_from_plain += r->completion_tokens_from == TOKENS_FROM_PLAIN;
    tally->n_cut_short += reply_was_cut_short(r);
    if (reply_has_answer(r))
        return OK;
    tally->n_failed++;
    return see_failure(run, x, r, err);
}

static enum status note_tally(struct run *run, const struct tally *tally, struct error *err)
{
    if (tally->n_tokens_from_chunks)
        TRY(run_note(run, err, "tokens-from-chunks",
                     "%zu of %zu replies came without a token count: chunks were counted instead, so their "
                     "latency.tpot is an estimate",
                     tally->n_tokens_from_chunks, run->n_exchanges));
    if (tally->n_cut_short)
        TRY(run_note(run, err, "prompt-cut",
                     "the server read clearly fewer tokens than were sent in %zu of %zu requests, and said nothing: it "
                     "cuts prompts (context.truncated)",
                     tally->n_cut_short, run->n_exchanges));
    if (tally->n_tokens_from_plain)
        TRY(run_note(
            run, err, "tokens-from-plain",
            "%zu of %zu streams brought no token count: the server's count of a plain request of the same text is used",
            tally->n_tokens_from_plain, run->n_exchanges));
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

static enum status compute_one(struct run *run, const struct intent *intent, const struct exchange *x,
                               struct metric_cubes *cubes, struct tally *tally, struct error *err)
{
    AUTO(reply) r = {0};
    struct intent_score score;
    struct reply_view view = {.reply = &r, .provenance = &run->provenance};
    const size_t at[N_AXES] = {
        [AXIS_TASK] = axes_find_task(&run->axes, x->task),
        [AXIS_TURN] = axes_find(&run->axes, AXIS_TURN, x->turn),
        [AXIS_REPEAT] = axes_find(&run->axes, AXIS_REPEAT, x->repeat),
    };
    size_t i;

    TRY(reply_read(&r, x, run->events + x->first_event, run->bytes, err));
    TRY(see_reply(run, x, &r, tally, err));
    if (x->is_redacted)
        buf_clear(&r.text); /* placeholders */
    else if (intent && reply_has_answer(&r))
        TRY(score_intent(run, intent, x, &r, &score, &view.intent, err));
    for (i = 0; i < cubes->n; i++)
        cubes->cubes[i].values[cube_index(&cubes->cubes[i], at)] = cubes->metrics[i]->of_reply(&view);
    return OK;
}

enum status compute_replies(struct run *run, const struct taskset *tasks, struct error *err)
{
    AUTO(intent) intent = {0};
    AUTO(metric_cubes) cubes = {0};
    struct tally tally = {0};
    size_t i;

    if (run->n_exchanges == 0)
        return OK;
    if (tasks)
        TRY(intent_init(&intent, tasks, err));
    TRY(metric_cubes_init(&cubes, run, reads_reply, err));
    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];
        enum status st = compute_one(run, tasks ? &intent : NULL, x, &cubes, &tally, err);

        if (st != OK) {
            error_context(err, "task '%s', turn %lld, repeat %lld", x->task, (long long)x->turn, (long long)x->repeat);
            return st;
        }
    }
    TRY(note_tally(run, &tally, err));
    TRY(metric_cubes_keep(&cubes, run, err));
    return compute_turns(run, err);
}
