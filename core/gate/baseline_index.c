#include "core/gate/baseline_index.h"

#include "core/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum status baseline_index_text(struct buf *b, const char *text, struct error *err)
{
    json_t *value = json_string(text);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

    json_decref(value);
    if (!dumped)
        return error_set(err, ERR_USAGE, "'%.60s' is not valid UTF-8", text);
    buf_puts(b, dumped);
    free(dumped);
    return OK;
}

static enum status put_run(struct buf *b, const struct accepted *r, bool is_last, struct error *err)
{
    buf_puts(b, "    {\"file\": ");
    TRY(baseline_index_text(b, r->file, err));
    buf_printf(b, ", \"sha256\": \"%s\",\n     \"when_utc\": ", r->hash.hex);
    TRY(baseline_index_text(b, r->when_utc, err));
    buf_puts(b, ", \"reason\": ");
    TRY(baseline_index_text(b, r->reason, err));
    buf_puts(b, is_last ? "}\n" : "},\n");
    return OK;
}

static enum status put_runs(struct buf *b, const struct accepted *runs, size_t n, bool others_follow, struct error *err)
{
    size_t i;

    for (i = 0; i < n; i++)
        TRY(put_run(b, &runs[i], i + 1 == n && !others_follow, err));
    return OK;
}

enum status baseline_index_begin(struct outfile *ret, const struct baseline *b, const struct accepted *added,
                                 size_t n_added, struct error *err)
{
    AUTO(buf) text = {0};
    char *path = NULL;
    enum status st;

    if (b->n_runs + n_added > BASELINE_RUNS)
        return error_set(err, ERR_LIMIT, "baseline '%s' would have %zu runs, %d are the most", b->name,
                         b->n_runs + n_added, BASELINE_RUNS);
    buf_printf(&text, "{\n  \"schema\": %d,\n  \"name\": \"%s\",\n  \"runs\": [\n", BASELINE_SCHEMA, b->name);
    TRY(put_runs(&text, b->runs, b->n_runs, n_added > 0, err));
    TRY(put_runs(&text, added, n_added, false, err));
    if (b->n_dropped) {
        buf_puts(&text, "  ],\n  \"dropped\": [\n");
        TRY(put_runs(&text, b->dropped, b->n_dropped, false, err));
    }
    buf_puts(&text, "  ]\n}\n");
    TRY(buf_check(&text, err));
    if (text.len > BASELINE_INDEX_BYTES)
        return error_set(err, ERR_LIMIT,
                         "baseline '%s' would have a list of %zu bytes, %d are the most: shorten the reason", b->name,
                         text.len, BASELINE_INDEX_BYTES);
    TRY(path_join(b->dir, "baseline.json", &path, err));
    st = outfile_open(ret, path, err);
    free(path);
    TRY(st);
    return outfile_write(ret, text.data, text.len, err);
}

/* Whether `dir` is still the folder that is open as fd. */
static bool is_there(const char *dir, int fd)
{
    struct stat locked, there;

    return fstat(fd, &locked) == 0 && stat(dir, &there) == 0 && locked.st_ino == there.st_ino &&
           locked.st_dev == there.st_dev;
}

enum status baseline_index_lock(const char *dir, int *ret_fd, struct error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum status st = OK;

    if (fd < 0 ? errno != ENOENT : flock(fd, LOCK_EX) != 0)
        st = error_set(err, ERR_IO, "'%s': cannot lock the folder: %s", dir, strerror(errno));
    if (fd >= 0 && (st != OK || !is_there(dir, fd))) {
        close(fd);
        fd = -1;
    }
    TRY(st);
    *ret_fd = fd;
    return OK;
}
