#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/gate/baseline_index.h"
#include "core/gate/decide.h"
#include "core/gate/summary_file.h"
#include "core/io/machine.h"
#include "core/io/runfile.h"
#include "core/model/observed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The runs of a baseline in memory: those accepted, and the new ones behind them. */
struct runs {
    struct run *items; /* owned */
    size_t n;
};

/* What is accepted by one call. */
struct addition {
    const char *const *paths; /* [n] */
    size_t n;
    const char *reason;
    struct accepted *runs; /* [n], in the baseline's arena */
};

static void runs_done(struct runs *r)
{
    run_list_free(r->items, r->n);
    memset(r, 0, sizeof *r);
}

/* Whether the run compares with all before it: `b` has the names of those that were accepted. */
static enum status check_run(const struct runs *r, const struct baseline *b, const struct addition *a, size_t i,
                             struct error *err)
{
    const struct run *added = &r->items[b->n_runs + i];
    size_t k;

    if (!added->provenance.is_complete)
        return error_set(err, ERR_NO_VERDICT, "'%s' is incomplete and cannot be accepted: resume it or run again",
                         a->paths[i]);
    for (k = 0; k < b->n_runs + i; k++) {
        const char *other = k < b->n_runs ? b->runs[k].file : a->paths[k - b->n_runs];
        AUTO(buf) versions = {0};

        if (comparable_check(&r->items[k], added, err) != OK) {
            error_context(err, "accepting '%s' into baseline '%s', base is its run '%s'", a->paths[i], b->name, other);
            return ERR_NO_VERDICT;
        }
        if (observed_twice(&r->items[k], added))
            return error_set(err, ERR_USAGE,
                             "'%s' and '%s' are of the same replies: counted twice they would look like runs without "
                             "noise",
                             other, a->paths[i]);
        TRY(comparable_versions(&r->items[k], added, &versions, err));
        if (versions.len)
            return error_set(err, ERR_USAGE,
                             "'%s' is of another version than '%s', %s: what versions differ by is no noise; accept it "
                             "under another name, or drop baseline '%s' first",
                             a->paths[i], other, buf_text(&versions), b->name);
    }
    return OK;
}

static enum status read_runs(struct runs *r, const struct baseline *b, const struct addition *a, struct error *err)
{
    size_t i;

    TRY(mem_new(b->n_runs + a->n, sizeof *r->items, &r->items, err));
    for (i = 0; i < b->n_runs; i++) {
        TRY(baseline_run(b, i, &r->items[r->n], err));
        r->n++;
    }
    for (i = 0; i < a->n; i++) {
        TRY(runfile_read(&r->items[r->n], a->paths[i], err));
        r->n++;
        TRY(check_run(r, b, a, i, err));
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

static enum status describe(struct baseline *b, const struct addition *a, size_t i, struct error *err)
{
    struct accepted *r = &a->runs[i];
    size_t k;

    TRY(sha256_file(&r->hash, a->paths[i], err));
    for (k = 0; k < b->n_runs; k++)
        if (strcmp(b->runs[k].hash.hex, r->hash.hex) == 0)
            return error_set(err, ERR_USAGE, "'%s' is in baseline '%s' already, as '%s'", a->paths[i], b->name,
                             b->runs[k].file);
    for (k = 0; k < i; k++)
        if (strcmp(a->runs[k].hash.hex, r->hash.hex) == 0)
            return error_set(err, ERR_USAGE,
                             "'%s' and '%s' are the same run: counted twice it would look like one without noise",
                             a->paths[k], a->paths[i]);
    TRY(arena_printf(&b->arena, &r->file, err, "run-%.12s.h5", r->hash.hex));
    TRY(arena_strdup(&b->arena, a->reason, &r->reason, err));
    return machine_now(&b->arena, &r->when_utc, err);
}

/* Copies the run unless its very bytes are there already. */
static enum status store_run(const struct baseline *b, const struct accepted *r, const char *from, bool *ret_copied,
                             struct error *err)
{
    struct sha256 there = {{0}};
    char *path = NULL;
    enum status st;

    TRY(path_join(b->dir, r->file, &path, err));
    if (!file_exists(path)) {
        st = copy_run(from, path, &r->hash, err);
        *ret_copied = st == OK;
    } else {
        st = sha256_file(&there, path, err);
        if (st == OK && strcmp(there.hex, r->hash.hex) != 0)
            st = error_set(err, ERR_FORMAT, "'%s' is there with other contents: nothing is overwritten, move it away",
                           path);
    }
    free(path);
    return st;
}

/* The runs first, then what names them: a program that dies between leaves files that nothing refers to. */
static enum status store_all(const struct baseline *b, const struct addition *a, const struct runs *runs, bool *copied,
                             struct error *err)
{
    AUTO(outfile) index = {0};
    AUTO(outfile) summary = {0};
    size_t i;

    for (i = 0; i < a->n; i++)
        TRY(store_run(b, &a->runs[i], a->paths[i], &copied[i], err));
    TRY(summary_file_begin(&summary, b, runs->items, runs->n, err));
    TRY(baseline_index_begin(&index, b, a->runs, a->n, err));
    TRY(outfile_commit(&summary, err));
    return outfile_commit(&index, err);
}

/* What nothing refers to; the folder with it where nothing else is in it. */
static void take_back(const struct baseline *b, const struct addition *a, const bool *copied)
{
    size_t i;

    for (i = 0; i < a->n; i++) {
        char *path = NULL;

        if (copied[i] && path_join(b->dir, a->runs[i].file, &path, NULL) == OK)
            unlink(path);
        free(path);
    }
    rmdir(b->dir);
}

static enum status store(const struct baseline *b, const struct addition *a, const struct runs *runs, struct error *err)
{
    bool *copied = NULL;
    enum status st;

    TRY(mem_new(a->n, sizeof *copied, &copied, err));
    st = store_all(b, a, runs, copied, err);
    if (st != OK)
        take_back(b, a, copied);
    free(copied);
    return st;
}

static bool same_list(const struct accepted *a, size_t n_a, const struct accepted *b, size_t n_b)
{
    size_t i;

    if (n_a != n_b)
        return false;
    for (i = 0; i < n_a; i++)
        if (strcmp(a[i].hash.hex, b[i].hash.hex) != 0)
            return false;
    return true;
}

/* Two at once would each write a list without what the other did: whether the one that was read is still the one that
 * is there. */
static enum status check_stale(const struct baseline *b, const char *dir, bool *ret, struct error *err)
{
    AUTO(baseline) now = {0};
    struct error why = {0};
    enum status st = baseline_open(&now, dir, b->name, &why);

    if (st != OK && st != ERR_NO_VERDICT)
        return error_set(err, st, "%s", why.message);
    *ret = !same_list(now.runs, now.n_runs, b->runs, b->n_runs) ||
           !same_list(now.dropped, now.n_dropped, b->dropped, b->n_dropped);
    return OK;
}

static enum status store_locked(const struct baseline *b, const char *dir, const struct addition *a,
                                const struct runs *runs, bool *ret_stale, struct error *err)
{
    enum status st;
    int fd = -1;

    TRY(dir_make(b->dir, err));
    TRY(baseline_index_lock(b->dir, &fd, err));
    *ret_stale = true;
    if (fd < 0)
        return OK;
    st = check_stale(b, dir, ret_stale, err);
    if (st == OK && !*ret_stale)
        st = store(b, a, runs, err);
    close(fd);
    return st;
}

static enum status accept_once(const char *dir, const char *name, struct addition *a, bool *ret_stale,
                               struct error *err)
{
    AUTO(baseline) b = {0};
    AUTO(runs) runs = {0};
    struct error why = {0}, ignored = {0};
    enum status st;
    size_t i;

    TRY(open_or_new(&b, dir, name, err));
    TRY(arena_new(&b.arena, a->n, sizeof *a->runs, &a->runs, err));
    for (i = 0; i < a->n; i++)
        TRY(describe(&b, a, i, err));
    st = read_runs(&runs, &b, a, &why);
    if (st == OK)
        return store_locked(&b, dir, a, &runs, ret_stale, err);
    /* A run that was dropped while it was read is no fault of the baseline's. */
    if (check_stale(&b, dir, ret_stale, &ignored) == OK && *ret_stale)
        return OK;
    if (err)
        *err = why;
    return st;
}

enum status baseline_accept(const char *dir, const char *name, const char *const *run_paths, size_t n,
                            const char *reason, struct error *err)
{
    struct addition a = {.paths = run_paths, .n = n, .reason = reason};
    AUTO(buf) quoted = {0};
    bool is_stale = true;

    if (!reason || !reason[0])
        return error_set(err, ERR_USAGE, "say with --reason why '%s' is accepted", run_paths[0]);
    TRY(baseline_index_text(&quoted, reason, err)); /* before anything is written */
    while (is_stale)
        TRY(accept_once(dir, name, &a, &is_stale, err));
    return OK;
}
