#include "core/base/scope.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

static json_t *render(const struct fake *f)
{
    const struct report *format = NULL;
    AUTO(buf) out = {0};
    json_error_t where;
    json_t *root;

    cr_assert(report_find("a.json", &format, NULL) == OK);
    format->write(&f->input, &out);
    root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &where);
    cr_assert(root != NULL, "line %d: %s", where.line, where.text);
    return root;
}

static bool is_null(const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key));
}

Test(report_json, has_the_keys_of_the_contract)
{
    static const char *const keys[] = {"schema",   "verdict",   "exit",         "reasons",  "changed", "families",
                                       "findings", "missing",   "not_measured", "headline", "policy",  "alpha",
                                       "seed",     "resamples", "pairs",        "added",    "limits",  "runs"};
    static const char *const cell[] = {"metric", "where", "base",   "cand",    "delta", "ci",   "p",
                                       "p_adj",  "mde",   "margin", "verdict", "role",  "words"};
    struct fake f;
    json_t *root, *finding;
    size_t i;

    fake_init(&f);
    root = render(&f);
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        cr_assert(json_object_get(root, keys[i]) != NULL, "%s", keys[i]);
    finding = json_array_get(json_object_get(root, "findings"), 1);
    for (i = 0; i < sizeof cell / sizeof *cell; i++)
        cr_assert(json_object_get(finding, cell[i]) != NULL, "%s", cell[i]);
    cr_assert(json_integer_value(json_object_get(json_object_get(finding, "where"), "layer")) == 9);
    cr_assert(json_object_get(json_object_get(finding, "where"), "task") == NULL);
    cr_assert(json_array_size(json_object_get(root, "findings")) == f.judgement.n_findings, "none is left out");
    json_decref(root);
    fake_done(&f);
}

Test(report_json, numbers_read_back_bit_for_bit)
{
    struct fake f;
    json_t *root, *family;

    fake_init(&f);
    f.judgement.families[0].effect.delta = -0.1 / 3;
    root = render(&f);
    family = json_array_get(json_object_get(root, "families"), 0);
    cr_assert(json_real_value(json_object_get(family, "delta")) == -0.1 / 3);
    json_decref(root);
    fake_done(&f);
}

Test(report_json, what_is_no_number_is_null_with_its_reason)
{
    struct fake f;
    json_t *root, *family;

    fake_init(&f);
    root = render(&f);
    family = json_array_get(json_object_get(root, "families"), 7);
    cr_assert(is_null(family, "p"));
    cr_assert(is_null(family, "ci"));
    cr_assert(eq(str, (char *)json_string_value(json_object_get(family, "p_reason")),
                 "one run on each side: latency informs only"));
    cr_assert(json_string_value(json_object_get(family, "margin_reason")) != NULL);
    json_decref(root);
    fake_done(&f);
}

Test(report_json, one_run_lists_its_metrics)
{
    struct fake f;
    json_t *root, *metric;

    fake_init(&f);
    f.input.judgement = NULL;
    root = render(&f);
    cr_assert(json_object_get(root, "verdict") == NULL);
    metric = json_array_get(json_object_get(root, "metrics"), 0);
    cr_assert(eq(str, (char *)json_string_value(json_object_get(metric, "name")), "attn.entropy"));
    cr_assert(json_array_size(json_object_get(metric, "by_layer")) == 18);
    cr_assert(json_integer_value(json_object_get(metric, "n")) == 16);
    json_decref(root);
    fake_done(&f);
}
