#include "core/gate/lost.h"

#include "core/base/scope.h"
#include "core/gate/view.h"

#include <math.h>
#include <string.h>

static struct where place(const struct cube *c, const struct axes *labels, const size_t at[N_AXES])
{
    struct where w = {.task = labels->task[at[AXIS_TASK]], .turn = -1, .layer = -1, .head = -1};

    if (c->axes & AXIS_BIT(AXIS_TURN))
        w.turn = labels->number[AXIS_TURN][at[AXIS_TURN]];
    if (c->axes & AXIS_BIT(AXIS_LAYER))
        w.layer = labels->number[AXIS_LAYER][at[AXIS_LAYER]];
    if (c->axes & AXIS_BIT(AXIS_HEAD))
        w.head = labels->number[AXIS_HEAD][at[AXIS_HEAD]];
    return w;
}

/* The indices of cell `i` of a cube, and whether this is the first repeat: repeats are looked at together. */
static bool unfold(const struct cube *c, size_t i, size_t at[N_AXES])
{
    int a;

    for (a = N_AXES - 1; a >= 0; a--) {
        at[a] = i % c->dim[a];
        i /= c->dim[a];
    }
    return at[AXIS_REPEAT] == 0;
}

enum status lost_count(struct lost *ret, const struct run *base, const struct run *cand, const char *metric,
                       struct error *err)
{
    AUTO(view) ours = {0};
    AUTO(view) theirs = {0};
    AUTO(view) failed = {0};
    struct lost out = {.first = {.turn = -1, .layer = -1, .head = -1}};
    bool is_reply;
    size_t len, i;

    TRY(view_init(&ours, base, &base->axes, metric, err));
    TRY(view_init(&theirs, cand, &base->axes, metric, err));
    TRY(view_init(&failed, cand, &base->axes, "reply.failed", err));
    len = ours.cube ? cube_len(ours.cube) : 0;
    is_reply = ours.cube && !(ours.cube->axes & AXIS_BIT(AXIS_LAYER));
    for (i = 0; i < len; i++) {
        size_t at[N_AXES];

        if (!unfold(ours.cube, i, at) || isnan(view_value(&ours, at)))
            continue;
        out.n_base++;
        if (!isnan(view_value(&theirs, at)) || (is_reply && view_value(&failed, at) > 0))
            continue;
        if (out.n++ == 0)
            out.first = place(ours.cube, &base->axes, at);
    }
    *ret = out;
    return OK;
}
