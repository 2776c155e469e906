#include "core/client/talk.h"

#include "core/base/mem.h"
#include "core/base/scope.h"

#include <stdlib.h>
#include <string.h>

static void forget_replies(struct talk *t)
{
    while (t->n_replies > 0)
        free(t->replies[--t->n_replies]);
}

void talk_begin(struct talk *t, const struct task *task, const struct plan_unit *unit)
{
    forget_replies(t);
    t->unit = *unit;
    t->task = task;
    t->turn = 1;
    t->n_failed_attempts = 0;
    t->is_warmup = false;
    t->next = NULL;
}

void talk_free(struct talk *t)
{
    if (!t)
        return;
    forget_replies(t);
    free(t->replies);
    transfer_done(&t->transfer);
    reply_done(&t->job.reply);
    free(t);
}

enum status talk_keep_reply(struct talk *t, const char *text, struct error *err)
{
    TRY(mem_grow(&t->replies, &t->cap_replies, t->n_replies + 1, sizeof(char *), err));
    TRY(mem_strdup(text, &t->replies[t->n_replies], err));
    t->n_replies++;
    return OK;
}

/* A question that shares no beginning with the task's own, so that it warms no prefix that is measured later. */
static enum status write_warmup(struct talk *t, const struct load_arm *arm, struct error *err)
{
    AUTO(buf) text = {0};
    struct turn turn = t->task->turns[0];
    struct task task = {.id = t->task->id, .turns = &turn, .n_turns = 1};

    buf_printf(&text, "(%lld) %s", (long long)t->unit.repeat, turn.user);
    TRY(buf_check(&text, err));
    turn.user = text.data;
    return request_body(&arm->request, arm->prompt, &task, 1, NULL, &t->transfer.body, err);
}

enum status talk_write(struct talk *t, const struct load_arm *arm, struct error *err)
{
    struct transfer *x = &t->transfer;

    x->url = arm->url;
    x->lines = arm->lines;
    x->secret = arm->secret;
    x->is_stream = arm->request.is_stream;
    x->owner = t;
    buf_clear(&x->body);
    if (t->is_warmup)
        return write_warmup(t, arm, err);
    return request_body(&arm->request, arm->prompt, t->task, t->turn, t->replies, &x->body, err);
}

static int64_t since(int64_t ns, int64_t zero_ns)
{
    return ns == NS_UNKNOWN ? NS_UNKNOWN : ns - zero_ns;
}

static void begin_report(struct talk *t, const struct load_arm *arm)
{
    struct transfer *x = &t->transfer;

    reply_done(&t->job.reply);
    memset(&t->job, 0, sizeof t->job);
    t->job.owner = t;
    t->job.journal = t->is_warmup ? NULL : arm->journal;
    t->job.events = x->events;
    t->job.bytes = (const unsigned char *)buf_text(&x->bytes);
    t->job.exchange = (struct exchange){
        .task = t->task->id,
        .turn = t->turn,
        .repeat = t->unit.repeat,
        .path = (char *)arm->path,
        .request = (char *)buf_text(&x->body),
        .headers = (char *)buf_text(&x->headers),
        .failure = (char *)buf_text(&x->failure),
        .status = x->status,
        .scheduled_ns = NS_UNKNOWN,
        .started_ns = NS_UNKNOWN,
        .sent_ns = NS_UNKNOWN,
        .prompt_tokens = -1,
        .completion_tokens = -1,
        .n_retries = (int64_t)t->n_failed_attempts,
    };
}

void talk_report(struct talk *t, const struct load_arm *arm, int64_t zero_ns)
{
    struct transfer *x = &t->transfer;
    struct exchange *e = &t->job.exchange;
    size_t i;

    begin_report(t, arm);
    e->scheduled_ns = since(x->scheduled_ns, zero_ns);
    e->started_ns = since(x->started_ns, zero_ns);
    e->sent_ns = since(x->sent_ns, zero_ns);
    e->connect_ns = x->connect_ns;
    e->n_events = x->n_events;
    for (i = 0; i < x->n_events; i++)
        x->events[i].t_ns -= zero_ns;
}

void talk_report_not_asked(struct talk *t, const struct load_arm *arm, const char *why)
{
    transfer_reset(&t->transfer);
    t->n_failed_attempts = 0;
    t->why_not_asked = why;
    buf_clear(&t->transfer.body);
    buf_puts(&t->transfer.failure, why);
    begin_report(t, arm);
}

bool talk_was_asked(const struct exchange *x)
{
    return !x->failure || (strcmp(x->failure, TALK_NO_ANSWER) != 0 && strcmp(x->failure, TALK_TOO_LONG) != 0);
}

bool talk_is_settled(const struct reply *r)
{
    return reply_has_answer(r) || r->is_context_overflow;
}
