#include "tests/support/fake_judgement.h"

#include "core/base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 16, TURNS = 6, LAYERS = 18, HEADS = 4, FAMILIES = 10, FINDINGS = 14 };

#define TTR (AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT))
#define TLH (AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_LAYER) | AXIS_BIT(AXIS_HEAD))

static void must(enum status st)
{
    if (st != OK)
        abort();
}

/* In [0,1), the same for the same arguments. */
static double noise(const char *what, size_t i)
{
    return rng_at(7, rng_stream(what), i).word[0] / 4294967296.0;
}

static const char *const task_ids[TASKS] = {"refund-window", "invoice-total",
                                            "meeting-move",  "\xe8\xae\xa2\xe5\x8d\x95\xe9\x80\x80\xe6\xac\xbe",
                                            "dose-limit",    "train-times",
                                            "lease-clause",  "api-error",
                                            "visa-list",     "recipe-swap",
                                            "bug-triage",    "warranty",
                                            "tax-bracket",   "\xe4\xbc\x9a\xe8\xae\xae\xe7\xba\xaa\xe8\xa6\x81",
                                            "flight-rebook", "data-erasure"};

static double entropy(size_t t, size_t turn, size_t l, size_t h, bool is_cand)
{
    double value = 3.4 + 1.8 * sin((double)l / 17 * 3.1) - 0.25 * (double)h + 0.3 * noise("h", l * 4 + h);

    value += 0.25 * noise(task_ids[t], turn * 72 + l * 4 + h);
    if (is_cand && l >= 6)
        value -= 0.05 + 0.1 * noise("c", l * 4 + h);
    return is_cand && l == 9 && h == 2 ? 0.12 + 0.05 * noise("z", t) : value;
}

static double reply_value(const char *metric, size_t t, size_t turn, bool is_cand)
{
    double u = noise(metric, t * 64 + turn + (is_cand ? 31 : 0));

    if (strcmp(metric, "latency.ttft") == 0)
        return 118 + 60 * u + (is_cand ? 9 : 0) + (t == 7 ? 140 : 0);
    if (strcmp(metric, "latency.tpot") == 0)
        return 21 + 5 * u + (is_cand ? 0.7 : 0);
    if (strcmp(metric, "context.utilization") == 0)
        return 0.2 + 0.11 * (double)turn + 0.02 * u;
    return fmin(1, fmax(0, 0.97 - 0.06 * (double)turn - 0.2 * u - (is_cand ? 0.05 + 0.03 * (double)turn : 0)));
}

static void add_cube(struct run *r, const char *metric, const char *unit, unsigned axes, enum better better,
                     enum noise noise_kind, const char *help, bool is_cand)
{
    struct cube c;
    size_t at[N_AXES] = {0};

    must(cube_init(&c, metric, 1, axes, &r->axes, NULL));
    must(cube_describe(&c, unit, help, better, noise_kind, NULL));
    for (at[0] = 0; at[0] < TASKS; at[0]++)
        for (at[1] = 0; at[1] < 1 + at[0] % TURNS; at[1]++)
            for (at[3] = 0; at[3] < c.dim[3]; at[3]++)
                for (at[4] = 0; at[4] < c.dim[4]; at[4]++) {
                    double h = entropy(at[0], at[1], at[3], at[4], is_cand);

                    c.values[cube_index(&c, at)] = !(axes & AXIS_BIT(AXIS_LAYER))
                                                       ? reply_value(metric, at[0], at[1], is_cand)
                                                   : strcmp(metric, "attn.entropy_norm") == 0 ? h / 6.5
                                                   : strcmp(metric, "attn.max_weight") == 0   ? 1 / (1 + h)
                                                                                              : h;
                }
    must(run_add_cube(r, &c, NULL));
}

static void set(struct run *r, char **text, const char *value)
{
    must(arena_strdup(&r->arena, value, text, NULL));
}

static void make_provenance(struct run *r, bool is_cand)
{
    struct provenance *p = &r->provenance;

    set(r, &p->taskset_name, "smoke");
    set(r, &p->taskset_version, "1");
    snprintf(p->taskset_hash.hex, sizeof p->taskset_hash.hex, "%064d", 7);
    set(r, &p->prompt_version, is_cand ? "v2" : "v1");
    memset(p->prompt_hash.hex, is_cand ? 'b' : 'a', 64);
    set(r, &p->model_asked, "small-270m");
    set(r, &p->model_served, "small-270m-it");
    set(r, &p->weights_version, "2026-04");
    set(r, &p->sampling, "{\"max_tokens\":64,\"temperature\":0}");
    set(r, &p->source, "recording");
    set(r, &p->observed_on.host, "lab-3");
    set(r, &p->observed_on.server, "llama-server b4500");
    set(r, &p->observed_on.when_utc, is_cand ? "2026-05-02T02:10:00Z" : "2026-05-01T02:10:00Z");
    set(r, &p->computed_on.host, "ci-runner");
    set(r, &p->tool_version, "0.1.0");
    set(r, &p->tool_build, "gcc 12.2, CPU, avx2");
    p->is_complete = true;
}

static void make_run(struct run *r, bool is_cand)
{
    size_t i;

    must(run_init(r, NULL));
    for (i = 0; i < TASKS; i++)
        must(axes_add_task(&r->axes, task_ids[is_cand ? (i + 5) % TASKS : i], &r->arena, NULL));
    for (i = 0; i < TURNS; i++)
        must(axes_add(&r->axes, AXIS_TURN, (int64_t)i + 1, NULL));
    must(axes_add(&r->axes, AXIS_REPEAT, 1, NULL));
    for (i = 0; i < LAYERS; i++)
        must(axes_add(&r->axes, AXIS_LAYER, (int64_t)i, NULL));
    for (i = 0; i < HEADS; i++)
        must(axes_add(&r->axes, AXIS_HEAD, (int64_t)i, NULL));
    add_cube(r, "attn.entropy", "bit", TLH, BETTER_NEITHER, NOISE_TASK, "mean entropy of attention rows", is_cand);
    add_cube(r, "attn.entropy_norm", "1", TLH, BETTER_NEITHER, NOISE_TASK, "entropy over its largest value", is_cand);
    add_cube(r, "attn.max_weight", "1", TLH, BETTER_NEITHER, NOISE_TASK, "mean of the rows' largest weight", is_cand);
    add_cube(r, "latency.ttft", "ms", TTR, BETTER_LOWER, NOISE_RUN, "time to first token", is_cand);
    add_cube(r, "latency.tpot", "ms", TTR, BETTER_LOWER, NOISE_RUN, "time per output token", is_cand);
    add_cube(r, "context.utilization", "1", TTR, BETTER_NEITHER, NOISE_TASK, "prompt tokens over the limit", is_cand);
    add_cube(r, "intent.entities", "1", TTR, BETTER_HIGHER, NOISE_TASK, "required entities found", is_cand);
    add_cube(r, "intent.alignment", "1", TTR, BETTER_HIGHER, NOISE_TASK, "mean of the rubric's parts", is_cand);
    make_provenance(r, is_cand);
    if (is_cand)
        must(run_note(r, NULL, "tokens-from-chunks", "12 replies brought no usage: tokens were counted from chunks"));
}

static struct effect effect(double base, double cand, double half, double p)
{
    struct effect e = {16,
                       base,
                       cand,
                       cand - base,
                       cand - base - half,
                       cand - base + half,
                       cand - base - 0.9 * half,
                       cand - base + half,
                       p,
                       p,
                       3.1e-5,
                       half * 1.6};

    return e;
}

static void *grab(struct judgement *j, size_t n, size_t size)
{
    void *p = NULL;

    must(arena_new(&j->arena, n, size, &p, NULL));
    return p;
}

static void make_families(struct judgement *j)
{
    static const struct family families[FAMILIES] = {
        {.metric = "intent.alignment",
         .unit = "1",
         .better = BETTER_HIGHER,
         .required = true,
         .margin = 0.05,
         .margin_reason = "half a rubric part a task",
         .verdict = VERDICT_REGRESSED,
         .n_beyond = 1,
         .words = "replies fulfil less of what the turns ask: 0.672 instead of 0.793"},
        {.metric = "intent.entities",
         .unit = "1",
         .better = BETTER_HIGHER,
         .margin = 0.1,
         .verdict = VERDICT_INCONCLUSIVE,
         .n_needed = 31,
         .words = "this sample cannot tell a loss of 0.1 from noise"},
        {.metric = "context.truncated",
         .unit = "1",
         .better = BETTER_LOWER,
         .margin = 0.02,
         .verdict = VERDICT_PASS,
         .words = "equal in every task"},
        {.metric = "attn.entropy_norm",
         .unit = "1",
         .margin = 0.02,
         .verdict = VERDICT_CHANGED,
         .n_beyond = 13,
         .words = "13 of 72 heads moved; most layer 9, head 2"},
        {.metric = "attn.entropy",
         .unit = "bit",
         .role = ROLE_ADVISORY,
         .margin = 0.15,
         .verdict = VERDICT_CHANGED,
         .words = "13 of 72 heads moved"},
        {.metric = "attn.max_weight",
         .unit = "1",
         .role = ROLE_ADVISORY,
         .margin = 0.05,
         .verdict = VERDICT_CHANGED,
         .words = "4 of 72 heads moved"},
        {.metric = "context.utilization",
         .unit = "1",
         .role = ROLE_ADVISORY,
         .margin = 0.05,
         .verdict = VERDICT_PASS,
         .words = "inside the margin"},
        {.metric = "latency.ttft",
         .unit = "ms",
         .better = BETTER_LOWER,
         .noise = NOISE_RUN,
         .role = ROLE_ADVISORY,
         .margin = NAN,
         .n_needed = 4,
         .words = "one run on each side: latency informs only"},
        {.metric = "latency.tpot",
         .unit = "ms",
         .better = BETTER_LOWER,
         .noise = NOISE_RUN,
         .role = ROLE_ADVISORY,
         .margin = NAN,
         .n_needed = 4,
         .words = "one run on each side: latency informs only"},
        {.metric = "reply.cut_off",
         .unit = "1",
         .better = BETTER_LOWER,
         .role = ROLE_ADVISORY,
         .margin = 0.05,
         .verdict = VERDICT_IMPROVED,
         .words = "fewer replies stop for length"},
    };
    const struct effect effects[FAMILIES] = {
        effect(0.7931, 0.6721, 0.041, 0.00031), effect(0.811, 0.763, 0.081, 0.31), effect(0, 0, 0, 1),
        effect(0.6514, 0.6301, 0.0042, 0.0006), effect(4.21, 4.08, 0.031, 0.0006), effect(0.1932, 0.2114, 0.004, 0.002),
        effect(0.4312, 0.4341, 0.006, 0.44),    effect(152.4, 163.1, NAN, NAN),    effect(23.5, 24.2, NAN, NAN),
        effect(0.125, 0.0312, 0.06, 0.021)};
    size_t i;

    j->families = grab(j, FAMILIES, sizeof *j->families);
    j->n_families = FAMILIES;
    for (i = 0; i < FAMILIES; i++) {
        j->families[i] = families[i];
        j->families[i].effect = effects[i];
    }
}

static void make_findings(struct judgement *j)
{
    size_t i;

    j->findings = grab(j, FINDINGS, sizeof *j->findings);
    j->n_findings = FINDINGS;
    for (i = 0; i < FINDINGS; i++) {
        struct finding *f = &j->findings[i];
        char *words = NULL;
        int64_t layer = i == 1 ? 9 : 4 + (int64_t)i, head = i == 1 ? 2 : (int64_t)i % 4;

        *f = (struct finding){.metric = "attn.entropy_norm",
                              .unit = "1",
                              .where = {NULL, -1, layer, head},
                              .margin = 0.02,
                              .verdict = VERDICT_CHANGED,
                              .role = ROLE_PRIMARY};
        f->effect = effect(0.62, i == 1 ? 0.021 : 0.595, 0.006, 0.0006 + 0.002 * (double)i);
        must(arena_printf(&j->arena, &words, NULL,
                          "attention of layer %d, head %d %s: entropy fell from %.3f to %.3f of its "
                          "largest value",
                          (int)layer, (int)head, i == 1 ? "collapsed onto few tokens" : "narrowed", f->effect.base,
                          f->effect.cand));
        f->words = words;
    }
    j->findings[0] = (struct finding){.metric = "intent.alignment",
                                      .unit = "1",
                                      .where = {NULL, 6, -1, -1},
                                      .effect = effect(0.61, 0.402, 0.09, 0.0012),
                                      .margin = 0.05,
                                      .verdict = VERDICT_REGRESSED,
                                      .role = ROLE_PRIMARY,
                                      .words = "by turn 6, replies fulfil 40 % of what is asked, down from 61 %"};
}

static void make_rest(struct judgement *j)
{
    static const struct change changes[] = {{"prompt", "v1 (aaaaaaaaaaaa)", "v2 (bbbbbbbbbbbb)", false},
                                            {"environment", "lab-3, driver 550", "lab-3, driver 560", true}};
    static char reason[] = "a third of the window must stay free";
    static const struct limit_result limits[] = {{"intent.alignment",
                                                  {NULL, -1, -1, -1},
                                                  0.793,
                                                  0.672,
                                                  {LIMIT_GE, 0.7, SEVERITY_FAIL, NULL},
                                                  true,
                                                  false,
                                                  "intent.alignment is 0.672, under its limit of 0.7"},
                                                 {"context.utilization",
                                                  {NULL, -1, -1, -1},
                                                  0.431,
                                                  0.434,
                                                  {LIMIT_LT, 0.67, SEVERITY_WARN, reason},
                                                  false,
                                                  false,
                                                  "context.utilization is 0.434, under its limit of 0.67"}};
    static const char *const reasons[] = {"intent.alignment regressed by 0.121, more than its margin of 0.05",
                                          "intent.alignment is under its limit of 0.7"};
    static const char *const not_measured[] = {"attn.head_std"}, *const missing[] = {"old-task"};

    j->changes = grab(j, 2, sizeof *j->changes);
    memcpy(j->changes, changes, sizeof changes);
    j->n_changes = 2;
    j->limits = grab(j, 2, sizeof *j->limits);
    memcpy(j->limits, limits, sizeof limits);
    j->n_limits = 2;
    j->reasons = grab(j, 2, sizeof *j->reasons);
    memcpy(j->reasons, reasons, sizeof reasons);
    j->n_reasons = 2;
    j->not_measured = grab(j, 1, sizeof *j->not_measured);
    memcpy(j->not_measured, not_measured, sizeof not_measured);
    j->n_not_measured = 1;
    j->missing = grab(j, 1, sizeof *j->missing);
    memcpy(j->missing, missing, sizeof missing);
    j->n_missing = 1;
}

void fake_init(struct fake *f)
{
    struct judgement *j = &f->judgement;

    memset(f, 0, sizeof *f);
    make_run(&f->base, false);
    make_run(&f->cand, true);
    make_families(j);
    make_findings(j);
    make_rest(j);
    j->headline = "intent.alignment fell from 0.793 to 0.672, beyond its margin of 0.05";
    j->policy_name = "policy_default.json";
    j->alpha = 0.05;
    j->n_resamples = 65536;
    j->is_enumerated = true;
    j->n_pairs = TASKS;
    f->input = (struct report_input){&f->base, 1, &f->cand, 1, j, "release", "candidate.h5", 5, true, 0};
    fake_verdict(f, VERDICT_REGRESSED, 1);
}

void fake_done(struct fake *f)
{
    run_done(&f->base);
    run_done(&f->cand);
    judgement_done(&f->judgement);
}

void fake_verdict(struct fake *f, enum verdict v, int exit_code)
{
    f->judgement.verdict = v;
    f->judgement.exit_code = exit_code;
    f->input.exit_code = exit_code;
}

void fake_hostile(struct fake *f, const char *text)
{
    struct judgement *j = &f->judgement;
    size_t i;

    f->input.base_name = f->input.cand_name = text;
    set(&f->cand, &f->cand.axes.task[0], text);
    set(&f->cand, &f->cand.provenance.model_served, text);
    set(&f->cand, &f->cand.provenance.prompt_version, text);
    set(&f->cand, &f->cand.notes[0].text, text);
    memset(f->cand.provenance.prompt_hash.hex, 'c', 64);
    for (i = 0; i < j->n_families; i++)
        j->families[i].words = text;
    for (i = 0; i < j->n_findings; i++)
        j->findings[i].words = text;
    j->findings[0].where.task = text;
    j->limits[0].words = text;
    j->limits[0].where.task = text;
    j->changes[0].base = j->changes[0].cand = j->changes[0].what = text;
    j->headline = j->reasons[0] = j->missing[0] = j->policy_name = text;
}
