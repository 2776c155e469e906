#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/gate/policy.h"
#include "core/metrics/reserved.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tol exact = {0, 0};

/* Loads text as a policy from a file of its own. */
static enum status load_text(struct policy *p, const char *text, size_t len, struct error *err)
{
    char path[] = "/tmp/tare-policy-XXXXXX";
    int fd = mkstemp(path);
    enum status st;

    cr_assert(fd >= 0);
    close(fd);
    cr_assert(file_write(path, text, len, NULL) == OK);
    st = policy_load(p, path, err);
    unlink(path);
    return st;
}

Test(policy, reads_every_key)
{
    static const char text[] =
        "{\"schema\": 1, \"alpha\": 0.01, \"on_inconclusive\": \"fail\", \"max_errors\": 0.25, \"metrics\": {"
        "\"attn.*\": {\"role\": \"primary\", \"direction\": \"higher\", \"margin\": {\"run_sd\": 2}, \"on_change\": "
        "\"changed\", \"required\": true, \"stat\": \"p95\", \"reason\": \"because\", \"limits\": [{\"op\": \">=\", "
        "\"value\": 0.2, \"severity\": \"warn\", \"reason\": \"collapse\"}, {\"op\": \"<\", \"value\": -1}]}}}";
    AUTO(policy) p = {0};
    struct error err = {0};
    const struct rule_for *r;

    cr_assert(eq(int, load_text(&p, text, sizeof text - 1, &err), OK), "%s", err.message);
    cr_assert(close_to(p.alpha, 0.01, exact) && close_to(p.max_errors, 0.25, exact) && p.inconclusive_fails);
    r = policy_rule(&p, "attn.entropy");
    cr_assert(r->role == ROLE_PRIMARY && r->has_better && r->better == BETTER_HIGHER && r->required);
    cr_assert(r->margin_kind == MARGIN_RUN_SD && close_to(r->margin, 2, exact) && r->on_change == ON_CHANGE_CHANGED);
    cr_assert(eq(str, r->stat, "p95"));
    cr_assert(eq(str, r->reason, "because"));
    cr_assert(r->n_limits == 2 && r->limits[0].op == LIMIT_GE && r->limits[0].severity == SEVERITY_WARN);
    cr_assert(r->limits[1].op == LIMIT_LT && r->limits[1].severity == SEVERITY_FAIL && !r->limits[1].reason);
    r = policy_rule(&p, "latency.ttft");
    cr_assert(r->role == ROLE_ADVISORY && r->margin_kind == MARGIN_NONE && !r->has_better, "what no glob names");
}

Test(policy, exact_name_then_longest_glob_wins)
{
    static const char text[] = "{\"schema\": 1, \"metrics\": {\"*\": {\"role\": \"off\"}, \"attn.*\": {\"role\": "
                               "\"primary\"}, \"attn.e*\": {\"role\": \"advisory\"}, \"attn.entropy\": {\"role\": "
                               "\"primary\"}, \"attn.entrop*\": {\"role\": \"off\"}}}";
    AUTO(policy) p = {0};
    struct error err = {0};

    cr_assert(eq(int, load_text(&p, text, sizeof text - 1, &err), OK), "%s", err.message);
    cr_assert(policy_rule(&p, "attn.entropy")->role == ROLE_PRIMARY);
    cr_assert(policy_rule(&p, "attn.entropy_norm")->role == ROLE_OFF);
    cr_assert(policy_rule(&p, "attn.max_weight")->role == ROLE_PRIMARY);
    cr_assert(policy_rule(&p, "reply.failed")->role == ROLE_OFF);
}

Test(policy, shipped_ones_load)
{
    static const char *const paths[] = {"baselines/policy_default.json", "baselines/policy_strict.json",
                                        "baselines/policy_published.json"};
    size_t i, k, l;

    for (i = 0; i < 3; i++) {
        AUTO(policy) p = {0};
        struct error err = {0};

        cr_assert(eq(int, policy_load(&p, paths[i], &err), OK), "%s", err.message);
        cr_assert(policy_rule(&p, "attn.entropy_norm")->role == ROLE_PRIMARY);
        cr_assert(policy_rule(&p, "intent.entities")->role == ROLE_ADVISORY);
        for (k = 0; k < p.n_rules; k++) {
            bool is_later = reserved_find(p.rules[k].glob) != NULL;

            cr_assert(p.rules[k].reason != NULL, "%s", p.rules[k].glob);
            cr_assert(p.rules[k].margin_kind != MARGIN_NONE || p.rules[k].role == ROLE_OFF || is_later, "%s",
                      p.rules[k].glob);
            for (l = 0; l < p.rules[k].n_limits; l++)
                cr_assert(p.rules[k].limits[l].reason != NULL, "%s", p.rules[k].glob);
        }
        cr_assert(policy_rule(&p, "attn.entropy_p50")->role == ROLE_OFF, "families enough");
    }
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "not valid JSON"},
    {"{", "not valid JSON"},
    {"[]", "expected an object"},
    {"null", "not valid JSON"},
    {"{\"metrics\": {}}", "'schema' is missing"},
    {"{\"schema\": 2, \"metrics\": {}}", "newer"},
    {"{\"schema\": \"1\", \"metrics\": {}}", "/schema"},
    {"{\"schema\": 0, \"metrics\": {}}", "/schema"},
    {"{\"schema\": 1}", "'metrics' is missing"},
    {"{\"schema\": 1, \"metrics\": []}", "/metrics"},
    {"{\"schema\": 1, \"metrics\": {}, \"metrics\": {}}", "not valid JSON"},
    {"{\"schema\": 1, \"alpa\": 0.1, \"metrics\": {}}", "did you mean 'alpha'"},
    {"{\"schema\": 1, \"alpha\": 0, \"metrics\": {}}", "/alpha"},
    {"{\"schema\": 1, \"alpha\": 0.5, \"metrics\": {}}", "/alpha"},
    {"{\"schema\": 1, \"alpha\": 1e999, \"metrics\": {}}", "not valid JSON"},
    {"{\"schema\": 1, \"alpha\": NaN, \"metrics\": {}}", "not valid JSON"},
    {"{\"schema\": 1, \"alpha\": true, \"metrics\": {}}", "/alpha"},
    {"{\"schema\": 1, \"max_errors\": 1.5, \"metrics\": {}}", "/max_errors"},
    {"{\"schema\": 1, \"on_inconclusive\": \"maybe\", \"metrics\": {}}", "'pass', 'fail'"},
    {"{\"schema\": 1, \"metrics\": {\"attn.entrpy\": {}}}", "did you mean 'attn.entropy'"},
    {"{\"schema\": 1, \"metrics\": {\"\": {}}}", "no metric"},
    {"{\"schema\": 1, \"metrics\": {\"attn.entropy\": 3}}", "/metrics/attn.entropy"},
    {"{\"schema\": 1, \"metrics\": {\"attn.entropy\": null}}", "missing"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"rol\": \"off\"}}}", "did you mean 'role'"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"role\": \"Primary\"}}}", "/metrics/attn.*/role"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"role\": \"off\", \"required\": true}}}", "off"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"margin\": 0.1}}}", "/metrics/attn.*/margin"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"margin\": {}}}}", "exactly one"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"margin\": {\"abs\": 1, \"rel\": 1}}}}", "exactly one"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"margin\": {\"abs\": -1}}}}", "/margin/abs"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"limits\": [3]}}}", "/limits/0"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"limits\": [{\"op\": \"==\", \"value\": 1}]}}}", "/limits/0/op"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"limits\": [{\"op\": \"<\"}]}}}", "'value' is missing"},
    {"{\"schema\": 1, \"metrics\": {\"attn.e*\": {}, \"*ntropy\": {}}}", "both stand for 'attn.entropy'"},
    {"{\"schema\": 1, \"metrics\": {\"attn.*\": {\"reason\": \"a\\u0000b\"}}}", "not valid JSON"},
};

/* A loop and not parameters: each Criterion test is a process of its own, in which pointers of the table are void. */
Test(policy, refuses)
{
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        AUTO(policy) p = {0};
        struct error err = {0};

        cr_assert(eq(int, load_text(&p, bad[i].text, strlen(bad[i].text), &err), ERR_USAGE), "%s", bad[i].text);
        cr_assert(strstr(err.message, bad[i].says) != NULL, "%s: %s", bad[i].text, err.message);
        cr_assert(strstr(err.message, "/tmp/tare-policy-") != NULL, "%s", err.message);
        cr_assert(p.arena.used == 0, "a failure leaves the output alone");
    }
}

Test(policy, refuses_hostile_files)
{
    static char deep[200000];
    AUTO(policy) p = {0};
    struct error err = {0};
    char *big = calloc(1, 2u << 20);

    memset(deep, '[', sizeof deep);
    cr_assert(eq(int, load_text(&p, deep, sizeof deep, &err), ERR_USAGE));
    error_clear(&err);
    memset(big, ' ', 2u << 20);
    cr_assert(eq(int, load_text(&p, big, 2u << 20, &err), ERR_USAGE));
    cr_assert(strstr(err.message, "limit") != NULL, "%s", err.message);
    free(big);
    error_clear(&err);
    cr_assert(eq(int, load_text(&p, "{\"schema\": 1}\0{}", 16, &err), ERR_USAGE));
    cr_assert(eq(int, policy_load(&p, "/nowhere/policy.json", NULL), ERR_USAGE));
    cr_assert(eq(int, policy_load(&p, "/tmp", NULL), ERR_USAGE));
}
