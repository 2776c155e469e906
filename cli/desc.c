#include "cli/inspect.h"

#include "core/base/scope.h"
#include "reports/escape.h"

#include <math.h>
#include <string.h>

enum status desc_init(struct desc *d, const char *kind, const char *path, struct error *err)
{
    memset(d, 0, sizeof *d);
    d->root = json_object();
    desc_int(d, d->root, "schema", INSPECT_SCHEMA);
    desc_text(d, d->root, "kind", kind);
    desc_text(d, d->root, "path", path);
    return desc_check(d, err);
}

void desc_done(struct desc *d)
{
    json_decref(d->root);
    memset(d, 0, sizeof *d);
}

enum status desc_check(const struct desc *d, struct error *err)
{
    return d->failed ? error_set(err, ERR_MEMORY, "no memory for the description of a file") : OK;
}

static void set(struct desc *d, json_t *at, const char *key, json_t *value)
{
    if (!at)
        json_decref(value);
    if (!at || json_object_set_new(at, key, value))
        d->failed = true;
}

/* JSON takes valid UTF-8 only; a file's name may be anything. */
static json_t *text_value(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    AUTO(buf) safe = {0};

    if (value)
        return value;
    escape_terminal(&safe, text);
    return json_string(buf_text(&safe));
}

void desc_text(struct desc *d, json_t *at, const char *key, const char *text)
{
    set(d, at, key, text_value(text));
}

void desc_int(struct desc *d, json_t *at, const char *key, int64_t value)
{
    set(d, at, key, json_integer(value));
}

void desc_real(struct desc *d, json_t *at, const char *key, double value)
{
    set(d, at, key, isfinite(value) ? json_real(value) : json_null());
}

void desc_bool(struct desc *d, json_t *at, const char *key, bool value)
{
    set(d, at, key, json_boolean(value));
}

json_t *desc_object(struct desc *d, json_t *at, const char *key)
{
    json_t *object = json_object();

    set(d, at, key, object);
    return d->failed ? NULL : object;
}

json_t *desc_array(struct desc *d, json_t *at, const char *key)
{
    json_t *array = json_array();

    set(d, at, key, array);
    return d->failed ? NULL : array;
}

json_t *desc_row(struct desc *d, json_t *array)
{
    json_t *row = json_object();

    if (!array || json_array_append_new(array, row))
        d->failed = true;
    return d->failed ? NULL : row;
}
