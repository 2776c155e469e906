/* machine.h - this machine and the present time, for a run's provenance. */
#ifndef CORE_IO_MACHINE_H
#define CORE_IO_MACHINE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/model/provenance.h"

/* Host, system, CPU model, cores of this process, GPU, and the time. What cannot be found out stays "". Texts are in
 * `strings`. */
MUST_CHECK enum status machine_describe(struct place *ret, struct arena *strings, struct error *err);

/* The present time as ISO 8601 in UTC; SOURCE_DATE_EPOCH, when it is a number, stands for it. */
MUST_CHECK enum status machine_now(struct arena *strings, char **ret, struct error *err);

#endif
