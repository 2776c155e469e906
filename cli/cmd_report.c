#include "cli/candidates.h"
#include "cli/cmd.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"

static const struct opt options[] = {
    OPTION_HELP,   OPTION_REPORTS(NULL), OPTION_JSON,        OPTION_QUIET,        OPTION_VERBOSE, OPTION_BASELINES,
    OPTION_POLICY, OPTION_SEED,          OPTION_TEST_DEVICE, OPTION_MAX_FINDINGS, OPTION_PROJECT,
};

static enum status compare(struct judgement *ret, struct reference *base, const struct candidates *cand,
                           struct report_input *show, const struct opts *o, struct error *err)
{
    AUTO(policy) policy = {0};
    uint64_t seed;

    TRY(opts_u64(o, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(present_policy(&policy, o, err));
    TRY(reference_open(base, o->words[0], opts_text(o, "baselines", "baselines"), err));
    TRY(reference_comparable(base, cand->runs, cand->n, err));
    TRY(decide(ret, base->runs, base->n, cand->runs, cand->n, &policy, seed, err));
    show->base = base->runs;
    show->n_base = base->n;
    show->calibration = base->is_calibrated ? &base->calibration : NULL;
    show->base_name = o->words[0];
    show->judgement = ret;
    return OK;
}

static enum status run(struct call *c, struct error *err)
{
    size_t n = c->opts.n_words, first = n > 1;
    struct report_input show = {0};
    AUTO(reference) base = {0};
    AUTO(candidates) cand = {0};
    AUTO(judgement) judgement = {0};

    TRY(present_check(&show, &c->opts, err));
    TRY(candidates_read(&cand, (const char *const *)c->opts.words + first, n - first, err));
    if (n > 1)
        TRY(compare(&judgement, &base, &cand, &show, &c->opts, err));
    show.cand = cand.runs;
    show.n_cand = cand.n;
    show.cand_name = cand.name;
    return present(c, &show, err);
}

const struct command cmd_report = {
    .name = "report",
    .operands = "[BASE] RUN...",
    .min_words = 1,
    .max_words = 100,
    .brief = "a run, or a comparison of two, as a page or another format",
    .about = "Writes RUN, or what moved from BASE to RUN (several are runs of one version), in the formats that the "
             "names of -o ask for; without -o the terminal's view.",
    .examples = "tare report out/v2.h5 -o out/v2.html\ntare report out/v1.h5 out/v2.h5 -o out/both.html out/both.csv",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
