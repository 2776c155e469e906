#include "cli/replay.h"

#include "cli/message.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/recording.h"
#include "core/io/runfile.h"
#include "core/metrics/compute.h"
#include "core/metrics/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void replay_done(struct replay *r)
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++)
        cube_done(&r->cubes[i]);
    free(r->cubes);
    fingerprints_done(&r->fingerprints);
    free(r->notes);
    axes_done(&r->axes);
    memset(r, 0, sizeof *r);
}

/* Moves the results out of the run; the observations and the provenance stay. */
static void set_aside(struct replay *r, struct run *run)
{
    r->is_run = true;
    r->axes = run->axes;
    r->cubes = run->cubes;
    r->n_cubes = run->n_cubes;
    r->fingerprints = run->fingerprints;
    r->notes = run->notes;
    r->n_notes = run->n_notes;
    r->dumps = run->provenance.dumps;
    r->n_dumps = run->provenance.n_dumps;
    memset(&run->axes, 0, sizeof run->axes);
    memset(&run->fingerprints, 0, sizeof run->fingerprints);
    run->cubes = NULL;
    run->notes = NULL;
    run->n_cubes = run->cap_cubes = run->n_notes = run->cap_notes = 0;
    run->provenance.dumps = NULL;
    run->provenance.n_dumps = 0;
}

/* How the replies came about is as true of a replay; what was found in them is found again. */
static bool is_of_asking(const struct note *n)
{
    static const char *const codes[] = {"interrupted", "partial", "resumed", "client-bound", "retried"};
    size_t i;

    for (i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(n->code, codes[i]) == 0)
            return true;
    return false;
}

static enum status keep_notes(const struct replay *r, struct run *run, struct error *err)
{
    size_t i;

    for (i = 0; run->provenance.load[0] && i < r->n_notes; i++)
        if (is_of_asking(&r->notes[i]))
            TRY(run_note(run, err, r->notes[i].code, "%s", r->notes[i].text));
    return OK;
}

static enum status open_run(struct replay *r, struct run *run, const char *path, struct error *err)
{
    run_done(run);
    TRY(runfile_read(run, path, err));
    set_aside(r, run);
    return keep_notes(r, run, err);
}

enum status replay_open(struct replay *r, struct run *run, const char *path, struct error *err)
{
    memset(r, 0, sizeof *r);
    run->provenance.is_complete = true;
    if (!path)
        return arena_strdup(&run->arena, "dump", &run->provenance.source, err);
    if (file_is_dir(path))
        return recording_read(run, path, err);
    if (file_exists(path) && !runfile_is(path))
        return error_set(
            err, ERR_FORMAT,
            "'%s': is neither a run file nor the folder of a recording: --replay takes one of these; a dump "
            "of attention goes to --dump",
            path);
    return open_run(r, run, path, err);
}

enum status replay_axes(const struct replay *r, struct run *run, struct error *err)
{
    size_t axis, i;

    for (i = 0; i < r->axes.n[AXIS_TASK]; i++)
        TRY(axes_add_task(&run->axes, r->axes.task[i], &run->arena, err));
    for (axis = AXIS_TURN; axis < N_AXES; axis++)
        for (i = 0; i < r->axes.n[axis]; i++)
            TRY(axes_add(&run->axes, (enum axis)axis, r->axes.number[axis][i], err));
    return OK;
}

/* Copies every value to the cell of the same labels. */
static void relay(const struct replay *r, const struct run *run, const struct cube *from, struct cube *to)
{
    size_t at[N_AXES] = {0};

    if (cube_len(from) == 0)
        return;
    do {
        size_t there[N_AXES] = {0}, axis;

        for (axis = 0; axis < N_AXES; axis++)
            if (from->axes & AXIS_BIT(axis))
                there[axis] = axes_place(&run->axes, &r->axes, axis, at[axis]);
        to->values[cube_index(to, there)] = from->values[cube_index(from, at)];
    } while (cube_next(from, at));
}

static bool is_attention(const struct cube *c)
{
    const struct metric *m = metric_find(c->metric);

    return m ? m->of_head || m->of_head_by || m->of_layer : strncmp(c->metric, "attn.", 5) == 0;
}

enum status replay_copy_attention(const struct replay *r, struct run *run, struct error *err)
{
    size_t i, clash;

    fingerprints_done(&run->fingerprints);
    TRY(fingerprints_init(&run->fingerprints, &run->axes, err));
    fingerprints_pour(&run->fingerprints, &run->axes, &r->fingerprints, &r->axes, &clash);
    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *from = &r->cubes[i];
        AUTO(cube) to = {0};

        if (!is_attention(from))
            continue;
        TRY(cube_init(&to, from->metric, from->version, from->axes, &run->axes, err));
        TRY(cube_describe(&to, from->unit, from->help, from->better, from->noise, err));
        relay(r, run, from, &to);
        TRY(run_add_cube(run, &to, err));
    }
    for (i = 0; i < r->n_notes; i++)
        TRY(run_note(run, err, r->notes[i].code, "%s", r->notes[i].text));
    return OK;
}

bool replay_is_redacted(const struct run *run)
{
    size_t i;

    for (i = 0; i < run->n_exchanges; i++)
        if (run->exchanges[i].is_redacted)
            return true;
    return false;
}

static const struct cube *stored_cube(const struct replay *r, const struct cube *like)
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++)
        if (strcmp(r->cubes[i].metric, like->metric) == 0 && r->cubes[i].version == like->version &&
            r->cubes[i].axes == like->axes)
            return &r->cubes[i];
    return NULL;
}

static size_t old_index(const struct replay *r, size_t axis, const struct exchange *x)
{
    if (axis == AXIS_TASK)
        return axes_find_task(&r->axes, x->task);
    return axes_find(&r->axes, (enum axis)axis, axis == AXIS_TURN ? x->turn : x->repeat);
}

static size_t index_now(const struct run *run, size_t axis, const struct exchange *x)
{
    if (axis == AXIS_TASK)
        return axes_find_task(&run->axes, x->task);
    return axes_find(&run->axes, (enum axis)axis, axis == AXIS_TURN ? x->turn : x->repeat);
}

/* The stored cell of one exchange, or NaN where there is none. */
static void restore(const struct replay *r, const struct run *run, const struct cube *from, struct cube *to,
                    const struct exchange *x)
{
    size_t old[N_AXES] = {0}, at[N_AXES] = {0}, axis;
    bool is_there = from != NULL;

    for (axis = AXIS_TASK; axis <= AXIS_REPEAT; axis++) {
        if (!(to->axes & AXIS_BIT(axis)))
            continue;
        at[axis] = index_now(run, axis, x);
        old[axis] = old_index(r, axis, x);
        is_there &= old[axis] != SIZE_MAX;
    }
    to->values[cube_index(to, at)] = is_there ? from->values[cube_index(from, old)] : NAN;
}

static bool reads_words(const struct cube *c)
{
    const struct metric *m = metric_find(c->metric);

    return m && m->reads_words;
}

/* Cubes that only redacted replies had values for are not computed at all: they come over whole. */
static enum status add_missing(const struct replay *r, struct run *run, struct error *err)
{
    size_t i;

    for (i = 0; i < r->n_cubes; i++) {
        const struct cube *from = &r->cubes[i];
        AUTO(cube) to = {0};

        if (!reads_words(from) || run_cube(run, from->metric))
            continue;
        TRY(cube_init(&to, from->metric, from->version, from->axes, &run->axes, err));
        TRY(cube_describe(&to, from->unit, from->help, from->better, from->noise, err));
        relay(r, run, from, &to);
        TRY(run_add_cube(run, &to, err));
    }
    return OK;
}

static void restore_cells(const struct replay *r, struct run *run, struct cube *to)
{
    const struct cube *from = stored_cube(r, to);
    bool is_all = metric_find(to->metric)->compares_words;
    size_t i;

    for (i = 0; i < run->n_exchanges; i++)
        if (is_all || run->exchanges[i].is_redacted)
            restore(r, run, from, to, &run->exchanges[i]);
}

/* The last of the run's notes that stood before the stored one; 0: none did. */
static size_t place_of_note(const struct replay *r, size_t stored, const struct run *run)
{
    size_t n;

    while (stored-- > 0)
        for (n = run->n_notes; n > 0; n--)
            if (strcmp(run->notes[n - 1].code, r->notes[stored].code) == 0 &&
                strcmp(run->notes[n - 1].text, r->notes[stored].text) == 0)
                return n;
    return 0;
}

/* What was noted of the words comes back to where it stood. */
static enum status restore_notes(const struct replay *r, struct run *run, struct error *err)
{
    size_t i;

    for (i = 0; i < r->n_notes; i++) {
        size_t at = place_of_note(r, i, run), before = run->n_notes;
        struct note n;

        if (!compute_notes_words(r->notes[i].code))
            continue;
        TRY(run_note(run, err, r->notes[i].code, "%s", r->notes[i].text));
        if (run->n_notes == before)
            continue;
        n = run->notes[before];
        memmove(run->notes + at + 1, run->notes + at, (before - at) * sizeof n);
        run->notes[at] = n;
    }
    return OK;
}

enum status replay_restore_redacted(const struct replay *r, struct run *run, struct error *err)
{
    size_t i;

    if (!replay_is_redacted(run))
        return OK;
    for (i = 0; i < run->n_cubes; i++)
        if (reads_words(&run->cubes[i]))
            restore_cells(r, run, &run->cubes[i]);
    TRY(add_missing(r, run, err));
    TRY(restore_notes(r, run, err));
    compute_forget_turns(run);
    return compute_turns(run, err);
}

enum status replay_mention_dumps(const char *path, size_t n_used, struct error *err)
{
    AUTO(arena) arena = {0};
    char **dumps = NULL;
    size_t n = 0;

    if (n_used > 0 || !path || !file_is_dir(path))
        return OK;
    TRY(recording_dumps(path, &arena, &dumps, &n, err));
    if (n > 0)
        message_say("note: the recording names attention that is left out: --dump %s%s", dumps[0], n > 1 ? " …" : "");
    return OK;
}
