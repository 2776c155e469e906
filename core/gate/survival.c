#include "core/gate/survival.h"

#include "core/base/buf.h"
#include "core/base/scope.h"

#include <math.h>
#include <string.h>

static bool is_by_turn(const struct cube *c)
{
    const unsigned turns = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN);

    return (c->axes & turns) == turns && !(c->axes & AXIS_BIT(AXIS_LAYER)) && strcmp(c->metric, "reply.failed") != 0;
}

/* Whether a cube has a value of any repeat of the turn. */
static bool has_turn(const struct cube *c, size_t task, size_t turn)
{
    size_t at[N_AXES] = {[AXIS_TASK] = task, [AXIS_TURN] = turn};

    for (at[AXIS_REPEAT] = 0; at[AXIS_REPEAT] < c->dim[AXIS_REPEAT]; at[AXIS_REPEAT]++)
        if (isfinite(c->values[cube_index(c, at)]))
            return true;
    return false;
}

/* The label of the last turn with a value in any of the runs, of the task at index `task` of `of`; -1 none. */
static int64_t last_turn(const struct run *runs, size_t n, const struct axes *of, size_t task)
{
    int64_t last = -1;
    size_t i, k, turn;

    for (i = 0; i < n; i++) {
        size_t at = axes_place(&runs[i].axes, of, AXIS_TASK, task);

        for (k = 0; at != SIZE_MAX && k < runs[i].n_cubes; k++) {
            if (!is_by_turn(&runs[i].cubes[k]))
                continue;
            for (turn = runs[i].cubes[k].dim[AXIS_TURN]; turn-- > 0;)
                if (runs[i].axes.number[AXIS_TURN][turn] > last && has_turn(&runs[i].cubes[k], at, turn))
                    last = runs[i].axes.number[AXIS_TURN][turn];
        }
    }
    return last;
}

void survival_count(struct judgement *j, const struct comparison *c)
{
    size_t i;

    for (i = 0; i < c->cand->axes.n[AXIS_TASK]; i++) {
        int64_t base = last_turn(c->base, c->n_base, &c->cand->axes, i);
        int64_t cand = last_turn(c->cand, c->n_cand, &c->cand->axes, i);

        if (base < 0 || cand < 0 || (base < 2 && cand < 2))
            continue;
        j->n_conversations++;
        j->n_shorter_base += base < cand;
        j->n_shorter_cand += cand < base;
    }
}

enum status survival_words(struct judgement *j, const char **ret, struct error *err)
{
    AUTO(buf) b = {0};
    char *text = NULL;

    *ret = NULL;
    if (!j->n_shorter_base && !j->n_shorter_cand)
        return OK;
    buf_printf(&b,
               "warning: of %zu conversations of several turns %zu end%s earlier in the candidate and %zu in the base: "
               "what is compared by turn is compared over the turns that both have",
               j->n_conversations, j->n_shorter_cand, j->n_shorter_cand == 1 ? "s" : "", j->n_shorter_base);
    TRY(buf_check(&b, err));
    TRY(arena_strdup(&j->arena, buf_text(&b), &text, err));
    *ret = text;
    return OK;
}
