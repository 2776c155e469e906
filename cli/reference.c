#include "cli/reference.h"

#include "cli/message.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "core/gate/decide.h"
#include "core/io/runfile.h"

#include <stdlib.h>
#include <string.h>

void reference_done(struct reference *r)
{
    run_list_free(r->runs, r->n);
    free(r->name);
    baseline_done(&r->baseline);
    calibration_done(&r->calibration);
    memset(r, 0, sizeof *r);
}

static enum status open_run(struct reference *r, const char *path, struct error *err)
{
    TRY(mem_strdup(path, &r->name, err));
    TRY(mem_new(1, sizeof *r->runs, &r->runs, err));
    TRY(runfile_read(&r->runs[0], path, err));
    r->n = 1;
    return OK;
}

/* A calibration informs: one that does not read is no reason not to compare. */
static void recall(struct reference *r)
{
    struct error why = {0};

    if (calibration_read(&r->calibration, r->baseline.dir, &r->is_calibrated, &why) != OK)
        message_warn("calibration left out: %s", why.message);
}

static enum status open_baseline(struct reference *r, const char *dir, const char *name, struct error *err)
{
    TRY(baseline_open(&r->baseline, dir, name, err));
    recall(r);
    TRY(mem_strdup(name, &r->name, err));
    TRY(mem_new(r->baseline.n_runs, sizeof *r->runs, &r->runs, err));
    while (r->n < r->baseline.n_runs) {
        TRY(baseline_run(&r->baseline, r->n, &r->runs[r->n], err));
        r->n++;
    }
    return OK;
}

/* "a/b/name" to "a/b" and "name". */
static enum status open_folder(struct reference *r, const char *path, struct error *err)
{
    AUTO(buf) dir = {0};
    char *name;

    buf_puts(&dir, path);
    TRY(buf_check(&dir, err));
    while (dir.len > 1 && dir.data[dir.len - 1] == '/')
        dir.data[--dir.len] = '\0';
    name = strrchr(dir.data, '/');
    if (!name)
        return open_baseline(r, ".", dir.data, err);
    *name++ = '\0';
    return open_baseline(r, dir.data[0] ? dir.data : "/", name, err);
}

static enum status open_only(struct reference *r, const char *dir, struct error *err)
{
    AUTO(arena) strings = {0};
    AUTO(buf) all = {0};
    char **names = NULL;
    size_t n = 0, i;

    TRY(baseline_list(dir, &strings, &names, &n, err));
    if (n == 0)
        return error_set(err, ERR_NO_VERDICT,
                         "there is no baseline in '%s' yet: accept a run first, as in 'tare baseline accept RUN --name "
                         "main --reason \"first accepted run\"'",
                         dir);
    if (n == 1)
        return open_baseline(r, dir, names[0], err);
    for (i = 0; i < n; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    return error_set(err, ERR_USAGE, "'%s' has several baselines, name one with --baseline: %s", dir, buf_text(&all));
}

enum status reference_open(struct reference *r, const char *what, const char *baselines, struct error *err)
{
    memset(r, 0, sizeof *r);
    if (!what)
        return open_only(r, baselines, err);
    if (file_is_dir(what) && (strchr(what, '/') || !baseline_name_ok(what)))
        return open_folder(r, what, err);
    if (!file_is_dir(what) && (file_exists(what) || !baseline_name_ok(what) || strstr(what, ".h5")))
        return open_run(r, what, err);
    return open_baseline(r, baselines, what, err);
}

enum status reference_comparable(const struct reference *r, const struct run *cand, size_t n_cand, struct error *err)
{
    size_t i, k;

    for (i = 0; i < r->n; i++)
        for (k = 0; k < n_cand; k++)
            TRY(comparable_check(&r->runs[i], &cand[k], err));
    TRY(comparable_base(r->runs, r->n, err));
    return comparable_candidates(cand, n_cand, err);
}

enum status reference_open_name(struct reference *r, const char *baselines, const char *name, struct error *err)
{
    memset(r, 0, sizeof *r);
    return open_baseline(r, baselines, name, err);
}
