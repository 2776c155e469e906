#include "core/metrics/goals.h"

#include <math.h>

static double goodput_met(const struct reply_view *view)
{
    return view->goals ? goals_met(view->goals, view) : NAN;
}

const struct metric metric_goodput_met = {
    .name = "goodput.met",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "1 where a request kept every stated limit of latency, else 0",
    .definition = "The limits are those of --goodput, \"ttft:200 tpot:50\", in milliseconds; any latency metric can "
                  "have one. 0 for a failed request. A reply of fewer than two tokens has no time per token to break "
                  "a limit with. Missing without limits, and where another value is missing. The mean is the share of "
                  "good requests.",
    .example = "Limits ttft:200 tpot:50; a reply with 180 and 61 ms: 0.",
    .of_reply = goodput_met,
};
