#include "reports/table.h"

#include "core/base/scope.h"
#include "reports/show.h"

#include <stdbool.h>
#include <string.h>

void table_done(struct table *t)
{
    buf_done(&t->text);
    memset(t, 0, sizeof *t);
}

void table_cell(struct table *t, const char *text, size_t columns)
{
    show_clip(&t->text, text, columns);
    buf_putc(&t->text, '\0');
    t->n_cells++;
}

static const char *colour_of(const struct table *t, size_t row)
{
    return row < TABLE_ROWS && t->colour[row] ? t->colour[row] : "";
}

/* Widths of the columns; returns the width of a line with gaps of `gap`. */
static size_t measure(const struct table *t, size_t *width, size_t gap)
{
    const char *cell = buf_text(&t->text);
    size_t sum = 0, i;

    memset(width, 0, TABLE_COLUMNS * sizeof *width);
    for (i = 0; i < t->n_cells; i++) {
        size_t w = show_width(cell), *most = &width[i % t->n_columns];

        *most = w > *most ? w : *most;
        cell += strlen(cell) + 1;
    }
    for (i = 0; i < t->n_columns; i++)
        sum += width[i] + (i ? gap : 0);
    return sum;
}

static void print_cell(struct buf *out, const char *cell, size_t width, char align, bool is_last)
{
    AUTO(buf) cut = {0};
    size_t pad;

    show_clip(&cut, cell, width);
    out->failed |= cut.failed;
    pad = width - show_width(buf_text(&cut));
    if (align == 'r')
        buf_printf(out, "%*s", (int)pad, "");
    buf_puts(out, buf_text(&cut));
    if (align == 'l' && !is_last)
        buf_printf(out, "%*s", (int)pad, "");
}

/* A column that gives up `over`, but keeps 8. */
static size_t cut_to(size_t column, size_t over)
{
    return column > over + 8 ? column - over : column < 8 ? column : 8;
}

void table_print(const struct table *t, struct buf *out, size_t indent, size_t width, size_t shrink)
{
    const char *cell = buf_text(&t->text);
    size_t columns[TABLE_COLUMNS], gap = 2, line, i;

    out->failed |= t->text.failed;
    if (t->text.failed || t->n_cells == 0)
        return;
    line = indent + measure(t, columns, gap);
    if (line > width) {
        gap = 1;
        line = indent + measure(t, columns, gap);
    }
    if (line > width)
        columns[shrink] = cut_to(columns[shrink], line - width);
    for (i = 0; i < t->n_cells; i++) {
        size_t c = i % t->n_columns, row = i / t->n_columns;
        bool is_last = c + 1 == t->n_columns;

        if (c == 0) {
            buf_printf(out, "%*s", (int)indent, "");
            buf_puts(out, colour_of(t, row));
        } else {
            buf_printf(out, "%*s", (int)gap, "");
        }
        print_cell(out, cell, columns[c], t->align[c], is_last);
        if (is_last)
            buf_puts(out, *colour_of(t, row) ? "\x1b[0m\n" : "\n");
        cell += strlen(cell) + 1;
    }
}
