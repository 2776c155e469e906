#include "cli/cmd.h"
#include "cli/present.h"
#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "core/io/runfile.h"

static const struct opt options[] = {
    OPTION_HELP,
    {.name = "output",
     .letter = 'o',
     .kind = OPT_LIST,
     .value = "FILE",
     .takes_many = true,
     .takes = present_takes,
     .help = "report to write, its format by suffix: .html .md .json .csv .junit.xml .prom .txt .svg .png"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_BASELINES,
    OPTION_POLICY,
    OPTION_SEED,
    OPTION_MAX_FINDINGS,
    OPTION_PROJECT,
};

static enum status compare(struct judgement *ret, struct reference *base, const struct run *cand,
                           struct report_input *show, const struct opts *o, struct error *err)
{
    AUTO(policy) policy = {0};
    uint64_t seed;

    TRY(opts_u64(o, "seed", 0, INT64_MAX, 0, &seed, err));
    TRY(present_policy(&policy, o, err));
    TRY(reference_open(base, o->words[0], opts_text(o, "baselines", "baselines"), err));
    TRY(reference_comparable(base, cand, err));
    TRY(decide(ret, base->runs, base->n, cand, &policy, seed, err));
    show->base = base->runs;
    show->n_base = base->n;
    show->base_name = o->words[0];
    show->judgement = ret;
    return OK;
}

static enum status run(struct call *c, struct error *err)
{
    struct report_input show = {.cand_name = c->opts.words[c->opts.n_words - 1]};
    AUTO(reference) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) judgement = {0};

    TRY(present_check(&show, &c->opts, err));
    TRY(runfile_read(&cand, show.cand_name, err));
    if (c->opts.n_words == 2)
        TRY(compare(&judgement, &base, &cand, &show, &c->opts, err));
    show.cand = &cand;
    return present(c, &show, err);
}

const struct command cmd_report = {
    .name = "report",
    .operands = "[BASE] RUN",
    .min_words = 1,
    .max_words = 2,
    .brief = "a run, or a comparison of two, as a page or another format",
    .about = "Writes RUN, or what moved from BASE to RUN, in the formats that the names of -o ask for; without -o the "
             "terminal's view.",
    .examples = "tare report out/v2.h5 -o out/v2.html\ntare report out/v1.h5 out/v2.h5 -o out/both.html out/both.csv",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
