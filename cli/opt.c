#include "cli/opt.h"

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/base/similar.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void opts_done(struct opts *o)
{
    size_t i;

    for (i = 0; o->values && i < o->n_table; i++)
        free(o->values[i]);
    free(o->values);
    free(o->n_values);
    free(o->words);
    memset(o, 0, sizeof *o);
}

static size_t index_of(const struct opts *o, const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < o->n_table; i++)
        if (strlen(o->table[i].name) == len && strncmp(o->table[i].name, name, len) == 0)
            return i;
    return o->n_table;
}

static enum status unknown(const struct opts *o, const char *word, const char *name, struct error *err)
{
    const char *names[64];
    const char *near;
    size_t n = 0, i;

    for (i = 0; i < o->n_table && n < sizeof names / sizeof *names; i++)
        names[n++] = o->table[i].name;
    near = similar_find(name, names, n);
    if (near)
        return error_set(err, ERR_USAGE, "unknown option '%s', did you mean '--%s'?", word, near);
    return error_set(err, ERR_USAGE, "unknown option '%s'", word);
}

bool opt_has_choices(const struct opt *opt)
{
    const char *p;

    for (p = opt->value; p && *p; p++)
        if (isupper((unsigned char)*p))
            return false;
    return opt->value && strchr(opt->value, '|');
}

static enum status check_choice(const struct opt *opt, const char *value, struct error *err)
{
    const char *word = opt->value;
    size_t len = strlen(value);

    while (word) {
        const char *bar = strchr(word, '|');

        if (len == (bar ? (size_t)(bar - word) : strlen(word)) && strncmp(word, value, len) == 0)
            return OK;
        word = bar ? bar + 1 : NULL;
    }
    return error_set(err, ERR_USAGE, "option '--%s' takes one of %s, not '%s'", opt->name, opt->value, value);
}

static enum status add_value(struct opts *o, size_t i, char *value, struct error *err)
{
    size_t cap = o->n_values[i];

    if (opt_has_choices(&o->table[i]))
        TRY(check_choice(&o->table[i], value, err));
    if (o->table[i].kind != OPT_LIST)
        o->n_values[i] = cap = 0;
    TRY(mem_grow(&o->values[i], &cap, o->n_values[i] + 1, sizeof **o->values, err));
    o->values[i][o->n_values[i]++] = value;
    return OK;
}

static enum status add_word(struct opts *o, char *word, struct error *err)
{
    size_t cap = o->n_words;

    TRY(mem_grow(&o->words, &cap, o->n_words + 1, sizeof *o->words, err));
    o->words[o->n_words++] = word;
    return OK;
}

/* A flag stores its own name when on, and NULL when --no-name turned it off. */
static enum status take_flag(struct opts *o, size_t i, bool on, const char *word, const char *equals, struct error *err)
{
    if (equals)
        return error_set(err, ERR_USAGE, "option '%s' takes no value", word);
    return add_value(o, i, on ? (char *)(size_t)o->table[i].name : NULL, err);
}

static enum status take_values(struct opts *o, size_t i, const char *word, char *equals, char ***argv,
                               struct error *err)
{
    char **next = *argv;

    if (equals) {
        TRY(add_value(o, i, equals + 1, err));
    } else {
        if (!*next)
            return error_set(err, ERR_USAGE, "option '%s' needs a value: %s", word, o->table[i].value);
        TRY(add_value(o, i, *next++, err));
    }
    while (o->table[i].takes_many && *next && (*next)[0] != '-' && (!o->table[i].takes || o->table[i].takes(*next)))
        TRY(add_value(o, i, *next++, err));
    *argv = next;
    return OK;
}

static enum status take_long(struct opts *o, char *word, char ***argv, struct error *err)
{
    char *equals = strchr(word, '=');
    const char *name = word + 2;
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    size_t i = index_of(o, name, len);

    if (i < o->n_table && o->table[i].kind != OPT_FLAG)
        return take_values(o, i, word, equals, argv, err);
    if (i < o->n_table)
        return take_flag(o, i, true, word, equals, err);
    if (len > 3 && strncmp(name, "no-", 3) == 0) {
        i = index_of(o, name + 3, len - 3);
        if (i < o->n_table && o->table[i].kind == OPT_FLAG)
            return take_flag(o, i, false, word, equals, err);
    }
    return unknown(o, word, name, err);
}

static enum status take_letter(struct opts *o, char *word, char ***argv, struct error *err)
{
    size_t i;

    for (i = 0; i < o->n_table; i++)
        if (o->table[i].letter == word[1])
            break;
    if (i == o->n_table || (word[2] && o->table[i].kind == OPT_FLAG))
        return unknown(o, word, word + 1, err);
    if (o->table[i].kind == OPT_FLAG)
        return take_flag(o, i, true, word, NULL, err);
    return take_values(o, i, word, word[2] ? word + 1 : NULL, argv, err);
}

enum status opts_parse(struct opts *o, const struct opt *table, size_t n, char **argv, struct error *err)
{
    char **next = argv;

    memset(o, 0, sizeof *o);
    o->table = table;
    o->n_table = n;
    TRY(mem_new(n, sizeof *o->values, &o->values, err));
    TRY(mem_new(n, sizeof *o->n_values, &o->n_values, err));
    while (*next) {
        char *word = *next++;

        if (strcmp(word, "--") == 0)
            break;
        if (strncmp(word, "--", 2) == 0)
            TRY(take_long(o, word, &next, err));
        else if (word[0] == '-' && word[1])
            TRY(take_letter(o, word, &next, err));
        else
            TRY(add_word(o, word, err));
    }
    while (*next)
        TRY(add_word(o, *next++, err));
    return OK;
}

static size_t must_find(const struct opts *o, const char *name)
{
    size_t i = index_of(o, name, strlen(name));

    assert(i < o->n_table);
    return i;
}

enum status opts_default(struct opts *o, const char *name, const char *value, struct error *err)
{
    size_t i = must_find(o, name);

    return add_value(o, i, (char *)(size_t)value, err);
}

bool opts_given(const struct opts *o, const char *name)
{
    return o->n_values[must_find(o, name)] > 0;
}

bool opts_flag(const struct opts *o, const char *name)
{
    size_t i = must_find(o, name);

    return o->n_values[i] && o->values[i][0];
}

const char *opts_text(const struct opts *o, const char *name, const char *other)
{
    size_t i = must_find(o, name);

    return o->n_values[i] ? o->values[i][0] : other;
}

const char *const *opts_list(const struct opts *o, const char *name, size_t *ret_n)
{
    size_t i = must_find(o, name);

    *ret_n = o->n_values[i];
    return (const char *const *)o->values[i];
}

enum status opts_u64(const struct opts *o, const char *name, uint64_t min, uint64_t max, uint64_t other, uint64_t *ret,
                     struct error *err)
{
    const char *text = opts_text(o, name, NULL);
    uint64_t value = other;

    if (text && (!num_u64(text, &value) || value < min || value > max))
        return error_set(err, ERR_USAGE, "option '--%s' takes a whole number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                         name, min, max, text);
    *ret = value;
    return OK;
}

enum status opts_bytes(const struct opts *o, const char *name, uint64_t other, uint64_t *ret, struct error *err)
{
    static const char units[] = "KMGT";
    const char *text = opts_text(o, name, NULL);
    size_t len = text ? strlen(text) : 0;
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    char digits[24] = "";
    uint64_t value = 0;
    size_t shift = unit ? 10 * ((size_t)(unit - units) + 1) : 0;

    if (!text) {
        *ret = other;
        return OK;
    }
    if (len - (unit ? 1 : 0) < sizeof digits)
        memcpy(digits, text, len - (unit ? 1 : 0));
    if (!num_u64(digits, &value) || value == 0 || value > UINT64_MAX >> shift)
        return error_set(err, ERR_USAGE, "option '--%s' takes a size in bytes such as 512M or 4G, not '%s'", name,
                         text);
    *ret = value << shift;
    return OK;
}
