/* h5scale.h - dimension labels and scales of HDF5 datasets (H5DS), written so that equal files have equal bytes.
 *
 * The library's own H5DSattach_scale() leaves four bytes of whatever the memory held in every entry of a reference
 * list, so the same four attributes are written here. */
#ifndef CORE_IO_H5SCALE_H
#define CORE_IO_H5SCALE_H

#include "core/io/h5.h"

/* A dataset along which dimensions of others are laid, and who uses it. Zeroed = empty. */
struct h5scale {
    struct h5 ds;            /* owned */
    const char *name;        /* borrowed */
    struct h5scale_use *use; /* owned */
    size_t n_uses, cap_uses;
};

struct h5scale_use {
    hobj_ref_t dataset;
    int dimension;
};

void h5scale_done(struct h5scale *s);

/* Takes over the dataset `ds` as the scale `name`. */
MUST_CHECK enum status h5scale_init(struct h5scale *s, struct h5 *ds, const char *name, struct error *err);

/* Lays the `rank` dimensions of `ds` along the scales, in order; NULL: one without. */
MUST_CHECK enum status h5scale_attach(const struct h5 *ds, struct h5scale *const *scales, size_t rank,
                                      struct error *err);

/* Writes down who uses the scale; after the last h5scale_attach(). */
MUST_CHECK enum status h5scale_finish(struct h5scale *s, struct error *err);

#endif
