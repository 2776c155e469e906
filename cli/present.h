/* present.h - a comparison to files and to standard output; and what the options of diff and gate say. */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include "cli/cmd.h"
#include "core/base/error.h"
#include "core/gate/policy.h"
#include "reports/report.h"

#include <stdbool.h>

/* True for a name with the suffix of a report: which words `-o FILE…` takes. */
bool present_takes(const char *word);

/* The policy of --policy: a file, or the name of one that ships. */
MUST_CHECK enum status present_policy(struct policy *ret, const struct opts *o, struct error *err);

/* Suffixes of all files of -o, the number of --max-findings, the device of --device: before anything is computed. */
MUST_CHECK enum status present_check(struct report_input *in, const struct opts *o, struct error *err);

/* Writes the files of -o, and JSON with --json to the call's output. */
MUST_CHECK enum status present_files(struct call *c, const struct report_input *in, struct error *err);

/* Writes the files of -o; JSON with --json, else the terminal's view unless --quiet, goes to the call's output. */
MUST_CHECK enum status present(struct call *c, const struct report_input *in, struct error *err);

#endif
