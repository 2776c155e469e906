/* runfile.h - the run file: HDF5, one schema, one reader, one writer.
 *
 * Every group and dataset says what it is: attr help, and an HDF5 comment, which `h5dump -H` prints.
 *
 * /                 attrs format = "tare-run", schema = RUNFILE_SCHEMA
 * /provenance       attrs, a text or number each; groups observed_on, computed_on, dumps/N with attrs
 * /axes/task        strings; /axes/turn, repeat, layer, head: int64 labels
 * /cubes/NAME       float64, dimensions a subset of task, turn, repeat, layer, head in this order (dimension labels and
 *                   scales attached); attrs unit, direction, noise, version, help
 * /profiles/attn.distance  float64 over task, turn, layer, head, bin: shares of a head's weight by the distance of
 * query and key, which sum to 1, or NaN; /axes/bin: int64, the least distance of each of the 32 bins /digests/attention
 * uint8 over task, turn, layer, head, 16: a digest of the head's stored bits, all zero where none is;
 *                   core/metrics/attention_digest.h. Both groups are there only where a run has attention
 * /observations     requests (compound, a row an exchange), events (t_ns, offset, len), bytes (uint8); of a live
 *                   endpoint also transfers (compound, a row an exchange)
 * /inputs           taskset.json, prompt.json: the texts, so that the run can be replayed from its own file
 * /notes            strings "code: text"
 */
#ifndef CORE_IO_RUNFILE_H
#define CORE_IO_RUNFILE_H

#include "core/base/error.h"
#include "core/model/run.h"

#include <stdbool.h>

enum { RUNFILE_SCHEMA = 1 };

/* Every size is checked; a newer schema is refused by name. */
MUST_CHECK enum status runfile_read(struct run *ret, const char *path, struct error *err);

/* Written to a temporary name and renamed. Equal runs give equal bytes: no times are tracked in the file. */
MUST_CHECK enum status runfile_write(const struct run *run, const char *path, struct error *err);

/* True when the file has the HDF5 magic and format = "tare-run". */
bool runfile_is(const char *path);

#endif
