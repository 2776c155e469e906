#include "core/metrics/metric.h"

#include <math.h>

static double context_truncated(const struct reply_view *view)
{
    const struct reply *r = view->reply;

    if (r->is_context_overflow || reply_was_cut_short(r))
        return 1;
    if (!reply_has_answer(r) || r->prompt_tokens < 0 || view->provenance->context_limit <= 0)
        return NAN;
    return r->prompt_tokens >= view->provenance->context_limit;
}

const struct metric metric_context_truncated = {
    .name = "context.truncated",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where the server cut or refused the prompt for its length, else 0",
    .definition =
        "1 when the server refused the prompt because it is too long, read as many tokens as its limit allows "
        "(it cannot have read more), or read clearly fewer than were sent where those were counted exactly "
        "(by more than 2 % and 8 tokens); 0 when a reply came and the server's count of prompt tokens lies "
        "under the limit. Missing when the count or the limit is not known and nothing was refused: a server "
        "that cuts silently cannot be told from one that does not.",
    .example = "A reply 400 \"maximum context length is 4096 tokens\": 1. A reply with 410 prompt tokens of 1,024: 0.",
    .of_reply = context_truncated,
};
