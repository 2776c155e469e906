/* inspect.h - what is in a file, as JSON: one description for each kind, from which the text view is made too. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/io/dump.h"
#include "core/model/cube.h"
#include "core/model/run.h"

#include <jansson.h>

enum { INSPECT_SCHEMA = 1 }; /* inspect.schema.json */

/* A description under construction; setting a member of a failed one does nothing, inspect_check() says so once. */
struct desc {
    json_t *root; /* owned */
    bool failed;
};

MUST_CHECK enum status desc_init(struct desc *d, const char *kind, const char *path, struct error *err);
void desc_done(struct desc *d);
MUST_CHECK enum status desc_check(const struct desc *d, struct error *err);

/* Members of `at`, a part of the description. A text may be NULL; a number that is not finite becomes null. */
void desc_text(struct desc *d, json_t *at, const char *key, const char *text);
void desc_int(struct desc *d, json_t *at, const char *key, int64_t value);
void desc_real(struct desc *d, json_t *at, const char *key, double value);
void desc_bool(struct desc *d, json_t *at, const char *key, bool value);
json_t *desc_object(struct desc *d, json_t *at, const char *key);
json_t *desc_array(struct desc *d, json_t *at, const char *key);
json_t *desc_row(struct desc *d, json_t *array); /* a new object at its end */

/* One for each kind of file or folder. */
MUST_CHECK enum status inspect_run(struct desc *d, const struct run *run, const char *path, struct error *err);
MUST_CHECK enum status inspect_recording(struct desc *d, const struct run *run, const char *path, struct error *err);
MUST_CHECK enum status inspect_dump(struct desc *d, const char *path, const struct dump_options *options,
                                    struct error *err);
MUST_CHECK enum status inspect_taskset(struct desc *d, const char *path, struct error *err);
MUST_CHECK enum status inspect_policy(struct desc *d, const char *path, struct error *err);
MUST_CHECK enum status inspect_prompt(struct desc *d, const char *path, struct error *err);
MUST_CHECK enum status inspect_baseline(struct desc *d, const char *path, struct error *err);

/* A line a cell, after a line with the names of the cube's axes and "value"; 17 significant digits, missing is nan. */
void inspect_cube_csv(const struct run *run, const struct cube *cube, struct buf *out);
MUST_CHECK enum status inspect_cube_json(struct desc *d, const struct run *run, const struct cube *cube,
                                         const char *path, struct error *err);

/* What a run keeps of its heads beside metrics: the profile of distances, a line a cell and bin with the bin's least
 * distance, and the digests of their bits; what is not known is left out. */
#define INSPECT_PROFILE "attn.distance"
void inspect_profile_csv(const struct run *run, struct buf *out);
void inspect_digests_csv(const struct run *run, struct buf *out);
MUST_CHECK enum status inspect_profile_json(struct desc *d, const struct run *run, const char *path, struct error *err);
MUST_CHECK enum status inspect_digests_json(struct desc *d, const struct run *run, const char *path, struct error *err);

/* Which of both a run has, in the description of it. */
void inspect_fingerprints(struct desc *d, const struct run *run);

/* The description for people: names and values, lists of objects as tables. */
void inspect_view(const struct desc *d, struct buf *out);

#endif
