#include "cli/inspect.h"
#include "core/base/num.h"
#include "reports/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum axis along[] = {AXIS_TASK, AXIS_TURN, AXIS_LAYER, AXIS_HEAD};

enum { N_ALONG = sizeof along / sizeof *along };

static void place_of(const struct fingerprints *f, size_t cell, size_t at[N_AXES])
{
    size_t axis;

    for (axis = N_AXES; axis-- > 0;) {
        at[axis] = cell % f->dim[axis];
        cell /= f->dim[axis];
    }
}

/* Least distance in keys of a bin. */
static int64_t least(size_t bin)
{
    return bin ? (int64_t)1 << (bin - 1) : 0;
}

static void digest_text(const unsigned char *digest, char text[2 * DIGEST_BYTES + 1])
{
    size_t i;

    for (i = 0; i < DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static void put_labels(struct buf *out, const struct run *run, size_t cell)
{
    size_t at[N_AXES], i;

    place_of(&run->fingerprints, cell, at);
    escape_csv(out, run->axes.task[at[AXIS_TASK]]);
    for (i = 1; i < N_ALONG; i++)
        buf_printf(out, ",%" PRId64, run->axes.number[along[i]][at[along[i]]]);
}

void inspect_profile_csv(const struct run *run, struct buf *out)
{
    const struct fingerprints *f = &run->fingerprints;
    size_t len = fingerprints_len(f), cell, bin;

    buf_puts(out, "task,turn,layer,head,keys,share\n");
    for (cell = 0; cell < len; cell++) {
        const double *profile = fingerprints_profile(f, cell);

        for (bin = 0; profile && bin < PROFILE_BINS; bin++) {
            put_labels(out, run, cell);
            buf_printf(out, ",%" PRId64 ",", least(bin));
            num_append17(out, profile[bin]);
            buf_putc(out, '\n');
        }
    }
}

void inspect_digests_csv(const struct run *run, struct buf *out)
{
    const struct fingerprints *f = &run->fingerprints;
    size_t len = fingerprints_len(f), cell;

    buf_puts(out, "task,turn,layer,head,digest\n");
    for (cell = 0; cell < len; cell++) {
        const unsigned char *digest = fingerprints_digest(f, cell);
        char text[2 * DIGEST_BYTES + 1];

        if (!digest)
            continue;
        digest_text(digest, text);
        put_labels(out, run, cell);
        buf_printf(out, ",%s\n", text);
    }
}

static void add(struct desc *d, json_t *array, json_t *value)
{
    if (!array || json_array_append_new(array, value))
        d->failed = true;
}

/* A row with the labels of a cell. */
static json_t *add_labels(struct desc *d, json_t *rows, const struct run *run, size_t cell)
{
    size_t at[N_AXES], i;
    json_t *row = json_array();

    place_of(&run->fingerprints, cell, at);
    add(d, row, json_string(run->axes.task[at[AXIS_TASK]]));
    for (i = 1; i < N_ALONG; i++)
        add(d, row, json_integer(run->axes.number[along[i]][at[along[i]]]));
    add(d, rows, row);
    return row;
}

static json_t *begin(struct desc *d, const char *name, const char *last)
{
    json_t *columns;
    size_t i;

    desc_text(d, d->root, "name", name);
    columns = desc_array(d, d->root, "columns");
    for (i = 0; i < N_ALONG; i++)
        add(d, columns, json_string(axis_names[along[i]]));
    add(d, columns, json_string(last));
    return desc_array(d, d->root, "rows");
}

enum status inspect_profile_json(struct desc *d, const struct run *run, const char *path, struct error *err)
{
    const struct fingerprints *f = &run->fingerprints;
    size_t len = fingerprints_len(f), cell, bin;
    json_t *rows, *bins;

    TRY(desc_init(d, "profile", path, err));
    rows = begin(d, INSPECT_PROFILE, "shares");
    bins = desc_array(d, d->root, "least_keys");
    for (bin = 0; bin < PROFILE_BINS; bin++)
        add(d, bins, json_integer(least(bin)));
    for (cell = 0; cell < len && !d->failed; cell++) {
        const double *profile = fingerprints_profile(f, cell);
        json_t *shares;

        if (!profile)
            continue;
        shares = json_array();
        for (bin = 0; bin < PROFILE_BINS; bin++)
            add(d, shares, json_real(profile[bin]));
        add(d, add_labels(d, rows, run, cell), shares);
    }
    return desc_check(d, err);
}

enum status inspect_digests_json(struct desc *d, const struct run *run, const char *path, struct error *err)
{
    const struct fingerprints *f = &run->fingerprints;
    size_t len = fingerprints_len(f), cell;
    json_t *rows;

    TRY(desc_init(d, "digests", path, err));
    rows = begin(d, "attention", "digest");
    for (cell = 0; cell < len && !d->failed; cell++) {
        const unsigned char *digest = fingerprints_digest(f, cell);
        char text[2 * DIGEST_BYTES + 1];

        if (!digest)
            continue;
        digest_text(digest, text);
        add(d, add_labels(d, rows, run, cell), json_string(text));
    }
    return desc_check(d, err);
}

void inspect_fingerprints(struct desc *d, const struct run *run)
{
    const struct fingerprints *f = &run->fingerprints;
    json_t *rows = desc_array(d, d->root, "fingerprints");
    size_t len = fingerprints_len(f), n[2] = {0, 0}, cell, i;
    static const char *const names[] = {INSPECT_PROFILE, "attention"};
    static const char *const kinds[] = {"profile", "digests"};

    for (cell = 0; cell < len; cell++) {
        n[0] += fingerprints_profile(f, cell) != NULL;
        n[1] += fingerprints_digest(f, cell) != NULL;
    }
    for (i = 0; i < 2; i++) {
        json_t *row;

        if (!n[i])
            continue;
        row = desc_row(d, rows);
        desc_text(d, row, "name", names[i]);
        desc_text(d, row, "kind", kinds[i]);
        desc_int(d, row, "n", (int64_t)n[i]);
        desc_int(d, row, "missing", (int64_t)(len - n[i]));
    }
}
