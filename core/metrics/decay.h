/* decay.h - how the values of one conversation's turns go: a line, or an exponential that levels off. */
#ifndef CORE_METRICS_DECAY_H
#define CORE_METRICS_DECAY_H

#include <stddef.h>

enum { DECAY_MIN_SLOPE_TURNS = 2, DECAY_MIN_FIT_TURNS = 4 };

/* Least squares over turns, a turn; NaN with fewer than DECAY_MIN_SLOPE_TURNS values. turn: [n], value: [n], finite. */
double decay_slope(const double *turn, const double *value, size_t n);

/* Turns in which a exp(-turn / tau) comes down by half, of the least-squares fit a exp(-turn / tau) + c. NaN with fewer
 * than DECAY_MIN_FIT_TURNS values, where they do not fall, and where the best tau is below a fifth of a turn or above
 * five times the span of the turns: then they say nothing of it. */
double decay_half_life(const double *turn, const double *value, size_t n);

#endif
