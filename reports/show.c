#include "reports/show.h"

#include "core/base/scope.h"
#include "reports/escape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define MIDDOT   "\xc2\xb7"

const char *show_or(const char *text, const char *other)
{
    return text && *text ? text : other;
}

/* "%.*e" with a short exponent: "1.2e-5". */
static void put_exponent(struct buf *out, double value, int digits, bool sign)
{
    char text[64];
    char *e;
    int exponent = 0;

    snprintf(text, sizeof text, sign ? "%+.*e" : "%.*e", digits - 1, value);
    e = strchr(text, 'e');
    if (!e) {
        buf_puts(out, text);
        return;
    }
    exponent = (e[2] - '0') * 10 + (e[3] - '0');
    if (e[4])
        exponent = exponent * 10 + (e[4] - '0');
    buf_append(out, text, (size_t)(e - text));
    buf_printf(out, "e%s%d", e[1] == '-' ? "-" : "", exponent);
}

static void put_number(struct buf *out, double value, int digits, bool sign)
{
    double size = fabs(value);
    int decimals;

    if (isnan(value)) {
        buf_puts(out, "-");
    } else if (isinf(value)) {
        buf_puts(out, value > 0 ? "inf" : "-inf");
    } else if (fpclassify(value) == FP_ZERO) {
        buf_puts(out, "0");
    } else if (size < 1e-3 || size >= 1e7) {
        put_exponent(out, value, 2, sign);
    } else {
        decimals = digits - 1 - (int)floor(log10(size));
        decimals = decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
        buf_printf(out, sign ? "%+.*f" : "%.*f", decimals, value);
    }
}

void show_number(struct buf *out, double value)
{
    put_number(out, value, 4, false);
}

void show_delta(struct buf *out, double value)
{
    put_number(out, value, 3, true);
}

void show_small(struct buf *out, double value)
{
    put_number(out, value, 3, false);
}

void show_margin(struct buf *out, double value)
{
    if (isfinite(value))
        buf_printf(out, "%.3g", value);
    else
        put_number(out, value, 3, false);
}

void show_p(struct buf *out, double p)
{
    if (isnan(p))
        buf_puts(out, "-");
    else if (p < 1e-4)
        buf_puts(out, "<0.0001");
    else
        buf_printf(out, p < 0.1 ? "%.4f" : "%.2f", p);
}

void show_interval(struct buf *out, double lo, double hi)
{
    if (isnan(lo) || isnan(hi)) {
        buf_puts(out, "-");
        return;
    }
    show_delta(out, lo);
    buf_puts(out, ELLIPSIS);
    show_delta(out, hi);
}

const char *show_unit(const char *unit)
{
    return unit && strcmp(unit, "1") != 0 ? unit : "";
}

const char *show_mark(enum role role, enum verdict verdict)
{
    if (role != ROLE_PRIMARY)
        return MIDDOT;
    return verdict == VERDICT_REGRESSED ? "!" : " ";
}

const char *show_verdict(enum verdict whole)
{
    return whole == VERDICT_NONE ? "no verdict" : verdict_name(whole);
}

const char *show_part(enum verdict part)
{
    return part == VERDICT_NONE ? "not judged" : verdict_name(part);
}

void show_exit(struct buf *out, const struct report_input *in)
{
    static const char *const meaning[] = {
        "nothing here fails the gate", "a regression, the release is stopped",
        "usage or configuration",      "no verdict could be given",
        "a source or file failed",     "an error of the program itself",
    };
    int code = in->exit_code;

    buf_printf(out, "exit code %d", code);
    if (!in->is_gate && code == 0) {
        buf_puts(out, ": this comparison informs, it does not decide");
        return;
    }
    if (in->is_gate && in->judgement && in->judgement->exit_code != code) {
        code = in->judgement->exit_code;
        buf_printf(out, ", as --exit-zero or --fail-on asks; by the policy it is %d", code);
    }
    if (code >= 0 && code < (int)(sizeof meaning / sizeof *meaning))
        buf_printf(out, ": %s", meaning[code]);
}

const char *show_headline(const struct judgement *j)
{
    const char *name = show_verdict(j->verdict), *text = show_or(j->headline, "");
    size_t len = strlen(name);

    if (strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    return show_or(text, "no headline");
}

size_t show_n_reasons(const struct judgement *j)
{
    return j->n_reasons == 1 && strcmp(show_or(j->reasons[0], ""), show_headline(j)) == 0 ? 0 : j->n_reasons;
}

const char *show_policy(const struct judgement *j)
{
    const char *name = show_or(j->policy_name, "built in"), *slash = strrchr(name, '/');

    return slash && slash[1] ? slash + 1 : name;
}

const char *show_base(const struct report_input *in)
{
    return show_or(in->base_name, "base");
}

const char *show_cand(const struct report_input *in)
{
    return show_or(in->cand_name, "candidate");
}

/* The character at `s` of valid UTF-8: its length, and its columns in *ret. */
static size_t next_columns(const char *s, size_t *ret)
{
    utf8proc_int32_t code = 0;
    utf8proc_ssize_t len = utf8proc_iterate((const utf8proc_uint8_t *)s, -1, &code);
    int width = len > 0 ? utf8proc_charwidth(code) : 1;

    *ret = width > 0 ? (size_t)width : 0;
    return len > 0 ? (size_t)len : 1;
}

size_t show_width(const char *text)
{
    size_t width = 0, columns;

    while (*text) {
        text += next_columns(text, &columns);
        width += columns;
    }
    return width;
}

/* Bytes of `text` that fit into `columns`, and the columns that they take. */
static size_t fit(const char *text, size_t columns, size_t *ret_width)
{
    size_t len = 0, width = 0;

    while (text[len]) {
        size_t one, step = next_columns(text + len, &one);

        if (width + one > columns)
            break;
        width += one;
        len += step;
    }
    *ret_width = width;
    return len;
}

void show_more_places(struct buf *out, size_t n)
{
    if (n)
        buf_printf(out, "; %zu more place%s", n, n == 1 ? " breaks it" : "s break it");
}

void show_clip(struct buf *out, const char *text, size_t columns)
{
    AUTO(buf) clean = {0};
    size_t width, len, i;

    escape_terminal(&clean, text);
    for (i = 0; i < clean.len; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    out->failed |= clean.failed;
    len = fit(buf_text(&clean), columns, &width);
    if (len == clean.len) {
        buf_puts(out, buf_text(&clean));
        return;
    }
    len = fit(buf_text(&clean), columns ? columns - 1 : 0, &width);
    buf_append(out, buf_text(&clean), len);
    buf_puts(out, ELLIPSIS);
}

void show_wrap(struct buf *out, const char *text, size_t indent, size_t columns)
{
    AUTO(buf) clean = {0};
    const char *rest;
    size_t room = columns > indent + 20 ? columns - indent : 20;

    show_clip(&clean, text, 2000);
    out->failed |= clean.failed;
    rest = buf_text(&clean);
    for (;;) {
        size_t width, len = fit(rest, room, &width), blank = len;

        if (!rest[len]) {
            buf_puts(out, rest);
            return;
        }
        while (blank && rest[blank] != ' ')
            blank--;
        if (blank)
            len = blank;
        buf_append(out, rest, len);
        buf_printf(out, "\n%*s", (int)indent, "");
        rest += len;
        rest += strspn(rest, " ");
    }
}

void show_where(struct buf *out, const struct where *w)
{
    char text[96];
    struct where rest = *w;

    rest.task = NULL;
    if (w->task) {
        buf_puts(out, "task '");
        show_clip(out, w->task, 60);
        buf_puts(out, "'");
        if (w->turn < 0 && w->layer < 0 && w->head < 0)
            return;
        buf_puts(out, ", ");
    }
    where_text(&rest, text, sizeof text);
    buf_puts(out, text);
}
