/* fake_run.h - complete runs built in memory, for what compares runs. */
#ifndef TESTS_SUPPORT_FAKE_RUN_H
#define TESTS_SUPPORT_FAKE_RUN_H

#include "core/model/run.h"

#include <stddef.h>
#include <stdint.h>

/* Tasks 't00', 't01', …; turns from 1, one repeat, layers and heads from 0; no cube. Release with run_done(). */
void fake_run(struct run *r, size_t n_tasks, size_t n_turns, size_t n_layers, size_t n_heads);

/* The metric as the table has it, every value `value`. */
struct cube *fake_cube(struct run *r, const char *metric, double value);

/* Adds amount x noise to every value; the same salt gives the same noise, which lies in [-1, 1] and has mean 0 over
 * pairs of tasks. */
void fake_noise(struct cube *c, double amount, uint64_t salt);

/* Adds `shift` at a layer and head, of every task and turn; -1 stands for all of them. */
void fake_shift(struct cube *c, int layer, int head, double shift);

/* Digests of every cell, each sample's its own; those of `layer` and above are other ones, of `layer` itself in `head`
 * alone unless that is -1. A layer beyond the last: none is. */
void fake_digests(struct run *r, size_t layer, int head);

/* A copy of `text` that the run owns. */
char *fake_text(struct run *r, const char *text);

#endif
