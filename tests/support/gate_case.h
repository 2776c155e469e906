/* gate_case.h - pairs of runs with a known difference, and what the gate says of them. */
#ifndef TESTS_SUPPORT_GATE_CASE_H
#define TESTS_SUPPORT_GATE_CASE_H

#include "core/gate/decide.h"

/* What differs in the candidate's attention: a shift at a layer and head (-1: all), noise everywhere. */
struct gate_change {
    size_t n_tasks;
    int layer, head;
    double shift, noise;
};

/* attn.entropy around 3 bit over two turns, three layers, two heads. */
void gate_attention(struct run *base, struct run *cand, struct gate_change what);

/* intent.alignment around 0.7 over three turns; little noise, and a shift at one turn (-1: all). */
void gate_replies(struct run *base, struct run *cand, size_t n_tasks, int turn, double shift);

/* By the policy that ships. */
void gate_decide_default(struct judgement *j, const struct run *base, const struct run *cand);

/* By a policy from its text: the entries of "metrics", and what stands before them. Needs folder_make(). */
void gate_decide(struct judgement *j, const struct run *base, size_t n_base, const struct run *cand,
                 const char *metrics, const char *top);

void gate_decide_runs(struct judgement *j, const struct run *base, size_t n_base, const struct run *cand, size_t n_cand,
                      const char *metrics, const char *top);

/* The family of a metric; fails the test when there is none. */
const struct family *gate_family(const struct judgement *j, const char *metric);

#endif
