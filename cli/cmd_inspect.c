#include "cli/cmd.h"
#include "cli/dump_opts.h"
#include "cli/inspect.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/io/recording.h"
#include "core/io/runfile.h"
#include "core/metrics/compute.h"
#include "core/metrics/registry.h"

#include <stdlib.h>
#include <string.h>

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "metric",
     .letter = 'm',
     .kind = OPT_TEXT,
     .value = "NAME",
     .help = "the values of one metric, a line a cell"},
    {.name = "profile",
     .kind = OPT_TEXT,
     .value = "NAME",
     .help = "over which distances each head's weight lies (attn.distance), a line a bin"},
    {.name = "digests", .kind = OPT_FLAG, .help = "a digest of each head's stored bits, a line a head"},
    {.name = "csv",
     .kind = OPT_FLAG,
     .help = "with one of these: comma-separated, 17 significant digits (the default)"},
    {.name = "json", .kind = OPT_FLAG, .help = "JSON, as cli/inspect.schema.json describes it"},
    DUMP_OPTIONS,
    OPTION_BASELINES,
    OPTION_PROJECT,
};

/* What a file or folder is, told by what it holds, not by its name. */
enum kind { KIND_RUN, KIND_DUMP, KIND_RECORDING, KIND_TASKSET, KIND_POLICY, KIND_PROMPT, KIND_BASELINE };

static enum status has_file(const char *dir, const char *name, bool *ret, struct error *err)
{
    char *path = NULL;

    TRY(path_join(dir, name, &path, err));
    *ret = file_exists(path);
    free(path);
    return OK;
}

static enum status kind_of_folder(const char *path, enum kind *ret, struct error *err)
{
    static const struct {
        const char *file;
        enum kind kind;
    } marks[] = {{"manifest.json", KIND_RECORDING}, {"taskset.json", KIND_TASKSET}, {"baseline.json", KIND_BASELINE}};
    size_t i;

    for (i = 0; i < sizeof marks / sizeof *marks; i++) {
        bool has;

        TRY(has_file(path, marks[i].file, &has, err));
        if (!has)
            continue;
        *ret = marks[i].kind;
        return OK;
    }
    return error_set(
        err, ERR_FORMAT,
        "'%s': the folder holds no manifest.json (recording), taskset.json or baseline.json: name one that "
        "does, or a file",
        path);
}

static enum status kind_of_json(const char *path, enum kind *ret, struct error *err)
{
    AUTO(json) doc = {0};

    TRY(json_read(&doc, path, (size_t)64 << 20, err));
    if (json_object_get(doc.root, "tasks"))
        *ret = KIND_TASKSET;
    else if (json_object_get(doc.root, "metrics"))
        *ret = KIND_POLICY;
    else
        *ret = KIND_PROMPT;
    return OK;
}

static enum status kind_of(const char *path, enum kind *ret, struct error *err)
{
    size_t len = strlen(path);

    if (file_is_dir(path))
        return kind_of_folder(path, ret, err);
    if (len > 5 && strcmp(path + len - 5, ".json") == 0)
        return kind_of_json(path, ret, err);
    *ret = runfile_is(path) ? KIND_RUN : KIND_DUMP;
    return OK;
}

/* A run in memory, read, or computed with what can be known without a task set. */
static enum status load(struct run *run, const char *path, enum kind kind, const char *metric,
                        const struct dump_options *how, struct error *err)
{
    struct attention_options attention = attention_options_default();
    AUTO(dump) dump = {0};
    struct dump *list = &dump;
    const struct backend *backend;

    if (kind == KIND_RUN)
        return runfile_read(run, path, err);
    TRY(run_init(run, err));
    if (kind == KIND_RECORDING) {
        TRY(recording_read(run, path, err));
        TRY(compute_axes(run, NULL, NULL, 0, err));
        return compute_replies(run, NULL, err);
    }
    if (kind != KIND_DUMP)
        return error_set(err, ERR_USAGE, "values are had of a run, a recording or a dump: '%s' is none of them", path);
    TRY(dump_open_as(&dump, path, how, err));
    TRY(backend_choose("auto", &backend, err));
    TRY(compute_axes(run, NULL, &list, 1, err));
    attention.check_mask = strcmp(metric, "attn.mask_leak") == 0;
    return compute_attention(run, &list, 1, &attention, backend, (size_t)256 << 20, err);
}

static enum status not_there(const struct run *run, const char *name, const char *path, struct error *err)
{
    const char *near = metric_similar(name);
    const struct metric *metric = metric_find(name);
    AUTO(buf) have = {0};
    size_t i;

    if (metric && metric->is_of_pair)
        return error_set(err, ERR_NO_VERDICT, "'%s' is of two runs: 'tare diff BASE CANDIDATE' measures it", name);

    if (!metric_find(name) && near)
        return error_set(err, ERR_USAGE, "no metric '%s', did you mean '%s'?", name, near);
    if (!metric_find(name))
        return error_set(err, ERR_USAGE, "no metric '%s': 'tare explain' lists them", name);
    for (i = 0; i < run->n_cubes; i++)
        buf_printf(&have, "%s%s", i ? ", " : "", run->cubes[i].metric);
    return error_set(err, ERR_NO_VERDICT, "'%s' was not measured in '%s', which has: %s", name, path,
                     run->n_cubes ? buf_text(&have) : "nothing");
}

static enum status put_json(const struct desc *d, struct buf *out, struct error *err)
{
    char *text = json_dumps(d->root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));

    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for the JSON text");
    buf_printf(out, "%s\n", text);
    free(text);
    return OK;
}

static enum status inspect_metric(struct call *c, const char *path, enum kind kind, const char *name, struct error *err)
{
    AUTO(run) run = {0};
    AUTO(desc) desc = {0};
    struct dump_options how = {0};
    const struct cube *cube;

    TRY(dump_opts_read(&c->opts, &how, err));
    if (!metric_find(name) && kind != KIND_RUN)
        return not_there(&run, name, path, err);
    TRY(load(&run, path, kind, name, &how, err));
    cube = run_cube(&run, name);
    if (!cube)
        return not_there(&run, name, path, err);
    if (opts_flag(&c->opts, "json")) {
        TRY(inspect_cube_json(&desc, &run, cube, path, err));
        return put_json(&desc, &c->out, err);
    }
    inspect_cube_csv(&run, cube, &c->out);
    return OK;
}

static enum status inspect_profile(struct call *c, const char *path, enum kind kind, const char *name,
                                   struct error *err)
{
    AUTO(run) run = {0};
    AUTO(desc) desc = {0};
    struct dump_options how = {0};

    if (strcmp(name, INSPECT_PROFILE) != 0)
        return error_set(err, ERR_USAGE, "no profile '%.60s': there is one, '%s'", name, INSPECT_PROFILE);
    TRY(dump_opts_read(&c->opts, &how, err));
    TRY(load(&run, path, kind, name, &how, err));
    if (!fingerprints_len(&run.fingerprints) || !fingerprints_have_profiles(&run.fingerprints))
        return error_set(err, ERR_NO_VERDICT,
                         "'%s' has no profile: it holds no attention, or was made before profiles "
                         "were kept; run it again from its dumps",
                         path);
    if (opts_flag(&c->opts, "json")) {
        TRY(inspect_profile_json(&desc, &run, path, err));
        return put_json(&desc, &c->out, err);
    }
    inspect_profile_csv(&run, &c->out);
    return OK;
}

static enum status inspect_digests(struct call *c, const char *path, enum kind kind, struct error *err)
{
    AUTO(run) run = {0};
    AUTO(desc) desc = {0};
    struct dump_options how = {0};

    TRY(dump_opts_read(&c->opts, &how, err));
    TRY(load(&run, path, kind, "", &how, err));
    if (!fingerprints_len(&run.fingerprints) || !fingerprints_have_digests(&run.fingerprints))
        return error_set(err, ERR_NO_VERDICT,
                         "'%s' has no digests: it holds no attention, or was made before digests "
                         "were kept; run it again from its dumps",
                         path);
    if (opts_flag(&c->opts, "json")) {
        TRY(inspect_digests_json(&desc, &run, path, err));
        return put_json(&desc, &c->out, err);
    }
    inspect_digests_csv(&run, &c->out);
    return OK;
}

static enum status describe(struct desc *d, const char *path, enum kind kind, const struct opts *o, struct error *err)
{
    struct dump_options how = {0};
    AUTO(run) run = {0};

    switch (kind) {
    case KIND_RUN:
        TRY(runfile_read(&run, path, err));
        return inspect_run(d, &run, path, err);
    case KIND_RECORDING:
        TRY(run_init(&run, err));
        run.provenance.is_complete = true;
        TRY(recording_read(&run, path, err));
        return inspect_recording(d, &run, path, err);
    case KIND_TASKSET:
        return inspect_taskset(d, path, err);
    case KIND_POLICY:
        return inspect_policy(d, path, err);
    case KIND_PROMPT:
        return inspect_prompt(d, path, err);
    case KIND_BASELINE:
        return inspect_baseline(d, path, err);
    default:
        TRY(dump_opts_read(o, &how, err));
        return inspect_dump(d, path, &how, err);
    }
}

/* A word that names no file may name a baseline: its folder, for the caller to free; NULL where it is none. */
static enum status find_baseline(const char *word, const char *baselines, char **ret, struct error *err)
{
    AUTO(buf) index = {0};

    *ret = NULL;
    if (file_exists(word) || !baseline_name_ok(word))
        return OK;
    buf_printf(&index, "%s/%s/baseline.json", baselines, word);
    TRY(buf_check(&index, err));
    return file_exists(buf_text(&index)) ? path_join(baselines, word, ret, err) : OK;
}

static enum status inspect(struct call *c, const char *path, struct error *err)
{
    const char *metric = opts_text(&c->opts, "metric", NULL);
    const char *profile = opts_text(&c->opts, "profile", NULL);
    bool digests = opts_flag(&c->opts, "digests");
    int n_values = (metric != NULL) + (profile != NULL) + digests;
    AUTO(desc) desc = {0};
    enum kind kind = KIND_DUMP;

    if (opts_flag(&c->opts, "csv") && opts_flag(&c->opts, "json"))
        return error_set(err, ERR_USAGE, "--csv and --json cannot both be: leave one out");
    if (n_values > 1)
        return error_set(err, ERR_USAGE, "--metric, --profile and --digests are one question each: leave others out");
    if (opts_flag(&c->opts, "csv") && !n_values)
        return error_set(err, ERR_USAGE,
                         "--csv needs --metric, --profile or --digests: CSV holds the values of one of them");
    TRY(kind_of(path, &kind, err));
    if (metric)
        return inspect_metric(c, path, kind, metric, err);
    if (profile)
        return inspect_profile(c, path, kind, profile, err);
    if (digests)
        return inspect_digests(c, path, kind, err);
    TRY(describe(&desc, path, kind, &c->opts, err));
    if (opts_flag(&c->opts, "json"))
        return put_json(&desc, &c->out, err);
    inspect_view(&desc, &c->out);
    return OK;
}

static enum status run(struct call *c, struct error *err)
{
    const char *word = c->opts.words[0];
    char *baseline = NULL;
    enum status st;

    TRY(find_baseline(word, opts_text(&c->opts, "baselines", "baselines"), &baseline, err));
    st = inspect(c, baseline ? baseline : word, err);
    free(baseline);
    return st;
}

const struct command cmd_inspect = {
    .name = "inspect",
    .operands = "FILE",
    .min_words = 1,
    .max_words = 1,
    .brief = "what is in a run, dump, recording, task set, policy or baseline",
    .about = "Describes a file or folder, or the baseline of that name. With --metric, prints that metric's values: of "
             "a run as they stand in it, of "
             "a dump "
             "or recording computed on the spot. --profile and --digests print what a run keeps of its heads "
             "besides: over which distances their weight lies, and a digest of the bits they are stored in. What dumps "
             "may look like (HDF5, safetensors, npz, npy; weights, "
             "logits, q and k, steps of generate(); layout maps for any other naming) stands in share/tare/layout.md, "
             "in the source core/io/layout.md.",
    .examples = "tare inspect out/v2.h5\ntare inspect out/v2.h5 --metric attn.entropy --csv\n"
                "tare inspect attention.h5 --metric attn.max_weight\ntare inspect tasksets/smoke/recording/v2 --json",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
