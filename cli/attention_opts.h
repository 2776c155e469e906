/* attention_opts.h - the options that say how attention is measured: --collapse, --entropy-eps, --implicit-sink,
 * --check-mask, --on-nan. */
#ifndef CLI_ATTENTION_OPTS_H
#define CLI_ATTENTION_OPTS_H

#include "cli/opt.h"
#include "core/metrics/attention_options.h"

#define ATTENTION_OPTIONS                                                                                              \
    {.name = "check-mask",                                                                                             \
     .kind = OPT_FLAG,                                                                                                 \
     .key = "check_mask",                                                                                              \
     .help = "read what masks hide too, and measure the weight there (attn.mask_leak)"},                               \
        {.name = "implicit-sink",                                                                                      \
         .kind = OPT_FLAG,                                                                                             \
         .key = "implicit_sink",                                                                                       \
         .help = "rows sum to less than 1 because a learned sink took the rest: it counts in the entropy"},            \
        {.name = "on-nan",                                                                                             \
         .kind = OPT_TEXT,                                                                                             \
         .value = "skip|fail",                                                                                         \
         .key = "on_nan",                                                                                              \
         .help =                                                                                                       \
             "rows with NaN among the keys that their mask shows: left out and counted, or refused (default: skip)"},  \
        {.name = "entropy-eps",                                                                                        \
         .kind = OPT_TEXT,                                                                                             \
         .value = "FORM:EPS",                                                                                          \
         .key = "entropy_eps",                                                                                         \
         .help =                                                                                                       \
             "entropies as published code has them: add:EPS is -sum p log2(p + EPS), clamp:EPS is -sum p log2 max(p, " \
             "EPS), none is exact (default: none)"},                                                                   \
    {                                                                                                                  \
        .name = "collapse", .kind = OPT_TEXT, .value = "BITS,WEIGHT,SAMPLES", .key = "collapse",                       \
        .help = "when a head has collapsed: entropy under BITS and largest weight over WEIGHT, noted after SAMPLES "   \
                "in a row (default: 0.15,0.95,3)"                                                                      \
    }

/* What is not given is as the run has it that is replayed (NULL: none), else the default. */
MUST_CHECK enum status attention_opts_read(const struct opts *o, const struct run *replayed,
                                           struct attention_options *ret, struct error *err);

/* Attention that is copied from an earlier run was measured once: ERR_USAGE where the options ask for other numbers. */
MUST_CHECK enum status attention_opts_check_copied(const struct attention_options *asked, const struct run *replayed,
                                                   struct error *err);

#endif
