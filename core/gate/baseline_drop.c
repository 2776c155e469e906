#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/baseline_index.h"
#include "core/gate/summary_file.h"
#include "core/io/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIN_DIGITS = 6 };

static bool names_it(const struct accepted *r, const char *which)
{
    size_t len = strlen(which);

    if (strcmp(r->file, which) == 0)
        return true;
    return len >= MIN_DIGITS && strncmp(r->hash.hex, which, len) == 0;
}

/* The one run that `which` names. */
static enum status find_run(const struct baseline *b, const char *which, size_t *ret, struct error *err)
{
    size_t i, n = 0;

    for (i = 0; i < b->n_runs; i++)
        if (names_it(&b->runs[i], which)) {
            *ret = i;
            n++;
        }
    if (n == 0)
        return error_set(err, ERR_USAGE,
                         "baseline '%s' has no run '%.70s': name its file or six digits of its hash, 'tare baseline "
                         "show %s' lists them",
                         b->name, which, b->name);
    return n == 1 ? OK : error_set(err, ERR_USAGE, "'%.70s' begins the hash of %zu runs: give more digits", which, n);
}

static enum status remove_file(const char *dir, const char *file, struct error *err)
{
    char *path = NULL;
    enum status st;

    TRY(path_join(dir, file, &path, err));
    st = unlink(path) == 0 || errno == ENOENT
             ? OK
             : error_set(err, ERR_IO, "'%s': cannot delete: %s", path, strerror(errno));
    free(path);
    return st;
}

/* The name first: a program that dies between leaves files that nothing refers to. */
static enum status drop_all(const struct baseline *b, struct error *err)
{
    size_t i;

    TRY(remove_file(b->dir, "baseline.json", err));
    for (i = 0; i < b->n_runs; i++)
        TRY(remove_file(b->dir, b->runs[i].file, err));
    TRY(remove_file(b->dir, "summary.json", err));
    TRY(remove_file(b->dir, "calibration.json", err));
    if (rmdir(b->dir) != 0 && errno != ENOTEMPTY && errno != EEXIST)
        return error_set(err, ERR_IO, "'%s': cannot delete: %s", b->dir, strerror(errno));
    return OK;
}

/* Moves the run from the list to those dropped, with reason and time. */
static enum status take_out(struct baseline *b, const char *which, const char *reason, struct error *err)
{
    struct accepted *gone = &b->dropped[b->n_dropped];
    size_t i = 0;

    TRY(find_run(b, which, &i, err));
    *gone = b->runs[i];
    TRY(arena_strdup(&b->arena, reason, &gone->reason, err));
    TRY(machine_now(&b->arena, &gone->when_utc, err));
    memmove(&b->runs[i], &b->runs[i + 1], (b->n_runs - i - 1) * sizeof *b->runs);
    b->n_runs--;
    b->n_dropped++;
    return OK;
}

/* Nothing is changed unless both files could be written. */
static enum status rewrite(const struct baseline *b, struct error *err)
{
    AUTO(outfile) index = {0};
    AUTO(outfile) summary = {0};
    struct run *runs = NULL;
    enum status st;
    size_t n = 0;

    TRY(mem_new(b->n_runs, sizeof *runs, &runs, err));
    for (st = OK; n < b->n_runs && st == OK; n += st == OK)
        st = baseline_run(b, n, &runs[n], err);
    if (st == OK)
        st = summary_file_begin(&summary, b, runs, n, err);
    run_list_free(runs, n);
    TRY(st);
    TRY(baseline_index_begin(&index, b, NULL, 0, err));
    TRY(outfile_commit(&summary, err));
    return outfile_commit(&index, err);
}

static enum status drop(const char *dir, const char *name, const char *const *which, size_t n, const char *reason,
                        struct error *err)
{
    AUTO(baseline) b = {0};
    struct accepted *dropped = NULL;
    size_t i, before;

    TRY(baseline_open(&b, dir, name, err));
    if (n == 0)
        return drop_all(&b, err);
    if (n >= b.n_runs)
        return error_set(err, ERR_USAGE,
                         "baseline '%s' has %zu run%s, and one must stay: 'tare baseline drop %s' without a run drops "
                         "it whole",
                         name, b.n_runs, b.n_runs == 1 ? "" : "s", name);
    before = b.n_dropped;
    TRY(arena_new(&b.arena, before + n, sizeof *dropped, &dropped, err));
    if (before)
        memcpy(dropped, b.dropped, before * sizeof *dropped);
    b.dropped = dropped;
    for (i = 0; i < n; i++)
        TRY(take_out(&b, which[i], reason, err));
    TRY(rewrite(&b, err));
    for (i = before; i < b.n_dropped; i++)
        TRY(remove_file(b.dir, b.dropped[i].file, err));
    return OK;
}

/* A link is not the baseline: what it leads to would be emptied and the link left. */
static enum status check_no_link(const char *name, const char *path, struct error *err)
{
    struct stat sb;

    if (lstat(path, &sb) == 0 && S_ISLNK(sb.st_mode))
        return error_set(err, ERR_USAGE, "'%s' is a link: drop the baseline that it leads to, or delete the link",
                         name);
    return OK;
}

/* Locked as accepting locks it: two at once would each write a list without what the other did. */
enum status baseline_drop(const char *dir, const char *name, const char *const *which, size_t n, const char *reason,
                          struct error *err)
{
    AUTO(buf) quoted = {0};
    enum status st;
    int fd = -1;

    if (!reason || !reason[0])
        return error_set(err, ERR_USAGE, "say with --reason why '%s' is dropped", name);
    TRY(baseline_index_text(&quoted, reason, err)); /* before anything is written */
    while (fd < 0) {
        AUTO(baseline) b = {0};

        TRY(baseline_open(&b, dir, name, err));
        if (n == 0)
            TRY(check_no_link(name, b.dir, err));
        TRY(baseline_index_lock(b.dir, &fd, err));
    }
    st = drop(dir, name, which, n, reason, err);
    close(fd);
    return st;
}
