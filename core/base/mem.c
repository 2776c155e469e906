#include "core/base/mem.h"

#include "core/base/checked.h"

#include <stdlib.h>
#include <string.h>

/* `ret_ptr` and `ptr` are addresses of pointers of any type: memcpy keeps that within the aliasing rules. */
enum status mem_new(size_t n, size_t size, void *ret_ptr, struct error *err)
{
    void *p;

    p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        return error_set(err, ERR_MEMORY, "no memory for %zu elements of %zu bytes", n, size);
    memcpy(ret_ptr, &p, sizeof p);
    return OK;
}

enum status mem_grow(void *ptr, size_t *cap, size_t n, size_t size, struct error *err)
{
    size_t want = *cap > 8 ? *cap : 8;
    size_t bytes;
    void *old, *p;

    if (n <= *cap)
        return OK;
    while (want < n)
        if (!size_mul(want, 2, &want))
            return error_set(err, ERR_LIMIT, "%zu elements are too many", n);
    if (!size_mul(want, size, &bytes))
        return error_set(err, ERR_LIMIT, "%zu elements of %zu bytes are too many", n, size);
    memcpy(&old, ptr, sizeof old);
    p = realloc(old, bytes);
    if (!p)
        return error_set(err, ERR_MEMORY, "no memory for %zu bytes", bytes);
    memcpy(ptr, &p, sizeof p);
    *cap = want;
    return OK;
}

enum status mem_strdup(const char *text, char **ret, struct error *err)
{
    char *copy;

    if (!text) {
        *ret = NULL;
        return OK;
    }
    copy = strdup(text);
    if (!copy)
        return error_set(err, ERR_MEMORY, "no memory for a text of %zu bytes", strlen(text));
    *ret = copy;
    return OK;
}
