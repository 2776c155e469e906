#include "tests/mock/mock_answer.h"

#include "tests/mock/mock_reply.h"

#include <string.h>

enum { TOLD_TOKENS = 4096 };

/* The script's nth line; empty behind its end. */
static const char *script_line(const char *script, uint64_t nth, size_t *ret_len)
{
    while (script && --nth) {
        script = strchr(script, '\n');
        script = script ? script + 1 : NULL;
    }
    *ret_len = script ? strcspn(script, "\n") : 0;
    return script ? script : "";
}

static const char *in_message(const struct mock_request *r, size_t *ret_len)
{
    const char *at = strstr(buf_text(&r->last), "[mock:"), *end = at ? strchr(at, ']') : NULL;

    *ret_len = end ? (size_t)(end - at) - 6 : 0;
    return end ? at + 6 : "";
}

enum status mock_answer_spec(struct mock_spec *spec, const struct mock_opts *opts, const struct mock_request *request,
                             uint64_t nth, struct error *err)
{
    const char *words, *colon = strchr(buf_text(&request->model), ':');
    size_t len;

    mock_spec_init(spec);
    if (opts->spec)
        TRY(mock_spec_read(spec, opts->spec, strlen(opts->spec), err));
    words = script_line(opts->script, nth, &len);
    TRY(mock_spec_read(spec, words, len, err));
    if (colon)
        TRY(mock_spec_read(spec, colon + 1, strlen(colon + 1), err));
    words = in_message(request, &len);
    TRY(mock_spec_read(spec, words, len, err));
    return mock_spec_read(spec, buf_text(&request->header), request->header.len, err);
}

int64_t mock_answer_seen(struct mock_seen *seen, struct mock_spec *spec, const struct mock_request *request)
{
    size_t at = (size_t)(request->prompt_hash % MOCK_SEEN), i;
    bool is_known;

    for (i = 0; i < MOCK_SEEN && seen->count[at] && seen->hash[at] != request->prompt_hash; i++)
        at = (at + 1) % MOCK_SEEN;
    is_known = seen->count[at] > 0 && seen->hash[at] == request->prompt_hash;
    seen->hash[at] = request->prompt_hash;
    seen->count[at]++;
    if (spec->until && seen->count[at] > spec->until)
        spec->what = DO_NORMAL;
    if (!spec->has_cache)
        return spec->cached ? (int64_t)spec->cached : -1;
    if (is_known)
        spec->first_ns /= 4;
    return is_known ? request->prompt_tokens - 1 : 0;
}

static void put_models(struct buf *json, const struct mock_opts *opts)
{
    buf_puts(json, "{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\",\"owned_by\":\"tests\"");
    if (!opts->is_bare && opts->context_limit > 0)
        buf_printf(json, ",\"max_model_len\":%lld", (long long)opts->context_limit);
    buf_puts(json, "}]}");
}

static void put_tokens(struct buf *json, const struct mock_opts *opts, int64_t n)
{
    int64_t i;

    buf_printf(json, "{\"count\":%lld,\"max_model_len\":%lld,\"tokens\":[", (long long)n,
               (long long)opts->context_limit);
    for (i = 0; i < n && i < TOLD_TOKENS; i++)
        buf_printf(json, "%s%lld", i ? "," : "", (long long)i);
    buf_puts(json, "]}");
}

static bool is_key_wrong(const struct mock_opts *opts, const struct mock_request *request)
{
    const char *auth = buf_text(&request->auth);

    return opts->api_key && (strncmp(auth, "Bearer ", 7) != 0 || strcmp(auth + 7, opts->api_key) != 0);
}

static int64_t put_simple(struct buf *json, const struct mock_opts *opts, const struct mock_request *request)
{
    if (is_key_wrong(opts, request)) {
        buf_puts(json, "{\"error\":{\"message\":\"wrong API key\",\"type\":\"invalid_request_error\",\"code\":"
                       "\"invalid_api_key\"}}");
        return 401;
    }
    if (request->path == PATH_MODELS)
        put_models(json, opts);
    else if (request->path == PATH_HEALTH)
        buf_puts(json, "{\"status\":\"ok\"}");
    else if (request->path == PATH_PROPS && !opts->is_bare)
        buf_printf(json, "{\"default_generation_settings\":{\"n_ctx\":%lld},\"total_slots\":1}",
                   (long long)opts->context_limit);
    else if (request->path == PATH_TOKENIZE && !opts->is_bare)
        put_tokens(json, opts, request->prompt_tokens);
    else
        buf_puts(json, "{\"detail\":\"Not Found\"}");
    return strncmp(buf_text(json), "{\"detail\"", 9) == 0 ? 404 : 200;
}

bool mock_answer_simple(struct buf *out, const struct mock_opts *opts, const struct mock_request *request)
{
    struct buf json = {0};
    bool is_completion = request->path == PATH_CHAT || request->path == PATH_COMPLETIONS;
    int64_t status;

    if (is_completion && !is_key_wrong(opts, request)) {
        if (!request->is_bad_json)
            return false;
        mock_reply_simple(out, 400, "{\"error\":{\"message\":\"the body is no JSON object\"}}", request->is_keep_alive);
        return true;
    }
    status = put_simple(&json, opts, request);
    mock_reply_simple(out, status, buf_text(&json), request->is_keep_alive);
    buf_done(&json);
    return true;
}
