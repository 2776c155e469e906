#include "core/metrics/metric.h"
#include "core/metrics/workload.h"

#include <math.h>

static double goodput_rate(const struct workload *load, size_t i)
{
    (void)i;
    return load->has_good && load->wall_s > 0 ? (double)load->n_good / load->wall_s : NAN;
}

const struct metric metric_goodput_rate = {
    .name = "goodput.rate",
    .unit = "1/s",
    .better = BETTER_HIGHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "requests a second that kept every stated limit of latency",
    .definition = "Requests with goodput.met = 1 / time from the first request sent to the end of the last reply: "
                  "what vLLM and AIPerf call goodput. One number for the run: it stands in the cell of every answered "
                  "request, so that runs are compared by it and merged runs keep each its own. Missing when the "
                  "requests share no clock, as in a recording that counts each from zero. Missing without limits.",
    .example = "200 requests in 40 s, 150 of them good: 3.75 a second.",
    .of_workload = goodput_rate,
};
