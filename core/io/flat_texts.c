#include "core/io/flat_texts.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/texts.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* Bytes of one text: more is no label. */
enum { MAX_TEXT = 1 << 20 };

static enum status keep_list(const struct flat *f, const char *name, const json_t *list, size_t max,
                             struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    size_t n = json_array_size(list), i;
    char **texts = NULL;

    if (n > max)
        return flat_bad(f, name, err, "%zu elements, %zu are the limit", n, max);
    TRY(arena_new(arena, n, sizeof *texts, &texts, err));
    for (i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);

        if (!json_is_string(item) || strlen(json_string_value(item)) != json_string_length(item))
            return flat_bad(f, name, err, "element %zu of the list is no text", i);
        TRY(arena_strdup(arena, json_string_value(item), &texts[i], err));
    }
    *ret = texts;
    *ret_n = n;
    return OK;
}

enum status flat_texts_of_json(const struct flat *f, const char *name, const json_t *value, size_t max,
                               struct arena *arena, char ***ret, size_t *ret_n, struct error *err)
{
    const char *text = json_string_value(value);
    AUTO(json) list = {0};

    if (json_is_array(value))
        return keep_list(f, name, value, max, arena, ret, ret_n, err);
    if (!text || json_parse(&list, name, text, json_string_length(value), NULL) != OK || !json_is_array(list.root))
        return flat_bad(f, name, err,
                        "the attribute in %s must be a JSON list of texts, such as [\"first\", \"second\"]",
                        f->attr_in);
    return keep_list(f, name, list.root, max, arena, ret, ret_n, err);
}

/* Characters up to the padding, as UTF-8; *ret_len is SIZE_MAX where one is no character. */
static void narrow(const unsigned char *cell, size_t width, char *ret, size_t *ret_len)
{
    size_t len = 0, i;

    for (i = 0; i + 4 <= width; i += 4) {
        uint32_t code;

        memcpy(&code, cell + i, sizeof code);
        if (code == 0)
            break;
        if (code > 0x10ffff || !utf8proc_codepoint_valid((utf8proc_int32_t)code)) {
            *ret_len = SIZE_MAX;
            return;
        }
        len += (size_t)utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)ret + len);
    }
    *ret_len = len;
}

static enum status keep_cell(const struct flat *f, const struct flat_array *a, size_t i, const unsigned char *cell,
                             char *scratch, struct arena *arena, char **ret, struct error *err)
{
    size_t len = 0;

    if (a->kind == FLAT_UTF32) {
        narrow(cell, a->element, scratch, &len);
    } else {
        len = strnlen((const char *)cell, a->element);
        memcpy(scratch, cell, len);
    }
    if (len == SIZE_MAX || !texts_is_utf8(scratch, len))
        return flat_bad(f, a->name, err, "element %zu is not valid Unicode", i);
    return arena_strndup(arena, scratch, len, ret, err);
}

/* Values are read as units of 4 bytes, or of 1, so that their byte order is turned with them. */
static enum status read_cell(struct flat *f, const struct flat_array *a, size_t i, void *ret, struct error *err)
{
    size_t unit = a->kind == FLAT_UTF32 ? 4 : 1;
    struct flat_array units = *a;

    units.n = a->n * (a->element / unit);
    units.element = unit;
    return flat_read(f, &units, i * (a->element / unit), a->element / unit, ret, err);
}

enum status flat_texts_of_array(struct flat *f, const struct flat_array *a, size_t max, struct arena *arena,
                                char ***ret, size_t *ret_n, struct error *err)
{
    char **texts = NULL, *scratch = NULL;
    unsigned char *cell = NULL;
    enum status st = OK;
    size_t i;

    if (a->kind != FLAT_BYTES && a->kind != FLAT_UTF32)
        return flat_bad(f, a->name, err, "elements must be texts, not of type '%.20s'", a->type);
    if (a->n > max || a->element > MAX_TEXT)
        return flat_bad(f, a->name, err, "%zu texts of %zu bytes, %zu of %d are the limit", a->n, a->element, max,
                        (int)MAX_TEXT);
    TRY(arena_new(arena, a->n, sizeof *texts, &texts, err));
    TRY(mem_new(2 * a->element, 1, &cell, err));
    scratch = (char *)cell + a->element;
    for (i = 0; st == OK && i < a->n; i++) {
        st = read_cell(f, a, i, cell, err);
        if (st == OK)
            st = keep_cell(f, a, i, cell, scratch, arena, &texts[i], err);
    }
    free(cell);
    TRY(st);
    *ret = texts;
    *ret_n = a->n;
    return OK;
}
