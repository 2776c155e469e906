/* capable.h - says which primary metrics of a policy cannot gate against accepted runs, and what would do. */
#ifndef CLI_CAPABLE_H
#define CLI_CAPABLE_H

#include "core/base/buf.h"
#include "core/gate/capacity.h"

/* A warning for each metric that is known not to be able to. */
MUST_CHECK enum status warn_incapable(const struct run *runs, size_t n_runs, const struct policy *policy,
                                      struct error *err);

/* A line a primary metric. */
MUST_CHECK enum status put_capable(struct buf *out, const struct run *runs, size_t n_runs, const struct policy *policy,
                                   struct error *err);

#endif
