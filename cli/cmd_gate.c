#include "cli/candidates.h"
#include "cli/capable.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/message.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "baseline",
     .letter = 'b',
     .kind = OPT_TEXT,
     .value = "NAME|RUN",
     .key = "baseline",
     .help = "what was accepted last (default: the only baseline that there is)"},
    OPTION_BASELINES,
    OPTION_POLICY,
    OPTION_REPORTS("reports"),
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_VERBOSE,
    {.name = "fail-on",
     .kind = OPT_TEXT,
     .value = "LIST",
     .key = "fail_on",
     .help = "verdicts that fail beside regressed: inconclusive,changed (default: as the policy says)"},
    {.name = "exit-zero", .kind = OPT_FLAG, .help = "exit 0 whatever the verdict; still 3 where there is none"},
    OPTION_SEED,
    OPTION_TEST_DEVICE,
    OPTION_MAX_FINDINGS,
    OPTION_PROJECT,
};

/* CANDIDATE…, or what tare.json says that `tare run` writes. */
static enum status read_candidates(struct call *c, struct candidates *ret, struct error *err)
{
    const char *output = NULL;

    if (c->opts.n_words)
        return candidates_read(ret, (const char *const *)c->opts.words, c->opts.n_words, err);
    TRY(project_text(&c->project, "output", &output, err));
    if (!output)
        return error_set(err, ERR_USAGE, "no candidate: name a run file, or give 'output' in %s", PROJECT_FILE);
    return candidates_read(ret, &output, 1, err);
}

/* What counts, never what is said: without any verdict there is nothing to overlook. */
static enum status exit_code(const struct judgement *j, const struct opts *o, int *ret, struct error *err)
{
    const char *fail_on = opts_text(o, "fail-on", NULL);
    int code = j->exit_code;

    if (fail_on)
        TRY(decide_fail_on(j, fail_on, &code, err));
    if (opts_flag(o, "exit-zero") && j->verdict != VERDICT_NONE)
        code = EXIT_PASS;
    *ret = code;
    return OK;
}

/* Who reads a report must not find the one of yesterday there: without a verdict too the files say what is the case. */
static enum status say_no_verdict(struct call *c, struct report_input *show, struct judgement *j,
                                  const struct policy *policy, const struct error *why, struct error *err)
{
    char *text = NULL, *name = NULL;
    size_t n_files;

    TRY(arena_strdup(&j->arena, why->message, &text, err));
    TRY(arena_strdup(&j->arena, policy->name ? policy->name : "", &name, err));
    TRY(arena_new(&j->arena, 1, sizeof *j->reasons, &j->reasons, err));
    j->reasons[j->n_reasons++] = j->headline = text;
    j->policy_name = name;
    j->alpha = policy->alpha;
    j->exit_code = show->exit_code = c->exit_code = EXIT_NO_VERDICT;
    show->judgement = j;
    (void)opts_list(&c->opts, "output", &n_files);
    if (n_files || opts_flag(&c->opts, "json"))
        TRY(present_files(c, show, err));
    message_error(why, c->command->name);
    return OK;
}

static enum status judge(struct call *c, struct reference *base, struct report_input *show, struct judgement *j,
                         const struct policy *policy, uint64_t seed, struct error *err)
{
    TRY(reference_open(base, opts_text(&c->opts, "baseline", NULL), opts_text(&c->opts, "baselines", "baselines"),
                       err));
    show->base_name = base->name;
    show->calibration = base->is_calibrated ? &base->calibration : NULL;
    TRY(reference_comparable(base, show->cand, show->n_cand, err));
    TRY(warn_incapable(base->runs, base->n, policy, err));
    TRY(decide(j, base->runs, base->n, show->cand, show->n_cand, policy, seed, err));
    return exit_code(j, &c->opts, &c->exit_code, err);
}

static enum status run(struct call *c, struct error *err)
{
    struct report_input show = {.is_gate = true};
    struct error why = {0};
    AUTO(reference) base = {0};
    AUTO(candidates) cand = {0};
    AUTO(policy) policy = {0};
    AUTO(judgement) judgement = {0};
    enum status st;
    uint64_t seed;

    TRY(present_check(&show, &c->opts, err));
    TRY(opts_u64(&c->opts, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(present_policy(&policy, &c->opts, err));
    TRY(read_candidates(c, &cand, err));
    show.cand = cand.runs;
    show.n_cand = cand.n;
    show.cand_name = cand.name;
    show.base_name = opts_text(&c->opts, "baseline", "no baseline");
    st = judge(c, &base, &show, &judgement, &policy, seed, &why);
    if (st == ERR_NO_VERDICT)
        return say_no_verdict(c, &show, &judgement, &policy, &why, err);
    if (st != OK) {
        *err = why;
        return st;
    }
    show.base = base.runs;
    show.n_base = base.n;
    show.judgement = &judgement;
    show.exit_code = c->exit_code;
    return present(c, &show, err);
}

const struct command cmd_gate = {
    .name = "gate",
    .operands = "[CANDIDATE...]",
    .max_words = 100,
    .brief = "compare a run with a baseline and decide; the exit code is the verdict",
    .about = "Compares CANDIDATE (default: 'output' of tare.json) with the last accepted run and decides by the "
             "policy. Exits "
             "0 when it passes, 1 when something regressed, 3 when there is no verdict.\n"
             "Several CANDIDATEs are runs of one version. Two at least on each side let latencies decide, since these "
             "differ from run to run; what differs from task to task is tested over all of them.",
    .examples = "tare gate out/v2.h5 --baseline smoke -o out/report.html out/report.junit.xml\n"
                "tare run && tare gate\n"
                "tare gate out/night-1.h5 out/night-2.h5 out/night-3.h5 --baseline main",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
