#include "core/io/texts.h"

#include "core/base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

bool texts_is_utf8(const char *text, size_t len)
{
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)text;

    while (len > 0) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate(p, (utf8proc_ssize_t)len, &code);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

struct entry {
    const char *text;
    size_t index;
};

static int by_text_then_index(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

enum status texts_find_repeated(char *const *texts, size_t n, size_t *ret, struct error *err)
{
    struct entry *sorted = NULL;
    size_t found = SIZE_MAX, i;

    TRY(mem_new(n, sizeof *sorted, &sorted, err));
    for (i = 0; i < n; i++)
        sorted[i] = (struct entry){texts[i], i};
    qsort(sorted, n, sizeof *sorted, by_text_then_index);
    for (i = 1; i < n; i++)
        if (strcmp(sorted[i].text, sorted[i - 1].text) == 0 && sorted[i].index < found)
            found = sorted[i].index;
    free(sorted);
    *ret = found;
    return OK;
}
