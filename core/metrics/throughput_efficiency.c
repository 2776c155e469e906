#include "core/metrics/metric.h"
#include "core/metrics/workload.h"

#include <math.h>

static double throughput_efficiency(const struct workload *load, size_t i)
{
    double single = load->single_tokens_per_s;

    (void)i;
    if (!(single > 0) || !(load->wall_s > 0) || load->peak == 0)
        return NAN;
    return load->tokens / load->wall_s / ((double)load->peak * single);
}

const struct metric metric_throughput_efficiency = {
    .name = "throughput.efficiency",
    .unit = "1",
    .better = BETTER_HIGHER,
    .noise = NOISE_RUN,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "batch efficiency: tokens a second at N requests at once over N times that at one",
    .definition = "throughput.total / (N * throughput.total of a run with one request at a time), N = the most "
                  "requests that were under way at once. The other run is named by --single. 1: the requests do not "
                  "slow each other down; 1/N: they might as well queue. One number for the run: it stands in the cell "
                  "of every answered request, so that runs are compared by it and merged runs keep each its own. "
                  "Missing when the requests share no clock, as in a recording that counts each from zero. Missing "
                  "without --single.",
    .example = "20 tok/s one at a time, 480 tok/s at 32: 480 / (32 * 20) = 0.75.",
    .of_workload = throughput_efficiency,
};
