/* baseline_index.h - writes DIR/NAME/baseline.json; one writer at a time. */
#ifndef CORE_GATE_BASELINE_INDEX_H
#define CORE_GATE_BASELINE_INDEX_H

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/gate/baseline.h"

/* What baseline_open() reads; more is not written. */
enum { BASELINE_INDEX_BYTES = 1 << 20, BASELINE_RUNS = 1000 };

/* A JSON string with its quotes; ERR_USAGE for what is not UTF-8. */
MUST_CHECK enum status baseline_index_text(struct buf *b, const char *text, struct error *err);

/* The runs and the dropped ones of `b`, and `added` behind the runs; ERR_LIMIT for more than can be read again. Written
 * when `ret`, which the caller owns, is committed. */
MUST_CHECK enum status baseline_index_begin(struct outfile *ret, const struct baseline *b, const struct accepted *added,
                                            size_t n_added, struct error *err);

/* Whoever writes holds the lock on the folder; it goes with the process, however that ends. ret_fd: to be closed; -1
 * where the folder is gone, or was before the lock was had: look again. */
MUST_CHECK enum status baseline_index_lock(const char *dir, int *ret_fd, struct error *err);

#endif
