/* fake_judgement.h - two runs and a judgement made in memory: what a report needs, without measuring anything. */
#ifndef TESTS_SUPPORT_FAKE_JUDGEMENT_H
#define TESTS_SUPPORT_FAKE_JUDGEMENT_H

#include "reports/report.h"

struct fake {
    struct run base, cand;
    struct judgement judgement;
    struct report_input input; /* points into this struct: do not copy it */
};

/* 16 tasks of up to 6 turns, 18 layers of 4 heads; head 2 of layer 9 collapsed in the candidate. Aborts without memory.
 */
void fake_init(struct fake *f);
void fake_done(struct fake *f);

/* Gives the judgement another verdict and exit code, its families and findings left alone. */
void fake_verdict(struct fake *f, enum verdict v, int exit_code);

/* Puts `text` wherever foreign text can stand: task, names, words, notes, provenance. */
void fake_hostile(struct fake *f, const char *text);

#endif
