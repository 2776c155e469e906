#include "cli/attention_opts.h"
#include "cli/cmd.h"
#include "cli/dump_opts.h"
#include "cli/inputs.h"
#include "cli/live.h"
#include "cli/message.h"
#include "cli/place.h"
#include "cli/replay.h"
#include "cli/run_summary.h"
#include "cli/stamp.h"
#include "core/base/buf.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "core/gate/spread.h"
#include "core/io/runfile.h"
#include "core/metrics/compute.h"
#include "core/metrics/goals.h"
#include "core/model/redact.h"

#include <inttypes.h>

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "taskset",
     .kind = OPT_TEXT,
     .value = "DIR",
     .key = "taskset",
     .help = "task set: what each reply must fulfil (default: the one inside a replayed run)"},
    {.name = "prompt",
     .letter = 'p',
     .kind = OPT_TEXT,
     .value = "FILE",
     .key = "prompt",
     .help = "prompt version that the replies were made with (default: as the recording says)"},
    {.name = "replay",
     .letter = 'r',
     .kind = OPT_TEXT,
     .value = "RUN|DIR",
     .key = "replay",
     .help = "replies of an earlier run, or of a recording's folder"},
    LIVE_OPTIONS,
    {.name = "dump",
     .letter = 'd',
     .kind = OPT_LIST,
     .value = "FILE",
     .takes_many = true,
     .key = "dumps",
     .help =
         "attention dumps: HDF5, safetensors, npz or npy (default: those of a replayed run, where they are unchanged)"},
    DUMP_OPTIONS,
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .value = "RUN", .key = "output", .help = "run file to write"},
    {.name = "context-limit",
     .kind = OPT_TEXT,
     .value = "N",
     .key = "context_limit",
     .help = "context limit in tokens (default: the server's, else the task set's)"},
    {.name = "weights-version",
     .kind = OPT_TEXT,
     .value = "TEXT",
     .key = "weights_version",
     .help = "name of the weights under test, kept in the run"},
    {.name = "goodput",
     .kind = OPT_TEXT,
     .value = "LIMITS",
     .key = "goodput",
     .help = "latencies that a good request keeps, ms: 'ttft:200 tpot:50' (default: as a replayed run has them)"},
    {.name = "single",
     .kind = OPT_TEXT,
     .value = "RUN",
     .key = "single",
     .help = "run of the same with one request at a time, for throughput.efficiency"},
    {.name = "device",
     .kind = OPT_TEXT,
     .value = "auto|cpu|cuda",
     .key = "device",
     .help = "where attention is computed (default: auto)"},
    {.name = "isa",
     .kind = OPT_TEXT,
     .value = "auto|avx512|avx2|portable",
     .key = "isa",
     .help = "instructions of the CPU (default: auto)"},
    {.name = "threads",
     .kind = OPT_TEXT,
     .value = "N",
     .key = "threads",
     .help = "threads on the CPU (default: one for each core)"},
    {.name = "memory",
     .kind = OPT_TEXT,
     .value = "SIZE",
     .key = "memory",
     .help = "memory for what is read of attention at a time, 1M at least (default: 256M)"},
    ATTENTION_OPTIONS,
    {.name = "hash-dumps",
     .kind = OPT_FLAG,
     .key = "hash_dumps",
     .help = "keep the SHA-256 of dumps of any size (default: of those up to 64 MiB; a hash of what they hold tells "
             "larger ones apart)"},
    OPTION_SEED,
    {.name = "reproducible",
     .kind = OPT_FLAG,
     .key = "reproducible",
     .help = "leave time and host out: equal inputs give equal bytes"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .help = "say nothing but warnings and errors"},
    OPTION_PROJECT,
};

/* Less would make tiles of single rows. */
enum { MIN_MEMORY = 1 << 20 };

/* The options as values. */
struct settings {
    const struct opts *opts; /* borrowed: how attention is measured hangs on what is replayed */
    const char *taskset, *prompt, *replay, *output, *weights_version, *goodput, *single;
    const char *const *dumps;
    size_t n_dumps;
    struct dump_options dump_options;
    const struct backend *backend;
    uint64_t memory, seed, context_limit;
    double single_tokens_per_s; /* 0: not named */
    struct live_options live;
};

static void settings_done(struct settings *s)
{
    live_options_done(&s->live);
}

/* Tokens a second of a run with one request at a time. */
static enum status read_single(const char *path, double *ret, struct error *err)
{
    AUTO(run) single = {0};
    double at_once;

    TRY(runfile_read(&single, path, err));
    TRY(spread_run_stat(&single, "throughput.total", NULL, ret, err));
    TRY(spread_run_stat(&single, "throughput.concurrency", NULL, &at_once, err));
    if (!(*ret > 0))
        return error_set(err, ERR_USAGE, "--single '%s' has no throughput.total: name a run of a live endpoint", path);
    if (at_once > 1.01)
        return error_set(err, ERR_USAGE,
                         "--single '%s' had %.3g requests at once on average: name one that was made with "
                         "--concurrency 1",
                         path, at_once);
    return OK;
}

static enum status read_settings(struct settings *s, const struct opts *o, struct error *err)
{
    struct attention_options attention;
    struct goals goals;
    uint64_t threads;

    s->opts = o;
    s->taskset = opts_text(o, "taskset", NULL);
    s->prompt = opts_text(o, "prompt", NULL);
    s->replay = opts_text(o, "replay", NULL);
    s->output = opts_text(o, "output", NULL);
    s->weights_version = opts_text(o, "weights-version", NULL);
    s->goodput = opts_text(o, "goodput", NULL);
    s->single = opts_text(o, "single", NULL);
    TRY(goals_read(&goals, s->goodput ? s->goodput : "", err));
    if (s->single)
        TRY(read_single(s->single, &s->single_tokens_per_s, err));
    s->dumps = opts_list(o, "dump", &s->n_dumps);
    TRY(attention_opts_read(o, NULL, &attention, err)); /* a mistake is told before an endpoint is asked */
    TRY(opts_u64(o, "seed", 0, INT64_MAX, 0, &s->seed, err));
    TRY(live_options_read(&s->live, o, s->seed, err));
    if (!s->live.endpoint && !s->replay && s->n_dumps == 0)
        return error_set(err, ERR_USAGE,
                         "nothing to run on: name replies, attention, or both, as in 'tare run --taskset "
                         "tasksets/smoke --replay tasksets/smoke/recording/v1 --dump a.h5 -o run.h5'");
    if (!s->output)
        return error_set(err, ERR_USAGE, "no place for the run file: name one with -o, as in 'tare run … -o run.h5'");
    TRY(dump_opts_read(o, &s->dump_options, err));
    s->dump_options.hashes_all = opts_flag(o, "hash-dumps");
    TRY(opts_u64(o, "context-limit", 1, INT64_MAX, 0, &s->context_limit, err));
    TRY(opts_u64(o, "threads", 0, 4096, 0, &threads, err));
    TRY(opts_bytes(o, "memory", (uint64_t)256 << 20, &s->memory, err));
    if (s->memory < MIN_MEMORY)
        return error_set(err, ERR_USAGE, "--memory %" PRIu64 " is too little: give at least 1M", s->memory);
    TRY(backend_choose(opts_text(o, "device", "auto"), &s->backend, err));
    TRY(backend_set_isa(opts_text(o, "isa", "auto"), err));
    backend_set_threads((int)threads);
    message_quiet(opts_flag(o, "quiet"));
    return OK;
}

/* The run file may stand on none of its inputs: what it is made from would be lost. */
static enum status check_output(const struct settings *s, const struct replay *replay, struct error *err)
{
    size_t i;

    TRY(place_check(s->output, s->replay, err));
    TRY(place_check(s->output, s->prompt, err));
    TRY(place_check(s->output, s->taskset, err));
    TRY(place_check(s->output, s->dump_options.layout, err));
    TRY(place_check(s->output, s->single, err));
    for (i = 0; i < s->n_dumps; i++)
        TRY(place_check(s->output, s->dumps[i], err));
    for (i = 0; i < replay->n_dumps; i++)
        TRY(place_check(s->output, replay->dumps[i].path, err));
    return OK;
}

static enum status apply_settings(struct run *run, const struct settings *s, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(buf) single = {0};

    if (s->goodput)
        TRY(arena_strdup(&run->arena, s->goodput, &p->goodput, err));
    if (s->single_tokens_per_s > 0) {
        num_append17(&single, s->single_tokens_per_s);
        TRY(buf_check(&single, err));
        TRY(arena_strdup(&run->arena, buf_text(&single), &p->single_tokens_per_s, err));
    }
    if (s->weights_version)
        TRY(arena_strdup(&run->arena, s->weights_version, &p->weights_version, err));
    if (!s->context_limit)
        return OK;
    p->context_limit = (int64_t)s->context_limit;
    return arena_strdup(&run->arena, "option", &p->context_limit_from, err);
}

/* Observations to a run file: everything from here on is a function of what stands in `run`. */
static enum status finish(struct run *run, struct replay *replay, const struct settings *s, const char *prompt,
                          const char *output, bool is_reproducible, struct error *err)
{
    struct attention_options attention;
    AUTO(inputs) in = {0};

    TRY(apply_settings(run, s, err));
    TRY(attention_opts_read(s->opts, run, &attention, err));
    TRY(inputs_taskset(&in, run, s->taskset, err));
    TRY(inputs_prompt(run, prompt, err));
    TRY(inputs_dumps(&in, run, replay, s->dumps, s->n_dumps, &s->dump_options, (size_t)s->memory, err));
    TRY(replay_mention_dumps(s->replay, in.n_dumps, err));
    if (in.copies_attention) {
        TRY(attention_opts_check_copied(&attention, run, err));
        TRY(replay_axes(replay, run, err));
    }
    TRY(compute_axes(run, in.tasks, in.dump_list, in.n_dumps, err));
    TRY(compute_replies(run, in.tasks, err));
    if (replay->is_run)
        TRY(replay_restore_redacted(replay, run, err));
    message_progress("attention of %zu dumps …", in.n_dumps);
    TRY(compute_attention(run, in.dump_list, in.n_dumps, &attention, s->backend, (size_t)s->memory, err));
    message_progress_end();
    if (in.copies_attention)
        TRY(replay_copy_attention(replay, run, err));
    if (run->n_cubes == 0)
        return error_set(err, ERR_NO_VERDICT, "nothing was measured: there is no reply and no attention in the inputs");
    TRY(inputs_settle(&in, replay, err));
    TRY(stamp_dumps(run, &in, replay, err));
    TRY(stamp_complete(run, in.tasks, err));
    TRY(stamp_tool(run, s->seed, is_reproducible, err));
    TRY(place_make(output, err));
    if (s->live.endpoint)
        redact_run(run, s->live.keep_bodies);
    TRY(runfile_write(run, output, err));
    if (s->live.export_dir)
        TRY(live_export(run, &s->live, output, err));
    if (run->n_exchanges && !in.tasks)
        message_say("no task set: what replies fulfil (intent.*) is not measured without --taskset");
    run_summary_say(run, output);
    return OK;
}

static enum status run_offline(struct call *c, const struct settings *s, struct error *err)
{
    AUTO(run) run = {0};
    AUTO(replay) replay = {0};

    TRY(run_init(&run, err));
    TRY(replay_open(&replay, &run, s->replay, err));
    TRY(check_output(s, &replay, err));
    return finish(&run, &replay, s, s->prompt, s->output, opts_flag(&c->opts, "reproducible"), err);
}

static enum status run_arm(struct call *c, const struct settings *s, const struct live *live, size_t i,
                           struct error *err)
{
    const struct live_arm *arm = &live->arms[i];
    AUTO(run) run = {0};
    AUTO(replay) none = {0};

    TRY(run_init(&run, err));
    TRY(live_fill(live, i, &run, err));
    return finish(&run, &none, s, arm->prompt_path, arm->output, opts_flag(&c->opts, "reproducible"), err);
}

/* The run files are written whatever the server did, so that what it answered is not lost. */
static enum status run_live(struct call *c, const struct settings *s, struct error *err)
{
    struct error end = {0};
    AUTO(live) live = {0};
    AUTO(replay) none = {0};
    enum status st;
    size_t i;

    TRY(check_output(s, &none, err));
    if (s->live.second.output)
        TRY(place_check(s->live.second.output, s->output, err));
    TRY(live_ask(&live, &s->live, s->taskset, s->prompt, s->output, err));
    for (i = 0; i < live.n_arms; i++)
        if (live_has_run(&live, i))
            TRY(run_arm(c, s, &live, i, err));
    st = live_settle(&live, &end);
    if (st != OK && err)
        *err = end;
    return st;
}

static enum status run(struct call *c, struct error *err)
{
    AUTO(settings) s = {0};

    TRY(read_settings(&s, &c->opts, err));
    return s.live.endpoint ? run_live(c, &s, err) : run_offline(c, &s, err);
}

const struct command cmd_run = {
    .name = "run",
    .operands = "-o RUN",
    .brief = "ask an endpoint, or take recorded replies and attention dumps, and compute a run file",
    .about =
        "Takes replies (--endpoint or --replay) and attention (--dump), either or both, computes every metric that "
        "they allow, and "
        "writes one run file with observations, results and where all of it comes from.\n"
        "A run file can be replayed: its replies are computed again from their bytes and arrival times, its attention "
        "from the dumps where they are found unchanged, and copied otherwise.",
    .examples = "tare run --taskset tasksets/smoke --replay tasksets/smoke/recording/v2 \\\n"
                "         --dump tasksets/smoke/recording/v2/attention.h5 -o out/v2.h5\n"
                "tare run --taskset tasksets/smoke --prompt tasksets/smoke/prompts/v1.json \\\n"
                "         --endpoint http://127.0.0.1:8000/v1 --concurrency 8 -o out/live.h5\n"
                "tare run --dump layers-0-8.h5 layers-9-17.h5 -o attention.h5\n"
                "tare run --dump attentions.npy --layout map.json -o attention.h5\n"
                "tare run --replay out/v2.h5 -o again.h5",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
