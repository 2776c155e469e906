/* family.h - one metric of two sets of runs: paired, tested, and, once p is adjusted over all families, judged. */
#ifndef CORE_GATE_FAMILY_H
#define CORE_GATE_FAMILY_H

#include "core/gate/judgement.h"
#include "core/gate/lost.h"
#include "core/gate/pairs.h"
#include "core/stats/run_t.h"
#include "core/stats/signflip.h"

/* The power with which a detectable effect is detected. */
#define FAMILY_POWER 0.8

/* What is compared, with what holds for all of its metrics. Everything is borrowed. */
struct comparison {
    const struct run *base; /* [n_base] */
    size_t n_base;
    const struct run *cand; /* [n_cand], runs of one version */
    size_t n_cand;
    const struct policy *policy;
    uint64_t seed;
    bool prompts_equal;
    const char *other_machine; /* NULL, or how the places where latencies were observed differ */
};

enum family_state {
    FAMILY_TESTED,
    FAMILY_UNPAIRED,   /* measured on one side alone, or no task has it on both */
    FAMILY_RUN_NOISE,  /* runs that show no noise of their own: not judged      */
    FAMILY_RUN_TESTED, /* tested over runs; with one on a side it only informs  */
    FAMILY_OTHER_MACHINE,
    FAMILY_DESCRIBED /* a divergence of one run from one: it has no null to be tested against */
};

struct tested {
    struct family family;
    const struct rule_for *rule;
    enum family_state state;
    const char *why_unpaired; /* of FAMILY_UNPAIRED                                           */
    bool is_gone;             /* the base has it, the candidate not, though what it is measured from is there */
    const char *without;      /* the base has it, the candidate not, as it has none of this: "replies"        */
    struct pairs pairs;
    struct lost lost; /* of the two runs between which most is lost: with any, the family does not pass */
    struct signflip flips;
    struct signflip_cell *cells; /* owned: [pairs.n_columns], the last is the mean over cells */
    double p;                    /* smallest adjusted p of the columns; NaN unless tested     */
    double p_adj;                /* over the families of its role; 1 unless it takes part     */
    double share;                /* what a column's p is multiplied by for the other families */
    struct run_t runs;           /* of FAMILY_RUN_NOISE and FAMILY_RUN_TESTED                 */
    double mde_of_one;           /* what all tasks detect where differences have deviation 1  */
    size_t n_open;               /* cells beyond the margin that are not significant          */
    bool only_rises;             /* a divergence: what is below the noise is no move          */
    bool follows_length;         /* set aside: the prompts differ in length, and so it does   */
};

/* Pairs and tests. `metric` is the cube of a candidate run, or of a base run where the candidate has none. */
MUST_CHECK enum status family_test(struct tested *t, const struct comparison *c, const struct cube *metric,
                                   struct arena *texts, struct error *err);
void tested_done(struct tested *t);

/* Verdict, worst cell and words, from p_adj and share. */
MUST_CHECK enum status family_judge(struct tested *t, const struct comparison *c, struct arena *texts,
                                    struct error *err);

/* Nothing known. */
struct effect effect_unknown(void);

/* VERDICT_NONE when it did not move: not significant, or not beyond the margin. */
enum verdict family_moved(const struct tested *t, const struct comparison *c, const struct effect *e);

/* The whole interval where no move to the worse side can be beyond the margin. With a direction only that side counts:
 * getting better is no reason to withhold a pass. */
bool family_inside(const struct family *f);

/* How far the mean is from the margin, on the worse side; below 0 when beyond it. */
double family_room(const struct family *f);

/* The cells, and the mean, that moved beyond the margin, as findings: appended to `ret`, which has room for
 * family.n_beyond + 1. */
MUST_CHECK enum status family_findings(const struct tested *t, const struct comparison *c, struct arena *texts,
                                       struct finding *ret, size_t *n, struct error *err);

#endif
