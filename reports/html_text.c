/* Text and numbers inside the page. */
#include "core/base/scope.h"
#include "reports/escape.h"
#include "reports/html.h"
#include "reports/show.h"

#include <math.h>

void html_text(struct buf *out, const char *text, size_t columns)
{
    AUTO(buf) cut = {0};

    show_clip(&cut, show_or(text, ""), columns);
    escape_xml(out, buf_text(&cut));
    out->failed |= cut.failed;
}

void html_number(struct buf *out, double value, void (*show)(struct buf *out, double value))
{
    AUTO(buf) text = {0};
    const char *s;

    show(&text, value);
    out->failed |= text.failed;
    s = buf_text(&text);
    if (isnan(value)) {
        buf_puts(out, "&ndash;");
        return;
    }
    if (*s == '-') {
        buf_puts(out, "&minus;");
        s++;
    }
    escape_xml(out, s);
}

void html_interval(struct buf *out, double lo, double hi)
{
    if (isnan(lo) || isnan(hi)) {
        html_number(out, NAN, show_delta);
        return;
    }
    buf_putc(out, '[');
    html_number(out, lo, show_delta);
    buf_puts(out, ", ");
    html_number(out, hi, show_delta);
    buf_putc(out, ']');
}

void html_where(struct buf *out, const struct where *w)
{
    AUTO(buf) text = {0};

    show_where(&text, w);
    html_text(out, buf_text(&text), 200);
}

void html_cell(struct buf *out, const char *label, double value, void (*show)(struct buf *out, double value))
{
    buf_printf(out, "<td class=\"num\" data-l=\"%s\">", label);
    html_number(out, value, show);
    buf_puts(out, "</td>");
}

void html_chip(struct buf *out, enum verdict v)
{
    buf_printf(out, "<span class=\"chip %s\">%s</span>", verdict_name(v), show_part(v));
}
