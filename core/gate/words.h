/* words.h - numbers and findings as plain sentences. Nothing here claims a cause. */
#ifndef CORE_GATE_WORDS_H
#define CORE_GATE_WORDS_H

#include "core/base/buf.h"
#include "core/gate/judgement.h"
#include "core/gate/lost.h"

/* Three or four significant digits, no exponent where a reader can do without. */
void words_number(struct buf *b, double value);

/* The same with its unit; the unit "1" is not said. */
void words_quantity(struct buf *b, double value, const char *unit);

/* "attn.entropy at layer 9, head 2": without " at …" over all. */
void words_place(struct buf *b, const char *metric, const struct where *where);

/* "fell by 2.458 bit (3.01 → 0.55)", or "did not move (3.01)" */
void words_move(struct buf *b, const struct effect *e, const char *unit);

/* "90 % interval -2.6 to -2.3": nothing where it is not known; returns whether it wrote. */
bool words_interval(struct buf *b, const struct effect *e, double alpha);

/* One sentence on a cell or mean that moved. */
void words_finding(struct buf *b, const struct finding *f, double alpha);

/* What a family's sentence needs beside the family. */
struct words_about {
    double alpha;
    double p_floor;      /* smallest p that its tasks can give, adjusted for the other families */
    bool is_identical;   /* every difference is 0                                              */
    size_t n_open;       /* cells beyond the margin that are not significant                   */
    bool follows_length; /* set aside because the prompts differ                              */
    const struct lost *lost;
};

/* "96 of 1728 values that the base has are missing in the candidate, the first at task 'a', layer 9, head 2: …" */
void words_lost(struct buf *b, const struct lost *lost);

/* One sentence on a family that was tested. */
void words_family(struct buf *b, const struct family *f, const struct words_about *about);

/* "layers 0 to 8", "layer 3" */
void words_layers(struct buf *b, int64_t first, int64_t last);

#endif
