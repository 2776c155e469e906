/* calibration_file.h - a calibration as JSON, and what of it a baseline shows again. */
#ifndef CORE_GATE_CALIBRATION_FILE_H
#define CORE_GATE_CALIBRATION_FILE_H

#include "core/base/buf.h"
#include "core/gate/calibrate.h"

enum { CALIBRATION_SCHEMA = 2 }; /* 1 had no halves */

/* The whole of it as a JSON document. */
MUST_CHECK enum status calibration_json(struct buf *b, const struct calibration *c, struct error *err);

/* "calibration.json" of a baseline's folder; *ret_found is false, and nothing is read, when the folder has none.
 * ERR_FORMAT with file and JSON pointer for what is none. */
MUST_CHECK enum status calibration_read(struct calibration *ret, const char *dir, bool *ret_found, struct error *err);

/* "3 runs, policy default, false alarms 0 of 400 (95 % interval 0 to 0.9 %)"; of one run, that its tasks were halved.
 */
void calibration_put_line(struct buf *b, const struct calibration *c);

/* What a calibration from one run is and is not. */
extern const char calibration_of_halves[];

/* "0 of 400 (95 % interval 0 to 0.92 %)" */
void calibration_put_share(struct buf *b, size_t k, size_t n);

#endif
