#include "core/metrics/metric.h"

const struct metric metric_attn_distance_js = {
    .name = "attn.distance_js",
    .unit = "bit",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
    .help = "how far a head's weight moved between distances: Jensen-Shannon divergence of two runs' profiles",
    .definition =
        "For profiles p and q of a head in two runs, shares of its weight by distance (bins 0, 1, 2-3, 4-7, … keys), "
        "and m = (p + q) / 2: 1/2 sum p log2(p/m) + 1/2 sum q log2(q/m), from 0 for the same profile to 1 bit for "
        "profiles without a common bin; averaged over the turns of a task. It is of two runs: diff and gate compute "
        "it. "
        "It sees a head that looks elsewhere while its entropy stays. It cannot be below 0, so between one run and one "
        "it is shown and not tested; with more runs it is what candidates differ from base runs beyond what runs of "
        "one side differ among themselves, tested by exchanging runs.",
    .example = "(1/2, 1/2, 0) and (1/2, 0, 1/2): m = (1/2, 1/4, 1/4), each half 1/2 * 1/2 * log2 2: 0.5 bit.",
    .is_of_pair = true,
};
