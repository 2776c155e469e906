#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5data.h"
#include "core/io/runfile_fields.h"
#include "core/io/texts.h"

#include <stdlib.h>
#include <string.h>

/* Limits of what one run may hold; a file that claims more is refused before memory is asked for. */
enum { MAX_EXCHANGES = 1 << 22, MAX_EVENTS = 1 << 27 };
#define MAX_BYTES ((size_t)1 << 32)

/* gzip gives at most 1032 bytes for one. */
enum { GZIP_RATIO = 1100 };

static enum status rows_of(const struct h5 *ds, size_t max, size_t *ret, struct error *err)
{
    TRY(h5data_shape(ds, 1, ret, err));
    if (*ret > max)
        return h5_bad(ds, err, "%zu elements, %zu are the limit", *ret, max);
    return h5data_check(ds, GZIP_RATIO, err);
}

static enum status read_bytes(struct run *run, const struct h5 *group, struct error *err)
{
    AUTO(h5id) type = {0};
    AUTO(h5) ds = {0};
    size_t n = 0;

    TRY(h5_dataset(group, "bytes", &ds, err));
    type.id = H5Dget_type(ds.id);
    if (type.id < 0 || H5Tget_class(type.id) != H5T_INTEGER || H5Tget_size(type.id) != 1)
        return h5_bad(&ds, err, "elements must be uint8");
    TRY(rows_of(&ds, MAX_BYTES, &n, err));
    TRY(mem_grow(&run->bytes, &run->cap_bytes, n, 1, err));
    if (n > 0)
        TRY(h5data_read(&ds, type.id, run->bytes, err));
    run->n_bytes = n;
    return OK;
}

static enum status read_events(struct run *run, const struct h5 *group, hid_t mem, struct error *err)
{
    AUTO(h5) ds = {0};
    size_t n = 0, i;

    TRY(h5_dataset(group, "events", &ds, err));
    TRY(runfile_types_match(&ds, mem, err));
    TRY(rows_of(&ds, MAX_EVENTS, &n, err));
    TRY(mem_grow(&run->events, &run->cap_events, n, sizeof *run->events, err));
    if (n > 0)
        TRY(h5data_read(&ds, mem, run->events, err));
    for (i = 0; i < n; i++) {
        const struct read_event *e = &run->events[i];

        if (e->offset > run->n_bytes || e->len > run->n_bytes - e->offset)
            return h5_bad(&ds, err, "row %zu: bytes %llu + %llu lie beyond the %zu bytes that are stored", i,
                          (unsigned long long)e->offset, (unsigned long long)e->len, run->n_bytes);
    }
    run->n_events = n;
    return OK;
}

static enum status check_request(const struct h5 *ds, size_t i, const struct runfile_request *row,
                                 const struct run *run, struct error *err)
{
    size_t e;

    if (!row->task || !row->task[0])
        return h5_bad(ds, err, "row %zu: no task", i);
    if (row->turn < 1 || row->repeat < 1)
        return h5_bad(ds, err, "row %zu: turn %lld, repeat %lld: both count from 1", i, (long long)row->turn,
                      (long long)row->repeat);
    if (row->first_event > run->n_events || row->n_events > run->n_events - row->first_event)
        return h5_bad(ds, err, "row %zu: events %llu + %llu lie beyond the %zu that are stored", i,
                      (unsigned long long)row->first_event, (unsigned long long)row->n_events, run->n_events);
    for (e = (size_t)row->first_event + 1; e < row->first_event + row->n_events; e++)
        if (run->events[e].t_ns < run->events[e - 1].t_ns)
            return h5_bad(ds, err, "row %zu: its event %zu goes back in time", i, e);
    return OK;
}

static enum status keep_text(struct run *run, const struct h5 *ds, size_t i, const char *text, char **ret,
                             struct error *err)
{
    if (text && !texts_is_utf8(text, strlen(text)))
        return h5_bad(ds, err, "row %zu: a text is not valid UTF-8", i);
    return arena_strdup(&run->arena, text ? text : "", ret, err);
}

static enum status keep_request(struct run *run, const struct h5 *ds, size_t i, const struct runfile_request *row,
                                struct error *err)
{
    struct exchange x = {.turn = row->turn,
                         .repeat = row->repeat,
                         .status = row->status,
                         .sent_ns = row->sent_ns,
                         .scheduled_ns = row->scheduled_ns,
                         .prompt_tokens = row->prompt_tokens,
                         .completion_tokens = row->completion_tokens,
                         .has_http_head = row->has_http_head != 0,
                         .first_event = (size_t)row->first_event,
                         .n_events = (size_t)row->n_events};

    TRY(check_request(ds, i, row, run, err));
    TRY(keep_text(run, ds, i, row->task, &x.task, err));
    TRY(keep_text(run, ds, i, row->path, &x.path, err));
    TRY(keep_text(run, ds, i, row->request, &x.request, err));
    TRY(keep_text(run, ds, i, row->headers, &x.headers, err));
    run->exchanges[run->n_exchanges++] = x;
    return OK;
}

static enum status read_requests(struct run *run, const struct h5 *group, hid_t mem, struct error *err)
{
    AUTO(h5) ds = {0};
    AUTO(h5id) space = {0};
    struct runfile_request *rows = NULL;
    enum status st = OK;
    size_t n = 0, i;

    TRY(h5_dataset(group, "requests", &ds, err));
    TRY(runfile_types_match(&ds, mem, err));
    TRY(rows_of(&ds, MAX_EXCHANGES, &n, err));
    TRY(mem_grow(&run->exchanges, &run->cap_exchanges, n, sizeof *run->exchanges, err));
    TRY(mem_new(n, sizeof *rows, &rows, err));
    space.id = H5Dget_space(ds.id);
    if (n > 0)
        st = h5data_read(&ds, mem, rows, err);
    for (i = 0; st == OK && i < n; i++)
        st = keep_request(run, &ds, i, &rows[i], err);
    H5Dvlen_reclaim(mem, space.id, H5P_DEFAULT, rows);
    free(rows);
    return st;
}

static enum status keep_transfer(struct run *run, const struct h5 *ds, size_t i, const struct runfile_transfer *row,
                                 struct error *err)
{
    struct exchange *x = &run->exchanges[i];

    if (row->n_retries < 0 || row->tokens_sent < 0)
        return h5_bad(ds, err, "row %zu: a count is negative", i);
    x->started_ns = row->started_ns;
    x->connect_ns = row->connect_ns;
    x->n_retries = row->n_retries;
    x->tokens_sent = row->tokens_sent;
    x->tokens_sent_is_estimate = row->is_estimate != 0;
    x->is_redacted = row->is_redacted != 0;
    return keep_text(run, ds, i, row->failure, &x->failure, err);
}

/* Of a live endpoint alone. */
static enum status read_transfers(struct run *run, const struct h5 *group, hid_t mem, struct error *err)
{
    AUTO(h5) ds = {0};
    AUTO(h5id) space = {0};
    struct runfile_transfer *rows = NULL;
    enum status st = OK;
    size_t n = 0, i;

    if (!h5_has(group, "transfers"))
        return OK;
    TRY(h5_dataset(group, "transfers", &ds, err));
    TRY(runfile_types_match(&ds, mem, err));
    TRY(rows_of(&ds, MAX_EXCHANGES, &n, err));
    if (n != run->n_exchanges)
        return h5_bad(&ds, err, "%zu rows for %zu requests", n, run->n_exchanges);
    TRY(mem_new(n, sizeof *rows, &rows, err));
    space.id = H5Dget_space(ds.id);
    if (n > 0)
        st = h5data_read(&ds, mem, rows, err);
    for (i = 0; st == OK && i < n; i++)
        st = keep_transfer(run, &ds, i, &rows[i], err);
    H5Dvlen_reclaim(mem, space.id, H5P_DEFAULT, rows);
    free(rows);
    return st;
}

enum status runfile_get_observations(struct run *run, const struct h5 *root, struct error *err)
{
    AUTO(runfile_types) types = {0};
    AUTO(h5) group = {0};

    TRY(runfile_types_init(&types, err));
    TRY(h5_group(root, "observations", &group, err));
    TRY(read_bytes(run, &group, err));
    TRY(read_events(run, &group, types.event_mem.id, err));
    TRY(read_requests(run, &group, types.request_mem.id, err));
    return read_transfers(run, &group, types.transfer_mem.id, err);
}
