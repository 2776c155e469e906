/* metric.h - what a metric is: a name, a unit, a direction, the noise it has, the axes of its cube, and how one cell
 * is computed. A metric is one file that ends in such a descriptor and one word in core/metrics/CMakeLists.txt. */
#ifndef CORE_METRICS_METRIC_H
#define CORE_METRICS_METRIC_H

#include "core/client/reply.h"
#include "core/metrics/attention_options.h"
#include "core/metrics/intent.h"
#include "core/model/cube.h"
#include "core/model/provenance.h"
#include "kernels/row_stats.h"

#include <stdbool.h>
#include <stddef.h>

/* What a reply's metric sees; pointers are borrowed for the call. */
struct reply_view {
    const struct reply *reply;
    const struct intent_score *intent; /* NULL without a task set, or when the turn states no intent */
    const struct provenance *provenance;
};

struct metric {
    const char *name; /* "attn.entropy" */
    const char *unit; /* "bit", "ms", "1" for a ratio */
    enum better better;
    enum noise noise;
    int version;            /* of the definition: raised when numbers change */
    unsigned axes;          /* set of AXIS_BIT */
    const char *help;       /* one line */
    const char *definition; /* formula, rules for missing cells, source */
    const char *example;    /* worked example with numbers */

    bool is_of_pair; /* of two runs: core/gate computes it, and no run has it */

    /* Else exactly one of these; each gives NaN for a missing cell. */
    double (*of_reply)(const struct reply_view *view); /* axes task, turn, repeat      */
    double (*of_head)(const struct head_stats *head);  /* task, turn[, repeat], layer, head */
    double (*of_head_by)(const struct head_stats *head, const struct attention_options *options); /* the same axes */
    double (*of_layer)(const struct head_stats *heads, size_t n_heads);    /* task, turn[, repeat], layer       */
    double (*of_turns)(const double *turn, const double *value, size_t n); /* task, repeat: from a conversation's
                                                                              values of the metric `from`        */
    const char *from;
};

#endif
