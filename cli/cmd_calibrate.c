#include "cli/calibration_table.h"
#include "cli/candidates.h"
#include "cli/cmd.h"
#include "cli/message.h"
#include "cli/place.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "core/gate/repeats.h"
#include "kernels/backend.h"

enum { N_EXCHANGES = 400, MAX_EXCHANGES = 1000000 };

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "baseline",
     .letter = 'b',
     .kind = OPT_TEXT,
     .value = "NAME",
     .key = "baseline",
     .help = "keep the result with this baseline; without RUN, calibrate from its runs"},
    OPTION_BASELINES,
    OPTION_POLICY,
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .value = "FILE", .help = "write it as JSON there too"},
    OPTION_JSON,
    {.name = "exchanges",
     .kind = OPT_TEXT,
     .value = "N",
     .help = "sets of runs made by exchanging tasks between the runs, or halves of one run (default: 400)"},
    OPTION_SEED,
    OPTION_TEST_DEVICE,
    OPTION_PROJECT,
};

/* One run that asked everything several times is as good as several. */
static enum status calibrate_from(struct calibration *ret, const struct run *runs, size_t n_runs,
                                  const struct policy *policy, uint64_t seed, size_t n_exchanges, struct error *err)
{
    AUTO(repeats) r = {0};

    if (n_runs != 1 || runs[0].axes.n[AXIS_REPEAT] < 2)
        return calibrate(ret, runs, n_runs, policy, seed, n_exchanges, err);
    TRY(repeats_init(&r, &runs[0], err));
    return calibrate(ret, r.runs, r.n, policy, seed, n_exchanges, err);
}

static enum status keep(const struct buf *json, const char *dir, struct error *err)
{
    char *path = NULL;
    enum status st;

    TRY(path_join(dir, "calibration.json", &path, err));
    st = file_write(path, json->data, json->len, err);
    if (st == OK)
        message_say("wrote %s", path);
    free(path);
    return st;
}

static enum status run(struct call *c, struct error *err)
{
    const char *name = opts_text(&c->opts, "baseline", NULL), *output = opts_text(&c->opts, "output", NULL);
    AUTO(candidates) given = {0};
    AUTO(reference) base = {0};
    AUTO(policy) policy = {0};
    AUTO(calibration) found = {0};
    AUTO(buf) json = {0};
    uint64_t seed, n;

    TRY(backend_set_test_device(opts_text(&c->opts, "device", "auto"), err));
    TRY(opts_u64(&c->opts, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(opts_u64(&c->opts, "exchanges", 1, MAX_EXCHANGES, N_EXCHANGES, &n, err));
    TRY(present_policy(&policy, &c->opts, err));
    if (!c->opts.n_words && !name)
        return error_set(err, ERR_USAGE, "calibrate needs runs of one version, several or one, or --baseline NAME");
    if (name)
        TRY(reference_open(&base, name, opts_text(&c->opts, "baselines", "baselines"), err));
    if (name && !base.baseline.dir)
        return error_set(err, ERR_USAGE, "--baseline: '%s' is a run file, name a baseline", name);
    if (c->opts.n_words)
        TRY(candidates_read(&given, (const char *const *)c->opts.words, c->opts.n_words, err));
    if (given.n)
        TRY(calibrate_from(&found, given.runs, given.n, &policy, seed, (size_t)n, err));
    else
        TRY(calibrate_from(&found, base.runs, base.n, &policy, seed, (size_t)n, err));
    TRY(calibration_json(&json, &found, err));
    if (output) {
        TRY(place_make(output, err));
        TRY(file_write(output, json.data, json.len, err));
    }
    if (name)
        TRY(keep(&json, base.baseline.dir, err));
    if (opts_flag(&c->opts, "json"))
        buf_append(&c->out, json.data, json.len);
    else
        calibration_table(&c->out, &found);
    return OK;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .operands = "[RUN...]",
    .max_words = 100,
    .brief = "from runs of one version, or one: noise, false alarms, power",
    .about =
        "Compares repeated runs of the same version with each other, and sets of runs in which the values of each "
        "task changed places, which could as well have been measured. Says how often the gate would have cried "
        "wolf, how large noise is, and how often shifts of one and of two margins are found. One run with repeats is "
        "taken apart into as many runs.\n"
        "Of one run without repeats the tasks are halved at random, again and again, and the halves compared: an upper "
        "bound of what the noise of tasks does; noise from run to run, that of latencies above all, shows in no single "
        "run.\n"
        "With --baseline the result is kept in the baseline's folder as calibration.json and shown by 'tare "
        "baseline show'.",
    .examples = "tare calibrate out/night-1.h5 out/night-2.h5 out/night-3.h5 --baseline main\n"
                "tare calibrate --baseline main --policy strict",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
