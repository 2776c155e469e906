#include "core/io/recording_write.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/base64.h"
#include "core/io/recording.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A JSON value owned for a scope. */
struct node {
    json_t *json;
};

static void node_done(struct node *n)
{
    json_decref(n->json);
}

static enum status no_memory(struct error *err)
{
    return error_set(err, ERR_MEMORY, "no memory for a recording");
}

static enum status put(json_t *object, const char *key, json_t *value, struct error *err)
{
    return json_object_set_new(object, key, value) ? no_memory(err) : OK;
}

static enum status put_text(json_t *object, const char *key, const char *text, struct error *err)
{
    return text && text[0] ? put(object, key, json_string(text), err) : OK;
}

static enum status put_number(json_t *object, const char *key, int64_t n, bool is_known, struct error *err)
{
    return is_known ? put(object, key, json_integer(n), err) : OK;
}

static enum status dump(const json_t *value, size_t flags, struct buf *ret, struct error *err)
{
    char *text = json_dumps(value, flags | JSON_REAL_PRECISION(15));

    if (!text)
        return no_memory(err);
    buf_puts(ret, text);
    buf_putc(ret, '\n');
    free(text);
    return buf_check(ret, err);
}

/* The request as JSON where it is some, else as a text. */
static json_t *request_of(const struct exchange *x)
{
    json_t *request = json_loads(x->request ? x->request : "", 0, NULL);

    return request && json_is_object(request) ? request : (json_decref(request), json_string(x->request));
}

static enum status put_headers(json_t *meta, const char *headers, struct error *err)
{
    json_t *list = json_array();

    TRY(put(meta, "headers", list, err));
    while (headers && *headers) {
        size_t len = strcspn(headers, "\n");

        if (len && json_array_append_new(list, json_stringn(headers, len)))
            return no_memory(err);
        headers += len + (headers[len] == '\n');
    }
    return OK;
}

/* What the server counted in another request, kept by the recorders. */
static enum status put_usage(json_t *meta, const struct exchange *x, struct error *err)
{
    json_t *usage = json_object();

    TRY(put_number(usage, "prompt_tokens", x->prompt_tokens, x->prompt_tokens >= 0, err));
    TRY(put_number(usage, "completion_tokens", x->completion_tokens, x->completion_tokens >= 0, err));
    if (json_object_size(usage))
        return put(meta, "usage", usage, err);
    json_decref(usage);
    return OK;
}

static enum status put_meta(struct buf *file, const struct exchange *x, struct error *err)
{
    AUTO(node) line = {json_object()};
    json_t *meta = json_object();

    TRY(put(line.json, "meta", meta, err));
    TRY(put_text(meta, "path", x->path, err));
    TRY(put(meta, "request", request_of(x), err));
    TRY(put_number(meta, "sent_ns", x->sent_ns, x->sent_ns != NS_UNKNOWN, err));
    TRY(put_number(meta, "scheduled_ns", x->scheduled_ns, x->scheduled_ns != NS_UNKNOWN, err));
    TRY(put_number(meta, "started_ns", x->started_ns, x->failure && x->started_ns != NS_UNKNOWN, err));
    TRY(put_number(meta, "connect_ns", x->connect_ns, x->connect_ns > 0, err));
    TRY(put_number(meta, "n_retries", x->n_retries, x->n_retries > 0, err));
    TRY(put_number(meta, "tokens_sent", x->tokens_sent, x->tokens_sent > 0, err));
    if (x->tokens_sent_is_estimate)
        TRY(put(meta, "tokens_sent_is_estimate", json_true(), err));
    if (x->is_redacted)
        TRY(put(meta, "is_redacted", json_true(), err));
    TRY(put(meta, "framing", json_string(x->has_http_head ? "http" : "body"), err));
    TRY(put_number(meta, "status", x->status, x->status > 0, err));
    TRY(put_headers(meta, x->headers, err));
    TRY(put_usage(meta, x, err));
    if (x->failure)
        TRY(put(meta, "failure", json_string(x->failure), err));
    return dump(line.json, JSON_COMPACT, file, err);
}

static void put_event(struct buf *file, const struct read_event *e, const unsigned char *bytes)
{
    buf_printf(file, "{\"t_ns\":%lld,\"b64\":\"", (long long)e->t_ns);
    base64_encode(bytes + e->offset, (size_t)e->len, file);
    buf_puts(file, "\"}\n");
}

static enum status name_of(const struct exchange *x, struct buf *ret, struct error *err)
{
    buf_printf(ret, "%s.%lld", x->task, (long long)x->turn);
    if (x->repeat > 1)
        buf_printf(ret, ".r%lld", (long long)x->repeat);
    buf_puts(ret, ".jsonl");
    return buf_check(ret, err);
}

static enum status write_exchange(const struct run *run, const struct exchange *x, const char *dir, json_t *files,
                                  struct error *err)
{
    AUTO(buf) name = {0};
    AUTO(buf) path = {0};
    AUTO(buf) file = {0};
    size_t i;

    TRY(name_of(x, &name, err));
    buf_printf(&path, "%s/%s", dir, name.data);
    TRY(buf_check(&path, err));
    TRY(put_meta(&file, x, err));
    for (i = 0; i < x->n_events; i++)
        put_event(&file, &run->events[x->first_event + i], run->bytes);
    TRY(buf_check(&file, err));
    TRY(file_write(path.data, file.data, file.len, err));
    return json_array_append_new(files, json_pack("{s:s, s:s, s:I, s:I}", "file", name.data, "task", x->task, "turn",
                                                  (json_int_t)x->turn, "repeat", (json_int_t)x->repeat))
               ? no_memory(err)
               : OK;
}

static enum status put_place(json_t *top, const struct place *p, struct error *err)
{
    json_t *place = json_object();

    TRY(put(top, "observed_on", place, err));
    TRY(put_text(place, "host", p->host, err));
    TRY(put_text(place, "os", p->os, err));
    TRY(put_text(place, "cpu", p->cpu, err));
    TRY(put_number(place, "cores", p->cores, p->cores > 0, err));
    TRY(put_text(place, "gpu", p->gpu, err));
    TRY(put_text(place, "driver", p->driver, err));
    TRY(put_text(place, "server", p->server, err));
    return put_text(place, "when_utc", p->when_utc, err);
}

static enum status put_json(json_t *top, const char *key, const char *text, struct error *err)
{
    json_t *value = text[0] ? json_loads(text, 0, NULL) : NULL;

    return value ? put(top, key, value, err) : OK;
}

static enum status put_provenance(json_t *top, const struct provenance *p, struct error *err)
{
    TRY(put(top, "schema", json_integer(RECORDING_SCHEMA), err));
    TRY(put_text(top, "taskset", p->taskset_name, err));
    TRY(put_text(top, "taskset_sha256", p->taskset_hash.hex, err));
    TRY(put_text(top, "prompt_version", p->prompt_version, err));
    TRY(put_text(top, "prompt_sha256", p->prompt_hash.hex, err));
    TRY(put_text(top, "model_asked", p->model_asked, err));
    TRY(put_text(top, "weights_version", p->weights_version, err));
    TRY(put_text(top, "weights_sha256", p->weights_sha256, err));
    TRY(put_json(top, "sampling", p->sampling, err));
    TRY(put_number(top, "context_limit", p->context_limit, p->context_limit > 0, err));
    TRY(put_json(top, "load", p->load, err));
    if (p->load[0])
        TRY(put(top, "is_complete", json_boolean(p->is_complete), err));
    if (p->is_client_bound)
        TRY(put(top, "is_client_bound", json_true(), err));
    return put_place(top, &p->observed_on, err);
}

enum status recording_write(const struct run *run, const char *dir, struct error *err)
{
    AUTO(node) top = {json_object()};
    AUTO(buf) path = {0};
    AUTO(buf) text = {0};
    json_t *files;
    size_t i;

    TRY(put_provenance(top.json, &run->provenance, err));
    files = json_array();
    TRY(put(top.json, "files", files, err));
    TRY(dir_make(dir, err));
    for (i = 0; i < run->n_exchanges; i++)
        TRY(write_exchange(run, &run->exchanges[i], dir, files, err));
    buf_printf(&path, "%s/manifest.json", dir);
    TRY(buf_check(&path, err));
    TRY(dump(top.json, JSON_INDENT(2), &text, err));
    return file_write(path.data, text.data, text.len, err);
}
