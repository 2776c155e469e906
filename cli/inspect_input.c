#include "cli/inspect.h"

#include "cli/reference.h"
#include "core/base/scope.h"
#include "core/gate/policy.h"
#include "core/io/dump.h"
#include "core/io/taskset_read.h"

#include <string.h>

static void add_samples(struct desc *d, const struct dump *dump)
{
    json_t *rows = desc_array(d, d->root, "samples");
    size_t i;

    for (i = 0; i < dump->n_samples; i++) {
        const struct dump_sample *s = &dump->samples[i];
        json_t *row = desc_row(d, rows);

        desc_text(d, row, "id", s->id);
        desc_text(d, row, "task", s->task);
        desc_int(d, row, "turn", s->turn);
        desc_int(d, row, "repeat", s->repeat);
        desc_int(d, row, "first", s->first);
        desc_int(d, row, "length", s->length);
        desc_int(d, row, "query_start", s->query_start);
    }
}

static void add_layers(struct desc *d, const struct dump *dump)
{
    static const char *const kinds[] = {[DUMP_WEIGHTS] = "weights", [DUMP_SCORES] = "scores", [DUMP_QK] = "q and k"};
    json_t *rows = desc_array(d, d->root, "layers");
    size_t i;

    for (i = 0; i < dump->n_layers; i++) {
        const struct dump_layer *l = &dump->layers[i];
        json_t *row = desc_row(d, rows);

        desc_int(d, row, "layer", l->index);
        desc_text(d, row, "holds", kinds[l->kind]);
        desc_text(d, row, "dtype", dtype_name(l->dtype));
        desc_int(d, row, "heads", (int64_t)l->n_heads);
        desc_int(d, row, "kv_heads", (int64_t)l->n_kv_heads);
        desc_int(d, row, "rows", (int64_t)l->n_rows);
        desc_int(d, row, "keys", (int64_t)l->n_cols);
        desc_int(d, row, "dim", (int64_t)l->dim);
        desc_bool(d, row, "causal", l->causal);
        desc_int(d, row, "window", l->window);
        desc_int(d, row, "key_start", l->key_start);
        desc_real(d, row, "scale", l->scale);
        desc_real(d, row, "softcap", l->softcap);
    }
}

enum status inspect_dump(struct desc *d, const char *path, const struct dump_options *options, struct error *err)
{
    AUTO(dump) dump = {0};
    struct dump_options all = *options;

    all.hashes_all = true;
    TRY(dump_open_as(&dump, path, &all, err));
    TRY(desc_init(d, "dump", path, err));
    desc_text(d, d->root, "sha256", dump.source.hash.hex);
    desc_text(d, d->root, "model_name", dump.source.model_name);
    desc_text(d, d->root, "weights_sha256", dump.source.weights_sha256);
    desc_text(d, d->root, "prompt_version", dump.source.prompt_version);
    desc_text(d, d->root, "prompt_sha256", dump.source.prompt_sha256);
    desc_text(d, d->root, "compute_dtype", dump.source.compute_dtype);
    desc_text(d, d->root, "store_dtype", dump.source.store_dtype);
    desc_text(d, d->root, "variant", dump.source.variant);
    desc_text(d, d->root, "capture", dump.source.capture);
    add_samples(d, &dump);
    add_layers(d, &dump);
    return desc_check(d, err);
}

static void add_task(struct desc *d, json_t *row, const struct task *task)
{
    size_t n_entities = 0, n_actions = 0, n_must_not = 0, i;
    json_t *tags;

    for (i = 0; i < task->n_turns; i++) {
        n_entities += task->turns[i].n_entities;
        n_actions += task->turns[i].n_actions;
        n_must_not += task->turns[i].n_must_not;
    }
    desc_text(d, row, "id", task->id);
    desc_int(d, row, "turns", (int64_t)task->n_turns);
    desc_int(d, row, "documents", (int64_t)task->n_documents);
    desc_int(d, row, "entities", (int64_t)n_entities);
    desc_int(d, row, "actions", (int64_t)n_actions);
    desc_int(d, row, "must_not", (int64_t)n_must_not);
    tags = desc_array(d, row, "tags");
    for (i = 0; tags && i < task->n_tags; i++)
        if (json_array_append_new(tags, json_string(task->tags[i])))
            d->failed = true;
}

enum status inspect_taskset(struct desc *d, const char *path, struct error *err)
{
    AUTO(taskset) t = {0};
    json_t *rows;
    size_t i;

    TRY(taskset_read(&t, path, err));
    TRY(desc_init(d, "taskset", path, err));
    desc_text(d, d->root, "name", t.name);
    desc_text(d, d->root, "version", t.version);
    desc_text(d, d->root, "description", t.description);
    desc_int(d, d->root, "context_limit", t.context_limit);
    desc_text(d, d->root, "sha256", t.hash.hex);
    rows = desc_array(d, d->root, "tasks");
    for (i = 0; i < t.n_tasks; i++)
        add_task(d, desc_row(d, rows), &t.tasks[i]);
    return desc_check(d, err);
}

static void add_margin(struct desc *d, json_t *row, const struct rule_for *rule)
{
    static const char *const kinds[] = {
        [MARGIN_NONE] = NULL, [MARGIN_ABS] = "abs", [MARGIN_REL] = "rel", [MARGIN_RUN_SD] = "run_sd"};

    desc_text(d, row, "margin_kind", kinds[rule->margin_kind]);
    if (rule->margin_kind == MARGIN_NONE)
        desc_text(d, row, "margin", NULL);
    else
        desc_real(d, row, "margin", rule->margin);
}

enum status inspect_policy(struct desc *d, const char *path, struct error *err)
{
    AUTO(policy) p = {0};
    json_t *rows;
    size_t i;

    TRY(policy_load(&p, path, err));
    TRY(desc_init(d, "policy", path, err));
    desc_real(d, d->root, "alpha", p.alpha);
    desc_text(d, d->root, "on_inconclusive", p.inconclusive_fails ? "fail" : "pass");
    desc_real(d, d->root, "max_errors", p.max_errors);
    rows = desc_array(d, d->root, "metrics");
    for (i = 0; i < p.n_rules; i++) {
        json_t *row = desc_row(d, rows);

        desc_text(d, row, "glob", p.rules[i].glob);
        desc_text(d, row, "role", role_name(p.rules[i].role));
        desc_text(d, row, "direction", p.rules[i].has_better ? better_name(p.rules[i].better) : NULL);
        add_margin(d, row, &p.rules[i]);
        desc_bool(d, row, "required", p.rules[i].required);
        desc_int(d, row, "limits", (int64_t)p.rules[i].n_limits);
        desc_text(d, row, "reason", p.rules[i].reason);
    }
    return desc_check(d, err);
}

enum status inspect_prompt(struct desc *d, const char *path, struct error *err)
{
    AUTO(prompt) p = {0};

    TRY(prompt_read(&p, path, err));
    TRY(desc_init(d, "prompt", path, err));
    desc_text(d, d->root, "version", p.version);
    desc_text(d, d->root, "sha256", p.hash.hex);
    return desc_check(d, err);
}

enum status inspect_baseline(struct desc *d, const char *path, struct error *err)
{
    AUTO(reference) r = {0};
    json_t *rows;
    size_t i;

    TRY(reference_open(&r, path, ".", err));
    TRY(desc_init(d, "baseline", path, err));
    desc_text(d, d->root, "name", r.baseline.name);
    rows = desc_array(d, d->root, "runs");
    for (i = 0; i < r.baseline.n_runs; i++) {
        json_t *row = desc_row(d, rows);

        desc_text(d, row, "file", r.baseline.runs[i].file);
        desc_text(d, row, "sha256", r.baseline.runs[i].hash.hex);
        desc_text(d, row, "accepted", r.baseline.runs[i].when_utc);
        desc_text(d, row, "reason", r.baseline.runs[i].reason);
    }
    return desc_check(d, err);
}
