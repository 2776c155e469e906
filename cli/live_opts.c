#include "cli/live_opts.h"

#include "cli/interrupt.h"
#include "core/base/num.h"
#include "core/client/sse.h"
#include "core/io/texts.h"

#include <math.h>
#include <string.h>

void live_options_done(struct live_options *l)
{
    json_done(&l->extra);
}

/* The number at the beginning of `text`, and the unit after it. */
static bool split(const char *text, double *ret, const char **ret_unit)
{
    size_t n = strspn(text, "0123456789.");
    char digits[40] = "";

    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    *ret_unit = text + n;
    return num_double(digits, ret);
}

static enum status read_time(const struct opts *o, const char *name, int64_t other_ns, int64_t *ret, struct error *err)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 6e10}, {"h", 3.6e12}};
    const char *text = opts_text(o, name, NULL), *unit = "";
    double number = 0;
    size_t i;

    *ret = other_ns;
    if (!text)
        return OK;
    for (i = 0; split(text, &number, &unit) && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0 && number * units[i].ns < 1e18) {
            *ret = (int64_t)(number * units[i].ns);
            return OK;
        }
    return error_set(err, ERR_USAGE, "--%s '%.40s' is no time: write it as 500ms, 90s, 5m or 1h", name, text);
}

static enum status read_number(const struct opts *o, const char *name, double min, double other, double *ret,
                               struct error *err)
{
    const char *text = opts_text(o, name, NULL);

    *ret = other;
    if (!text)
        return OK;
    if (!num_double(text, ret) || *ret < min || *ret > 1e12)
        return error_set(err, ERR_USAGE, "--%s '%.40s' is no number of at least %g", name, text, min);
    return OK;
}

/* "5%" or "0.05" */
static enum status read_share(const char *text, const char *name, double *ret, struct error *err)
{
    const char *unit = "";
    double number = 0;

    if (split(text, &number, &unit) && (strcmp(unit, "%") == 0 || unit[0] == '\0')) {
        if (unit[0])
            number /= 100;
        if (number >= 0 && number <= 1) {
            *ret = number;
            return OK;
        }
    }
    return error_set(err, ERR_USAGE, "--%s '%.40s' is no share: write it as 5%%, between 0 and 100", name, text);
}

static enum status read_word(const struct opts *o, const char *name, const char *words, const char *other,
                             const char **ret, struct error *err)
{
    const char *text = opts_text(o, name, other), *at = words;
    size_t len = text ? strlen(text) : 0;

    *ret = text;
    if (!text)
        return OK;
    while ((at = strstr(at, text)) != NULL) {
        if (len && (at == words || at[-1] == '|') && (at[len] == '|' || at[len] == '\0'))
            return OK;
        at++;
    }
    return error_set(err, ERR_USAGE, "--%s '%.40s' is none of %s", name, text, words);
}

static enum status read_words(const struct opts *o, const char *name, const char **ret, struct error *err)
{
    *ret = opts_text(o, name, NULL);
    if (*ret && !texts_is_utf8(*ret, strlen(*ret)))
        return error_set(err, ERR_USAGE, "--%s is no valid UTF-8", name);
    return OK;
}

/* What the run itself says of a request must be true of it. */
static enum status read_extra(struct live_options *l, const char *file, struct error *err)
{
    static const struct {
        const char *key, *from;
    } ours[] = {{"model", "--model gives it"},
                {"messages", "the task set gives them"},
                {"prompt", "the task set gives it"},
                {"stream", "--stream and --no-stream give it"}};
    size_t i;

    TRY(json_read(&l->extra, file, (size_t)1 << 20, err));
    if (!json_is_object(l->extra.root))
        return error_set(err, ERR_USAGE, "'%s': --extra takes a JSON object, whose members are added to each request",
                         file);
    for (i = 0; i < sizeof ours / sizeof *ours; i++)
        if (json_object_get(l->extra.root, ours[i].key))
            return error_set(err, ERR_USAGE, "'%s': --extra cannot set '%s': %s", file, ours[i].key, ours[i].from);
    l->request.extra = l->extra.root;
    return OK;
}

static enum status read_request(struct live_options *l, const struct opts *o, struct error *err)
{
    struct request_options *r = &l->request;
    const char *file = opts_text(o, "extra", NULL), *temperature = opts_text(o, "temperature", "0");
    uint64_t max_tokens, seed;

    r->is_stream = opts_flag(o, "stream") || !opts_given(o, "stream");
    r->wants_usage = opts_flag(o, "usage") || !opts_given(o, "usage");
    r->temperature = NAN;
    if (strcmp(temperature, "none") != 0)
        TRY(read_number(o, "temperature", 0, 0, &r->temperature, err));
    TRY(read_number(o, "top-p", 0, NAN, &r->top_p, err));
    TRY(opts_u64(o, "request-seed", 0, INT64_MAX, 0, &seed, err));
    r->seed = opts_given(o, "request-seed") ? (int64_t)seed : -1;
    TRY(opts_u64(o, "max-tokens", 1, INT32_MAX, 256, &max_tokens, err));
    r->max_tokens = (int64_t)max_tokens;
    TRY(read_word(o, "max-tokens-field", "max_tokens|max_completion_tokens|both", "max_tokens", &r->max_tokens_fields,
                  err));
    TRY(read_words(o, "cache-salt", &r->cache_salt, err));
    return file ? read_extra(l, file, err) : OK;
}

static enum status read_arrivals(struct plan_options *p, const struct opts *o, struct error *err)
{
    const char *word = "";

    TRY(read_number(o, "rate", 1e-6, 0, &p->rate, err));
    TRY(read_number(o, "burstiness", 1e-3, 1, &p->shape, err));
    TRY(read_word(o, "arrivals", "constant|poisson|gamma", opts_given(o, "burstiness") ? "gamma" : "poisson", &word,
                  err));
    if (opts_given(o, "burstiness") && strcmp(word, "gamma") != 0)
        return error_set(err, ERR_USAGE, "--burstiness is of gamma arrivals, not of '%s' ones", word);
    if (p->rate > 0)
        p->arrivals = word[0] == 'c' ? ARRIVE_CONSTANT : word[0] == 'p' ? ARRIVE_POISSON : ARRIVE_GAMMA;
    else if (opts_given(o, "arrivals") || opts_given(o, "burstiness"))
        return error_set(err, ERR_USAGE, "--arrivals and --burstiness are of an open loop: name a --rate too");
    return OK;
}

static enum status read_plan(struct live_options *l, const struct opts *o, uint64_t seed, struct error *err)
{
    struct plan_options *p = &l->load.plan;
    const char *sample = opts_text(o, "sample", NULL);
    bool is_bounded = opts_given(o, "duration") || opts_given(o, "max-requests");
    uint64_t repeats, block;

    p->seed = l->load.seed = seed;
    p->sample = 1;
    if (sample)
        TRY(read_share(sample, "sample", &p->sample, err));
    if (p->sample <= 0)
        return error_set(err, ERR_USAGE, "--sample '%.40s' leaves no task: take more than 0", sample);
    TRY(opts_u64(o, "repeat", 1, INT32_MAX, is_bounded ? 0 : 1, &repeats, err));
    p->repeats = (size_t)repeats;
    p->shuffles = opts_flag(o, "shuffle");
    TRY(opts_u64(o, "block", 1, INT32_MAX, 8, &block, err));
    p->block = (size_t)block;
    p->n_arms = l->second.output ? 2 : 1;
    return read_arrivals(p, o, err);
}

static enum status read_bounds(struct live_options *l, const struct opts *o, struct error *err)
{
    struct load_options *d = &l->load;
    const char *errors = opts_text(o, "max-errors", "10%");
    uint64_t n;

    TRY(opts_u64(o, "concurrency", 1, 100000, d->plan.rate > 0 ? 10000 : 1, &n, err));
    d->concurrency = (size_t)n;
    TRY(read_number(o, "max-rate", 1e-6, 0, &d->max_rate, err));
    TRY(opts_u64(o, "warmup", 0, 1000000, 0, &n, err));
    d->warmup = (size_t)n;
    TRY(read_time(o, "duration", 0, &d->duration_ns, err));
    TRY(opts_u64(o, "max-requests", 1, INT64_MAX, 0, &n, err));
    d->max_requests = (size_t)n;
    TRY(opts_u64(o, "retries", 0, 1000, 3, &n, err));
    d->max_retries = (size_t)n;
    TRY(read_time(o, "max-retry-wait", (int64_t)60000000000, &d->max_wait_ns, err));
    d->max_errors = SIZE_MAX;
    if (strchr(errors, '%'))
        return read_share(errors, "max-errors", &d->max_error_share, err);
    TRY(opts_u64(o, "max-errors", 0, INT64_MAX, 0, &n, err));
    d->max_errors = (size_t)n;
    return OK;
}

static enum status read_transport(struct live_options *l, const struct opts *o, struct error *err)
{
    struct transport_options *t = &l->load.transport;
    uint64_t bytes;

    TRY(read_time(o, "connect-timeout", (int64_t)10000000000, &t->connect_ns, err));
    TRY(read_time(o, "first-token-timeout", (int64_t)300000000000, &t->first_ns, err));
    TRY(read_time(o, "idle-timeout", (int64_t)60000000000, &t->idle_ns, err));
    TRY(read_time(o, "timeout", (int64_t)600000000000, &t->total_ns, err));
    TRY(opts_bytes(o, "max-reply-bytes", (uint64_t)16 << 20, &bytes, err));
    if (bytes > SSE_EVENT_LIMIT) /* what is kept must be readable, were it one event */
        return error_set(err, ERR_USAGE, "--max-reply-bytes '%.40s' is more than 64M",
                         opts_text(o, "max-reply-bytes", ""));
    t->max_reply_bytes = (size_t)bytes;
    t->max_streams = l->load.concurrency;
    t->cacert = opts_text(o, "cacert", NULL);
    t->is_insecure = opts_flag(o, "insecure");
    return OK;
}

static enum status read_keep(struct live_options *l, const struct opts *o, struct error *err)
{
    const char *text = opts_text(o, "keep-bodies", "all");
    uint64_t n = 0;

    if (strcmp(text, "all") != 0 && strcmp(text, "none") != 0 && !num_u64(text, &n))
        return error_set(err, ERR_USAGE, "--keep-bodies '%.40s' is neither all, none nor a number of replies", text);
    l->keep_bodies = strcmp(text, "all") == 0 ? SIZE_MAX : (size_t)n;
    return OK;
}

/* What only a live run has, without one: a forgotten --endpoint should not pass in silence. */
static enum status refuse_alone(const struct opts *o, struct error *err)
{
    static const char *const names[] = {"concurrency",  "rate",   "repeat",     "duration",         "warmup",
                                        "max-requests", "sample", "interleave", "export-recording", "resume"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (opts_given(o, names[i]))
            return error_set(err, ERR_USAGE, "--%s is of a live run: name the server with --endpoint URL", names[i]);
    return OK;
}

enum status live_options_read(struct live_options *l, const struct opts *o, uint64_t seed, struct error *err)
{
    const char *history = "";

    l->endpoint = opts_text(o, "endpoint", NULL);
    if (!l->endpoint)
        return refuse_alone(o, err);
    if (opts_text(o, "replay", NULL))
        return error_set(err, ERR_USAGE, "--endpoint and --replay both give replies: name one of them");
    TRY(read_words(o, "model", &l->model, err));
    TRY(read_word(o, "api", "chat|completions", NULL, &l->api, err));
    l->key_header = opts_text(o, "key-header", NULL);
    l->export_dir = opts_text(o, "export-recording", NULL);
    l->headers = opts_list(o, "header", &l->n_headers);
    l->second = (struct live_second){.output = opts_text(o, "interleave", NULL),
                                     .endpoint = opts_text(o, "interleave-endpoint", NULL),
                                     .prompt = opts_text(o, "interleave-prompt", NULL)};
    TRY(read_words(o, "interleave-model", &l->second.model, err));
    if (!l->second.output && (l->second.endpoint || l->second.model || l->second.prompt))
        return error_set(err, ERR_USAGE, "--interleave-… is of a second run: name its file with --interleave RUN");
    l->resumes = opts_flag(o, "resume");
    l->discards = opts_given(o, "resume") && !l->resumes;
    TRY(read_request(l, o, err));
    TRY(read_plan(l, o, seed, err));
    TRY(read_bounds(l, o, err));
    TRY(read_transport(l, o, err));
    TRY(read_keep(l, o, err));
    TRY(read_word(o, "count-tokens", "auto|server|estimate|none", "auto", &l->tokens_from, err));
    l->load.stop = &interrupt_level;
    TRY(read_word(o, "history", "own|reference", "own", &history, err));
    l->load.uses_reference = history[0] == 'r';
    return OK;
}
