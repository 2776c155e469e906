#include "tests/mock/mock_conn.h"

#include <stdlib.h>
#include <string.h>

void mock_heap_done(struct mock_heap *h)
{
    free(h->conns);
    memset(h, 0, sizeof *h);
}

static void place(struct mock_heap *h, size_t at, struct mock_conn *c)
{
    h->conns[at] = c;
    c->heap_at = at;
}

static void sift_up(struct mock_heap *h, size_t at, struct mock_conn *c)
{
    while (at && h->conns[(at - 1) / 2]->wake_ns > c->wake_ns) {
        place(h, at, h->conns[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(h, at, c);
}

static void sift_down(struct mock_heap *h, size_t at, struct mock_conn *c)
{
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < h->n && h->conns[child + 1]->wake_ns < h->conns[child]->wake_ns)
            child++;
        if (child >= h->n || h->conns[child]->wake_ns >= c->wake_ns)
            break;
        place(h, at, h->conns[child]);
        at = child;
    }
    place(h, at, c);
}

static void take_out(struct mock_heap *h, struct mock_conn *c)
{
    struct mock_conn *last = h->conns[--h->n];
    size_t at = c->heap_at;

    if (last == c)
        return;
    if (at && h->conns[(at - 1) / 2]->wake_ns > last->wake_ns)
        sift_up(h, at, last);
    else
        sift_down(h, at, last);
}

void mock_heap_set(struct mock_heap *h, struct mock_conn *c, int64_t wake_ns)
{
    int64_t before = c->wake_ns;

    if (before == wake_ns)
        return;
    if (wake_ns == NEVER) {
        take_out(h, c);
        c->wake_ns = NEVER;
        return;
    }
    c->wake_ns = wake_ns;
    if (before != NEVER) {
        if (wake_ns < before)
            sift_up(h, c->heap_at, c);
        else
            sift_down(h, c->heap_at, c);
        return;
    }
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : 64;
        h->conns = realloc(h->conns, h->cap * sizeof(*h->conns));
        if (!h->conns)
            abort();
    }
    sift_up(h, h->n++, c);
}
