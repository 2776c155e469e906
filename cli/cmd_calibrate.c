#include "cli/cmd.h"
#include "cli/message.h"
#include "cli/place.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "core/io/runfile.h"
#include "reports/show.h"
#include "reports/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
     .help = "sets of runs made by exchanging tasks between the runs (default: 400)"},
    OPTION_SEED,
    OPTION_PROJECT,
};

/* The runs to calibrate from. */
struct given {
    struct run *runs; /* owned */
    size_t n;
};

static void given_done(struct given *g)
{
    size_t i;

    for (i = 0; g->runs && i < g->n; i++)
        run_done(&g->runs[i]);
    free(g->runs);
    memset(g, 0, sizeof *g);
}

static enum status read_runs(struct given *g, const struct opts *o, struct error *err)
{
    TRY(mem_new(o->n_words, sizeof *g->runs, &g->runs, err));
    while (g->n < o->n_words) {
        TRY(runfile_read(&g->runs[g->n], o->words[g->n], err));
        g->n++;
    }
    return OK;
}

static void rate_cell(struct table *t, size_t k, size_t n)
{
    AUTO(buf) text = {0};

    if (n)
        buf_printf(&text, "%.0f %%", 100 * (double)k / (double)n);
    else
        buf_puts(&text, "-");
    table_cell(t, buf_text(&text), 8);
}

static void number_cell(struct table *t, double value)
{
    AUTO(buf) text = {0};

    show_small(&text, value);
    table_cell(t, buf_text(&text), 12);
}

static void put_metric(struct table *t, const struct calibration_metric *m)
{
    AUTO(buf) name = {0};
    char place[160] = "-";
    size_t s;

    buf_printf(&name, "%s%s%s", m->metric, strcmp(m->unit, "1") == 0 ? "" : " ",
               strcmp(m->unit, "1") == 0 ? "" : m->unit);
    if (isfinite(m->cell_sd) && m->cell_sd > 0)
        where_text(&m->cell, place, sizeof place);
    table_cell(t, buf_text(&name), 32);
    table_cell(t, role_name(m->role), 10);
    number_cell(t, m->mean_sd);
    number_cell(t, m->cell_sd);
    table_cell(t, place, 24);
    number_cell(t, m->margin);
    for (s = 0; s < CALIBRATION_SHIFTS; s++)
        rate_cell(t, m->n_found[s], m->n_trials);
}

static void put_count(struct buf *out, const char *what, const struct calibration_count *c)
{
    buf_printf(out, "%-26s", what);
    calibration_put_share(out, calibration_alarms(c), c->n);
    if (c->of[VERDICT_INCONCLUSIVE])
        buf_printf(out, "; %zu inconclusive", c->of[VERDICT_INCONCLUSIVE]);
    if (c->of[VERDICT_NONE])
        buf_printf(out, "; %zu without a verdict", c->of[VERDICT_NONE]);
    buf_putc(out, '\n');
}

static void put_table(struct buf *out, const struct calibration *c)
{
    static const char *const heads[] = {"metric", "role", "sd", "noisiest", "at", "margin", "finds 1x", "2x"};
    AUTO(table) t = {.n_columns = 8, .align = "llrrlrrr"};
    size_t i;

    buf_printf(out, "%zu runs, %zu tasks, policy %s, alpha %.4g, seed %llu\n\nfalse alarms (regressed or changed)\n",
               c->n_runs, c->n_tasks, c->policy_name, c->alpha, (unsigned long long)c->seed);
    put_count(out, "  run against run", &c->pairs);
    if (c->can_exchange)
        put_count(out, "  exchanged within tasks", &c->exchanged);
    else
        buf_puts(out, "  the runs have not the same tasks, turns or layers: nothing was exchanged between them\n");
    buf_putc(out, '\n');
    for (i = 0; i < 8; i++)
        table_cell(&t, heads[i], 12);
    for (i = 0; i < c->n_metrics; i++)
        put_metric(&t, &c->metrics[i]);
    table_print(&t, out, 0, 110, 0);
    buf_puts(out,
             "\nsd: of a task's difference between two runs, of the mean over cells and of the noisiest cell; of "
             "latencies between\nruns. finds: how often a shift of every cell by one and by two margins is found.\n");
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
    AUTO(given) given = {0};
    AUTO(reference) base = {0};
    AUTO(policy) policy = {0};
    AUTO(calibration) found = {0};
    AUTO(buf) json = {0};
    uint64_t seed, n;

    TRY(opts_u64(&c->opts, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(opts_u64(&c->opts, "exchanges", 1, MAX_EXCHANGES, N_EXCHANGES, &n, err));
    TRY(present_policy(&policy, &c->opts, err));
    if (!c->opts.n_words && !name)
        return error_set(err, ERR_USAGE, "calibrate needs two runs of the same version at least, or --baseline NAME");
    if (name)
        TRY(reference_open(&base, name, opts_text(&c->opts, "baselines", "baselines"), err));
    if (name && !base.baseline.dir)
        return error_set(err, ERR_USAGE, "--baseline: '%s' is a run file, name a baseline", name);
    TRY(read_runs(&given, &c->opts, err));
    if (given.n)
        TRY(calibrate(&found, given.runs, given.n, &policy, seed, (size_t)n, err));
    else
        TRY(calibrate(&found, base.runs, base.n, &policy, seed, (size_t)n, err));
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
        put_table(&c->out, &found);
    return OK;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .operands = "[RUN...]",
    .max_words = 100,
    .brief = "from runs of one version: noise, false alarms, power",
    .about = "Compares repeated runs of the same version with each other, and sets of runs in which the values of each "
             "task changed places, which could as well have been measured. Says how often the gate would have cried "
             "wolf, how large noise is, and how often shifts of one and of two margins are found.\n"
             "With --baseline the result is kept in the baseline's folder as calibration.json and shown by 'tare "
             "baseline show'.",
    .examples = "tare calibrate out/night-1.h5 out/night-2.h5 out/night-3.h5 --baseline main\n"
                "tare calibrate --baseline main --policy strict",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
