#include "cli/live.h"

#include "cli/interrupt.h"
#include "cli/live_say.h"
#include "cli/message.h"
#include "cli/place.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/client/probe.h"
#include "core/io/taskset_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void arm_done(struct live_arm *a)
{
    address_done(&a->endpoint);
    prompt_done(&a->prompt);
    head_done(&a->head);
    journal_done(&a->journal);
    run_done(&a->before);
    free(a->model);
    free(a->journal_path);
    buf_done(&a->sampling);
}

void live_done(struct live *l)
{
    size_t i;

    for (i = 0; i < l->n_arms; i++)
        arm_done(&l->arms[i]);
    taskset_done(&l->tasks);
    memset(l, 0, sizeof *l);
}

/* With the reference as history, each turn but the last needs one. */
static enum status check_references(const struct taskset *tasks, struct error *err)
{
    size_t i, k;

    for (i = 0; i < tasks->n_tasks; i++)
        for (k = 0; k + 1 < tasks->tasks[i].n_turns; k++)
            if (!tasks->tasks[i].turns[k].reference)
                return error_set(err, ERR_USAGE,
                                 "--history reference: turn %zu of task '%s' has no reference in the task set", k + 1,
                                 tasks->tasks[i].id);
    return OK;
}

static enum status choose_api(const struct live_options *o, const struct live_arm *a, enum request_api *ret,
                              struct error *err)
{
    bool is_completion = a->has_prompt && a->prompt.kind == PROMPT_COMPLETION;

    *ret = is_completion ? REQUEST_COMPLETIONS : REQUEST_CHAT;
    if (!o->api)
        return OK;
    if (a->has_prompt && is_completion != (strcmp(o->api, "completions") == 0))
        return error_set(err, ERR_USAGE, "prompt '%s' is of kind %s: it does not fit --api %s", a->prompt_path,
                         is_completion ? "completion" : "chat", o->api);
    *ret = strcmp(o->api, "completions") == 0 ? REQUEST_COMPLETIONS : REQUEST_CHAT;
    return OK;
}

/* Without --model the server is asked: where it has one model, that is meant. */
static enum status choose_model(const struct live_options *o, struct live_arm *a, const char *name, struct error *err)
{
    AUTO(probe) p = {0};

    if (name)
        return mem_strdup(name, &a->model, err);
    TRY(probe_models(&p, &o->load.transport, &a->endpoint, &a->head, err));
    if (p.n_models == 0)
        return error_set(err, ERR_USAGE,
                         "'%s' does not say which models it has (HTTP status %lld): name one with --model",
                         a->endpoint.models, (long long)p.status);
    if (p.n_models > 1)
        return error_set(err, ERR_USAGE, "'%s' has %zu models, '%.80s' and '%.80s' among them: name one with --model",
                         a->endpoint.models, p.n_models, p.models[0], p.models[1]);
    return mem_strdup(p.models[0], &a->model, err);
}

static enum status set_up_arm(struct live *l, struct live_arm *a, const char *url, const char *model,
                              enum request_api *ret_api, struct error *err)
{
    const struct live_options *o = l->options;

    if (a->prompt_path)
        TRY(prompt_read(&a->prompt, a->prompt_path, err));
    a->has_prompt = a->prompt_path != NULL;
    TRY(choose_api(o, a, ret_api, err));
    TRY(address_parse(&a->endpoint, url, *ret_api, err));
    TRY(head_init(&a->head, o->request.is_stream, o->key_header, o->headers, o->n_headers, err));
    TRY(choose_model(o, a, model, err));
    return request_sampling(&o->request, &l->tasks, &a->sampling, err);
}

/* What must be the same for a journal to be gone on with. */
static enum status write_header(const struct live *l, const struct live_arm *a, struct buf *ret, struct error *err)
{
    const struct live_options *o = l->options;
    json_t *j =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:f, s:i}", "task set", l->tasks.hash.hex, "prompt",
                  a->has_prompt ? a->prompt.hash.hex : "", "endpoint", a->endpoint.url, "model", a->model, "sampling",
                  buf_text(&a->sampling), "stream", o->request.is_stream, "history",
                  o->load.uses_reference ? "reference" : "own", "sample", o->load.plan.sample, "arms", (int)l->n_arms);
    char *text = j ? json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    json_decref(j);
    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for the journal");
    buf_puts(ret, text);
    free(text);
    return buf_check(ret, err);
}

static enum status open_journal(struct live *l, struct live_arm *a, struct error *err)
{
    AUTO(buf) path = {0};
    AUTO(buf) header = {0};
    uint64_t torn = 0;

    buf_printf(&path, "%s.journal", a->output);
    TRY(buf_check(&path, err));
    TRY(mem_strdup(path.data, &a->journal_path, err));
    TRY(write_header(l, a, &header, err));
    TRY(place_make(a->output, err));
    TRY(run_init(&a->before, err));
    if (l->options->discards && unlink(a->journal_path) && errno != ENOENT)
        return error_set(err, ERR_IO, "'%s': cannot be removed: %s", a->journal_path, strerror(errno));
    if (!l->options->resumes || access(a->journal_path, F_OK))
        return journal_create(&a->journal, a->journal_path, buf_text(&header), err);
    TRY(journal_resume(&a->journal, a->journal_path, buf_text(&header), &a->before, &torn, err));
    l->n_sessions_before = 1;
    message_say("resumed: %zu requests are in '%s'%s", a->before.n_exchanges, a->journal_path,
                torn ? "; one that was being written when it stopped is asked again" : "");
    return OK;
}

static enum status set_up(struct live *l, const char *taskset, const char *prompt, const char *output,
                          struct load_arm *arms, struct error *err)
{
    const struct live_options *o = l->options;
    const struct live_second *s = &o->second;
    size_t i;

    TRY(taskset_read(&l->tasks, taskset, err));
    if (o->load.uses_reference)
        TRY(check_references(&l->tasks, err));
    l->n_arms = o->load.plan.n_arms;
    for (i = 0; i < l->n_arms; i++) {
        struct live_arm *a = &l->arms[i];
        bool is_second = i == 1;
        enum request_api api = REQUEST_CHAT;

        a->output = is_second ? s->output : output;
        a->prompt_path = is_second && s->prompt ? s->prompt : prompt;
        TRY(set_up_arm(l, a, is_second && s->endpoint ? s->endpoint : o->endpoint,
                       is_second && s->model ? s->model : o->model, &api, err));
        TRY(open_journal(l, a, err));
        if (l->n_sessions_before == 0) /* else it is the earlier session's */
            TRY(live_export_check(o, a->output, err));
        arms[i] = (struct load_arm){.url = a->endpoint.url,
                                    .path = a->endpoint.path,
                                    .lines = a->head.lines,
                                    .secret = a->head.secret,
                                    .prompt = a->has_prompt ? &a->prompt : NULL,
                                    .request = o->request,
                                    .journal = &a->journal,
                                    .before = a->before.n_exchanges ? &a->before : NULL};
        arms[i].request.api = api;
        arms[i].request.model = a->model;
    }
    return OK;
}

/* A journal that nothing came into would only be in the way of the next try. */
static void drop_empty_journals(const struct live *l)
{
    size_t i;

    for (i = 0; i < l->n_arms; i++)
        if (l->arms[i].journal.path && l->arms[i].journal.n_exchanges == 0)
            unlink(l->arms[i].journal_path);
}

static enum status hold(struct live *l, const char *taskset, const char *prompt, const char *output, struct error *err)
{
    struct load_arm arms[LIVE_MAX_ARMS] = {{0}};
    struct load_options load = l->options->load;
    enum status st;

    TRY(set_up(l, taskset, prompt, output, arms, err));
    load.on_progress = live_say_progress;
    interrupt_begin();
    st = load_run(&load, &l->tasks, arms, l->n_arms, &l->stats, err);
    interrupt_end();
    message_progress_end();
    TRY(st);
    live_say_load(&load, &l->stats);
    return OK;
}

enum status live_ask(struct live *l, const struct live_options *o, const char *taskset, const char *prompt,
                     const char *output, struct error *err)
{
    enum status st;

    l->options = o;
    if (!taskset)
        return error_set(err, ERR_USAGE, "a live run needs questions: name a task set with --taskset DIR");
    st = hold(l, taskset, prompt, output, err);
    if (st != OK)
        drop_empty_journals(l);
    return st;
}

static bool is_finished(const struct live *l)
{
    return l->stats.end == LOAD_FINISHED;
}

bool live_has_run(const struct live *l, size_t i)
{
    return is_finished(l) || l->arms[i].journal.n_exchanges > 0;
}

enum status live_settle(const struct live *l, struct error *err)
{
    const struct load_stats *s = &l->stats;
    const struct live_arm *failed = &l->arms[s->failed_arm];
    size_t i;

    for (i = 0; is_finished(l) && i < l->n_arms; i++)
        if (unlink(l->arms[i].journal_path))
            return error_set(err, ERR_IO, "'%s': cannot be removed: %s", l->arms[i].journal_path, strerror(errno));
    if (!is_finished(l))
        drop_empty_journals(l);
    if (s->end == LOAD_UNREACHABLE)
        return error_set(err, ERR_IO, "'%s' cannot be reached: %s; what was answered before is kept: --resume goes on",
                         failed->endpoint.url, s->last_failure);
    if (s->end == LOAD_TOO_MANY_ERRORS && s->is_unanswered)
        return error_set(err, ERR_IO,
                         "'%s' answered no request, the last failure: %s; --resume goes on once the cause is mended",
                         failed->endpoint.url, s->last_failure);
    if (s->end == LOAD_TOO_MANY_ERRORS)
        return error_set(err, ERR_IO,
                         "%zu requests failed, more than --max-errors allows, the last one: %s; --resume goes on once "
                         "the cause is mended",
                         s->state.n_failed, s->last_failure);
    if (s->end == LOAD_INTERRUPTED && !live_has_run(l, 0))
        return error_set(err, ERR_NO_VERDICT, "interrupted before anything was finished: there is no run file");
    if (s->end == LOAD_INTERRUPTED)
        return error_set(err, ERR_NO_VERDICT,
                         "interrupted: the run file holds what was finished, marked as partial; --resume goes on");
    return OK;
}
