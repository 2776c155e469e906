#include "core/io/h5dtype.h"

#include "core/base/scope.h"
#include "core/io/dump_dtype.h"
#include "core/io/h5attr.h"

#include <string.h>

/* IEEE half has 5 bits of exponent, bfloat16 has 8. */
static bool small_float(hid_t type, enum dtype *ret)
{
    size_t sign, epos, esize, mpos, msize;
    size_t bias = H5Tget_ebias(type);

    if (H5Tget_fields(type, &sign, &epos, &esize, &mpos, &msize) < 0 || H5Tget_offset(type) != 0 ||
        H5Tget_norm(type) != H5T_NORM_IMPLIED || sign != 15 || mpos != 0 || epos != msize || esize + msize != 15)
        return false;
    if (esize == 5 && bias == 15)
        *ret = DTYPE_F16;
    else if (esize == 8 && bias == 127)
        *ret = DTYPE_BF16;
    else
        return false;
    return true;
}

static enum status float_dtype(const struct h5 *ds, hid_t type, enum dtype *ret, struct error *err)
{
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0)
        *ret = DTYPE_F32;
    else if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0)
        *ret = DTYPE_F64;
    else if (H5Tget_size(type) != 2 || !small_float(type, ret))
        return h5_bad(ds, err, "floats of %zu bytes in an unknown form; store float16, bfloat16, float32 or float64",
                      H5Tget_size(type));
    return OK;
}

static const char *class_name(H5T_class_t type)
{
    switch (type) {
    case H5T_INTEGER:
        return "integers";
    case H5T_STRING:
        return "texts";
    case H5T_COMPOUND:
        return "compounds";
    case H5T_BITFIELD:
        return "bit fields";
    case H5T_OPAQUE:
        return "opaque values";
    default:
        return "values of another type";
    }
}

/* *ret_said is N_DTYPES where the attribute is missing. */
static enum status read_logical(const struct h5 *ds, enum dtype *ret_said, struct error *err)
{
    AUTO(arena) arena = {0};
    char *logical = NULL;

    *ret_said = N_DTYPES;
    if (!h5attr_has(ds, "logical_dtype"))
        return OK;
    TRY(h5attr_text(ds, "logical_dtype", &arena, &logical, err));
    if (!dump_dtype_named(logical, ret_said))
        return h5_bad(ds, err, "attribute 'logical_dtype' is '%.40s'; write \"float16\", \"bfloat16\" or \"float32\"",
                      logical);
    return OK;
}

static enum status find_float(const struct h5 *ds, hid_t type, enum dtype said, enum dtype *ret, struct error *err)
{
    TRY(float_dtype(ds, type, ret, err));
    if (said != N_DTYPES && !dump_dtype_fits(*ret, said))
        return h5_bad(ds, err, "stored as %s of 2 bytes, but 'logical_dtype' says '%s'", dtype_name(*ret),
                      dtype_name(said));
    return OK;
}

/* What two bytes mean is said by logical_dtype where the stored type does not. */
static enum status find_dtype(const struct h5 *ds, hid_t type, enum dtype *ret, struct error *err)
{
    H5T_class_t class = H5Tget_class(type);
    size_t bytes = H5Tget_size(type);
    enum dtype said = N_DTYPES;

    TRY(read_logical(ds, &said, err));
    if (class == H5T_FLOAT)
        return find_float(ds, type, said, ret, err);
    if (bytes != 2 || (class != H5T_INTEGER && class != H5T_OPAQUE && class != H5T_BITFIELD))
        return h5_bad(ds, err,
                      "holds %s of %zu bytes; store float16, bfloat16 or float32, or bfloat16 as uint16 with the "
                      "attribute logical_dtype = \"bfloat16\"",
                      class_name(class), bytes);
    if (said != N_DTYPES && dtype_bytes(said) != 2)
        return h5_bad(ds, err, "stored as %s of 2 bytes, but 'logical_dtype' says '%s'", class_name(class),
                      dtype_name(said));
    *ret = said;
    return OK;
}

static bool is_foreign_order(hid_t type)
{
    return H5Tget_class(type) != H5T_OPAQUE &&
           H5Tget_order(type) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? H5T_ORDER_BE : H5T_ORDER_LE);
}

enum status h5dtype_find(const struct h5 *ds, hid_t type, enum dtype *ret, bool *ret_is_swapped, struct error *err)
{
    TRY(find_dtype(ds, type, ret, err));
    *ret_is_swapped = is_foreign_order(type);
    return OK;
}
