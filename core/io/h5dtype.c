#include "core/io/h5dtype.h"

#include "core/base/scope.h"
#include "core/io/dump_dtype.h"
#include "core/io/h5attr.h"

#include <string.h>

/* A sign bit on top, then exponent and mantissa, with nothing between or beside them. */
static bool is_plain_float(hid_t type, size_t *ret_exponent, size_t *ret_mantissa)
{
    size_t sign, epos, mpos, bits = 8 * H5Tget_size(type);

    return H5Tget_fields(type, &sign, &epos, ret_exponent, &mpos, ret_mantissa) >= 0 && H5Tget_offset(type) == 0 &&
           H5Tget_norm(type) == H5T_NORM_IMPLIED && sign + 1 == bits && mpos == 0 && epos == *ret_mantissa &&
           *ret_exponent + *ret_mantissa + 1 == bits;
}

/* Floats of one or two bytes, by their fields: IEEE half has 5 bits of exponent, bfloat16 has 8. */
static bool small_float(hid_t type, enum dtype *ret)
{
    static const struct {
        size_t exponent, mantissa, bias;
        enum dtype dtype;
    } forms[] = {{5, 10, 15, DTYPE_F16}, {8, 7, 127, DTYPE_BF16}, {4, 3, 7, DTYPE_F8_E4M3}, {5, 2, 15, DTYPE_F8_E5M2}};
    size_t exponent = 0, mantissa = 0, i;

    if (!is_plain_float(type, &exponent, &mantissa))
        return false;
    for (i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].exponent != exponent || forms[i].mantissa != mantissa || forms[i].bias != H5Tget_ebias(type))
            continue;
        *ret = forms[i].dtype;
        return true;
    }
    return false;
}

static enum status float_dtype(const struct h5 *ds, hid_t type, enum dtype *ret, struct error *err)
{
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0)
        *ret = DTYPE_F32;
    else if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0)
        *ret = DTYPE_F64;
    else if (H5Tget_size(type) > 2 || !small_float(type, ret))
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
        return h5_bad(ds, err,
                      "attribute 'logical_dtype' is '%.40s'; write \"float16\", \"bfloat16\", \"float8_e4m3\" …",
                      logical);
    return OK;
}

static enum status find_float(const struct h5 *ds, hid_t type, enum dtype said, enum dtype *ret, struct error *err)
{
    TRY(float_dtype(ds, type, ret, err));
    if (said != N_DTYPES && !dump_dtype_fits(*ret, said))
        return h5_bad(ds, err, "stored as %s, but 'logical_dtype' says '%s'", dtype_name(*ret), dtype_name(said));
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
    if (bytes > 2 || (class != H5T_INTEGER && class != H5T_OPAQUE && class != H5T_BITFIELD))
        return h5_bad(ds, err,
                      "holds %s of %zu bytes; store float16, bfloat16 or float32, or bfloat16 as uint16 with the "
                      "attribute logical_dtype = \"bfloat16\"",
                      class_name(class), bytes);
    if (said != N_DTYPES && dtype_bytes(said) != bytes)
        return h5_bad(ds, err, "stored as %s of %zu bytes, but 'logical_dtype' says '%s'", class_name(class), bytes,
                      dtype_name(said));
    if (said == N_DTYPES && bytes == 1 && class == H5T_INTEGER)
        said = H5Tget_sign(type) == H5T_SGN_2 ? DTYPE_I8 : DTYPE_U8;
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
