#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/gate/baseline_index.h"
#include "core/gate/decide.h"
#include "core/gate/summary_file.h"
#include "core/io/machine.h"
#include "core/io/runfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The runs of a baseline in memory. */
struct runs {
    struct run *items; /* owned */
    size_t n;
};

static void runs_done(struct runs *r)
{
    run_list_free(r->items, r->n);
    memset(r, 0, sizeof *r);
}

/* Those accepted, and the new one last. Each must compare with the new one. */
static enum status read_runs(struct runs *r, const struct baseline *b, const char *path, struct error *err)
{
    size_t i;

    TRY(mem_new(b->n_runs + 1, sizeof *r->items, &r->items, err));
    for (i = 0; i < b->n_runs; i++) {
        TRY(baseline_run(b, i, &r->items[r->n], err));
        r->n++;
    }
    TRY(runfile_read(&r->items[r->n], path, err));
    r->n++;
    if (!r->items[b->n_runs].provenance.is_complete)
        return error_set(err, ERR_NO_VERDICT, "'%s' is incomplete and cannot be accepted: resume it or run again",
                         path);
    for (i = 0; i < b->n_runs; i++)
        if (comparable_check(&r->items[i], &r->items[b->n_runs], err) != OK) {
            error_context(err, "accepting '%s' into baseline '%s', base is its run '%s'", path, b->name,
                          b->runs[i].file);
            return ERR_NO_VERDICT;
        }
    return OK;
}

static enum status copy_stream(FILE *in, FILE *out, const char *from, const char *to, struct error *err)
{
    char chunk[65536];
    size_t n;

    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
        if (fwrite(chunk, 1, n, out) != n)
            return error_set(err, ERR_IO, "'%s': cannot write: %s", to, strerror(errno));
    if (ferror(in))
        return error_set(err, ERR_IO, "'%s': cannot read: %s", from, strerror(errno));
    return OK;
}

static enum status copy_to(const char *from, const struct outfile *f, struct error *err)
{
    FILE *in = fopen(from, "rbe"), *out = fopen(f->tmp, "wbe");
    enum status st;

    if (in && out)
        st = copy_stream(in, out, from, f->path, err);
    else
        st = error_set(err, ERR_IO, "'%s': cannot open: %s", in ? f->path : from, strerror(errno));
    if (in)
        fclose(in);
    if (out && fclose(out) && st == OK)
        st = error_set(err, ERR_IO, "'%s': cannot write: %s", f->path, strerror(errno));
    return st;
}

/* The bytes that are kept must be those that were checked: the copy's hash is taken, not the source's. */
static enum status copy_run(const char *from, const char *to, const struct sha256 *want, struct error *err)
{
    AUTO(outfile) f = {0};
    struct sha256 hash;

    TRY(outfile_open(&f, to, err));
    TRY(copy_to(from, &f, err));
    TRY(sha256_file(&hash, f.tmp, err));
    if (strcmp(hash.hex, want->hex) != 0)
        return error_set(err, ERR_IO, "'%s' changed while it was read: accept it when it is finished", from);
    return outfile_commit(&f, err);
}

/* Opens the baseline, or prepares an empty one of that name. */
static enum status open_or_new(struct baseline *b, const char *dir, const char *name, struct error *err)
{
    struct error why = {0};
    enum status st = baseline_open(b, dir, name, &why);
    char *path = NULL;

    if (st != ERR_NO_VERDICT)
        return st == OK ? OK : error_set(err, st, "%s", why.message);
    TRY(arena_strdup(&b->arena, name, &b->name, err));
    TRY(path_join(dir, name, &path, err));
    st = arena_strdup(&b->arena, path, &b->dir, err);
    free(path);
    return st;
}

static enum status describe(struct baseline *b, struct accepted *a, const char *run_path, const char *reason,
                            struct error *err)
{
    size_t i;

    TRY(sha256_file(&a->hash, run_path, err));
    for (i = 0; i < b->n_runs; i++)
        if (strcmp(b->runs[i].hash.hex, a->hash.hex) == 0)
            return error_set(err, ERR_USAGE, "'%s' is in baseline '%s' already, as '%s'", run_path, b->name,
                             b->runs[i].file);
    TRY(arena_printf(&b->arena, &a->file, err, "run-%.12s.h5", a->hash.hex));
    TRY(arena_strdup(&b->arena, reason, &a->reason, err));
    return machine_now(&b->arena, &a->when_utc, err);
}

/* The run first, then what names it: a program that dies between leaves a file that nothing refers to. */
static enum status store(const struct baseline *b, const struct accepted *a, const struct runs *runs,
                         const char *run_path, struct error *err)
{
    struct sha256 there = {{0}};
    char *path = NULL;
    enum status st;

    TRY(path_join(b->dir, a->file, &path, err));
    if (!file_exists(path))
        st = copy_run(run_path, path, &a->hash, err);
    else
        st = sha256_file(&there, path, err);
    if (st == OK && there.hex[0] && strcmp(there.hex, a->hash.hex) != 0)
        st =
            error_set(err, ERR_FORMAT, "'%s' is there with other contents: nothing is overwritten, move it away", path);
    free(path);
    TRY(st);
    TRY(baseline_index_write(b, a, err));
    return summary_file_write(b, runs->items, runs->n, err);
}

/* Two at once would each write a list without the other's run: whether one came between reading and locking. */
static enum status check_stale(const struct baseline *b, const char *dir, bool *ret, struct error *err)
{
    AUTO(baseline) now = {0};
    struct error why = {0};
    enum status st = baseline_open(&now, dir, b->name, &why);

    if (st != OK && st != ERR_NO_VERDICT)
        return error_set(err, st, "%s", why.message);
    *ret = now.n_runs != b->n_runs || now.n_dropped != b->n_dropped;
    return OK;
}

/* The lock is on the folder and goes with this process, however that ends. */
static enum status store_locked(const struct baseline *b, const char *dir, const struct accepted *a,
                                const struct runs *runs, const char *run_path, bool *ret_stale, struct error *err)
{
    enum status st;
    int fd;

    TRY(dir_make(b->dir, err));
    fd = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX)) {
        st = error_set(err, ERR_IO, "'%s': cannot lock the folder: %s", b->dir, strerror(errno));
    } else {
        st = check_stale(b, dir, ret_stale, err);
        if (st == OK && !*ret_stale)
            st = store(b, a, runs, run_path, err);
    }
    if (fd >= 0)
        close(fd);
    return st;
}

static enum status accept_once(const char *dir, const char *name, const char *run_path, const char *reason,
                               bool *ret_stale, struct error *err)
{
    AUTO(baseline) b = {0};
    AUTO(runs) runs = {0};
    struct accepted added = {0};

    TRY(open_or_new(&b, dir, name, err));
    TRY(describe(&b, &added, run_path, reason, err));
    TRY(read_runs(&runs, &b, run_path, err));
    return store_locked(&b, dir, &added, &runs, run_path, ret_stale, err);
}

enum status baseline_accept(const char *dir, const char *name, const char *run_path, const char *reason,
                            struct error *err)
{
    AUTO(buf) quoted = {0};
    bool is_stale = true;

    if (!reason || !reason[0])
        return error_set(err, ERR_USAGE, "say with --reason why '%s' is accepted", run_path);
    TRY(baseline_index_text(&quoted, reason, err)); /* before anything is written */
    while (is_stale)
        TRY(accept_once(dir, name, run_path, reason, &is_stale, err));
    return OK;
}
