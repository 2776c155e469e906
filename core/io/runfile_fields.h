/* runfile_fields.h - the attributes of a run file, one table for the writer, the reader and the file's own help. */
#ifndef CORE_IO_RUNFILE_FIELDS_H
#define CORE_IO_RUNFILE_FIELDS_H

#include "core/io/h5.h"
#include "core/io/h5scale.h"
#include "core/model/run.h"

#include <stdint.h>

enum runfile_kind { FIELD_TEXT, FIELD_HASH, FIELD_I64, FIELD_U64, FIELD_BOOL };

struct runfile_field {
    const char *name;
    enum runfile_kind kind;
    size_t offset; /* in the struct */
    const char *help;
};

struct runfile_fields {
    const char *help; /* of the group */
    const struct runfile_field *field;
    size_t n;
};

extern const struct runfile_fields runfile_provenance; /* of struct provenance */
extern const struct runfile_fields runfile_observed;   /* of struct place */
extern const struct runfile_fields runfile_computed;   /* of struct place */
extern const struct runfile_fields runfile_dump;       /* of struct dump_source */

/* A group `name` with the fields of `values` as attributes; "help" says what each is. */
MUST_CHECK enum status runfile_put_fields(const struct h5 *at, const char *name, const struct runfile_fields *fields,
                                          const void *values, struct h5 *ret, struct error *err);

/* An attribute that is not there leaves its member as it is. */
MUST_CHECK enum status runfile_get_fields(const struct h5 *group, const struct runfile_fields *fields,
                                          struct arena *arena, void *values, struct error *err);

/* An exchange as it lies in /observations/requests. */
struct runfile_request {
    char *task, *path, *request, *headers;
    int64_t turn, repeat, status, sent_ns, scheduled_ns, prompt_tokens, completion_tokens;
    uint64_t first_event, n_events;
    uint8_t has_http_head;
};

/* The rest of one, in /observations/transfers. */
struct runfile_transfer {
    char *failure;
    int64_t started_ns, connect_ns, n_retries, tokens_sent;
    uint8_t is_estimate, is_redacted;
};

/* Compound types: as in memory, and packed as in the file. `event` is of struct read_event. */
struct runfile_types {
    struct h5id request_mem, request_file, event_mem, event_file, transfer_mem, transfer_file;
};

void runfile_types_done(struct runfile_types *t);
MUST_CHECK enum status runfile_types_init(struct runfile_types *t, struct error *err);

/* ERR_FORMAT unless the dataset is a compound with every member of `mem`, each of the same class. */
MUST_CHECK enum status runfile_types_match(const struct h5 *ds, hid_t mem, struct error *err);

/* Reads and checks /observations. */
MUST_CHECK enum status runfile_get_observations(struct run *run, const struct h5 *root, struct error *err);

/* /profiles and /digests, each where something is known. `scales`: [N_AXES], attached to. */
MUST_CHECK enum status runfile_put_fingerprints(const struct h5 *root, const struct fingerprints *f,
                                                struct h5scale *scales, struct error *err);

/* Reads and checks them, where the file has them; after the axes. */
MUST_CHECK enum status runfile_get_fingerprints(struct run *run, const struct h5 *root, struct error *err);

extern const char *const runfile_help_requests, *const runfile_help_events, *const runfile_help_bytes;
extern const char *const runfile_help_transfers;

#endif
