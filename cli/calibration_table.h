/* calibration_table.h - a calibration as the terminal shows it. */
#ifndef CLI_CALIBRATION_TABLE_H
#define CLI_CALIBRATION_TABLE_H

#include "core/base/buf.h"
#include "core/gate/calibrate.h"

void calibration_table(struct buf *out, const struct calibration *c);

#endif
