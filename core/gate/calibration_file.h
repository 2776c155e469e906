/* calibration_file.h - a calibration as JSON, and what of it a baseline shows again. */
#ifndef CORE_GATE_CALIBRATION_FILE_H
#define CORE_GATE_CALIBRATION_FILE_H

#include "core/base/buf.h"
#include "core/gate/calibrate.h"

enum { CALIBRATION_SCHEMA = 1 };

/* The whole of it as a JSON document. */
MUST_CHECK enum status calibration_json(struct buf *b, const struct calibration *c, struct error *err);

/* "calibration.json" of a baseline's folder: "3 runs, policy default: 0 of 400 false alarms (95 % interval 0 to 0.9
 * %)"; appends nothing when the folder has none. */
MUST_CHECK enum status calibration_recall(struct buf *b, const char *dir, struct error *err);

/* "0 of 400 (95 % interval 0 to 0.92 %)" */
void calibration_put_share(struct buf *b, size_t k, size_t n);

#endif
