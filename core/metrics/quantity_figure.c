#include "core/metrics/quantity_parts.h"

#include "core/base/num.h"

#include <math.h>
#include <string.h>

enum { MAX_DIGITS = 60 };

/* A number as it is read: its digits with "." as the point, and where it stands. */
struct figure {
    char digits[MAX_DIGITS + 8];
    size_t n;
    bool is_grouped_or_decimal; /* "1.234": its second reading has no point */
    size_t end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char at_or_nul(const char *text, size_t len, size_t at)
{
    return at < len ? text[at] : '\0';
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
    while (at < len && is_digit(text[at]))
        at++;
    return at;
}

static bool put_digits(struct figure *f, const char *text, size_t begin, size_t end)
{
    if (end - begin > MAX_DIGITS - f->n)
        return false;
    memcpy(f->digits + f->n, text + begin, end - begin);
    f->n += end - begin;
    f->digits[f->n] = '\0';
    return true;
}

static bool put_char(struct figure *f, char c)
{
    return put_digits(f, &c, 0, 1);
}

/* Digits joined by single marks that have digits on both sides: "1.234,5", "19:30", "2024/05/06". */
static size_t run_end(const char *text, size_t len, size_t at)
{
    at = skip_digits(text, len, at);
    while (at < len && strchr(".,:/'", text[at]) && text[at] && is_digit(at_or_nul(text, len, at + 1)))
        at = skip_digits(text, len, at + 1);
    return at;
}

/* The marks of a run: how many of each, and where the last one is. */
struct marks {
    size_t points, commas, quotes, others;
    size_t last;
    char decimal; /* the mark that is a decimal point, 0 when none is */
};

static void count_marks(const char *text, size_t begin, size_t end, struct marks *m)
{
    size_t i;

    for (i = begin; i < end; i++) {
        if (is_digit(text[i]))
            continue;
        m->points += text[i] == '.';
        m->commas += text[i] == ',';
        m->quotes += text[i] == '\'';
        m->others += text[i] == ':' || text[i] == '/';
        m->last = i;
    }
}

/* Which mark is the decimal one; false when the run is no number. `n_before`, `n_after`: digits around the last mark.
 */
static bool choose_decimal(struct marks *m, char last, size_t n_before, size_t n_after)
{
    size_t n_kinds = (m->points > 0) + (m->commas > 0) + (m->quotes > 0);
    size_t n_last = last == '.' ? m->points : m->commas;

    if (n_kinds == 0)
        return true;
    if (n_kinds > 2 || (n_kinds == 2 && (last == '\'' || n_last != 1)))
        return false;
    if (n_kinds == 2)
        m->decimal = last;
    else if (last == '.' && n_last == 1)
        m->decimal = '.';
    else if (last == ',' && n_last == 1 && !(n_after == 3 && n_before <= 3))
        m->decimal = ',';
    return true;
}

/* Groups before the decimal mark must be of three digits, the first of one to three; Indian groups are of two. */
static bool is_grouped(const char *text, size_t begin, size_t end)
{
    size_t at = skip_digits(text, end, begin);
    size_t n_first = at - begin, n = 0;

    if (at == end)
        return true;
    if (n_first == 0 || n_first > 3 || text[begin] == '0')
        return false;
    while (at < end) {
        size_t next = skip_digits(text, end, at + 1);

        n = next - at - 1;
        if (n != 3 && !(n == 2 && next < end && text[at] == ','))
            return false;
        at = next;
    }
    return n == 3;
}

/* Reads text[begin, end) as one number. */
static bool read_run(struct figure *f, const char *text, size_t begin, size_t end)
{
    struct marks m = {0};
    size_t whole, i;

    count_marks(text, begin, end, &m);
    if (m.others ||
        !choose_decimal(&m, m.last ? text[m.last] : '\0', text[begin] == '0' ? 9 : m.last - begin, end - m.last - 1))
        return false;
    whole = m.decimal ? m.last : end;
    if (!is_grouped(text, begin, whole))
        return false;
    for (i = begin; i < whole; i++) {
        if (is_digit(text[i]) && !put_char(f, text[i]))
            return false;
    }
    f->end = end;
    if (!m.decimal)
        return true;
    f->is_grouped_or_decimal =
        m.decimal == '.' && m.commas + m.quotes == 0 && end - whole == 4 && whole - begin <= 3 && text[begin] != '0';
    return put_char(f, '.') && put_digits(f, text, whole + 1, end);
}

/* "1 000 000,5": groups of three after single spaces, then perhaps decimals. */
static bool read_spaced(struct figure *f, const char *text, size_t len, size_t begin, size_t end)
{
    size_t at = end, n_groups = 0;

    if (end - begin > 3 || text[begin] == '0')
        return true;
    while (at_or_nul(text, len, at) == ' ' && skip_digits(text, len, at + 1) == at + 4) {
        if (strchr(":/'-", at_or_nul(text, len, at + 4)) && at + 4 < len)
            return true; /* a time or a date follows, no group */
        if (!put_digits(f, text, at + 1, at + 4))
            return false;
        at += 4;
        n_groups++;
    }
    f->end = at;
    if (n_groups && strchr(".,", at_or_nul(text, len, at)) && is_digit(at_or_nul(text, len, at + 1))) {
        f->end = skip_digits(text, len, at + 1);
        return put_char(f, '.') && put_digits(f, text, at + 1, f->end);
    }
    return true;
}

/* Bytes of "e8", and its digits with sign at *ret_from. */
static size_t short_exponent(const char *text, size_t len, size_t at, size_t *ret_from)
{
    size_t from = at + 1, end;

    if (at_or_nul(text, len, at) != 'e' && at_or_nul(text, len, at) != 'E')
        return 0;
    if (from < len && strchr("+-", text[from]) && text[from])
        from++;
    end = skip_digits(text, len, from);
    *ret_from = at + 1;
    return end > from && quantity_word_ends(text, len, end) ? end - at : 0;
}

static bool skip_word(const char *text, size_t len, size_t *at, const char *word)
{
    size_t n = strlen(word);

    if (len - *at < n || memcmp(text + *at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Bytes of " × 10^8", "x10**8", " \times 10^{8}", and its digits with sign at *ret_from. */
static size_t long_exponent(const char *text, size_t len, size_t at, size_t *ret_from)
{
    static const char *const times[] = {"\xC3\x97", "x", "*", "\xC2\xB7", "\\times", "\\cdot"};
    size_t p = at, i, from, end;

    skip_word(text, len, &p, " ");
    for (i = 0; i < sizeof times / sizeof *times && !skip_word(text, len, &p, times[i]); i++)
        continue;
    skip_word(text, len, &p, " ");
    if (i == sizeof times / sizeof *times || !skip_word(text, len, &p, "10"))
        return 0;
    if (!skip_word(text, len, &p, "^") && !skip_word(text, len, &p, "**"))
        return 0;
    skip_word(text, len, &p, "{");
    from = p;
    if (p < len && (text[p] == '-' || text[p] == '+'))
        p++;
    end = skip_digits(text, len, p);
    *ret_from = from;
    if (end == p)
        return 0;
    p = end;
    skip_word(text, len, &p, "}");
    return p - at;
}

/* Appends an exponent to the figure where one follows. */
static bool read_exponent(struct figure *f, const char *text, size_t len)
{
    size_t from = 0;
    size_t n = short_exponent(text, len, f->end, &from);

    if (n == 0)
        n = long_exponent(text, len, f->end, &from);
    if (n == 0)
        return true;
    f->is_grouped_or_decimal = false;
    if (!put_char(f, 'e'))
        return false;
    if (text[from] == '-' && !put_char(f, text[from]))
        return false;
    from += text[from] == '-' || text[from] == '+';
    if (!put_digits(f, text, from, skip_digits(text, len, from)))
        return false;
    f->end += n;
    return true;
}

/* Second reading of "1.234": without its point. */
static double other_reading(const struct figure *f)
{
    char digits[sizeof f->digits];
    double value;
    size_t i, n = 0;

    if (!f->is_grouped_or_decimal)
        return NAN;
    for (i = 0; i < f->n; i++) {
        if (f->digits[i] != '.')
            digits[n++] = f->digits[i];
    }
    digits[n] = '\0';
    return num_double(digits, &value) ? value : NAN;
}

/* Where a rejected run of digits ends, with the parts that hyphens join: "2024-05-06", "555-1234-5". */
static size_t joined_end(const char *text, size_t len, size_t at, size_t *ret_n_hyphens, bool *ret_has_zero)
{
    size_t end = run_end(text, len, at), n = 0;
    bool has_zero = false;

    while (at_or_nul(text, len, end) == '-' && is_digit(at_or_nul(text, len, end + 1))) {
        has_zero |= text[end + 1] == '0' && is_digit(at_or_nul(text, len, end + 2));
        end = run_end(text, len, end + 1);
        n++;
    }
    *ret_n_hyphens = n;
    *ret_has_zero = has_zero;
    return end;
}

/* A marker of a numbered list: at the beginning of a line, and another line begins with the number before or after. */
static bool begins_line_with(const char *text, size_t len, long number)
{
    size_t at = 0;

    while (at < len) {
        const char *lf = memchr(text + at, '\n', len - at);
        size_t p = skip_digits(text, len, at), i;
        long value = 0;

        for (i = at; i < p && p - at <= 3; i++)
            value = value * 10 + (text[i] - '0');
        if (p > at && p - at <= 3 && value == number && strchr(".)", at_or_nul(text, len, p)) && p < len &&
            at_or_nul(text, len, p + 1) == ' ')
            return true;
        if (!lf)
            break;
        at = (size_t)(lf - text) + 1;
    }
    return false;
}

static bool is_list_marker(const char *text, size_t len, size_t at, size_t end)
{
    long number = 0;
    size_t i;

    if ((at > 0 && text[at - 1] != '\n') || end - at > 3 || end + 1 >= len || text[end + 1] != ' ' ||
        (text[end] != '.' && text[end] != ')'))
        return false;
    for (i = at; i < end; i++)
        number = number * 10 + (text[i] - '0');
    return begins_line_with(text, len, number + 1) || (number > 0 && begins_line_with(text, len, number - 1));
}

bool quantity_figure_at(const char *text, size_t len, size_t at, struct quantity *ret, size_t *ret_skip)
{
    struct figure f = {.n = 0};
    bool has_point = text[at] == '.', has_zero;
    size_t end = run_end(text, len, at + has_point), n_hyphens;
    double number;

    *ret_skip = joined_end(text, len, at + has_point, &n_hyphens, &has_zero);
    if (n_hyphens > 1 || has_zero || is_list_marker(text, len, at, end))
        return false;
    if (has_point ? !put_digits(&f, "0.", 0, 2) || !put_digits(&f, text, at + 1, end) : !read_run(&f, text, at, end))
        return false;
    f.end = end;
    if (!has_point && end == skip_digits(text, len, at) && !read_spaced(&f, text, len, at, end))
        return false;
    if (!read_exponent(&f, text, len) || !num_double(f.digits, &number))
        return false;
    *ret = (struct quantity){.number = number, .other = other_reading(&f), .scale = 1, .begin = at, .end = f.end};
    return true;
}
