#include "reports/report.h"

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "reports/formats.h"
#include "reports/plot.h"

#include <stdlib.h>
#include <string.h>

static const struct report *const formats[] = {
    &report_html,       &report_markdown, &report_json, &report_csv, &report_junit,
    &report_prometheus, &report_text,     &report_svg,  &report_png,
};

const struct report *const *reports_all(size_t *ret_n)
{
    *ret_n = sizeof formats / sizeof *formats;
    return formats;
}

static bool ends_with(const char *path, const char *suffix)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name), end = strlen(suffix);

    return len >= end && strcmp(name + len - end, suffix) == 0;
}

enum status report_find(const char *path, const struct report **ret, struct error *err)
{
    const struct report *best = NULL;
    AUTO(buf) list = {0};
    size_t n = sizeof formats / sizeof *formats, i;

    for (i = 0; i < n; i++) {
        if (ends_with(path, formats[i]->suffix) && (!best || strlen(formats[i]->suffix) > strlen(best->suffix)))
            best = formats[i];
        buf_printf(&list, "%s%s", i ? " " : "", formats[i]->suffix);
    }
    if (!best)
        return error_set(err, ERR_USAGE, "'%s': no report has this ending; name a file that ends in one of %s", path,
                         buf_text(&list));
    *ret = best;
    return OK;
}

/* The folder must be there: a report makes no folders, since a slip in a path would then pass unseen. */
static enum status check_folder(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    AUTO(buf) dir = {0};

    if (!slash || slash == path)
        return OK;
    buf_append(&dir, path, (size_t)(slash - path));
    TRY(buf_check(&dir, err));
    if (!file_is_dir(buf_text(&dir)))
        return error_set(err, ERR_IO, "'%s': there is no folder '%s'; create it first", path, buf_text(&dir));
    return OK;
}

static enum status check_path(const char *const *paths, size_t i, struct error *err)
{
    const struct report *format = NULL;
    size_t k;

    TRY(report_find(paths[i], &format, err));
    if (file_is_dir(paths[i]))
        return error_set(err, ERR_IO, "'%s': is a folder, name a file", paths[i]);
    for (k = 0; k < i; k++)
        if (strcmp(paths[k], paths[i]) == 0)
            return error_set(err, ERR_USAGE, "'%s': named twice as an output", paths[i]);
    return check_folder(paths[i], err);
}

static enum status render(const struct report_input *in, const char *path, struct buf *out, struct error *err)
{
    const struct report *format = NULL;

    TRY(report_find(path, &format, err));
    if (format->write)
        format->write(in, out);
    else
        TRY(plot_write(in, format->suffix, out, err));
    return buf_check(out, err);
}

static void buffers_done(struct buf *bufs, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        buf_done(&bufs[i]);
    free(bufs);
}

enum status reports_write(const struct report_input *in, const char *const *paths, size_t n, struct error *err)
{
    struct buf *bufs = NULL;
    enum status st = OK;
    size_t i;

    for (i = 0; i < n; i++)
        TRY(check_path(paths, i, err));
    TRY(mem_new(n, sizeof *bufs, &bufs, err));
    for (i = 0; st == OK && i < n; i++)
        st = render(in, paths[i], &bufs[i], err);
    for (i = 0; st == OK && i < n; i++)
        st = file_write(paths[i], buf_text(&bufs[i]), bufs[i].len, err);
    buffers_done(bufs, n);
    return st;
}
