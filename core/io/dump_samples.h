/* dump_samples.h - the samples of a dump: whose they are and which keys and rows are theirs. */
#ifndef CORE_IO_DUMP_SAMPLES_H
#define CORE_IO_DUMP_SAMPLES_H

#include "core/io/dump.h"

/* Reads and checks /samples of a dump whose reader is open. */
MUST_CHECK enum status dump_samples_read(struct dump *d, struct error *err);

/* "task", "task#turn" or "task#turn#repeat" to its parts, in `arena`; false when it is none of them. */
bool dump_samples_parse_id(const char *id, size_t *ret_task_len, int64_t *ret_turn, int64_t *ret_repeat);

/* Once the tensors are known: rows that nobody placed end with the last key. */
MUST_CHECK enum status dump_samples_place(struct dump *d, struct error *err);

#endif
