#include "cli/inspect.h"

#include "core/base/scope.h"
#include "reports/escape.h"

#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 24, MAX_CELL = 64, NAME_WIDTH = 21, FEW_ROWS = 4, FEW_COLUMNS = 6 };

static bool is_scalar(const json_t *v)
{
    return !json_is_object(v) && !json_is_array(v);
}

static bool is_list_of_scalars(const json_t *v)
{
    return json_is_array(v) && json_array_size(v) > 0 && is_scalar(json_array_get(v, 0));
}

/* One value in one line; "-" for what is not known. */
static void put_value(struct buf *out, const json_t *v)
{
    size_t i;

    if (json_is_string(v) && json_string_length(v) > 0)
        escape_terminal(out, json_string_value(v));
    else if (json_is_integer(v))
        buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        buf_printf(out, "%.6g", json_real_value(v));
    else if (json_is_boolean(v))
        buf_puts(out, json_is_true(v) ? "yes" : "no");
    else if (json_is_array(v))
        for (i = 0; i < json_array_size(v); i++) {
            buf_puts(out, i ? ", " : "");
            put_value(out, json_array_get(v, i));
        }
    else
        buf_putc(out, '-');
}

/* Characters, not bytes: a byte 10xxxxxx continues the character before. */
static size_t width(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* Cut to MAX_CELL characters, newlines shown as spaces. */
static void put_cell(struct buf *out, const json_t *v)
{
    AUTO(buf) full = {0};
    const char *p;
    size_t n = 0;

    put_value(&full, v);
    for (p = buf_text(&full); *p; p++) {
        n += ((unsigned char)*p & 0xC0) != 0x80;
        if (n > MAX_CELL)
            break;
        buf_putc(out, (char)((unsigned char)*p < ' ' ? ' ' : *p));
    }
    buf_puts(out, *p ? "…" : "");
}

static void put_row(struct buf *out, const json_t *row, const char *const *keys, const size_t *widths, size_t n)
{
    size_t i, pad;

    for (i = 0; i < n; i++) {
        AUTO(buf) cell = {0};

        if (row)
            put_cell(&cell, json_object_get(row, keys[i]));
        else
            buf_puts(&cell, keys[i]);
        buf_printf(out, "  %s", buf_text(&cell));
        for (pad = width(buf_text(&cell)); i + 1 < n && pad < widths[i]; pad++)
            buf_putc(out, ' ');
    }
    buf_putc(out, '\n');
}

/* Objects of the same members, a line each. */
static void put_table(struct buf *out, const json_t *rows)
{
    const char *keys[MAX_COLUMNS];
    size_t widths[MAX_COLUMNS] = {0};
    size_t n = 0, i, k;
    const char *key;
    json_t *value;

    json_object_foreach (json_array_get(rows, 0), key, value)
        if (n < MAX_COLUMNS)
            keys[n++] = key;
    for (k = 0; k < n; k++)
        widths[k] = width(keys[k]);
    for (i = 0; i < json_array_size(rows); i++)
        for (k = 0; k < n; k++) {
            AUTO(buf) cell = {0};
            size_t w;

            put_cell(&cell, json_object_get(json_array_get(rows, i), keys[k]));
            w = width(buf_text(&cell));
            widths[k] = w > widths[k] ? w : widths[k];
        }
    put_row(out, NULL, keys, widths, n);
    for (i = 0; i < json_array_size(rows); i++)
        put_row(out, json_array_get(rows, i), keys, widths, n);
}

static void put_member(struct buf *out, const char *indent, const char *key, const json_t *v)
{
    buf_printf(out, "%s%-*s", indent, NAME_WIDTH - (int)strlen(indent), key);
    buf_puts(out, strlen(key) + strlen(indent) >= NAME_WIDTH ? " " : "");
    put_value(out, v);
    buf_putc(out, '\n');
}

/* A few objects of many members stand better one under the other, a line a member. */
static void put_list(struct buf *out, const json_t *rows)
{
    const char *key;
    json_t *v;
    size_t i;

    if (json_array_size(rows) > FEW_ROWS || json_object_size(json_array_get(rows, 0)) <= FEW_COLUMNS) {
        put_table(out, rows);
        return;
    }
    for (i = 0; i < json_array_size(rows); i++) {
        buf_puts(out, i ? "\n" : "");
        json_object_foreach (json_array_get(rows, i), key, v)
            put_member(out, "  ", key, v);
    }
}

void inspect_view(const struct desc *d, struct buf *out)
{
    const char *key, *inner;
    json_t *v, *w;

    json_object_foreach (d->root, key, v) {
        if (strcmp(key, "schema") == 0)
            continue;
        if (is_scalar(v) || is_list_of_scalars(v)) {
            put_member(out, "", key, v);
        } else if (json_is_object(v)) {
            buf_printf(out, "\n%s\n", key);
            json_object_foreach (v, inner, w)
                put_member(out, "  ", inner, w);
        } else {
            buf_printf(out, "\n%s (%zu)\n", key, json_array_size(v));
            if (json_array_size(v))
                put_list(out, v);
        }
    }
}
