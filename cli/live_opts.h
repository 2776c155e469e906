/* live_opts.h - the options of `tare run` that are about a live endpoint, as values. */
#ifndef CLI_LIVE_OPTS_H
#define CLI_LIVE_OPTS_H

#include "cli/opt.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/client/load.h"

#include <stdbool.h>
#include <stddef.h>

/* The second arm of --interleave; texts are NULL where it has what the first has. */
struct live_second {
    const char *output, *endpoint, *model, *prompt;
};

struct live_options {
    const char *endpoint, *model; /* endpoint NULL: no live run; model NULL: ask the server */
    const char *api;              /* "chat", "completions", or NULL: as the prompt says     */
    const char *key_header, *export_dir, *tokens_from;
    const char *const *headers;
    size_t n_headers;
    struct request_options request; /* model and api are not settled yet */
    struct load_options load;
    struct live_second second;
    struct json extra;      /* owned: of --extra */
    size_t keep_bodies;     /* exchanges whose bytes go into the run file; SIZE_MAX: all */
    bool resumes, discards; /* --resume, --no-resume */
};

void live_options_done(struct live_options *l);

/* ERR_USAGE for what makes no sense, also for options of a live run without --endpoint. */
MUST_CHECK enum status live_options_read(struct live_options *l, const struct opts *o, uint64_t seed,
                                         struct error *err);

/* Rows for the table of options. */
#define LIVE_TEXT(n, v, k, h)                                                                                          \
    {                                                                                                                  \
        .name = (n), .kind = OPT_TEXT, .value = (v), .key = (k), .help = (h)                                           \
    }
#define LIVE_FLAG(n, k, h)                                                                                             \
    {                                                                                                                  \
        .name = (n), .kind = OPT_FLAG, .key = (k), .help = (h)                                                         \
    }
#define LIVE_OPTIONS                                                                                                   \
    LIVE_TEXT("endpoint", "URL", "endpoint", "ask a live OpenAI-compatible server: http://127.0.0.1:8000/v1"),         \
        LIVE_TEXT("model", "NAME", "model", "model to ask for (default: the one that the server has)"),                \
        LIVE_TEXT("api", "chat|completions", "api", "which route (default: as the prompt says, else chat)"),           \
        LIVE_FLAG("stream", "stream", "ask for streams (default); --no-stream asks for whole replies"),                \
        LIVE_TEXT("temperature", "X", "temperature", "sampling temperature, or none (default: 0)"),                    \
        LIVE_TEXT("top-p", "X", "top_p", "nucleus sampling (default: the server's)"),                                  \
        LIVE_TEXT("request-seed", "N", "request_seed", "seed that the server is given (default: none)"),               \
        LIVE_TEXT("max-tokens", "N", "max_tokens", "tokens of a reply where the turn states none (default: 256)"),     \
        LIVE_TEXT("max-tokens-field", "max_tokens|max_completion_tokens|both", "max_tokens_field",                     \
                  "name under which it is sent (default: max_tokens)"),                                                \
        LIVE_FLAG("usage", "usage", "ask for token counts in streams (default); --no-usage does not"),                 \
        LIVE_TEXT("extra", "FILE", "extra", "JSON object whose members are added to each request"),                    \
        {.name = "header",                                                                                             \
         .kind = OPT_LIST,                                                                                             \
         .value = "LINE",                                                                                              \
         .help = "request header, 'Name: value'; keys come from TARE_API_KEY or OPENAI_API_KEY alone"},                \
        LIVE_TEXT("key-header", "NAME", "key_header", "header for the bare key (default: Authorization: Bearer)"),     \
        LIVE_TEXT("cache-salt", "TEXT", "cache_salt",                                                                  \
                  "sent as cache_salt: requests share no prefix cache with others"),                                   \
        LIVE_TEXT("history", "own|reference", "history", "earlier replies in a conversation (default: own)"),          \
        LIVE_TEXT("concurrency", "N", "concurrency", "conversations at once (default: 1; with --rate: 10000)"),        \
        LIVE_TEXT("rate", "R", "rate", "begin R conversations a second, whatever the server does: open loop"),         \
        LIVE_TEXT("arrivals", "constant|poisson|gamma", "arrivals", "gaps of an open loop (default: poisson)"),        \
        LIVE_TEXT("burstiness", "K", "burstiness", "shape of gamma gaps: 1 is poisson, less is burstier"),             \
        LIVE_TEXT("max-rate", "R", "max_rate", "begin at most R requests a second"),                                   \
        LIVE_TEXT("repeat", "N", "repeat", "ask every task N times (default: 1; with --duration: without end)"),       \
        LIVE_TEXT("warmup", "N", "warmup", "requests before the first that counts (default: 0)"),                      \
        LIVE_TEXT("duration", "TIME", "duration", "begin nothing after that time: 90s, 5m"),                           \
        LIVE_TEXT("max-requests", "N", "max_requests", "send at most so many"),                                        \
        LIVE_TEXT("sample", "P%", "sample", "only so many of the tasks, by their ids: the same ones every time"),      \
        LIVE_FLAG("shuffle", "shuffle", "another order of tasks for each repeat, by --seed"),                          \
        LIVE_TEXT("interleave", "RUN", NULL, "a second run file, asked in turns with the first, in blocks"),           \
        LIVE_TEXT("interleave-endpoint", "URL", NULL, "endpoint of the second (default: the same)"),                   \
        LIVE_TEXT("interleave-model", "NAME", NULL, "model of the second (default: the same)"),                        \
        LIVE_TEXT("interleave-prompt", "FILE", NULL, "prompt version of the second (default: the same)"),              \
        LIVE_TEXT("block", "N", NULL, "tasks in a block of --interleave (default: 8)"),                                \
        LIVE_TEXT("connect-timeout", "TIME", "connect_timeout", "until a connection stands (default: 10s)"),           \
        LIVE_TEXT("first-token-timeout", "TIME", "first_token_timeout", "from sending to content (default: 5m)"),      \
        LIVE_TEXT("idle-timeout", "TIME", "idle_timeout", "between two reads of a reply (default: 60s)"),              \
        LIVE_TEXT("timeout", "TIME", "timeout", "for a whole request (default: 10m)"),                                 \
        LIVE_TEXT("retries", "N", "retries", "attempts more where a server is busy or away (default: 3)"),             \
        LIVE_TEXT("max-retry-wait", "TIME", "max_retry_wait",                                                          \
                  "longest wait before one; a server that asks for more is not asked again (default: 60s)"),           \
        LIVE_TEXT("max-errors", "N|P%", "max_errors", "requests that may fail before it ends (default: 10%)"),         \
        LIVE_TEXT("max-reply-bytes", "SIZE", "max_reply_bytes",                                                        \
                  "longest reply that is read, at most 64M (default: 16M)"),                                           \
        LIVE_TEXT("cacert", "FILE", "cacert", "certificates to trust instead of the system's"),                        \
        LIVE_FLAG("insecure", "insecure", "do not check the server's certificate"),                                    \
        LIVE_FLAG("resume", NULL, "go on with an interrupted run; --no-resume discards its journal"),                  \
        LIVE_TEXT("export-recording", "DIR", NULL, "write the replies as a recording too, for --replay"),              \
        LIVE_TEXT("keep-bodies", "all|N|none", "keep_bodies", "replies whose bytes go into the run (default: all)"),   \
        LIVE_TEXT("count-tokens", "auto|server|estimate|none", "count_tokens",                                         \
                  "how prompts are counted, to see silent truncation (default: auto)")

#endif
