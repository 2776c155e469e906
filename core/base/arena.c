#include "core/base/arena.h"

#include "core/base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    _Alignas(ALIGN) unsigned char data[];
};

void arena_done(struct arena *a)
{
    struct arena_block *b = a->head;

    while (b) {
        struct arena_block *next = b->next;

        free(b);
        b = next;
    }
    a->head = NULL;
    a->used = 0;
}

static enum status add_block(struct arena *a, size_t bytes, struct error *err)
{
    size_t cap = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    size_t total;
    struct arena_block *b;

    if (!size_add(sizeof *b, cap, &total))
        return error_set(err, ERR_LIMIT, "a table of %zu bytes is too large", bytes);
    b = calloc(1, total);
    if (!b)
        return error_set(err, ERR_MEMORY, "no memory for %zu bytes", total);
    b->next = a->head;
    b->cap = cap;
    a->head = b;
    return OK;
}

enum status arena_new(struct arena *a, size_t n, size_t size, void *ret_ptr, struct error *err)
{
    size_t limit = a->limit ? a->limit : ARENA_DEFAULT_LIMIT;
    size_t bytes, total;
    void *p;

    if (!size_mul(n, size, &bytes) || !size_add(bytes, ALIGN - 1, &bytes) || !size_add(a->used, bytes, &total) ||
        total > limit)
        return error_set(err, ERR_LIMIT, "%zu more elements of %zu bytes pass the limit of %zu bytes", n, size, limit);
    bytes -= bytes % ALIGN;
    if (bytes == 0)
        bytes = ALIGN;
    if (!a->head || a->head->cap - a->head->used < bytes)
        TRY(add_block(a, bytes, err));
    p = a->head->data + a->head->used;
    a->head->used += bytes;
    a->used += bytes;
    memcpy(ret_ptr, &p, sizeof p);
    return OK;
}

enum status arena_strndup(struct arena *a, const char *text, size_t len, char **ret, struct error *err)
{
    char *copy = NULL;
    size_t room;

    if (!size_add(len, 1, &room))
        return error_set(err, ERR_LIMIT, "a text of %zu bytes is too long", len);
    TRY(arena_new(a, room, 1, &copy, err));
    memcpy(copy, text, len);
    *ret = copy;
    return OK;
}

enum status arena_strdup(struct arena *a, const char *text, char **ret, struct error *err)
{
    if (!text) {
        *ret = NULL;
        return OK;
    }
    return arena_strndup(a, text, strlen(text), ret, err);
}

enum status arena_printf(struct arena *a, char **ret, struct error *err, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    int len;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        return error_set(err, ERR_INTERNAL, "a text could not be formatted");
    TRY(arena_new(a, (size_t)len + 1, 1, &text, err));
    va_start(args, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    *ret = text;
    return OK;
}
