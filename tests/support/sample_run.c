#include "tests/support/sample_run.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "tests/support/must.h"

#include <string.h>

static void text(struct run *r, char **ret, const char *value)
{
    struct error err = {0};

    MUST(arena_strdup(&r->arena, value, ret, &err));
}

static void add_cube(struct run *r, const char *name, unsigned axes, enum better better, enum noise noise)
{
    struct error err = {0};
    AUTO(cube) c = {0};
    size_t i;

    MUST(cube_init(&c, name, 3, axes, &r->axes, &err));
    MUST(cube_describe(&c, "bit", "mean entropy \xc2\xb5", better, noise, &err));
    for (i = 1; i < cube_len(&c); i++)
        c.values[i] = 1.0 / (double)i;
    MUST(run_add_cube(r, &c, &err));
}

static void add_exchange(struct run *r, const char *task, int64_t turn, const char *bytes)
{
    struct error err = {0};
    struct exchange x = {.turn = turn, .repeat = 1, .status = 200, .sent_ns = -5, .scheduled_ns = NS_UNKNOWN};
    size_t len = strlen(bytes), cut = len / 2;

    text(r, &x.task, task);
    text(r, &x.path, "/v1/completions");
    text(r, &x.request, "{\"prompt\":\"\xe4\xbd\xa0\xe5\xa5\xbd\"}");
    text(r, &x.headers, "");
    x.prompt_tokens = -1;
    x.completion_tokens = 7;
    x.has_http_head = true;
    x.first_event = r->n_events;
    x.n_events = 2;
    MUST(mem_grow(&r->bytes, &r->cap_bytes, r->n_bytes + len + 1, 1, &err));
    MUST(mem_grow(&r->events, &r->cap_events, r->n_events + 2, sizeof *r->events, &err));
    MUST(mem_grow(&r->exchanges, &r->cap_exchanges, r->n_exchanges + 1, sizeof x, &err));
    memcpy(r->bytes + r->n_bytes, bytes, len);
    r->events[r->n_events++] = (struct read_event){1000, r->n_bytes, cut};
    r->events[r->n_events++] = (struct read_event){2000, r->n_bytes + cut, len - cut};
    r->n_bytes += len;
    r->exchanges[r->n_exchanges++] = x;
}

void sample_run(struct run *r)
{
    struct provenance *p = &r->provenance;
    struct error err = {0};
    int i;

    MUST(run_init(r, &err));
    text(r, &p->model_asked, "gemma-3-270m");
    text(r, &p->sampling, "{\"temperature\":0}");
    text(r, &p->observed_on.host, "lab-1");
    p->observed_on.cores = 16;
    p->seed = UINT64_MAX;
    p->is_complete = true;
    p->context_limit = 1024;
    MUST(sha256_bytes(&p->taskset_hash, "x", 1, &err));
    p->n_dumps = 2;
    MUST(arena_new(&r->arena, 2, sizeof *p->dumps, &p->dumps, &err));
    for (i = 0; i < 2; i++) {
        p->dumps[i].path = p->dumps[i].model_name = p->sampling;
        MUST(sha256_bytes(&p->dumps[i].hash, &i, sizeof i, &err));
    }
    MUST(axes_add_task(&r->axes, "weather-en", &r->arena, &err));
    MUST(axes_add_task(&r->axes, "\xe5\xa4\xa9\xe6\xb0\x94-zh", &r->arena, &err));
    for (i = 1; i <= 3; i++)
        MUST(axes_add(&r->axes, AXIS_TURN, i, &err));
    MUST(axes_add(&r->axes, AXIS_REPEAT, 1, &err));
    MUST(axes_add(&r->axes, AXIS_LAYER, 0, &err));
    MUST(axes_add(&r->axes, AXIS_LAYER, 17, &err));
    for (i = 0; i < 4; i++)
        MUST(axes_add(&r->axes, AXIS_HEAD, i, &err));
    add_cube(r, "latency.ttft", AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT), BETTER_LOWER,
             NOISE_RUN);
    add_cube(r, "attn.entropy", AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD),
             BETTER_NEITHER, NOISE_TASK);
    add_cube(r, "x.scalar", 0, BETTER_HIGHER, NOISE_TASK);
    add_exchange(r, "weather-en", 1, "HTTP/1.1 200 OK\r\n\r\nhello");
    add_exchange(r, "\xe5\xa4\xa9\xe6\xb0\x94-zh", 2, "data: {}\n\n");
    r->bytes[3] = 0;
    text(r, &r->taskset_json, "{\"schema\": 1}");
    MUST(run_note(r, &err, "row-sum", "3 rows of '%s' sum to 0.9: look", "d1"));
}
