#include "core/client/asker.h"

#include "core/base/clock.h"

#include <string.h>

/* A question that only informs must not hold anything up. */
#define PATIENCE_NS ((int64_t)5000000000)

static void on_end(void *ctx, struct transfer *x)
{
    struct asker *a = ctx;

    (void)x;
    a->is_over = true;
}

enum status asker_init(struct asker *a, const struct transport_options *o, const struct head *head, struct error *err)
{
    struct transport_sink sink = {.on_end = on_end, .ctx = a};

    memset(a, 0, sizeof *a);
    a->head = head;
    return transport_init(&a->transport, o, sink, err);
}

void asker_done(struct asker *a)
{
    transport_done(&a->transport);
    transfer_done(&a->transfer);
}

enum status asker_ask(struct asker *a, const char *url, const char *body, json_t **ret, struct error *err)
{
    struct transfer *x = &a->transfer;
    enum status st = OK;

    *ret = NULL;
    x->url = url;
    x->lines = a->head->lines;
    x->secret = a->head->secret;
    x->is_get = body == NULL;
    x->total_timeout_ns = PATIENCE_NS;
    buf_clear(&x->body);
    buf_puts(&x->body, body ? body : "");
    TRY(buf_check(&x->body, err));
    a->is_over = false;
    TRY(transport_start(&a->transport, x, err));
    while (st == OK && !a->is_over)
        st = transport_wait(&a->transport, clock_ns() + PATIENCE_NS, err);
    if (!a->is_over)
        transport_stop(&a->transport, x, "given up");
    TRY(st);
    if (x->end == TRANSFER_WHOLE && x->status == 200)
        *ret = json_loadb(buf_text(&x->bytes), x->bytes.len, JSON_ALLOW_NUL, NULL);
    return OK;
}
