/* select.h - order statistics without sorting. */
#ifndef KERNELS_SELECT_H
#define KERNELS_SELECT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves x[0, n) about so that x[k] is what sorting would put there, nothing larger before it and nothing smaller
 * behind; returns x[k]. k < n; no NaN. Hoare's selection by the median of three: the same steps for the same data on
 * every machine; data made to be slow for it are sorted. */
double select_nth(double *x, size_t n, size_t k);

#ifdef __cplusplus
}
#endif
#endif
