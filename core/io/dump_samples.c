#include "core/io/dump_samples.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_map_read.h"
#include "core/io/dump_reader.h"
#include "core/io/texts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 1 << 20, NOT_SAID = -1 };

/* A part after '#': a whole number from 1, in as few digits as it takes, so that one sample has one id. */
static bool parse_part(const char *text, size_t len, int64_t *ret)
{
    char digits[20] = "";

    if (len == 0 || len >= sizeof digits || text[0] == '0')
        return false;
    memcpy(digits, text, len);
    return num_i64(digits, ret) && *ret >= 1;
}

bool dump_samples_parse_id(const char *id, size_t *ret_task_len, int64_t *ret_turn, int64_t *ret_repeat)
{
    const char *first = strchr(id, '#');
    const char *second = first ? strchr(first + 1, '#') : NULL;
    int64_t turn = 1, repeat = 1;
    const char *p;

    for (p = id; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    if (first == id || p == id)
        return false;
    if (first && !parse_part(first + 1, second ? (size_t)(second - first - 1) : strlen(first + 1), &turn))
        return false;
    if (second && !parse_part(second + 1, strlen(second + 1), &repeat))
        return false;
    *ret_task_len = first ? (size_t)(first - id) : strlen(id);
    *ret_turn = turn;
    *ret_repeat = repeat;
    return true;
}

static enum status read_ids(struct dump *d, struct error *err)
{
    char **ids = NULL;
    size_t n = 0, i;

    TRY(d->reader->format->texts(d->reader, "samples/id", MAX_SAMPLES, &d->arena, &ids, &n, err));
    if (n == 0)
        return dump_layout_bad(d, "samples/id", err, "the dump holds no samples");
    TRY(arena_new(&d->arena, n, sizeof *d->samples, &d->samples, err));
    for (i = 0; i < n; i++) {
        struct dump_sample *s = &d->samples[i];
        size_t len = 0;

        s->id = ids[i];
        if (!dump_samples_parse_id(s->id, &len, &s->turn, &s->repeat))
            return dump_layout_bad(
                d, "samples/id", err,
                "sample %zu has the id '%.80s': write task, task#turn or task#turn#repeat, with turn "
                "and repeat counted from 1",
                i, s->id);
        TRY(arena_strndup(&d->arena, s->id, len, &s->task, err));
    }
    d->n_samples = n;
    return OK;
}

/* "a" and "a#1" are the same sample. */
static enum status check_unique(const struct dump *d, struct error *err)
{
    AUTO(arena) arena = {0};
    size_t repeated = SIZE_MAX, i;
    char **keys = NULL;

    TRY(arena_new(&arena, d->n_samples, sizeof *keys, &keys, err));
    for (i = 0; i < d->n_samples; i++)
        TRY(arena_printf(&arena, &keys[i], err, "%s#%lld#%lld", d->samples[i].task, (long long)d->samples[i].turn,
                         (long long)d->samples[i].repeat));
    TRY(texts_find_repeated(keys, d->n_samples, &repeated, err));
    if (repeated != SIZE_MAX)
        return dump_layout_bad(d, "samples/id", err,
                               "sample '%.80s' stands there twice (task '%.80s', turn %lld, repeat %lld)",
                               d->samples[repeated].id, d->samples[repeated].task, (long long)d->samples[repeated].turn,
                               (long long)d->samples[repeated].repeat);
    return OK;
}

/* One number a sample, between `min` and INT32_MAX, to the member at `offset`. */
static enum status read_numbers(struct dump *d, const char *name, int64_t min, size_t offset, struct error *err)
{
    int64_t *values = NULL;
    size_t n = 0, i;

    TRY(d->reader->format->integers(d->reader, name, MAX_SAMPLES, &d->arena, &values, &n, err));
    if (n != d->n_samples)
        return dump_layout_bad(d, name, err, "%zu numbers for %zu samples", n, d->n_samples);
    for (i = 0; i < n; i++) {
        if (values[i] < min || values[i] > INT32_MAX)
            return dump_layout_bad(d, name, err, "sample '%.80s' has %lld, it must be between %lld and %d",
                                   d->samples[i].id, (long long)values[i], (long long)min, INT32_MAX);
        memcpy((char *)&d->samples[i] + offset, &values[i], sizeof *values);
    }
    return OK;
}

/* The mask's ones must be the sample's keys, no more and no less. */
static enum status check_mask_row(const struct dump *d, const struct dump_sample *s, const int64_t *mask, size_t n_cols,
                                  struct error *err)
{
    size_t i;

    for (i = 0; i < n_cols; i++) {
        bool is_key = (int64_t)i >= s->first && (int64_t)i < s->first + s->length;

        if (mask[i] != is_key)
            return dump_layout_bad(
                d, "samples/mask", err,
                "sample '%.80s' has %lld at key %zu, but first %lld and length %lld say %d; a sample "
                "is one unbroken range of keys",
                s->id, (long long)mask[i], i, (long long)s->first, (long long)s->length, is_key);
    }
    return OK;
}

static enum status check_mask(struct dump *d, struct error *err)
{
    const struct dump_format *format = d->reader->format;
    size_t n_rows = 0, n_cols = 0, i;
    enum status st = OK;
    int64_t *row = NULL;

    if (!format->has(d->reader, "samples/mask"))
        return OK;
    TRY(format->table(d->reader, "samples/mask", &n_rows, &n_cols, err));
    if (n_rows != d->n_samples)
        return dump_layout_bad(d, "samples/mask", err, "%zu rows for %zu samples", n_rows, d->n_samples);
    for (i = 0; i < d->n_samples; i++) {
        const struct dump_sample *s = &d->samples[i];

        if ((uint64_t)(s->first + s->length) > n_cols)
            return dump_layout_bad(d, "samples/length", err,
                                   "sample '%.80s' has keys %lld to %lld, but the mask has %zu columns", s->id,
                                   (long long)s->first, (long long)(s->first + s->length - 1), n_cols);
    }
    TRY(mem_new(n_cols, sizeof *row, &row, err));
    for (i = 0; st == OK && i < n_rows; i++) {
        st = format->table_row(d->reader, "samples/mask", i, n_cols, row, err);
        if (st == OK)
            st = check_mask_row(d, &d->samples[i], row, n_cols, err);
    }
    free(row);
    return st;
}

/* A list that may be missing: a map that names tensors knows how to answer for it. */
static bool is_missing(struct dump *d, const char *name)
{
    const struct dump_map *map = dump_map_of(d->reader);

    return !(map && dump_map_names_tensors(map)) && !d->reader->format->has(d->reader, name);
}

enum status dump_samples_read(struct dump *d, struct error *err)
{
    size_t i;

    TRY(read_ids(d, err));
    TRY(check_unique(d, err));
    TRY(read_numbers(d, "samples/length", 1, offsetof(struct dump_sample, length), err));
    TRY(read_numbers(d, "samples/first", 0, offsetof(struct dump_sample, first), err));
    for (i = 0; i < d->n_samples; i++)
        d->samples[i].query_start = NOT_SAID;
    if (!is_missing(d, "samples/query_start"))
        TRY(read_numbers(d, "samples/query_start", 0, offsetof(struct dump_sample, query_start), err));
    return check_mask(d, err);
}

enum status dump_samples_place(struct dump *d, struct error *err)
{
    const struct dump_layer *l = &d->layers[0];
    size_t i;

    if (d->samples[0].query_start != NOT_SAID)
        return OK;
    if (l->n_rows > l->n_cols)
        return dump_layout_bad(d, "samples", err,
                               "no query_start, the key index of each sample's first row, and %zu rows of %zu keys",
                               l->n_rows, l->n_cols);
    for (i = 0; i < d->n_samples; i++)
        d->samples[i].query_start = (int64_t)(l->n_cols - l->n_rows);
    if (l->n_rows == l->n_cols)
        return OK;
    return dump_note(
        d, err,
        "'%s': %zu rows and %zu keys without samples/query_start: the last row is taken for that of the last "
        "key, so the first has key index %zu",
        d->path, l->n_rows, l->n_cols, l->n_cols - l->n_rows);
}
