#include "core/base/scope.h"
#include "core/gate/decide.h"
#include "tests/support/close.h"
#include "tests/support/fake_run.h"
#include "tests/support/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct error err;

/* A change of attention: base noise, then what differs in the candidate. */
struct change_of {
    size_t n_tasks;
    int layer, head;
    double shift, noise;
};

static void attention(struct run *base, struct run *cand, struct change_of what)
{
    struct cube *b, *c;

    fake_run(base, what.n_tasks, 2, 3, 2);
    fake_run(cand, what.n_tasks, 2, 3, 2);
    b = fake_cube(base, "attn.entropy", 3);
    c = fake_cube(cand, "attn.entropy", 3);
    fake_noise(b, 0.5, 1);
    fake_noise(c, 0.5, 1);
    fake_noise(c, what.noise, 2);
    fake_shift(c, what.layer, what.head, what.shift);
}

/* The policy that ships, or `text` written into it. */
static void decided(struct judgement *j, const struct run *base, const struct run *cand)
{
    AUTO(policy) p = {0};

    MUST(policy_load(&p, "baselines/policy_default.json", &err));
    MUST(decide(j, base, 1, cand, &p, 0, &err));
}

static const struct family *family(const struct judgement *j, const char *metric)
{
    size_t i;

    for (i = 0; i < j->n_families; i++)
        if (strcmp(j->families[i].metric, metric) == 0)
            return &j->families[i];
    cr_assert(false, "no family '%s'", metric);
    return NULL;
}

static void show(const struct judgement *j)
{
    size_t i;

    printf("%s (exit %d)\n", j->headline, j->exit_code);
    for (i = 0; i < j->n_reasons; i++)
        printf("  - %s\n", j->reasons[i]);
    for (i = 0; i < j->n_families; i++)
        printf("  %s: %s: %s\n", j->families[i].metric, verdict_name(j->families[i].verdict), j->families[i].words);
    for (i = 0; i < j->n_findings && i < 5; i++)
        printf("  * %s\n", j->findings[i].words);
}

Test(decide, identical_candidate_passes)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    attention(&base, &cand, (struct change_of){.n_tasks = 12});
    decided(&j, &base, &cand);
    show(&j);
    cr_assert(j.verdict == VERDICT_PASS && j.exit_code == 0, "%s", j.headline);
}

Test(decide, collapsed_head_is_regressed_and_named)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    attention(&base, &cand, (struct change_of){.n_tasks = 12, .layer = 1, .head = 1, .shift = -2.4});
    decided(&j, &base, &cand);
    show(&j);
    cr_assert(j.verdict == VERDICT_REGRESSED && j.exit_code == 1, "%s", j.headline);
    cr_assert(family(&j, "attn.entropy")->n_beyond == 1);
}
