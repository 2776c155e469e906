#include "core/metrics/metric.h"
#include "core/metrics/workload.h"

static double throughput_concurrency(const struct workload *load, size_t i)
{
    (void)i;
    return load->concurrency;
}

const struct metric metric_throughput_concurrency = {
    .name = "throughput.concurrency",
    .unit = "1",
    .better = BETTER_NEITHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "requests under way at once, mean over the run",
    .definition = "Sum of the requests' durations (sent to end of reply) / time from the first request sent to the "
                  "end of the last reply. What was really reached, beside what was asked for: a closed loop of 64 "
                  "that reaches 40 was held back by the client or by too few tasks. One number for the run: it stands "
                  "in the cell of every answered request, so that runs are compared by it and merged runs keep each "
                  "its own. Missing when the requests share no clock, as in a recording that counts each from zero.",
    .example = "Two requests of 3 s each that began together, and nothing else: 2.",
    .of_workload = throughput_concurrency,
};
