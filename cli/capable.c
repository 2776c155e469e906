#include "cli/capable.h"

#include "cli/message.h"
#include "core/base/scope.h"
#include "reports/show.h"

static const char *name_of(const struct policy *policy)
{
    const struct judgement j = {.policy_name = policy->name ? policy->name : ""};

    return show_policy(&j);
}

enum status warn_incapable(const struct run *runs, size_t n_runs, const struct policy *policy, struct error *err)
{
    AUTO(capacity) c = {0};
    size_t i;

    TRY(capacity_find(&c, runs, n_runs, policy, err));
    for (i = 0; i < c.n_metrics; i++)
        if (!c.metrics[i].can_gate)
            message_warn("policy %s: %s %s", name_of(policy), c.metrics[i].metric, c.metrics[i].words);
    return OK;
}

enum status put_capable(struct buf *out, const struct run *runs, size_t n_runs, const struct policy *policy,
                        struct error *err)
{
    AUTO(capacity) c = {0};
    size_t i;

    TRY(capacity_find(&c, runs, n_runs, policy, err));
    buf_printf(out, "primary metrics of policy %s\n", name_of(policy));
    for (i = 0; i < c.n_metrics; i++) {
        buf_printf(out, "  %-20s ", c.metrics[i].metric);
        show_wrap(out, c.metrics[i].words, 23, 100);
        buf_printf(out, "; least p %.2g\n", c.metrics[i].p_min);
    }
    if (c.n_metrics == 0)
        buf_puts(out, "  none that these runs have\n");
    return OK;
}
