/* attention_census.h - the rows of one dump by what became of them, with a place to look at for each kind, and the
 * heads that put all their weight on single keys. */
#ifndef CORE_METRICS_ATTENTION_CENSUS_H
#define CORE_METRICS_ATTENTION_CENSUS_H

#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/metrics/attention_options.h"
#include "core/model/run.h"
#include "kernels/row_stats.h"

#include <stddef.h>
#include <stdint.h>

/* Samples in a row, in file order, in which a head has collapsed. */
struct streak {
    size_t first, n;
};

struct census {
    const struct attention_options *options; /* borrowed */
    uint64_t n[N_ROW_STATUSES];
    uint64_t n_sum_off, n_sum_bad;
    uint64_t n_without_k90, n_uniform; /* rows */
    char k90_place[160], uniform_place[160];
    double sum_min, sum_max;
    char place[N_ROW_STATUSES][160], sum_place[160];
    double leak_max; /* a head's mean, where it was asked for */
    char leak_place[160];
    uint64_t n_collapsed;
    char collapse_place[160];
    struct streak *streaks; /* owned: [heads of the layer] */
    size_t cap_streaks;
};

void census_init(struct census *c, const struct attention_options *options);
void census_done(struct census *c);

/* Before the samples of a layer, which census_add() gets in file order. */
MUST_CHECK enum status census_begin_layer(struct census *c, const struct dump_layer *l, struct error *err);
void census_add(struct census *c, const struct dump *d, size_t layer, size_t sample, const struct head_stats *heads);

/* After the last layer. ERR_FORMAT when the dump holds no weights to measure: negative or infinite ones, no valid row,
 * NaN where the options refuse it, over 1 % of rows off 1 by over 2 %; else notes what was left out or looks odd. */
MUST_CHECK enum status census_judge(const struct census *c, struct run *run, const struct dump *d, struct error *err);

#endif
