#include "core/io/npy.h"

#include "core/base/num.h"

#include <stdio.h>
#include <string.h>

/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: six bytes of magic, a version, the length of
 * the header (2 bytes in version 1, else 4), and the header: a Python dictionary of three keys as text. */

/* The text that is being read. */
struct cursor {
    const char *p, *end;
};

/* What the dictionary says. */
struct header {
    char descr[32];
    bool is_fortran;
    size_t rank;
    uint64_t dim[FLAT_MAX_RANK];
    unsigned seen;  /* a bit a key */
    bool is_record; /* descr is a list of fields; nothing after it was read */
};

static void skip_spaces(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
        c->p++;
}

static bool next_is(struct cursor *c, char want)
{
    skip_spaces(c);
    if (c->p == c->end || *c->p != want)
        return false;
    c->p++;
    return true;
}

/* 'text' or "text", without escapes; cut to fit. */
static bool read_text(struct cursor *c, char *ret, size_t size)
{
    const char *begin;
    char quote;
    size_t len;

    skip_spaces(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
        return false;
    quote = *c->p++;
    for (begin = c->p; c->p < c->end && *c->p != quote; c->p++)
        if (*c->p == '\\' || (unsigned char)*c->p < 0x20)
            return false;
    if (c->p == c->end)
        return false;
    len = (size_t)(c->p++ - begin);
    snprintf(ret, size, "%.*s", (int)(len < size ? len : size - 1), begin);
    return true;
}

static bool read_word(struct cursor *c, const char *word)
{
    size_t len = strlen(word);

    skip_spaces(c);
    if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len) != 0)
        return false;
    c->p += len;
    return true;
}

static bool read_number(struct cursor *c, uint64_t *ret)
{
    char digits[24];
    size_t n = 0;

    skip_spaces(c);
    while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
        if (n + 1 >= sizeof digits)
            return false;
        digits[n++] = *c->p++;
    }
    digits[n] = '\0';
    if (n > 0 && c->p < c->end && *c->p == 'L') /* a long integer of Python 2 */
        c->p++;
    return n > 0 && num_u64(digits, ret);
}

/* "(1, 4)", "(3,)", "()". */
static bool read_shape(struct cursor *c, struct header *h)
{
    bool has_comma = true;

    if (!next_is(c, '('))
        return false;
    while (!next_is(c, ')')) {
        uint64_t dim;

        if (!has_comma || !read_number(c, &dim))
            return false;
        if (h->rank < FLAT_MAX_RANK)
            h->dim[h->rank] = dim;
        h->rank++;
        has_comma = next_is(c, ',');
    }
    return h->rank != 1 || has_comma; /* "(3)" is no tuple */
}

static bool read_value(struct cursor *c, struct header *h, const char *key)
{
    unsigned bit;

    if (strcmp(key, "descr") == 0) {
        bit = 1;
        skip_spaces(c);
        h->is_record = c->p < c->end && *c->p == '[';
        if (h->is_record)
            return true;
        if (!read_text(c, h->descr, sizeof h->descr))
            return false;
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        h->is_fortran = read_word(c, "True");
        if (!h->is_fortran && !read_word(c, "False"))
            return false;
    } else if (strcmp(key, "shape") == 0) {
        bit = 4;
        if (!read_shape(c, h))
            return false;
    } else {
        return false;
    }
    if (h->seen & bit)
        return false;
    h->seen |= bit;
    return true;
}

static bool read_dictionary(struct cursor c, struct header *h)
{
    bool has_comma = true;
    char key[32];

    if (!next_is(&c, '{'))
        return false;
    while (!next_is(&c, '}')) {
        if (!has_comma || !read_text(&c, key, sizeof key) || !next_is(&c, ':') || !read_value(&c, h, key))
            return false;
        if (h->is_record)
            return true;
        has_comma = next_is(&c, ',');
    }
    skip_spaces(&c);
    return c.p == c.end && h->seen == 7;
}

/* What no number can be read from, or NULL. */
static const char *unreadable(const struct header *h)
{
    if (h->is_record)
        return "records of named fields";
    switch (h->descr[0] ? h->descr[1] : '\0') {
    case 'c':
        return "complex numbers";
    case 'M':
    case 'm':
        return "times";
    default:
        return NULL;
    }
}

/* "<f4": byte order, kind, bytes (of 'U', characters). */
static bool read_descr(const char *descr, struct flat_array *a)
{
    static const struct {
        char kind;
        size_t bytes;
        enum flat_kind is;
        enum dtype dtype;
    } types[] = {
        {'f', 2, FLAT_FLOAT, DTYPE_F16},  {'f', 4, FLAT_FLOAT, DTYPE_F32},  {'f', 8, FLAT_FLOAT, DTYPE_F64},
        {'b', 1, FLAT_INTEGER, N_DTYPES}, {'u', 1, FLAT_INTEGER, N_DTYPES}, {'u', 2, FLAT_INTEGER, N_DTYPES},
        {'u', 4, FLAT_INTEGER, N_DTYPES}, {'u', 8, FLAT_INTEGER, N_DTYPES}, {'i', 1, FLAT_INTEGER, N_DTYPES},
        {'i', 2, FLAT_INTEGER, N_DTYPES}, {'i', 4, FLAT_INTEGER, N_DTYPES}, {'i', 8, FLAT_INTEGER, N_DTYPES},
        {'V', 1, FLAT_OPAQUE, N_DTYPES},  {'V', 2, FLAT_OPAQUE, N_DTYPES},
    };
    uint64_t n = 0;
    size_t i;

    if (!descr[0] || !strchr("<>=|", descr[0]) || !descr[1] ||
        (descr[1] == 'O' ? descr[2] != '\0' : !num_u64(descr + 2, &n)) || n > SIZE_MAX / 4)
        return false;
    a->element = descr[1] == 'U' ? 4 * (size_t)n : (size_t)n;
    a->is_signed = descr[1] == 'i';
    a->kind = descr[1] == 'U' ? FLAT_UTF32 : descr[1] == 'S' ? FLAT_BYTES : descr[1] == 'O' ? FLAT_OBJECT : FLAT_OTHER;
    for (i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == descr[1] && types[i].bytes == n) {
            a->kind = types[i].is;
            a->dtype = types[i].dtype;
        }
    a->is_swapped = descr[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<') && a->kind != FLAT_BYTES;
    return true;
}

static enum status take_header(const struct flat *f, struct flat_array *a, const struct header *h, struct arena *arena,
                               struct error *err)
{
    const char *what = unreadable(h);
    size_t i;

    TRY(arena_strdup(arena, h->descr, &a->type, err));
    if (what)
        return flat_bad(f, a->name, err, "the array holds %s; store plain numbers", what);
    if (!read_descr(h->descr, a))
        return flat_bad(f, a->name, err, "the array has the unknown type '%s'", h->descr);
    if (h->rank > FLAT_MAX_RANK)
        return flat_bad(f, a->name, err, "%zu dimensions, %d are the limit", h->rank, (int)FLAT_MAX_RANK);
    a->rank = h->rank;
    for (i = 0; i < h->rank; i++)
        a->dim[i] = (size_t)h->dim[i];
    a->is_fortran = h->is_fortran && h->rank > 1;
    return OK;
}

enum status npy_read(const struct flat *f, struct flat_array *a, const unsigned char *bytes, size_t len, uint64_t total,
                     struct arena *arena, struct error *err)
{
    struct header h = {0};
    size_t prefix, header_len, n_bytes = 0;

    if (len < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return flat_bad(f, a->name, err, "is no NumPy array: it does not begin with \\x93NUMPY");
    if (bytes[6] < 1 || bytes[6] > 3)
        return flat_bad(f, a->name, err, "the array is written in version %u.%u of the format, 3 is the newest known",
                        bytes[6], bytes[7]);
    prefix = bytes[6] == 1 ? 10 : 12;
    header_len = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (prefix == 12)
        header_len |= len < 12 ? SIZE_MAX : (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (len < prefix || header_len > len - prefix)
        return flat_bad(f, a->name, err, "the array's header takes %zu bytes, there are %zu; it may be truncated",
                        header_len, len);
    if (!read_dictionary((struct cursor){(const char *)bytes + prefix, (const char *)bytes + prefix + header_len}, &h))
        return flat_bad(f, a->name, err,
                        "the array's header is not {'descr': …, 'fortran_order': …, 'shape': …} and nothing else");
    TRY(take_header(f, a, &h, arena, err));
    a->offset = prefix + header_len;
    if (a->kind == FLAT_OBJECT) /* a pickle follows, of any length; it is never looked at */
        return OK;
    if (!flat_size(a, &a->n, &n_bytes))
        return flat_bad(f, a->name, err, "the shape asks for more values than can be addressed");
    if (total - a->offset != n_bytes)
        return flat_bad(f, a->name, err, "the shape asks for %zu bytes of values, there are %llu", n_bytes,
                        (unsigned long long)(total - a->offset));
    return OK;
}
