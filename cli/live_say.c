#include "cli/live_say.h"

#include "cli/message.h"
#include "core/base/buf.h"
#include "core/base/scope.h"

#include <math.h>
#include <unistd.h>

/* Between two lines where there is no terminal. */
#define LINE_NS ((int64_t)10000000000)

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void describe(struct buf *b, const struct load_state *s)
{
    double elapsed = seconds(s->elapsed_ns);

    if (s->n_total == SIZE_MAX)
        buf_printf(b, "%zu conversations", s->n_done);
    else
        buf_printf(b, "%zu of %zu conversations", s->n_done, s->n_total);
    buf_printf(b, ", %zu requests", s->n_sent);
    if (elapsed > 0)
        buf_printf(b, " (%.3g/s)", (double)(s->n_answered + s->n_failed) / elapsed);
    if (!isnan(s->mean_ttft_ms))
        buf_printf(b, ", first token after %.*f ms", s->mean_ttft_ms < 100 ? 1 : 0, s->mean_ttft_ms);
    buf_printf(b, ", %zu error%s", s->n_failed, s->n_failed == 1 ? "" : "s");
    if (s->n_retries)
        buf_printf(b, ", %zu retried", s->n_retries);
    if (s->left_ns > 0)
        buf_printf(b, ", %.0f s left", seconds(s->left_ns));
}

void live_say_progress(void *ctx, const struct load_state *s)
{
    static int64_t said_ns;
    AUTO(buf) line = {0};

    (void)ctx;
    if (s->elapsed_ns < said_ns)
        said_ns = 0;
    if (!isatty(STDERR_FILENO) && s->elapsed_ns - said_ns < LINE_NS)
        return;
    said_ns = s->elapsed_ns;
    describe(&line, s);
    if (isatty(STDERR_FILENO))
        message_progress("%s", buf_text(&line));
    else
        message_say("%s", buf_text(&line));
}

void live_say_load(const struct load_options *o, const struct load_stats *s)
{
    message_say("%zu requests sent in %.3g s, %zu answered, %zu failed, %zu retried", s->state.n_sent,
                seconds(s->ended_ns - s->began_ns), s->state.n_answered, s->state.n_failed, s->state.n_retries);
    if (s->offered_rate > 0)
        message_say("conversations begun: %.4g/s of %.4g/s scheduled", s->achieved_rate, s->offered_rate);
    if (!isnan(s->mean_active))
        message_say("on their way at once: %.3g%s%zu, at most %zu", s->mean_active,
                    isnan(s->mean_wanted) ? ", asked for up to " : " of ", o->concurrency, s->max_active);
    message_say("tare itself: reads waited %.3g ms (P50), %.3g ms (P99); timers %.3g ms late (P99); busy %.0f %%",
                (double)s->lag_p50_ns / 1e6, (double)s->lag_p99_ns / 1e6, (double)s->timer_p99_ns / 1e6, s->busy * 100);
}
