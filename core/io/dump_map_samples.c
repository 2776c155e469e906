#include "core/io/dump_map_samples.h"

#include "core/base/mem.h"
#include "core/io/dump_map_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status dump_map_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                           size_t *ret_n, struct error *err)
{
    struct dump_map *m = (struct dump_map *)(void *)r;
    struct json_at list = dump_map_place(m, "ids"), item;
    struct error inner = {0};
    char **texts = NULL, why[200];
    size_t n, i;

    if (!list.value && dump_map_names_tensors(m) && m->n_sample_names > 0) {
        *ret = m->sample_names;
        *ret_n = m->n_sample_names;
        return OK;
    }
    if (!list.value) {
        if (m->inner->format->texts(m->inner, name, max, arena, ret, ret_n, &inner) == OK)
            return OK;
        snprintf(why, sizeof why,
                 "the samples have no ids: add \"ids\", %zu texts, the tasks that they belong to, as in [\"first\", …]",
                 m->n_samples);
        return dump_map_ask(m, err, why);
    }
    TRY(json_is(&list, JSON_ARRAY, err));
    n = json_array_size(list.value);
    if (n > max || (dump_map_names_tensors(m) && n != m->n_samples))
        return json_bad(&list, err, "%zu ids for %zu samples", n, m->n_samples);
    TRY(arena_new(arena, n, sizeof *texts, &texts, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_STRING, &item, err));
        TRY(arena_strdup(arena, json_string_value(item.value), &texts[i], err));
    }
    *ret = texts;
    *ret_n = n;
    return OK;
}

/* One whole number for each sample, or one for all of them. */
static enum status said_numbers(struct dump_map *m, const char *key, int64_t *ret, struct error *err)
{
    struct json_at list = dump_map_place(m, key), item;
    size_t i;

    if (json_is_array(list.value) && json_array_size(list.value) != m->n_samples)
        return json_bad(&list, err, "%zu numbers for %zu samples", json_array_size(list.value), m->n_samples);
    if (!json_is_array(list.value))
        TRY(json_is(&list, JSON_INTEGER, err));
    for (i = 0; i < m->n_samples; i++) {
        item = list;
        if (json_is_array(list.value))
            TRY(json_item(&list, i, JSON_INTEGER, &item, err));
        ret[i] = json_integer_value(item.value);
    }
    return OK;
}

/* The numbers that stand in the file, where they fit. */
static bool stored_numbers(struct dump_map *m, const char *name, struct arena *arena, int64_t *ret)
{
    struct error ignored = {0};
    int64_t *values = NULL;
    size_t n = 0;

    if (m->inner->format->integers(m->inner, name, m->n_samples, arena, &values, &n, &ignored) != OK ||
        n != m->n_samples)
        return false;
    memcpy(ret, values, n * sizeof *ret);
    return true;
}

static enum status bad_mask(const struct dump_map *m, const char *name, size_t sample, struct error *err,
                            const char *what)
{
    char why[400];

    snprintf(why, sizeof why, "the mask '%.100s' of sample %zu %s", name, sample, what);
    return dump_map_ask(m, err, why);
}

/* The ones of a row, which must be one range. A mask of a prompt is shorter than the keys: what was generated after it
 * belongs to the sample. */
static enum status range_of_mask(const struct dump_map *m, const char *name, size_t sample, const int64_t *row,
                                 size_t n, int64_t *ret_first, int64_t *ret_length, struct error *err)
{
    size_t first = 0, last, i;

    while (first < n && row[first] == 0)
        first++;
    for (last = first; last < n && row[last] != 0;)
        last++;
    for (i = last; i < n; i++)
        if (row[i] != 0)
            return bad_mask(m, name, sample, err, "has a gap: the keys of a sample are one range");
    if (first == last)
        return bad_mask(m, name, sample, err, "has no key: leave the sample out");
    if (n < m->n_cols && last < n)
        return bad_mask(m, name, sample, err,
                        "ends in padding, and keys follow that it does not speak of: pad prompts on the left, or say "
                        "\"lengths\" and \"pad_side\"");
    *ret_first = (int64_t)first;
    *ret_length = (int64_t)(n < m->n_cols ? m->n_cols - first : last - first);
    return OK;
}

/* First keys and lengths by the array that "mask" names. */
static enum status read_mask(struct dump_map *m, int64_t *ret_first, int64_t *ret_length, struct error *err)
{
    struct json_at at = dump_map_place(m, "mask");
    size_t n_rows = 0, n_cols = 0, i;
    int64_t *row = NULL;
    enum status st = OK;
    const char *name;

    TRY(json_is(&at, JSON_STRING, err));
    name = json_string_value(at.value);
    TRY(m->inner->format->table(m->inner, name, &n_rows, &n_cols, err));
    if (n_rows != m->n_samples || n_cols > m->n_cols)
        return json_bad(&at, err, "is %zu x %zu, but there are %zu samples of %zu keys", n_rows, n_cols, m->n_samples,
                        m->n_cols);
    TRY(mem_new(n_cols, sizeof *row, &row, err));
    for (i = 0; st == OK && i < n_rows; i++) {
        st = m->inner->format->table_row(m->inner, name, i, n_cols, row, err);
        if (st == OK)
            st = range_of_mask(m, name, i, row, n_cols, &ret_first[i], &ret_length[i], err);
    }
    free(row);
    return st;
}

/* One of the two that a mask says, to `ret`. */
static enum status by_mask(struct dump_map *m, bool wants_length, int64_t *ret, struct error *err)
{
    int64_t *other = NULL;

    TRY(arena_new(&m->arena, m->n_samples, sizeof *other, &other, err));
    return wants_length ? read_mask(m, other, ret, err) : read_mask(m, ret, other, err);
}

static enum status find_lengths(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    const json_t *value = json_object_get(m->doc.root, "lengths");
    char why[300];
    size_t i;

    if (value && !json_is_null(value))
        return said_numbers(m, "lengths", ret, err);
    if (!value && dump_map_said(m, "mask"))
        return by_mask(m, true, ret, err);
    if (!value && m->n_sample_names == 0 && stored_numbers(m, "samples/length", arena, ret))
        return OK;
    for (i = 0; i < m->n_samples; i++)
        ret[i] = m->keys ? m->keys[i] : (int64_t)m->n_cols;
    if (value || m->n_sample_names > 0) /* an array of its own holds no padding */
        return OK;
    snprintf(why, sizeof why,
             "the samples have no lengths: add \"lengths\", %zu numbers of keys, or null where no sample is padded "
             "and all have %zu; or \"mask\", the name of an attention mask",
             m->n_samples, m->n_cols);
    return dump_map_ask(m, err, why);
}

/* How many keys of each sample come before its own, were all padding on the left. Is there any? */
static bool pad_left(const struct dump_map *m, int64_t *lengths)
{
    bool is_padded = false;
    size_t i;

    for (i = 0; i < m->n_samples; i++) {
        lengths[i] = (m->keys ? m->keys[i] : (int64_t)m->n_cols) - lengths[i];
        is_padded = is_padded || lengths[i] != 0;
    }
    return is_padded;
}

/* Padding on the right begins at key 0, on the left it ends with the last key. */
static enum status find_first(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    struct json_at side = dump_map_place(m, "pad_side");
    const char *text = side.value ? json_string_value(side.value) : NULL;
    bool has_lengths = dump_map_said(m, "lengths") != NULL;

    if (side.value && (!text || (strcmp(text, "left") != 0 && strcmp(text, "right") != 0)))
        return json_bad(&side, err, "must be \"left\" or \"right\"");
    if (!text && !has_lengths && dump_map_said(m, "mask"))
        return by_mask(m, false, ret, err);
    if (!text && m->n_sample_names == 0 && stored_numbers(m, "samples/first", arena, ret))
        return OK;
    TRY(find_lengths(m, arena, ret, err));
    if (pad_left(m, ret) && !text)
        return dump_map_ask(m, err,
                            "samples are shorter than their keys: add \"pad_side\", \"right\" where padding follows a "
                            "sample, \"left\" where it comes before");
    if (text && strcmp(text, "right") == 0)
        memset(ret, 0, m->n_samples * sizeof *ret);
    return OK;
}

/* Where nobody says it, the last row stands at the last key. */
static enum status find_query_start(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    char why[240];
    size_t i;

    if (dump_map_said(m, "query_start"))
        return said_numbers(m, "query_start", ret, err);
    if (m->n_sample_names == 0 && stored_numbers(m, "samples/query_start", arena, ret))
        return OK;
    for (i = 0; i < m->n_samples; i++)
        ret[i] = m->starts ? m->starts[i] : m->n_cols > m->n_rows ? (int64_t)(m->n_cols - m->n_rows) : 0;
    if (m->starts || m->n_rows == m->n_cols)
        return OK;
    if (m->n_rows > m->n_cols) {
        snprintf(why, sizeof why,
                 "%zu rows and %zu keys: add \"query_start\", the key index of the first row, or check \"axes\"",
                 m->n_rows, m->n_cols);
        return dump_map_ask(m, err, why);
    }
    if (m->n_notes == MAP_MAX_NOTES)
        return OK;
    return arena_printf(
        &m->arena, &m->notes[m->n_notes++], err,
        "'%s': %zu rows and %zu keys without \"query_start\": the last row is taken for that of the last "
        "key, so the first has key index %zu",
        m->base.path, m->n_rows, m->n_cols, m->n_cols - m->n_rows);
}

enum status dump_map_integers(struct dump_reader *r, const char *name, size_t max, struct arena *arena, int64_t **ret,
                              size_t *ret_n, struct error *err)
{
    struct dump_map *m = (struct dump_map *)(void *)r;
    int64_t *values = NULL;

    if (!dump_map_names_tensors(m))
        return m->inner->format->integers(m->inner, name, max, arena, ret, ret_n, err);
    TRY(arena_new(arena, m->n_samples, sizeof *values, &values, err));
    if (strcmp(name, "samples/length") == 0)
        TRY(find_lengths(m, arena, values, err));
    else if (strcmp(name, "samples/first") == 0)
        TRY(find_first(m, arena, values, err));
    else
        TRY(find_query_start(m, arena, values, err));
    *ret = values;
    *ret_n = m->n_samples;
    return OK;
}
