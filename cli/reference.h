/* reference.h - what a candidate is compared with: one run, or the accepted runs of a baseline. */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "core/base/error.h"
#include "core/gate/baseline.h"
#include "core/gate/calibrate.h"
#include "core/model/run.h"

#include <stddef.h>

struct reference {
    struct run *runs; /* owned: [n] */
    size_t n;
    char *name;                     /* owned: as shown */
    struct baseline baseline;       /* empty for a run file */
    struct calibration calibration; /* of the baseline */
    bool is_calibrated;
};

/* `what`: a run file, the folder of a baseline, or the name of one in the folder `baselines`. NULL: the only baseline
 * that there is; none is ERR_NO_VERDICT, several are ERR_USAGE. */
MUST_CHECK enum status reference_open(struct reference *r, const char *what, const char *baselines, struct error *err);
/* The baseline of that name in the folder. */
MUST_CHECK enum status reference_open_name(struct reference *r, const char *baselines, const char *name,
                                           struct error *err);
void reference_done(struct reference *r);

/* comparable_check() of each candidate run against each run. */
MUST_CHECK enum status reference_comparable(const struct reference *r, const struct run *cand, size_t n_cand,
                                            struct error *err);

#endif
