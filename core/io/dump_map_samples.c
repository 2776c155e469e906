#include "core/io/dump_map_samples.h"

#include "core/io/dump_map_read.h"

#include <stdio.h>
#include <string.h>

enum status dump_map_texts(struct dump_reader *r, const char *name, size_t max, struct arena *arena, char ***ret,
                           size_t *ret_n, struct error *err)
{
    struct dump_map *m = (struct dump_map *)(void *)r;
    struct json_at list = dump_map_place(m, "ids"), item;
    struct error inner = {0};
    char **texts = NULL, why[200];
    size_t n, i;

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

static enum status find_lengths(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    const json_t *value = json_object_get(m->doc.root, "lengths");
    char why[240];
    size_t i;

    if (value && !json_is_null(value))
        return said_numbers(m, "lengths", ret, err);
    if (!value && stored_numbers(m, "samples/length", arena, ret))
        return OK;
    if (!value) {
        snprintf(why, sizeof why,
                 "the samples have no lengths: add \"lengths\", %zu numbers of keys, or null where no sample is padded "
                 "and all have %zu",
                 m->n_samples, m->n_cols);
        return dump_map_ask(m, err, why);
    }
    for (i = 0; i < m->n_samples; i++)
        ret[i] = (int64_t)m->n_cols;
    return OK;
}

/* Padding on the right begins at key 0, on the left it ends with the last key. */
static enum status find_first(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    struct json_at side = dump_map_place(m, "pad_side");
    const char *text = side.value ? json_string_value(side.value) : NULL;
    bool is_padded = false;
    size_t i;

    if (side.value && (!text || (strcmp(text, "left") != 0 && strcmp(text, "right") != 0)))
        return json_bad(&side, err, "must be \"left\" or \"right\"");
    if (!text && stored_numbers(m, "samples/first", arena, ret))
        return OK;
    TRY(find_lengths(m, arena, ret, err));
    for (i = 0; i < m->n_samples; i++) {
        ret[i] = (int64_t)m->n_cols - ret[i];
        is_padded = is_padded || ret[i] != 0;
    }
    if (!text && is_padded)
        return dump_map_ask(m, err,
                            "samples are shorter than their keys: add \"pad_side\", \"right\" where padding follows a "
                            "sample, \"left\" where it comes before");
    for (i = 0; i < m->n_samples && text && strcmp(text, "right") == 0; i++)
        ret[i] = 0;
    return OK;
}

static enum status find_query_start(struct dump_map *m, struct arena *arena, int64_t *ret, struct error *err)
{
    char why[240];

    if (dump_map_said(m, "query_start"))
        return said_numbers(m, "query_start", ret, err);
    if (stored_numbers(m, "samples/query_start", arena, ret))
        return OK;
    if (m->n_rows == m->n_cols) {
        memset(ret, 0, m->n_samples * sizeof *ret);
        return OK;
    }
    snprintf(why, sizeof why,
             "%zu rows and %zu keys: add \"query_start\", the key index of the first row; %zu where the rows are those "
             "of the last keys",
             m->n_rows, m->n_cols, m->n_cols > m->n_rows ? m->n_cols - m->n_rows : 0);
    return dump_map_ask(m, err, why);
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
