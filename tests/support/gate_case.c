#include "tests/support/gate_case.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <string.h>

static struct error err;

void gate_attention(struct run *base, struct run *cand, struct gate_change what)
{
    struct cube *b, *c;

    fake_run(base, what.n_tasks, 2, 3, 2);
    fake_run(cand, what.n_tasks, 2, 3, 2);
    b = fake_cube(base, "attn.entropy", 3);
    c = fake_cube(cand, "attn.entropy", 3);
    fake_noise(b, 0.5, 1);
    fake_noise(c, 0.5, 1);
    fake_noise(c, what.noise, 2);
    fake_shift(c, what.layer, what.head, what.shift);
}

void gate_decide_default(struct judgement *j, const struct run *base, const struct run *cand)
{
    AUTO(policy) p = {0};

    MUST(policy_load(&p, "baselines/policy_default.json", &err));
    MUST(decide(j, base, 1, cand, 1, &p, 0, &err));
}

const struct family *gate_family(const struct judgement *j, const char *metric)
{
    size_t i;

    for (i = 0; i < j->n_families; i++)
        if (strcmp(j->families[i].metric, metric) == 0)
            return &j->families[i];
    cr_assert(false, "no family '%s'", metric);
    return NULL;
}

void gate_decide_runs(struct judgement *j, const struct run *base, size_t n_base, const struct run *cand, size_t n_cand,
                      const char *metrics, const char *top)
{
    AUTO(policy) p = {0};
    AUTO(buf) text = {0};

    buf_printf(&text, "{\"schema\": 1, %s \"metrics\": {%s}}", top, metrics);
    MUST(file_write(folder_file("p.json"), text.data, text.len, &err));
    MUST(policy_load(&p, folder_file("p.json"), &err));
    MUST(decide(j, base, n_base, cand, n_cand, &p, 0, &err));
}

void gate_decide(struct judgement *j, const struct run *base, size_t n_base, const struct run *cand,
                 const char *metrics, const char *top)
{
    gate_decide_runs(j, base, n_base, cand, 1, metrics, top);
}

void gate_replies(struct run *base, struct run *cand, size_t n_tasks, int turn, double shift)
{
    struct cube *c;
    size_t i;

    fake_run(base, n_tasks, 3, 0, 0);
    fake_run(cand, n_tasks, 3, 0, 0);
    fake_noise(fake_cube(base, "intent.alignment", 0.7), 0.2, 1);
    c = fake_cube(cand, "intent.alignment", 0.7);
    fake_noise(c, 0.2, 1);
    fake_noise(c, 0.02, 2);
    for (i = 0; i < cube_len(c); i++)
        c->values[i] += turn < 0 || i % 3 + 1 == (size_t)turn ? shift : 0;
}
