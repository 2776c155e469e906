/* journal.h - every finished request on disk before it counts: records appended to one file, each with its length and
 * checksum.
 *
 * Bytes: "TAREJRN1"; then records of u32 length, u32 CRC-32 of the payload, payload; little-endian. The first payload
 * is the header, a JSON text that says what the journal is of; each other one is an exchange. A record that is torn or
 * does not match its checksum ends the journal: it and what follows was never finished.
 */
#ifndef CORE_CLIENT_JOURNAL_H
#define CORE_CLIENT_JOURNAL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/exchange.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stdint.h>

struct journal {
    char *path; /* owned */
    int fd;
    size_t n_exchanges; /* in it                           */
    uint64_t len;       /* bytes of whole records          */
    int64_t synced_ns;  /* when it was last forced to disk */
    int64_t cpu_ns;     /* spent on it                     */
    struct buf record;  /* owned: room for one              */
};

/* A new file, locked; ERR_USAGE when one is there. `header`: JSON object. */
MUST_CHECK enum status journal_create(struct journal *j, const char *path, const char *header, struct error *err);

/* Goes on with one: ERR_USAGE, naming what differs, unless its header is the same. What is torn at its end is cut off;
 * `ret_torn` says how many bytes. The exchanges go into `run`, in the order of their records. */
MUST_CHECK enum status journal_resume(struct journal *j, const char *path, const char *header, struct run *run,
                                      uint64_t *ret_torn, struct error *err);
void journal_done(struct journal *j);

/* `bytes`: those that the events' offsets are of. ERR_IO when it does not fit: the file then ends as before. */
MUST_CHECK enum status journal_append(struct journal *j, const struct exchange *x, const struct read_event *events,
                                      const unsigned char *bytes, struct error *err);

/* Forces everything to disk. */
MUST_CHECK enum status journal_sync(struct journal *j, struct error *err);

/* Reads all whole records of a file into a run. */
MUST_CHECK enum status journal_read(const char *path, struct run *run, struct error *err);

#endif
