/* journal_record.h - an exchange as bytes, and back. */
#ifndef CORE_CLIENT_JOURNAL_RECORD_H
#define CORE_CLIENT_JOURNAL_RECORD_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/exchange.h"
#include "core/model/run.h"

/* Appends to `ret`. */
void journal_record_put(struct buf *ret, const struct exchange *x, const struct read_event *events,
                        const unsigned char *bytes);

/* Appends the exchange, its events and bytes to the run. ERR_FORMAT when it is none. */
MUST_CHECK enum status journal_record_get(struct run *run, const unsigned char *record, size_t len, struct error *err);

#endif
