#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef error_set

enum status error_set(struct error *err, enum status code, const char *fmt, ...)
{
    va_list args;

    if (!err || err->code != OK)
        return code;
    err->code = code;
    va_start(args, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    return code;
}

void error_context(struct error *err, const char *fmt, ...)
{
    char old[sizeof err->context];
    va_list args;
    size_t len;

    if (!err)
        return;
    memcpy(old, err->context, sizeof old);
    va_start(args, fmt);
    vsnprintf(err->context, sizeof err->context, fmt, args);
    va_end(args);
    len = strlen(err->context);
    if (old[0])
        snprintf(err->context + len, sizeof err->context - len, ": %.*s", (int)sizeof old, old);
}

void error_clear(struct error *err)
{
    if (err)
        memset(err, 0, sizeof *err);
}
