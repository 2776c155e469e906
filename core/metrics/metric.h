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

struct goals; /* see goals.h */

/* What a reply's metric sees; pointers are borrowed for the call. */
struct reply_view {
    const struct reply *reply;
    const struct intent_score *intent; /* NULL without a task set, or when the turn states no intent */
    const struct provenance *provenance;
    const struct goals *goals; /* limits of latency; NULL when none are stated */
};

struct workload; /* see workload.h */

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

    bool is_of_pair;     /* of two runs: core/gate computes it, and no run has it */
    bool reads_words;    /* of a reply: its value outlives the words, where those are left out of a run */
    bool compares_words; /* with those of other replies, too: one reply without words spoils all values */

    /* Else exactly one of these; each gives NaN for a missing cell. */
    double (*of_reply)(const struct reply_view *view);            /* axes task, turn, repeat      */
    double (*of_workload)(const struct workload *load, size_t i); /* the same; i: which exchange of the run */
    double (*of_head)(const struct head_stats *head);             /* task, turn[, repeat], layer, head */
    double (*of_head_by)(const struct head_stats *head, const struct attention_options *options); /* the same axes */
    double (*of_layer)(const struct head_stats *heads, size_t n_heads);    /* task, turn[, repeat], layer       */
    double (*of_turns)(const double *turn, const double *value, size_t n); /* task, repeat: from a conversation's
                                                                              values of the metric `from`        */
    const char *from;
};

#endif
