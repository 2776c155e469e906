#include "core/io/dump.h"

#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump_layout.h"
#include "core/io/dump_map.h"
#include "core/io/dump_reader.h"
#include "core/io/h5guard.h"
#include "core/io/hash_job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct dump_format *const formats[] = {&dump_hdf5, &dump_safetensors, &dump_npz, &dump_npy};

static bool ends_in(const char *path, const char *suffix)
{
    size_t len = strlen(path), n = strlen(suffix);

    return len >= n && strcmp(path + len - n, suffix) == 0;
}

/* By the first bytes; the name only says who explains best what is wrong with a file that begins like none. */
static const struct dump_format *choose_format(const char *path, const unsigned char *head, size_t n)
{
    size_t i;

    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->knows(head, n))
            return formats[i];
    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (n > 0 && ends_in(path, formats[i]->suffix))
            return formats[i];
    return &dump_hdf5; /* whose signature may also stand further in */
}

static const struct dump_format *find_format(const char *path)
{
    unsigned char head[16];
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;

    if (f)
        fclose(f);
    return choose_format(path, head, n);
}

enum status dump_note(struct dump *d, struct error *err, const char *fmt, ...)
{
    char text[480];
    va_list args;
    size_t i;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (i = 0; i < d->n_notices; i++)
        if (strcmp(d->notices[i], text) == 0)
            return OK;
    if (d->n_notices == DUMP_MAX_NOTICES)
        return OK;
    return arena_strdup(&d->arena, text, &d->notices[d->n_notices++], err);
}

/* A file may carry its own map, "tare_layout"; one that is named goes before it. */
static enum status find_layout(struct dump *d, const struct dump_options *options, const char **ret_name,
                               const char **ret_text, struct error *err)
{
    bool found = false;
    char *text = NULL, *name = NULL;

    *ret_name = options ? options->layout : NULL;
    *ret_text = options ? options->layout_text : NULL;
    if (*ret_name || *ret_text)
        return OK;
    TRY(d->reader->format->attr_text(d->reader, "", "tare_layout", &d->arena, &found, &text, err));
    if (!found)
        return OK;
    TRY(arena_printf(&d->arena, &name, err, "%s: tare_layout", d->path));
    *ret_name = name;
    *ret_text = text;
    return OK;
}

/* What was said about the dump, map and option together, so that it can be read again in the same way. */
static enum status keep_layout(struct dump *d, const struct dump_options *options, const struct dump_map *map,
                               struct error *err)
{
    json_t *said = map ? json_deep_copy(map->doc.root) : json_object();
    char *line = NULL;
    enum status st;

    if (options && options->has_dtype && json_object_set_new(said, "dtype", json_string(dtype_name(options->dtype))))
        line = NULL;
    else
        line = json_dumps(said, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(said);
    if (!line)
        return error_set(err, ERR_MEMORY, "no memory for a layout");
    st = arena_strdup(&d->arena, line, &d->source.layout, err);
    free(line);
    return st;
}

static enum status open_reader(struct dump *d, const struct dump_format *format, const struct dump_options *options,
                               struct error *err)
{
    struct dump_reader *inner = NULL;
    const char *name = NULL, *text = NULL;
    const struct dump_map *map = NULL;

    d->said_dtype = options && options->has_dtype ? options->dtype : N_DTYPES;
    TRY(format->open(d->path, &d->reader, err));
    TRY(find_layout(d, options, &name, &text, err));
    if (name || text) {
        inner = d->reader;
        d->reader = NULL; /* taken over */
        TRY(dump_map_open(name ? name : "layout", text, inner, &d->reader, err));
        map = dump_map_of(d->reader);
        d->is_mapped = true;
        if (d->said_dtype == N_DTYPES)
            d->said_dtype = map->dtype;
    }
    return map || (options && options->has_dtype) ? keep_layout(d, options, map, err) : OK;
}

/* What the map assumed while it was read, and while it was asked about samples. */
static enum status take_notes(struct dump *d, struct error *err)
{
    const struct dump_map *map = dump_map_of(d->reader);
    size_t i;

    for (i = 0; map && i < map->n_notes; i++)
        TRY(dump_note(d, err, "%s", map->notes[i]));
    return OK;
}

static enum status open_all(struct dump *ret, const char *path, const struct dump_format *format,
                            const struct dump_options *options, struct error *err)
{
    AUTO(dump) dump = {0};

    TRY(arena_strdup(&dump.arena, path, &dump.path, err));
    dump.source.path = dump.path;
    TRY(open_reader(&dump, format, options, err));
    TRY(dump_layout_read(&dump, err));
    TRY(take_notes(&dump, err));
    *ret = dump;
    memset(&dump, 0, sizeof dump);
    return OK;
}

static void attempt_hdf5(const char *path, const void *options)
{
    AUTO(dump) dump = {0};
    struct error err = {0};

    if (open_all(&dump, path, &dump_hdf5, options, &err) != OK)
        return; /* the caller finds it again, and says it */
}

static enum status look_at(const char *path, int64_t *ret_bytes, int64_t *ret_mtime_ns, struct error *err)
{
    struct stat sb;

    if (stat(path, &sb))
        return error_set(err, ERR_IO, "'%s': cannot be looked at: %s", path, strerror(errno));
    *ret_bytes = sb.st_size;
    *ret_mtime_ns = (int64_t)sb.st_mtim.tv_sec * 1000000000 + sb.st_mtim.tv_nsec;
    return OK;
}

enum status dump_unchanged(const struct dump *d, struct error *err)
{
    int64_t bytes = 0, mtime_ns = 0;

    TRY(look_at(d->path, &bytes, &mtime_ns, err));
    if (bytes == d->seen_bytes && mtime_ns == d->seen_mtime_ns)
        return OK;
    return error_set(err, ERR_IO,
                     "'%s': was changed while it was read (%lld bytes before, %lld now): leave it alone, and run again",
                     d->path, (long long)d->seen_bytes, (long long)bytes);
}

enum status dump_begin(struct dump *d, const char *path, const struct dump_options *options, struct error *err)
{
    const struct dump_format *format;
    AUTO(dump) dump = {0};

    TRY(file_check_regular(path, err));
    format = find_format(path);
    if (format == &dump_hdf5)
        TRY(h5guard_call(path, attempt_hdf5, options, err));
    TRY(open_all(&dump, path, format, options, err));
    TRY(look_at(path, &dump.seen_bytes, &dump.seen_mtime_ns, err));
    if (dump.seen_bytes <= DUMP_HASHED_BYTES || (options && options->hashes_all))
        TRY(hash_job_start(&dump.hashing, dump.path, err));
    *d = dump;
    memset(&dump, 0, sizeof dump);
    return OK;
}

void dump_limit_memory(struct dump *d, size_t bytes)
{
    d->reader->memory = bytes;
    if (dump_map_of(d->reader))
        dump_map_limit_memory(d->reader, bytes);
}

enum status dump_settle(struct dump *d, struct error *err)
{
    struct hash_job *job = d->hashing;

    d->hashing = NULL;
    return hash_job_finish(job, &d->source.hash, err);
}

enum status dump_open_as(struct dump *d, const char *path, const struct dump_options *options, struct error *err)
{
    AUTO(dump) dump = {0};

    TRY(dump_begin(&dump, path, options, err));
    TRY(dump_settle(&dump, err));
    *d = dump;
    memset(&dump, 0, sizeof dump);
    return OK;
}

enum status dump_open(struct dump *d, const char *path, struct error *err)
{
    return dump_open_as(d, path, NULL, err);
}

void dump_done(struct dump *d)
{
    struct error ignored = {0};

    if (hash_job_finish(d->hashing, NULL, &ignored) != OK)
        error_clear(&ignored);
    if (d->reader)
        d->reader->format->free(d->reader);
    arena_done(&d->arena);
    memset(d, 0, sizeof *d);
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void dump_spans(const struct dump_layer *layer, const struct dump_sample *sample, struct row_span *ret)
{
    int64_t end = sample->first + sample->length;
    int64_t n_cols = (int64_t)layer->n_cols;
    size_t i;

    for (i = 0; i < layer->n_rows; i++) {
        int64_t p = sample->query_start + (int64_t)i;
        int64_t lo = sample->first, hi = end;

        ret[i] = (struct row_span){0, 0};
        if (p < sample->first || p >= end)
            continue;
        if (layer->causal)
            hi = p + 1;
        if (layer->causal && layer->window > 0)
            lo = at_least(lo, p - layer->window + 1);
        lo = at_most(at_least(lo - layer->key_start, 0), n_cols);
        hi = at_most(at_least(hi - layer->key_start, 0), n_cols);
        if (lo < hi)
            ret[i] = (struct row_span){(uint32_t)lo, (uint32_t)hi};
    }
}
