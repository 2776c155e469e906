/* h5dtype.h - what the elements of an HDF5 tensor are: the stored type, and "logical_dtype" where that is not enough.
 */
#ifndef CORE_IO_H5DTYPE_H
#define CORE_IO_H5DTYPE_H

#include "core/io/h5.h"
#include "kernels/dtype.h"

/* float16 and bfloat16 are 2-byte floats by their fields (1-5-10 and 1-8-7 bits), or two bytes of integer, bit field or
 * opaque with the attribute; *ret is N_DTYPES for such bytes without it. Integers of one byte are what they are.
 * *ret_is_swapped: the bytes of an element stand in the other order than this machine's. ERR_FORMAT says what to store
 * or which attribute to add. */
MUST_CHECK enum status h5dtype_find(const struct h5 *ds, hid_t type, enum dtype *ret, bool *ret_is_swapped,
                                    struct error *err);

#endif
