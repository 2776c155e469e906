#include "core/gate/changes.h"

#include "core/base/buf.h"
#include "core/base/scope.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 12, MAX_CHANGES = 16 };

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static enum status add(struct judgement *j, const char *what, const char *base, const char *cand, bool latency_only,
                       struct error *err)
{
    struct change *c = &j->changes[j->n_changes];
    char *texts[2];

    TRY(arena_strdup(&j->arena, base[0] ? base : "not recorded", &texts[0], err));
    TRY(arena_strdup(&j->arena, cand[0] ? cand : "not recorded", &texts[1], err));
    *c = (struct change){what, texts[0], texts[1], latency_only};
    j->n_changes++;
    return OK;
}

/* "v1.2 (4ee9a38870ca)" */
static void version_text(struct buf *b, const char *version, const char *hash)
{
    buf_puts(b, version);
    if (hash[0])
        buf_printf(b, "%s%.*s%s", version[0] ? " (" : "", SHORT, hash, version[0] ? ")" : "");
}

/* A version and a hash: the hash decides where both sides have one. */
static bool version_differs(const char *version[2], const char *hash[2])
{
    if (hash[0][0] && hash[1][0])
        return !same(hash[0], hash[1]);
    return !same(version[0], version[1]) || !same(hash[0], hash[1]);
}

static enum status add_version(struct judgement *j, const char *what, const char *version[2], const char *hash[2],
                               bool *ret_differs, struct error *err)
{
    AUTO(buf) base = {0};
    AUTO(buf) cand = {0};

    *ret_differs = version_differs(version, hash);
    if (!*ret_differs)
        return OK;
    version_text(&base, version[0], hash[0]);
    version_text(&cand, version[1], hash[1]);
    TRY(buf_check(&base, err));
    TRY(buf_check(&cand, err));
    return add(j, what, buf_text(&base), buf_text(&cand), false, err);
}

/* Which text of a dump's source. */
static const char *field(const struct dump_source *d, size_t offset)
{
    const char *text = *(char *const *)((const char *)d + offset);

    return text ? text : "";
}

static bool dumps_have(const struct provenance *p, size_t offset, const char *text)
{
    size_t i;

    for (i = 0; i < p->n_dumps; i++)
        if (same(field(&p->dumps[i], offset), text))
            return true;
    return false;
}

/* Whether the dumps of the two runs have the same set of texts; a run without dumps differs from none. */
static bool dumps_differ(const struct provenance *b, const struct provenance *c, size_t offset)
{
    size_t i;

    if (!b->n_dumps || !c->n_dumps)
        return false;
    for (i = 0; i < b->n_dumps; i++)
        if (!dumps_have(c, offset, field(&b->dumps[i], offset)))
            return true;
    for (i = 0; i < c->n_dumps; i++)
        if (!dumps_have(b, offset, field(&c->dumps[i], offset)))
            return true;
    return false;
}

/* The dumps' texts, each once; hashes cut short. */
static void dumps_text(struct buf *out, const struct provenance *p, size_t version, size_t hash)
{
    size_t i, k;

    for (i = 0; i < p->n_dumps; i++) {
        for (k = 0; k < i; k++)
            if (same(field(&p->dumps[k], version), field(&p->dumps[i], version)) &&
                same(field(&p->dumps[k], hash), field(&p->dumps[i], hash)))
                break;
        if (k < i)
            continue;
        if (out->len)
            buf_puts(out, ", ");
        if (version == hash)
            buf_printf(out, "%.80s", field(&p->dumps[i], version));
        else
            version_text(out, field(&p->dumps[i], version), field(&p->dumps[i], hash));
    }
}

static enum status add_dumps(struct judgement *j, const char *what, const struct provenance *b,
                             const struct provenance *c, size_t version, size_t hash, struct error *err)
{
    AUTO(buf) base = {0};
    AUTO(buf) cand = {0};

    dumps_text(&base, b, version, hash);
    dumps_text(&cand, c, version, hash);
    TRY(buf_check(&base, err));
    TRY(buf_check(&cand, err));
    return add(j, what, buf_text(&base), buf_text(&cand), false, err);
}

#define DUMP(member) offsetof(struct dump_source, member)

static bool dump_prompts_differ(const struct provenance *b, const struct provenance *c)
{
    return dumps_differ(b, c, DUMP(prompt_sha256)) || dumps_differ(b, c, DUMP(prompt_version));
}

/* Whether the dumps say of both runs just what the runs say of themselves. */
static bool dumps_agree(const struct provenance *b, const struct provenance *c, size_t offset, const char *hash[2])
{
    size_t i;

    for (i = 0; i < b->n_dumps; i++)
        if (!same(field(&b->dumps[i], offset), hash[0]))
            return false;
    for (i = 0; i < c->n_dumps; i++)
        if (!same(field(&c->dumps[i], offset), hash[1]))
            return false;
    return true;
}

/* Prompt, weights, served model: what may be the cause. Counts how many of the three differ. */
static enum status find_causes(struct judgement *j, const struct provenance *b, const struct provenance *c,
                               struct error *err)
{
    const char *prompt[2] = {b->prompt_version, c->prompt_version};
    const char *prompt_hash[2] = {b->prompt_hash.hex, c->prompt_hash.hex};
    const char *weights[2] = {b->weights_version, c->weights_version};
    const char *weights_hash[2] = {b->weights_sha256, c->weights_sha256};
    bool prompt_differs, weights_differ, served_differs;

    TRY(add_version(j, "prompt", prompt, prompt_hash, &prompt_differs, err));
    if (dump_prompts_differ(b, c)) {
        if (!prompt_differs || !dumps_agree(b, c, DUMP(prompt_sha256), prompt_hash))
            TRY(add_dumps(j, prompt_differs ? "prompt of the dumps" : "prompt", b, c, DUMP(prompt_version),
                          DUMP(prompt_sha256), err));
        prompt_differs = true;
    }
    TRY(add_version(j, "weights", weights, weights_hash, &weights_differ, err));
    if (dumps_differ(b, c, DUMP(weights_sha256))) {
        if (!weights_differ || !dumps_agree(b, c, DUMP(weights_sha256), weights_hash))
            TRY(add_dumps(j, weights_differ ? "weights of the dumps" : "weights", b, c, DUMP(model_name),
                          DUMP(weights_sha256), err));
        weights_differ = true;
    }
    /* A run of dumps alone was served by nobody: that is no other model. */
    served_differs = b->model_served[0] && c->model_served[0] && !same(b->model_served, c->model_served);
    if (served_differs)
        TRY(add(j, "served model", b->model_served, c->model_served, false, err));
    /* A run of attention alone was served by nobody: that cannot be what moved it. */
    served_differs = served_differs && b->model_served[0] && c->model_served[0];
    j->causes_confounded = (int)prompt_differs + (int)weights_differ + (int)served_differs > 1;
    return OK;
}

static enum status find_capture(struct judgement *j, const struct provenance *b, const struct provenance *c,
                                struct error *err)
{
    static const struct {
        const char *what;
        size_t offset;
    } fields[] = {{"variant of the dumps", DUMP(variant)},
                  {"compute type", DUMP(compute_dtype)},
                  {"stored type", DUMP(store_dtype)},
                  {"capture", DUMP(capture)}};
    size_t i;

    for (i = 0; i < sizeof fields / sizeof *fields; i++)
        if (dumps_differ(b, c, fields[i].offset))
            TRY(add_dumps(j, fields[i].what, b, c, fields[i].offset, fields[i].offset, err));
    return OK;
}

/* Says one of a place's texts on both sides where it differs. */
static void place_text(const char *name, const char *b, const char *c, struct buf *base, struct buf *cand)
{
    if (same(b, c))
        return;
    buf_printf(base, "%s%s %s", base->len ? ", " : "", name, b[0] ? b : "not recorded");
    buf_printf(cand, "%s%s %s", cand->len ? ", " : "", name, c[0] ? c : "not recorded");
}

/* What latencies depend on, and where `all`, what else there is to say of a place. */
static enum status place_texts(const struct place *b, const struct place *c, bool all, struct buf *base,
                               struct buf *cand, struct error *err)
{
    if (all) {
        place_text("host", b->host, c->host, base, cand);
        place_text("os", b->os, c->os, base, cand);
        place_text("driver", b->driver, c->driver, base, cand);
    }
    place_text("cpu", b->cpu, c->cpu, base, cand);
    place_text("gpu", b->gpu, c->gpu, base, cand);
    place_text("server", b->server, c->server, base, cand);
    if (b->cores != c->cores) {
        buf_printf(base, "%s%lld cores", base->len ? ", " : "", (long long)b->cores);
        buf_printf(cand, "%s%lld cores", cand->len ? ", " : "", (long long)c->cores);
    }
    TRY(buf_check(base, err));
    return buf_check(cand, err);
}

static enum status find_places(struct judgement *j, const struct provenance *b, const struct provenance *c,
                               struct error *err)
{
    AUTO(buf) base = {0};
    AUTO(buf) cand = {0};

    TRY(place_texts(&b->observed_on, &c->observed_on, true, &base, &cand, err));
    if (base.len || cand.len)
        TRY(add(j, "environment", buf_text(&base), buf_text(&cand), true, err));
    return OK;
}

enum status changes_find(struct judgement *j, const struct run *base, const struct run *cand, struct error *err)
{
    const struct provenance *b = &base->provenance, *c = &cand->provenance;

    TRY(arena_new(&j->arena, MAX_CHANGES, sizeof *j->changes, &j->changes, err));
    TRY(find_causes(j, b, c, err));
    if (!same(b->model_asked, c->model_asked))
        TRY(add(j, "asked model", b->model_asked, c->model_asked, false, err));
    if (b->context_limit != c->context_limit) {
        char texts[2][40];
        size_t i;

        for (i = 0; i < 2; i++)
            snprintf(texts[i], sizeof texts[i], "%lld tokens", (long long)(i ? c : b)->context_limit);
        TRY(add(j, "context limit", texts[0], texts[1], false, err));
    }
    TRY(find_capture(j, b, c, err));
    TRY(find_places(j, b, c, err));
    if (!same(b->tool_version, c->tool_version))
        TRY(add(j, "tool", b->tool_version, c->tool_version, false, err));
    return OK;
}

bool changes_prompt_equal(const struct run *base, const struct run *cand)
{
    const struct provenance *b = &base->provenance, *c = &cand->provenance;
    const char *version[2] = {b->prompt_version, c->prompt_version};
    const char *hash[2] = {b->prompt_hash.hex, c->prompt_hash.hex};

    return !version_differs(version, hash) && !dump_prompts_differ(b, c);
}

enum status changes_machine(struct judgement *j, const struct run *base, const struct run *cand, const char **ret,
                            struct error *err)
{
    AUTO(buf) b = {0};
    AUTO(buf) c = {0};
    bool is_bound = base->provenance.is_client_bound;
    char *text = NULL;

    if (is_bound || cand->provenance.is_client_bound) {
        TRY(arena_printf(&j->arena, &text, err, "since tare itself, not the server, held up the %s run",
                         is_bound ? "base" : "candidate"));
        *ret = text;
        return OK;
    }
    TRY(place_texts(&base->provenance.observed_on, &cand->provenance.observed_on, false, &b, &c, err));
    if (b.len || c.len)
        TRY(arena_printf(&j->arena, &text, err, "observed on other hardware or another server: base %s; candidate %s",
                         buf_text(&b), buf_text(&c)));
    *ret = text;
    return OK;
}
