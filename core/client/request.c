#include "core/client/request.h"

#include "core/base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A JSON value owned for a scope. */
struct value {
    json_t *json;
};

static void value_done(struct value *v)
{
    json_decref(v->json);
}

/* `text` goes in for every placeholder; what it holds itself is not looked at again. */
static void fill(struct buf *ret, const char *pattern, const char *placeholder, const char *text, size_t len)
{
    const char *at;

    while ((at = strstr(pattern, placeholder)) != NULL) {
        buf_append(ret, pattern, (size_t)(at - pattern));
        buf_append(ret, text, len);
        pattern = at + strlen(placeholder);
    }
    buf_puts(ret, pattern);
}

static void fill_reply(struct buf *ret, const char *pattern, const char *reply)
{
    size_t len;

    reply += strspn(reply, " \t\r\n");
    len = strlen(reply);
    while (len && strchr(" \t\r\n", reply[len - 1]))
        len--;
    fill(ret, pattern, "{reply}", reply, len);
}

/* What stands where the prompt states nothing. */
static const char *pattern_or(const struct prompt *p, const char *pattern, const char *other)
{
    return p && pattern[0] ? pattern : other;
}

static void put_documents(struct buf *ret, const struct prompt *p, const struct task *task)
{
    const char *pattern = pattern_or(p, p ? p->document : "", "{text}\n\n");
    size_t i;

    for (i = 0; i < task->n_documents; i++)
        fill(ret, pattern, "{text}", task->documents[i].text, strlen(task->documents[i].text));
}

static void put_completion(struct buf *ret, const struct prompt *p, const struct task *task, size_t turn,
                           char *const *replies)
{
    const char *user = pattern_or(p, p ? p->turn : "", "{user}\n");
    const char *reply = pattern_or(p, p ? p->reply : "", "{reply}\n\n");
    size_t i;

    if (p)
        buf_puts(ret, p->preamble);
    put_documents(ret, p, task);
    for (i = 0; i < turn; i++) {
        fill(ret, user, "{user}", task->turns[i].user, strlen(task->turns[i].user));
        if (i + 1 < turn)
            fill_reply(ret, reply, replies[i]);
    }
}

static enum status add_message(json_t *list, const char *role, const struct buf *text, struct error *err)
{
    TRY(buf_check(text, err));
    if (json_array_append_new(list, json_pack("{s:s, s:s%}", "role", role, "content", buf_text(text), text->len)))
        return error_set(err, ERR_MEMORY, "no memory for a request, or its text is not valid UTF-8");
    return OK;
}

static enum status put_messages(json_t *list, const struct prompt *p, const struct task *task, size_t turn,
                                char *const *replies, struct error *err)
{
    size_t i;

    if (p && p->system[0]) {
        AUTO(buf) text = {0};

        buf_puts(&text, p->system);
        TRY(add_message(list, "system", &text, err));
    }
    for (i = 0; i < turn; i++) {
        AUTO(buf) user = {0};
        AUTO(buf) reply = {0};

        if (i == 0)
            put_documents(&user, p, task);
        buf_puts(&user, task->turns[i].user);
        TRY(add_message(list, "user", &user, err));
        if (i + 1 == turn)
            break;
        fill_reply(&reply, "{reply}", replies[i]);
        TRY(add_message(list, "assistant", &reply, err));
    }
    return OK;
}

static enum status set(json_t *object, const char *key, json_t *value, struct error *err)
{
    if (json_object_set_new(object, key, value))
        return error_set(err, ERR_MEMORY, "no memory for a request, or '%s' is not valid UTF-8", key);
    return OK;
}

/* 0 and 1 as whole numbers, so that equal settings are equal texts whoever wrote them. */
static json_t *number(double x)
{
    return fabs(x) < 1e15 && fabs(x - floor(x)) <= 0 ? json_integer((json_int_t)x) : json_real(x);
}

static enum status set_sampling(json_t *object, const struct request_options *o, struct error *err)
{
    if (!isnan(o->temperature))
        TRY(set(object, "temperature", number(o->temperature), err));
    if (!isnan(o->top_p))
        TRY(set(object, "top_p", number(o->top_p), err));
    return o->seed >= 0 ? set(object, "seed", json_integer(o->seed), err) : OK;
}

static enum status set_limit(json_t *object, const struct request_options *o, int64_t max_tokens, struct error *err)
{
    if (strcmp(o->max_tokens_fields, "max_completion_tokens") != 0)
        TRY(set(object, "max_tokens", json_integer(max_tokens), err));
    if (strcmp(o->max_tokens_fields, "max_tokens") != 0)
        TRY(set(object, "max_completion_tokens", json_integer(max_tokens), err));
    return OK;
}

static enum status set_stop(json_t *object, const struct prompt *p, struct error *err)
{
    json_t *list;
    size_t i;

    if (!p || p->n_stop == 0)
        return OK;
    list = json_array();
    TRY(set(object, "stop", list, err));
    for (i = 0; i < p->n_stop; i++)
        if (json_array_append_new(list, json_string(p->stop[i])))
            return error_set(err, ERR_MEMORY, "no memory for a request");
    return OK;
}

static enum status set_stream(json_t *object, const struct request_options *o, struct error *err)
{
    if (!o->is_stream)
        return OK;
    TRY(set(object, "stream", json_true(), err));
    return o->wants_usage ? set(object, "stream_options", json_pack("{s:b}", "include_usage", 1), err) : OK;
}

static enum status set_rest(json_t *object, const struct request_options *o, struct error *err)
{
    if (o->cache_salt)
        TRY(set(object, "cache_salt", json_string(o->cache_salt), err));
    if (o->extra && json_object_update(object, (json_t *)o->extra))
        return error_set(err, ERR_MEMORY, "no memory for a request");
    return OK;
}

static enum status set_input(json_t *object, const struct request_options *o, const struct prompt *prompt,
                             const struct task *task, size_t turn, char *const *replies, struct error *err)
{
    AUTO(buf) text = {0};
    json_t *list;

    if (o->api == REQUEST_CHAT) {
        list = json_array();
        TRY(set(object, "messages", list, err));
        return put_messages(list, prompt, task, turn, replies, err);
    }
    put_completion(&text, prompt, task, turn, replies);
    TRY(buf_check(&text, err));
    return set(object, "prompt", json_stringn(buf_text(&text), text.len), err);
}

static enum status dump(const json_t *object, size_t flags, struct buf *ret, struct error *err)
{
    char *text = json_dumps(object, flags | JSON_COMPACT | JSON_REAL_PRECISION(15));

    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    buf_puts(ret, text);
    free(text);
    return buf_check(ret, err);
}

enum status request_body(const struct request_options *o, const struct prompt *prompt, const struct task *task,
                         int64_t turn, char *const *replies, struct buf *ret, struct error *err)
{
    AUTO(value) body = {json_object()};
    const struct turn *t = &task->turns[turn - 1];

    if (o->model[0])
        TRY(set(body.json, "model", json_string(o->model), err));
    TRY(set_limit(body.json, o, t->max_tokens ? t->max_tokens : o->max_tokens, err));
    TRY(set_sampling(body.json, o, err));
    TRY(set_input(body.json, o, prompt, task, (size_t)turn, replies, err));
    TRY(set_stop(body.json, prompt, err));
    TRY(set_stream(body.json, o, err));
    TRY(set_rest(body.json, o, err));
    return dump(body.json, 0, ret, err);
}

static bool states_limits(const struct taskset *tasks)
{
    size_t i, k;

    for (i = 0; i < tasks->n_tasks; i++)
        for (k = 0; k < tasks->tasks[i].n_turns; k++)
            if (!tasks->tasks[i].turns[k].max_tokens)
                return false;
    return true;
}

enum status request_sampling(const struct request_options *o, const struct taskset *tasks, struct buf *ret,
                             struct error *err)
{
    AUTO(value) sampling = {json_object()};
    char limit[64] = "per turn";

    if (!states_limits(tasks))
        snprintf(limit, sizeof limit, "per turn, else %lld", (long long)o->max_tokens);
    TRY(set_sampling(sampling.json, o, err));
    TRY(set(sampling.json, "max_tokens", json_string(limit), err));
    if (o->extra && json_object_update(sampling.json, (json_t *)o->extra))
        return error_set(err, ERR_MEMORY, "no memory for the sampling settings");
    return dump(sampling.json, JSON_SORT_KEYS, ret, err);
}
