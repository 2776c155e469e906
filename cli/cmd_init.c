#include "cli/cmd.h"
#include "cli/message.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"

#include <string.h>

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "taskset", .kind = OPT_TEXT, .value = "DIR", .help = "the task set's folder"},
    {.name = "prompt", .kind = OPT_TEXT, .value = "FILE", .help = "the prompt version under test"},
    {.name = "replay", .kind = OPT_TEXT, .value = "DIR", .help = "the recording that gives the replies"},
    {.name = "dump", .kind = OPT_LIST, .value = "FILE", .takes_many = true, .help = "dumps that give the attention"},
    {.name = "baseline", .kind = OPT_TEXT, .value = "NAME", .help = "the baseline's name (default: main)"},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_TEXT,
     .value = "RUN",
     .help = "the run file that 'tare run' writes (default: out/run.h5)"},
};

static enum status set_text(json_t *root, const char *key, const char *text, struct error *err)
{
    if (text && json_object_set_new(root, key, json_string(text)))
        return error_set(err, ERR_USAGE, "option '--%s' is not valid UTF-8, which a JSON file must be", key);
    return OK;
}

static enum status set_list(json_t *root, const char *key, const char *const *texts, size_t n, struct error *err)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < n; i++)
        if (json_array_append_new(list, json_string(texts[i]))) {
            json_decref(list);
            return error_set(err, ERR_USAGE, "'%s' is not valid UTF-8, which a JSON file must be", texts[i]);
        }
    if (n && json_object_set(root, key, list)) {
        json_decref(list);
        return error_set(err, ERR_MEMORY, "no memory for '%s'", key);
    }
    json_decref(list);
    return OK;
}

static enum status fill(json_t *root, const struct opts *o, struct error *err)
{
    static const char *const report[] = {"out/report.html"};
    const char *const *dumps;
    size_t n;

    if (json_object_set_new(root, "schema", json_integer(PROJECT_SCHEMA)))
        return error_set(err, ERR_MEMORY, "no memory for the project file");
    TRY(set_text(root, "taskset", opts_text(o, "taskset", NULL), err));
    TRY(set_text(root, "prompt", opts_text(o, "prompt", NULL), err));
    TRY(set_text(root, "replay", opts_text(o, "replay", NULL), err));
    dumps = opts_list(o, "dump", &n);
    TRY(set_list(root, "dumps", dumps, n, err));
    TRY(set_text(root, "output", opts_text(o, "output", "out/run.h5"), err));
    TRY(set_text(root, "baseline", opts_text(o, "baseline", "main"), err));
    TRY(set_text(root, "baselines", "baselines", err));
    TRY(set_text(root, "policy", "default", err));
    return set_list(root, "reports", report, 1, err);
}

static enum status write_project(json_t *root, struct error *err)
{
    char *text = json_dumps(root, JSON_INDENT(4));
    AUTO(buf) out = {0};

    if (!text)
        return error_set(err, ERR_MEMORY, "no memory for the project file");
    buf_printf(&out, "%s\n", text);
    free(text);
    TRY(buf_check(&out, err));
    return file_write(PROJECT_FILE, out.data, out.len, err);
}

static void warn_unless_there(const char *option, const char *path)
{
    if (path && !file_exists(path) && !file_is_dir(path))
        message_warn("--%s: there is no '%s' yet", option, path);
}

static void check_inputs(const struct opts *o)
{
    const char *const *dumps;
    size_t n, i;

    warn_unless_there("taskset", opts_text(o, "taskset", NULL));
    warn_unless_there("prompt", opts_text(o, "prompt", NULL));
    warn_unless_there("replay", opts_text(o, "replay", NULL));
    dumps = opts_list(o, "dump", &n);
    for (i = 0; i < n; i++)
        warn_unless_there("dump", dumps[i]);
}

/* What is missing until `tare run && tare gate` gives a verdict. */
static enum status say_next(const struct opts *o, struct error *err)
{
    const char *baseline = opts_text(o, "baseline", "main");
    AUTO(buf) folder = {0};
    size_t n_dumps;

    (void)opts_list(o, "dump", &n_dumps);
    buf_printf(&folder, "baselines/%s", baseline);
    TRY(buf_check(&folder, err));
    if (!opts_text(o, "replay", NULL) && n_dumps == 0)
        message_say("next: give it 'replay' or 'dumps', what 'tare run' reads");
    else if (file_is_dir(buf_text(&folder)) || file_exists(baseline))
        message_say("next: tare run && tare gate");
    else
        message_say("next: tare run && tare baseline accept --name %s --reason \"…\", and from then on tare run && "
                    "tare gate",
                    baseline);
    return OK;
}

static enum status run(struct call *c, struct error *err)
{
    AUTO(json) doc = {0};

    if (file_exists(PROJECT_FILE))
        return error_set(err, ERR_USAGE, "'%s' is there already and is never overwritten: edit it, or remove it first",
                         PROJECT_FILE);
    doc.root = json_object();
    TRY(fill(doc.root, &c->opts, err));
    TRY(write_project(doc.root, err));
    message_say("wrote %s; README.md, 'Project file', explains every key", PROJECT_FILE);
    check_inputs(&c->opts);
    return say_next(&c->opts, err);
}

const struct command cmd_init = {
    .name = "init",
    .operands = "",
    .brief = "write a tare.json with defaults for this folder",
    .about =
        "Writes tare.json into this folder: defaults for what the command line leaves out, so that CI is 'tare run "
        "&& tare gate'. An existing one is never overwritten.\n"
        "Keys: schema (1), taskset, prompt, replay, dumps, output, weights_version, context_limit for 'run'; "
        "baseline, baselines, policy, reports, fail_on, max_findings for 'gate' and 'diff'; seed, device, isa, "
        "threads, memory, reproducible. Paths are relative to the file's folder. What is given on the command line "
        "wins; naming --endpoint, --replay or --dump there sets those of the file aside.",
    .examples = "tare init --taskset tasksets/smoke --replay tasksets/smoke/recording/v2 --baseline smoke",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
