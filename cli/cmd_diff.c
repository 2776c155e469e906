#include "cli/candidates.h"
#include "cli/cmd.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"

static const struct opt options[] = {
    OPTION_HELP,    OPTION_POLICY, OPTION_BASELINES,   OPTION_REPORTS(NULL), OPTION_JSON,    OPTION_QUIET,
    OPTION_VERBOSE, OPTION_SEED,   OPTION_TEST_DEVICE, OPTION_MAX_FINDINGS,  OPTION_PROJECT,
};

static enum status run(struct call *c, struct error *err)
{
    const char *base_name = c->opts.words[0];
    struct report_input show = {.base_name = base_name};
    AUTO(reference) base = {0};
    AUTO(candidates) cand = {0};
    AUTO(policy) policy = {0};
    AUTO(judgement) judgement = {0};
    uint64_t seed;

    TRY(present_check(&show, &c->opts, err));
    TRY(opts_u64(&c->opts, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(present_policy(&policy, &c->opts, err));
    TRY(reference_open(&base, base_name, opts_text(&c->opts, "baselines", "baselines"), err));
    TRY(candidates_read(&cand, (const char *const *)c->opts.words + 1, c->opts.n_words - 1, err));
    TRY(reference_comparable(&base, cand.runs, cand.n, err));
    TRY(decide(&judgement, base.runs, base.n, cand.runs, cand.n, &policy, seed, err));
    show.base = base.runs;
    show.n_base = base.n;
    show.calibration = base.is_calibrated ? &base.calibration : NULL;
    show.cand = cand.runs;
    show.n_cand = cand.n;
    show.cand_name = cand.name;
    show.judgement = &judgement;
    return present(c, &show, err);
}

const struct command cmd_diff = {
    .name = "diff",
    .operands = "BASE CANDIDATE...",
    .min_words = 2,
    .max_words = 100,
    .brief = "compare two runs, or a run with a baseline",
    .about = "Says what moved from BASE to CANDIDATE, where, and by how much. BASE is a run file, the name of a "
             "baseline, or "
             "its folder; several CANDIDATEs are runs of one version. What differs between the two sides is said "
             "before any number.\n"
             "Exits 0 when the runs could be compared, whatever was found, and 3 when not: 'tare gate' decides.",
    .examples = "tare diff out/v1.h5 out/v2.h5\ntare diff smoke out/v2.h5 -o out/diff.html out/diff.json",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
