#include "cli/calibration_table.h"
#include "cli/capable.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/message.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/gate/calibration_file.h"

#include <string.h>

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "name",
     .letter = 'n',
     .kind = OPT_TEXT,
     .value = "NAME",
     .key = "baseline",
     .help = "accept: the baseline, a new one or one that is there"},
    {.name = "reason",
     .letter = 'm',
     .kind = OPT_TEXT,
     .value = "TEXT",
     .help = "accept, drop: why; kept with the baseline"},
    OPTION_BASELINES,
    {.name = "policy",
     .kind = OPT_TEXT,
     .value = "FILE",
     .key = "policy",
     .help = "accept: warn of its primary metrics that cannot gate (default: default); show: say what each detects"},
    OPTION_PROJECT,
};

/* Before anything is written. */
static enum status check_policy(struct call *c, struct error *err)
{
    AUTO(policy) policy = {0};

    return present_policy(&policy, &c->opts, err);
}

static enum status look_at(struct call *c, const char *dir, const char *name, struct error *err)
{
    AUTO(reference) base = {0};
    AUTO(policy) policy = {0};

    TRY(present_policy(&policy, &c->opts, err));
    TRY(reference_open_name(&base, dir, name, err));
    return warn_incapable(base.runs, base.n, &policy, err);
}

/* Accepted is accepted, whatever became of it since; who should know that it does not decide much learns it here, and
 * not at the first gate. */
static void warn_of(struct call *c, const char *dir, const char *name)
{
    struct error why = {0};

    if (look_at(c, dir, name, &why) != OK)
        message_warn("what '%s' can decide is not known: %s", name, why.message);
}

static enum status accept(struct call *c, const char *dir, struct error *err)
{
    const char *name = opts_text(&c->opts, "name", NULL), *reason = opts_text(&c->opts, "reason", NULL);
    const char *const *runs = (const char *const *)c->opts.words + 1;
    const char *output = NULL;
    size_t n = c->opts.n_words - 1, i;

    TRY(project_text(&c->project, "output", &output, err));
    if (n == 0 && !output)
        return error_set(err, ERR_USAGE,
                         "accept needs a run file, as in 'tare baseline accept out/v1.h5 --name main "
                         "--reason \"first accepted run\"'");
    if (!name || !baseline_name_ok(name))
        return error_set(
            err, ERR_USAGE,
            "accept needs --name: letters, digits, '.', '_' and '-', not beginning with '.' or '-'; not '%.100s'",
            name ? name : "");
    if (!reason || !reason[0])
        return error_set(err, ERR_USAGE, "accept needs --reason: whoever reads the baseline later must know why");
    TRY(check_policy(c, err));
    if (n == 0) {
        runs = &output;
        n = 1;
    }
    TRY(baseline_accept(dir, name, runs, n, reason, err));
    for (i = 0; i < n; i++)
        message_say("accepted %s into %s/%s", runs[i], dir, name);
    warn_of(c, dir, name);
    return OK;
}

static enum status list(struct call *c, const char *dir, struct error *err)
{
    AUTO(arena) strings = {0};
    char **names = NULL;
    size_t n = 0, i;

    if (c->opts.n_words != 1)
        return error_set(err, ERR_USAGE, "list takes no name: 'tare baseline show %s' shows one", c->opts.words[1]);
    TRY(baseline_list(dir, &strings, &names, &n, err));
    for (i = 0; i < n; i++) {
        AUTO(baseline) b = {0};
        struct error why = {0};
        enum status opened = baseline_open(&b, dir, names[i], &why);

        if (opened == OK) {
            buf_printf(&c->out, "%s\t%zu run%s\n", b.name, b.n_runs, b.n_runs == 1 ? "" : "s");
            continue;
        }
        buf_printf(&c->out, "%s\tcannot be read\n", names[i]); /* the others are still listed */
        message_error(&why, NULL);
        c->exit_code = exit_from_status(opened);
    }
    if (n == 0)
        message_say("no baseline in '%s' yet: 'tare baseline accept RUN --name NAME --reason TEXT' makes one", dir);
    return OK;
}

static enum status show_capable(struct call *c, const char *dir, struct error *err)
{
    AUTO(reference) base = {0};
    AUTO(policy) policy = {0};

    TRY(present_policy(&policy, &c->opts, err));
    TRY(reference_open_name(&base, dir, c->opts.words[1], err));
    return put_capable(&c->out, base.runs, base.n, &policy, err);
}

static enum status show(struct call *c, const char *dir, struct error *err)
{
    AUTO(baseline) b = {0};
    AUTO(calibration) calibration = {0};
    bool is_calibrated;
    size_t i;

    if (c->opts.n_words != 2)
        return error_set(err, ERR_USAGE, "show needs one NAME: 'tare baseline list' lists them");
    TRY(baseline_open(&b, dir, c->opts.words[1], err));
    buf_printf(&c->out, "%s: %zu run%s in %s\n", b.name, b.n_runs, b.n_runs == 1 ? "" : "s", b.dir);
    for (i = 0; i < b.n_runs; i++)
        buf_printf(&c->out, "%s\n  sha256    %s\n  accepted  %s\n  reason    %s\n", b.runs[i].file, b.runs[i].hash.hex,
                   b.runs[i].when_utc, b.runs[i].reason);
    for (i = 0; i < b.n_dropped; i++)
        buf_printf(&c->out, "dropped %s\n  sha256    %s\n  dropped   %s\n  reason    %s\n", b.dropped[i].file,
                   b.dropped[i].hash.hex, b.dropped[i].when_utc, b.dropped[i].reason);
    TRY(calibration_read(&calibration, b.dir, &is_calibrated, err));
    if (is_calibrated) {
        buf_puts(&c->out, "\ncalibration: ");
        calibration_table(&c->out, &calibration);
    }
    return opts_text(&c->opts, "policy", NULL) ? show_capable(c, dir, err) : OK;
}

static enum status drop(struct call *c, const char *dir, struct error *err)
{
    const char *reason = opts_text(&c->opts, "reason", NULL);
    size_t n = c->opts.n_words;

    if (n < 2)
        return error_set(err, ERR_USAGE, "drop needs a NAME, and the runs to take out of it: none drops it whole");
    if (!reason || !reason[0])
        return error_set(err, ERR_USAGE, "drop needs --reason: whoever misses the run later must know why");
    TRY(baseline_drop(dir, c->opts.words[1], (const char *const *)c->opts.words + 2, n - 2, reason, err));
    if (n == 2)
        message_say("dropped %s/%s", dir, c->opts.words[1]);
    else
        message_say("dropped %zu run%s from %s/%s", n - 2, n == 3 ? "" : "s", dir, c->opts.words[1]);
    return OK;
}

static enum status run(struct call *c, struct error *err)
{
    static const struct {
        const char *name;
        enum status (*run)(struct call *c, const char *dir, struct error *err);
    } actions[] = {{"accept", accept}, {"list", list}, {"show", show}, {"drop", drop}};
    const char *dir = opts_text(&c->opts, "baselines", "baselines");
    size_t i;

    for (i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(c->opts.words[0], actions[i].name) == 0)
            return actions[i].run(c, dir, err);
    return error_set(err, ERR_USAGE, "baseline knows accept, list, show and drop, not '%s'", c->opts.words[0]);
}

const struct command cmd_baseline = {
    .name = "baseline",
    .operands = "accept RUN... | list | show NAME | drop NAME [RUN...]",
    .min_words = 1,
    .max_words = 1000,
    .brief = "accept runs as the weight that candidates are held against; list and show them",
    .about =
        "A baseline is one or several accepted runs of one version under a name; several, so that the noise from run "
        "to run is known. Accepting copies the run files, all or none; nothing accepted is ever overwritten. The next "
        "release stands under another name, or takes the place of what was dropped. Dropping takes runs out, named by "
        "file or hash; without a run, the whole baseline.",
    .examples = "tare baseline accept out/v1.h5 --name main --reason \"release 2026-11\"\n"
                "tare baseline list\ntare baseline show main --policy strict\n"
                "tare baseline drop main 5f1bd9c5ac56 --reason \"measured on a busy machine\"",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
