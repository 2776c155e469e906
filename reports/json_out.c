#include "reports/json_out.h"

#include "core/base/num.h"
#include "reports/escape.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Comma, new line, indentation and key: what stands before every value. */
static void begin(struct json_out *j, const char *key)
{
    if (j->has_member[j->depth])
        buf_putc(j->out, ',');
    if (j->depth)
        buf_printf(j->out, "\n%*s", 2 * j->depth, "");
    j->has_member[j->depth] = true;
    if (key) {
        buf_putc(j->out, '"');
        escape_json(j->out, key);
        buf_puts(j->out, "\": ");
    }
}

void json_out_open(struct json_out *j, const char *key, char bracket)
{
    assert(j->depth + 1 < JSON_OUT_DEPTH);
    begin(j, key);
    buf_putc(j->out, bracket);
    j->has_member[++j->depth] = false;
}

void json_out_close(struct json_out *j, char bracket)
{
    assert(j->depth > 0);
    j->depth--;
    if (j->has_member[j->depth + 1])
        buf_printf(j->out, "\n%*s", 2 * j->depth, "");
    buf_putc(j->out, bracket);
}

void json_out_text(struct json_out *j, const char *key, const char *text)
{
    begin(j, key);
    if (!text) {
        buf_puts(j->out, "null");
        return;
    }
    buf_putc(j->out, '"');
    escape_json(j->out, text);
    buf_putc(j->out, '"');
}

void json_out_int(struct json_out *j, const char *key, int64_t value)
{
    begin(j, key);
    buf_printf(j->out, "%" PRId64, value);
}

void json_out_size(struct json_out *j, const char *key, size_t value)
{
    begin(j, key);
    buf_printf(j->out, "%zu", value);
}

void json_out_bool(struct json_out *j, const char *key, bool value)
{
    begin(j, key);
    buf_puts(j->out, value ? "true" : "false");
}

void json_out_null(struct json_out *j, const char *key)
{
    begin(j, key);
    buf_puts(j->out, "null");
}

void json_out_number(struct json_out *j, const char *key, double value, const char *reason)
{
    char name[64];

    if (isfinite(value)) {
        begin(j, key);
        num_append(j->out, value);
        return;
    }
    json_out_null(j, key);
    snprintf(name, sizeof name, "%s_reason", key);
    json_out_text(j, name, isnan(value) ? reason : value > 0 ? "infinite" : "minus infinite");
}

void json_out_texts(struct json_out *j, const char *key, const char *const *texts, size_t n)
{
    size_t i;

    json_out_open(j, key, '[');
    for (i = 0; i < n; i++)
        json_out_text(j, NULL, texts[i]);
    json_out_close(j, ']');
}

void json_out_u64(struct json_out *j, const char *key, uint64_t value)
{
    begin(j, key);
    buf_printf(j->out, "%" PRIu64, value);
}
