#include "core/metrics/metric.h"
#include "core/metrics/workload.h"

#include <math.h>

static double throughput_answers(const struct workload *load, size_t i)
{
    (void)i;
    return load->wall_s > 0 ? (double)load->n_answers / load->wall_s : NAN;
}

const struct metric metric_throughput_answers = {
    .name = "throughput.answers",
    .unit = "1/s",
    .better = BETTER_HIGHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "answers a second of the whole run",
    .definition = "Answers / time from the first request sent to the end of the last reply; failed requests are no "
                  "answers. One number for the run: it stands in the cell of every answered request, so that runs are "
                  "compared by it and merged runs keep each its own. Missing when the requests share no clock, as in "
                  "a recording that counts each from zero.",
    .example = "200 answers in 40 s: 5 a second.",
    .of_workload = throughput_answers,
};
