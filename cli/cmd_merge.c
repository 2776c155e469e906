#include "cli/cmd.h"
#include "cli/message.h"
#include "cli/place.h"
#include "cli/run_summary.h"
#include "cli/stamp.h"
#include "core/base/scope.h"
#include "core/io/runfile.h"
#include "core/io/taskset_read.h"
#include "core/metrics/compute.h"
#include "core/model/merge.h"

#include <string.h>

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .value = "RUN", .help = "run file to write"},
    {.name = "reproducible", .kind = OPT_FLAG, .help = "leave time and host out: equal inputs give equal bytes"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .help = "no summary; warnings and errors only"},
};

/* A part of a run is partial by itself; whether the whole is, is asked again. */
static void forget_partial(struct run *run)
{
    size_t i, n = 0;

    for (i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].code, "partial") != 0)
            run->notes[n++] = run->notes[i];
    run->n_notes = n;
    run->provenance.is_complete = true;
}

static enum status check_complete(struct run *run, struct error *err)
{
    AUTO(taskset) tasks = {0};

    forget_partial(run);
    if (!run->taskset_json)
        return OK;
    TRY(taskset_parse(&tasks, "taskset.json of the run", run->taskset_json, strlen(run->taskset_json), err));
    return stamp_complete(run, &tasks, err);
}

static enum status add_run(struct run *into, const char *path, struct error *err)
{
    AUTO(run) part = {0};
    enum status st;

    TRY(runfile_read(&part, path, err));
    compute_forget_turns(&part);
    st = run_merge(into, &part, err);
    if (st != OK)
        error_context(err, "'%s'", path);
    return st;
}

static enum status run(struct call *c, struct error *err)
{
    const char *output = opts_text(&c->opts, "output", NULL);
    AUTO(run) run = {0};
    size_t i;

    if (!output)
        return error_set(err, ERR_USAGE,
                         "no place for the run file: name one with -o, as in 'tare merge a.h5 b.h5 -o all.h5'");
    message_quiet(opts_flag(&c->opts, "quiet"));
    for (i = 0; i < c->opts.n_words; i++)
        TRY(place_check(output, c->opts.words[i], err));
    TRY(runfile_read(&run, c->opts.words[0], err));
    compute_forget_turns(&run);
    for (i = 1; i < c->opts.n_words; i++)
        TRY(add_run(&run, c->opts.words[i], err));
    TRY(compute_turns(&run, err));
    TRY(check_complete(&run, err));
    TRY(stamp_tool(&run, run.provenance.seed, opts_flag(&c->opts, "reproducible"), err));
    TRY(place_make(output, err));
    TRY(runfile_write(&run, output, err));
    run_summary_say(&run, output);
    return OK;
}

const struct command cmd_merge = {
    .name = "merge",
    .operands = "RUN RUN… -o RUN",
    .min_words = 2,
    .max_words = 4096,
    .brief = "shards or repeats of one run to one run file",
    .about = "Joins runs of the same task set, prompt, model, weights and sampling on the same kind of machine; "
             "anything else "
             "is refused with what differs.\n"
             "Requests that only one of them has are shards. Where a task's turn was asked in two, the second run is "
             "another "
             "repeat, and its repeats are counted on.",
    .examples = "tare merge shard-1.h5 shard-2.h5 -o night.h5\ntare merge first.h5 again.h5 -o repeats.h5",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
