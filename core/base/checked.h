/* checked.h - sizes that come from input: every product and sum is checked before it is used. */
#ifndef CORE_BASE_CHECKED_H
#define CORE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* True and *ret written when the result fits; false and *ret untouched otherwise. */
static inline bool size_mul(size_t a, size_t b, size_t *ret)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *ret = product;
    return true;
}

static inline bool size_add(size_t a, size_t b, size_t *ret)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *ret = sum;
    return true;
}

#endif
