#include "cli/dump_opts.h"

#include "core/io/dump_dtype.h"

enum status dump_opts_read(const struct opts *o, struct dump_options *ret, struct error *err)
{
    const char *dtype = opts_text(o, "dtype", NULL);

    ret->layout = opts_text(o, "layout", NULL);
    ret->has_dtype = dtype != NULL;
    if (dtype && !dump_dtype_named(dtype, &ret->dtype))
        return error_set(err, ERR_USAGE, "--dtype '%s' is no type: write bf16, fp16, e4m3 or e5m2", dtype);
    return OK;
}
