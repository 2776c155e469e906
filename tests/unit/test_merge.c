#include "core/base/scope.h"
#include "core/model/merge.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

static struct error err;

static void give(struct run *r, const char *task, int64_t repeat, double value, const char *bytes)
{
    struct exchange *x;
    struct cube *c = NULL;
    struct cube fresh;
    size_t at[N_AXES] = {0};
    char *empty = NULL;

    cr_assert(run_init(r, &err) == OK);
    cr_assert(arena_strdup(&r->arena, "", &empty, &err) == OK);
    cr_assert(axes_add_task(&r->axes, task, &r->arena, &err) == OK);
    cr_assert(axes_add(&r->axes, AXIS_TURN, 1, &err) == OK);
    cr_assert(axes_add(&r->axes, AXIS_REPEAT, repeat, &err) == OK);
    r->exchanges = calloc(1, sizeof *r->exchanges);
    r->events = calloc(1, sizeof *r->events);
    r->bytes = (unsigned char *)strdup(bytes);
    r->n_exchanges = r->cap_exchanges = r->n_events = r->cap_events = 1;
    r->n_bytes = r->cap_bytes = strlen(bytes);
    x = r->exchanges;
    x->task = r->axes.task[0];
    x->turn = 1;
    x->repeat = repeat;
    x->path = x->request = x->headers = empty;
    x->n_events = 1;
    r->events[0].len = r->n_bytes;
    cr_assert(cube_init(&fresh, "latency.ttft", 1, AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
                        &r->axes, &err) == OK);
    cr_assert(cube_describe(&fresh, "ms", "help", BETTER_LOWER, NOISE_RUN, &err) == OK);
    cr_assert(run_add_cube(r, &fresh, &err) == OK);
    c = run_cube(r, "latency.ttft");
    c->values[cube_index(c, at)] = value;
}

/* The one read of give() as two, of a byte each. */
static void split(struct run *r)
{
    free(r->events);
    r->events = calloc(2, sizeof *r->events);
    r->n_events = r->cap_events = 2;
    r->exchanges[0].n_events = 2;
    r->events[0].len = r->events[1].len = 1;
    r->events[1].offset = 1;
}

Test(merge, shards_keep_their_repeats_and_bytes)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};
    const struct cube *c;

    give(&a, "one", 1, 10, "first");
    give(&b, "two", 1, 20, "second!");
    cr_assert(run_merge(&a, &b, &err) == OK, "%s", err.message);
    c = run_cube(&a, "latency.ttft");
    cr_assert(eq(sz, a.axes.n[AXIS_TASK], 2));
    cr_assert(eq(sz, a.axes.n[AXIS_REPEAT], 1));
    cr_assert(c->values[0] == 10 && c->values[1] == 20);
    cr_assert(eq(sz, a.n_exchanges, 2));
    cr_assert(eq(sz, a.exchanges[1].first_event, 1));
    cr_assert(memcmp(a.bytes + a.events[1].offset, "second!", 7) == 0);
}

Test(merge, the_same_request_again_is_another_repeat)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};
    const struct cube *c;

    give(&a, "one", 1, 10, "first");
    give(&b, "one", 1, 12, "again");
    cr_assert(run_merge(&a, &b, &err) == OK, "%s", err.message);
    c = run_cube(&a, "latency.ttft");
    cr_assert(eq(sz, a.axes.n[AXIS_TASK], 1));
    cr_assert(eq(sz, a.axes.n[AXIS_REPEAT], 2));
    cr_assert(c->values[0] == 10 && c->values[1] == 12);
    cr_assert(eq(i64, a.exchanges[1].repeat, 2));
}

Test(merge, refuses_the_same_observation_as_a_repeat)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};
    AUTO(run) later = {0};

    give(&a, "one", 1, 10, "ab");
    give(&b, "one", 2, 10, "ab");
    give(&later, "one", 2, 10, "ab");
    split(&a);
    split(&b);
    split(&later);
    later.events[1].t_ns++;
    cr_assert(run_merge(&a, &b, &err) == ERR_USAGE);
    cr_assert(strstr(err.message, "counted twice") != NULL, "%s", err.message);
    cr_assert(run_merge(&a, &later, &err) == OK, "%s", err.message);
}

Test(merge, takes_two_equal_replies_that_came_in_one_read_each)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};

    give(&a, "one", 1, 10, "ab");
    give(&b, "one", 2, 10, "ab");
    cr_assert(run_merge(&a, &b, &err) == OK, "%s", err.message);
}

Test(merge, refuses_what_is_not_the_same_run)
{
    AUTO(run) a = {0};
    AUTO(run) b = {0};

    give(&a, "one", 1, 10, "first");
    give(&b, "two", 1, 20, "second");
    cr_assert(arena_strdup(&a.arena, "llama 1", &a.provenance.observed_on.server, &err) == OK);
    cr_assert(arena_strdup(&b.arena, "llama 2", &b.provenance.observed_on.server, &err) == OK);
    cr_assert(eq(int, run_merge(&a, &b, &err), ERR_NO_VERDICT));
    cr_assert(strstr(err.message, "the server differs, 'llama 1' and 'llama 2'") != NULL, "%s", err.message);
}
