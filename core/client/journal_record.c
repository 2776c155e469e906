#include "core/client/journal_record.h"

#include "core/base/mem.h"
#include "core/io/texts.h"

#include <stdbool.h>
#include <string.h>

static void put_number(struct buf *b, uint64_t n)
{
    unsigned char bytes[8];
    size_t i;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(n >> (8 * i));
    buf_append(b, bytes, sizeof bytes);
}

static void put_text(struct buf *b, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    put_number(b, len);
    buf_append(b, text ? text : "", len);
}

/* The numbers of an exchange in the order of the record; flags are the last. */
enum { N_NUMBERS = 11 };

static void numbers_of(const struct exchange *x, int64_t ret[N_NUMBERS])
{
    ret[0] = x->turn;
    ret[1] = x->repeat;
    ret[2] = x->status;
    ret[3] = x->scheduled_ns;
    ret[4] = x->started_ns;
    ret[5] = x->sent_ns;
    ret[6] = x->connect_ns;
    ret[7] = x->n_retries;
    ret[8] = x->tokens_sent;
    ret[9] = (int64_t)x->n_events;
    ret[10] = x->tokens_sent_is_estimate;
}

static void set_numbers(struct exchange *x, const int64_t n[N_NUMBERS])
{
    x->turn = n[0];
    x->repeat = n[1];
    x->status = n[2];
    x->scheduled_ns = n[3];
    x->started_ns = n[4];
    x->sent_ns = n[5];
    x->connect_ns = n[6];
    x->n_retries = n[7];
    x->tokens_sent = n[8];
    x->n_events = (size_t)n[9];
    x->tokens_sent_is_estimate = n[10] != 0;
    x->prompt_tokens = x->completion_tokens = -1;
}

void journal_record_put(struct buf *ret, const struct exchange *x, const struct read_event *events,
                        const unsigned char *bytes)
{
    int64_t numbers[N_NUMBERS];
    size_t i;

    numbers_of(x, numbers);
    for (i = 0; i < N_NUMBERS; i++)
        put_number(ret, (uint64_t)numbers[i]);
    put_text(ret, x->task);
    put_text(ret, x->path);
    put_text(ret, x->request);
    put_text(ret, x->headers);
    put_text(ret, x->failure);
    for (i = 0; i < x->n_events; i++) {
        put_number(ret, (uint64_t)events[i].t_ns);
        put_number(ret, events[i].len);
    }
    for (i = 0; i < x->n_events; i++)
        buf_append(ret, bytes + events[i].offset, (size_t)events[i].len);
}

/* What is left of a record. */
struct cursor {
    const unsigned char *at, *end;
};

static bool get_number(struct cursor *c, uint64_t *ret)
{
    uint64_t n = 0;
    size_t i;

    if (c->end - c->at < 8)
        return false;
    for (i = 0; i < 8; i++)
        n |= (uint64_t)c->at[i] << (8 * i);
    c->at += 8;
    *ret = n;
    return true;
}

static bool get_text(struct cursor *c, const char **ret, size_t *ret_len)
{
    uint64_t len;

    if (!get_number(c, &len) || len > (uint64_t)(c->end - c->at))
        return false;
    *ret = (const char *)c->at;
    *ret_len = (size_t)len;
    c->at += len;
    return memchr(*ret, '\0', *ret_len) == NULL && texts_is_utf8(*ret, *ret_len);
}

static enum status bad(struct error *err)
{
    return error_set(err, ERR_FORMAT, "a record of the journal cannot be read");
}

static enum status keep_text(struct cursor *c, struct arena *arena, char **ret, struct error *err)
{
    const char *text;
    size_t len;

    if (!get_text(c, &text, &len))
        return bad(err);
    return arena_strndup(arena, text, len, ret, err);
}

static enum status get_events(struct run *run, struct cursor *c, struct exchange *x, struct error *err)
{
    uint64_t total = 0, t_ns, len;
    size_t i;

    if (x->n_events > (size_t)(c->end - c->at) / 16)
        return bad(err);
    TRY(mem_grow(&run->events, &run->cap_events, run->n_events + x->n_events, sizeof *run->events, err));
    for (i = 0; i < x->n_events; i++) {
        if (!get_number(c, &t_ns) || !get_number(c, &len) || len > (uint64_t)(c->end - c->at) - total)
            return bad(err);
        run->events[run->n_events + i] =
            (struct read_event){.t_ns = (int64_t)t_ns, .offset = run->n_bytes + total, .len = len};
        total += len;
    }
    if (total != (uint64_t)(c->end - c->at))
        return bad(err);
    TRY(mem_grow(&run->bytes, &run->cap_bytes, run->n_bytes + (size_t)total + 1, 1, err));
    memcpy(run->bytes + run->n_bytes, c->at, (size_t)total);
    x->first_event = run->n_events;
    run->n_events += x->n_events;
    run->n_bytes += (size_t)total;
    return OK;
}

enum status journal_record_get(struct run *run, const unsigned char *record, size_t len, struct error *err)
{
    struct cursor c = {record, record + len};
    struct exchange x = {0};
    int64_t numbers[N_NUMBERS];
    size_t i;

    for (i = 0; i < N_NUMBERS; i++) {
        uint64_t n = 0;

        if (!get_number(&c, &n))
            return bad(err);
        numbers[i] = (int64_t)n;
    }
    set_numbers(&x, numbers);
    TRY(keep_text(&c, &run->arena, &x.task, err));
    TRY(keep_text(&c, &run->arena, &x.path, err));
    TRY(keep_text(&c, &run->arena, &x.request, err));
    TRY(keep_text(&c, &run->arena, &x.headers, err));
    TRY(keep_text(&c, &run->arena, &x.failure, err));
    if (x.turn < 1 || x.repeat < 1)
        return bad(err);
    TRY(get_events(run, &c, &x, err));
    TRY(mem_grow(&run->exchanges, &run->cap_exchanges, run->n_exchanges + 1, sizeof x, err));
    run->exchanges[run->n_exchanges++] = x;
    return OK;
}
