#include "reports/plot.h"

#include "core/base/file.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "reports/formats.h"
#include "reports/series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, POLL_MS = 20, MOST_BYTES = 64 << 20 };

static const char *const side_name[] = {"base", "candidate"};

/* A data block of "label mean lo hi" for one side; returns the number of lines. */
static size_t put_data(struct buf *script, const struct series *s, enum side side, const char *metric, enum axis axis)
{
    const struct cube *c = series_cube(s, metric);
    enum axis spread = axis == AXIS_LAYER ? AXIS_HEAD : AXIS_TASK;
    struct where w = series_all();
    size_t n = 0, i;

    buf_printf(script, "$%s_%s << END\n", side_name[side], axis_names[axis]);
    for (i = 0; i < c->dim[axis]; i++) {
        int64_t label = s->in->cand->axes.number[axis][i];
        struct span at;

        *(axis == AXIS_LAYER ? &w.layer : &w.turn) = label;
        at = series_at(s, side, metric, &w, spread);
        if (!isfinite(at.mean))
            continue;
        buf_printf(script, "%" PRId64 " ", label);
        num_append(script, at.mean);
        buf_putc(script, ' ');
        num_append(script, at.min);
        buf_putc(script, ' ');
        num_append(script, at.max);
        buf_putc(script, '\n');
        n++;
    }
    buf_puts(script, "END\n");
    return n;
}

/* "$base_layer using …, $base_layer using …": a range where there are heads, and a line. */
static void put_side(struct buf *script, enum side side, enum axis axis)
{
    static const char *const colour[] = {"#6b7681", "#0a6a8c"}, *const point[] = {"6", "7"}, *const dash[] = {"2", "1"};

    if (axis == AXIS_LAYER)
        buf_printf(script,
                   "$%s_layer using 1:3:4 with filledcurves fs transparent solid 0.15 noborder lc rgb '%s' notitle, ",
                   side_name[side], colour[side]);
    buf_printf(script, "$%s_%s using 1:2 with linespoints lw 1.5 pt %s ps 0.7 dt %s lc rgb '%s' title '%s'",
               side_name[side], axis_names[axis], point[side], dash[side], colour[side], side_name[side]);
}

/* False when the run has not that metric along that axis. */
static bool put_panel(struct buf *script, const struct series *s, const char *metric, enum axis axis, const char *unit)
{
    const struct cube *c = series_cube(s, metric);
    size_t lines[2], side;

    if (!c || !(c->axes & AXIS_BIT(axis)) || cube_count(c) == 0)
        return false;
    for (side = 0; side < 2; side++)
        lines[side] = put_data(script, s, (enum side)side, metric, axis);
    if (lines[SIDE_BASE] + lines[SIDE_CAND] == 0)
        return false;
    buf_printf(script, "set title '%s by %s' noenhanced\nset xlabel '%s'\nset ylabel '%s'\n", metric, axis_names[axis],
               axis_names[axis], unit);
    if (axis == AXIS_TURN)
        buf_puts(script, "set yrange [0:1.02]\nset xtics 1\n");
    buf_puts(script, "plot ");
    if (lines[SIDE_BASE])
        put_side(script, SIDE_BASE, axis);
    if (lines[SIDE_BASE] && lines[SIDE_CAND])
        buf_puts(script, ", ");
    if (lines[SIDE_CAND])
        put_side(script, SIDE_CAND, axis);
    buf_puts(script, "\n");
    return true;
}

static enum status make_script(const struct report_input *in, const char *suffix, struct buf *script, struct error *err)
{
    AUTO(series) s = {0};
    AUTO(buf) first = {0};
    AUTO(buf) second = {0};
    bool has_layers, has_turns;

    TRY(series_init(&s, in, err));
    has_layers = put_panel(&first, &s, "attn.entropy", AXIS_LAYER, "bit");
    has_turns = put_panel(&second, &s, "intent.alignment", AXIS_TURN, "alignment");
    if (!has_layers && !has_turns)
        return error_set(err, ERR_NO_VERDICT,
                         "nothing to plot: the run has neither attn.entropy by layer nor "
                         "intent.alignment by turn");
    buf_printf(script, "set terminal %s\n",
               strcmp(suffix, ".svg") == 0 ? "svg size 900,680 dynamic background '#ffffff'"
                                           : "pngcairo size 1200,900");
    buf_printf(script, "set key top right\nset grid\nset border 3\nset tics nomirror\nset multiplot layout %d,1\n",
               has_layers + has_turns);
    buf_puts(script, has_layers ? buf_text(&first) : "");
    buf_puts(script, has_turns ? buf_text(&second) : "");
    buf_puts(script, "unset multiplot\n");
    TRY(buf_check(&first, err));
    TRY(buf_check(&second, err));
    return buf_check(script, err);
}

/* A file that nobody else can name, already gone from its folder; -1 and errno on failure. */
static int temp_file(const char *data, size_t len)
{
    FILE *file = tmpfile();
    int fd = -1;

    if (!file)
        return -1;
    if (fwrite(data, 1, len, file) == len && fflush(file) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0)
        fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    fclose(file);
    return fd;
}

/* Waits until the child ends; kills it at the limit. */
static enum status wait_for(pid_t child, struct error *err)
{
    const struct timespec pause = {0, POLL_MS * 1000000L};
    int state = 0, waited;

    for (waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
        pid_t done = waitpid(child, &state, WNOHANG);

        if (done == child)
            return WIFEXITED(state) && WEXITSTATUS(state) == 0
                       ? OK
                       : error_set(err, ERR_IO, "gnuplot failed (wait status %d); does 'gnuplot --version' work?",
                                   state);
        if (done < 0 && errno != EINTR)
            return error_set(err, ERR_IO, "cannot wait for gnuplot: %s", strerror(errno));
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &state, 0);
    return error_set(err, ERR_IO, "gnuplot did not finish within %d seconds", LIMIT_MS / 1000);
}

static enum status spawn(int script, int picture, struct error *err)
{
    char name[] = "gnuplot", dash[] = "-";
    char *const argv[] = {name, dash, NULL};
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    int failure;

    if (posix_spawn_file_actions_init(&files))
        return error_set(err, ERR_MEMORY, "no memory to start gnuplot");
    failure = posix_spawn_file_actions_adddup2(&files, script, STDIN_FILENO);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&files, picture, STDOUT_FILENO);
    failure = failure ? failure : posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    failure = failure ? failure : posix_spawnp(&child, "gnuplot", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure == ENOENT)
        return error_set(err, ERR_IO,
                         "gnuplot is not installed: install gnuplot-nox, or name an .html report, whose charts "
                         "need nothing");
    if (failure)
        return error_set(err, ERR_IO, "cannot start gnuplot: %s", strerror(failure));
    return wait_for(child, err);
}

static enum status read_back(int fd, struct buf *out, struct error *err)
{
    char chunk[65536];
    off_t at = 0;

    for (;;) {
        ssize_t n = pread(fd, chunk, sizeof chunk, at);

        if (n < 0)
            return error_set(err, ERR_IO, "cannot read gnuplot's picture: %s", strerror(errno));
        if (n == 0)
            break;
        buf_append(out, chunk, (size_t)n);
        at += n;
        if (at > MOST_BYTES)
            return error_set(err, ERR_LIMIT, "gnuplot's picture is larger than %d bytes", MOST_BYTES);
    }
    if (at == 0)
        return error_set(err, ERR_IO, "gnuplot wrote no picture; does it have the svg and pngcairo terminals?");
    return buf_check(out, err);
}

enum status plot_write(const struct report_input *in, const char *suffix, struct buf *out, struct error *err)
{
    AUTO(buf) script = {0};
    int from, to;
    enum status st;

    TRY(make_script(in, suffix, &script, err));
    from = temp_file(buf_text(&script), script.len);
    to = temp_file("", 0);
    if (from < 0 || to < 0)
        st = error_set(err, ERR_IO, "cannot make a temporary file for gnuplot: %s", strerror(errno));
    else
        st = spawn(from, to, err);
    if (st == OK)
        st = read_back(to, out, err);
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return st;
}

const struct report report_svg = {".svg", "SVG", "a picture, drawn by gnuplot", NULL};
const struct report report_png = {".png", "PNG", "a picture, drawn by gnuplot", NULL};
