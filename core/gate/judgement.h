/* judgement.h - what diff and gate found: plain data that every report shows and the exit code follows. */
#ifndef CORE_GATE_JUDGEMENT_H
#define CORE_GATE_JUDGEMENT_H

#include "core/base/arena.h"
#include "core/gate/policy.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    VERDICT_NONE, /* nothing could be judged: not measured, one run of a run-noise metric, … */
    VERDICT_PASS,
    VERDICT_IMPROVED,
    VERDICT_CHANGED,
    VERDICT_INCONCLUSIVE,
    VERDICT_REGRESSED
};

/* A cell's labels; -1 and NULL where the finding stands over the whole axis. */
struct where {
    const char *task;
    int64_t turn, layer, head;
};

/* Everything that one comparison of two sets of paired values says. NaN is "not known", with the reason in `words`. */
struct effect {
    size_t n;                 /* pairs: tasks; tested over runs: the runs of both sides          */
    double base, cand, delta; /* means over the pairs; delta = cand - base                       */
    double ci_lo, ci_hi;      /* 1-2alpha interval of delta that decides: the test inverted      */
    double bca_lo, bca_hi;    /* the same by bootstrap, for the eye: BCa                         */
    double p, p_adj;          /* two-sided; adjusted over the family's cells and over families   */
    double p_min;             /* smallest p that n pairs can give                                */
    double mde;               /* smallest |delta| that this sample detects with power 0.8, after the
                                 correction for the other metrics                                */
};

struct finding {
    const char *metric, *unit;
    struct where where;
    struct effect effect;
    double margin; /* in the metric's unit; NaN: none */
    enum verdict verdict;
    enum role role;
    const char *words; /* one plain sentence */
};

/* All cells of one metric. */
struct family {
    const char *metric, *unit, *help;
    enum better better;
    enum noise noise;
    enum role role;
    bool required;
    double margin;
    const char *margin_reason;  /* may be NULL */
    struct effect effect;       /* of the mean over the family's cells                      */
    size_t n_cells, n_compared; /* cells with data in both runs                             */
    size_t n_beyond;            /* cells that are significant and beyond the margin          */
    size_t n_needed;            /* tasks, or runs on each side, that would decide; 0 when decided or unknown */
    struct finding worst;       /* the cell with the largest |delta| beyond, or largest |delta| */
    enum verdict verdict;
    const char *words;
};

/* An absolute limit of the policy, judged on the candidate. */
struct limit_result {
    const char *metric;
    struct where where;
    double base, cand;
    struct limit limit;
    bool broken, broken_by_base; /* a limit that the baseline breaks too only warns */
    const char *words;
};

/* One thing that differs between the runs, said before any number. */
struct change {
    const char *what; /* "prompt", "weights", "served model", "environment", "tool", … */
    const char *base, *cand;
    bool explains_latency_only; /* hardware and server: what only latencies depend on */
};

/* What the digests of both runs' attention say. A sample is a turn of a task; those that differ from the lowest layer
 * on, as with other tokens, are told apart from those that begin to differ later. */
struct onset {
    size_t n_cells, n_equal; /* heads of layers of samples that both have, and those with the same bits; 0: nothing */
    size_t n_samples, n_same, n_from_first;
    bool samples_are_turns; /* of several a task */
    int64_t first, before;  /* lowest layer that both have, last one with the same bits: -1 none */
    int64_t layer;          /* first one that differs: -1 none */
    const int64_t *heads;   /* [n_heads] that differ there, of n_layer_heads */
    size_t n_heads, n_layer_heads;
    const char *words; /* NULL when nothing is known */
};

/* How far the runs' profiles are apart, by layer and head: attn.distance_js. */
struct divergence {
    struct divergence_cell {
        struct where where;
        double js, within; /* between the sides; among runs of one side, NaN with one run each */
    } * cells;
    size_t n_cells; /* 0: nothing is known */
    double margin;
};

struct judgement {
    struct arena arena; /* owns texts and tables; names are borrowed from the runs */
    enum verdict verdict;
    int exit_code;        /* 0, 1 or 3 after the policy, before --fail-on and --exit-zero */
    const char *headline; /* one sentence */
    const char **reasons; /* why the verdict is what it is, strongest first */
    size_t n_reasons;
    const char *policy_name;
    double alpha;
    uint64_t seed;
    size_t n_base, n_cand; /* runs: of one against one tasks' signs are flipped, several change places */
    size_t n_resamples;    /* flips or relabellings used */
    bool is_enumerated;    /* these are all of them      */
    size_t n_pairs;
    const char **missing, **added; /* tasks of the base that a candidate run lacks; tasks in the candidate alone */
    size_t n_missing, n_added;
    size_t n_conversations;                /* tasks of several turns, on both sides             */
    size_t n_shorter_base, n_shorter_cand; /* those that end earlier in the base, the candidate */
    struct change *changes;
    size_t n_changes;
    bool causes_confounded; /* several of prompt, weights, served model changed at once */
    struct family *families;
    size_t n_families;
    struct finding *findings; /* cells that moved, primary first, strongest first */
    size_t n_findings;
    struct limit_result *limits;
    size_t n_limits;
    struct onset onset;
    struct divergence divergence;
    const char **not_measured; /* metrics of the policy or the base that the candidate lacks */
    size_t n_not_measured;
};

void judgement_done(struct judgement *j);

const char *verdict_name(enum verdict v); /* "none", "pass", "improved", "changed", "inconclusive", "regressed" */

/* "layer 9, head 2", "task 'a', turn 3", "over all"; always NUL-terminated. */
void where_text(const struct where *w, char *text, size_t size);

#endif
