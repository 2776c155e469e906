/* parallel.h - a loop over independent items on several threads, which are kept for the next loop and sleep between
 * loops. A loop inside of a loop, or beside one of another thread, runs on the thread that asks for it. A child of
 * fork() begins without threads. */
#ifndef KERNELS_PARALLEL_H
#define KERNELS_PARALLEL_H

#include <stddef.h>

/* `thread`: 0 to n_threads - 1, for scratch. */
typedef void parallel_body(void *context, size_t item, int thread);

/* Calls body once for each item, in any order, on at most n_threads threads, the caller's among them; where fewer can
 * be had, on those. Which thread takes which item is chance: no result may depend on it. */
void parallel_for(size_t n_items, int n_threads, parallel_body *body, void *context);

#endif
