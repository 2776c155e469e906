#include "core/io/prompt.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/scope.h"
#include "core/io/json_more.h"

#include <string.h>

#define MAX_FILE_BYTES ((size_t)16 << 20)

void prompt_done(struct prompt *p)
{
    arena_done(&p->arena);
    memset(p, 0, sizeof *p);
}

static enum status parse_kind(struct prompt *p, const struct json_at *top, struct error *err)
{
    struct json_at member;
    const char *kind = NULL;

    TRY(json_get(top, "kind", JSON_STRING, &member, err));
    TRY(json_get_text(top, "kind", &kind, err));
    if (strcmp(kind, "completion") != 0 && strcmp(kind, "chat") != 0)
        return json_bad(&member, err, "'%.40s' is no kind of prompt: write \"completion\" or \"chat\"", kind);
    p->kind = strcmp(kind, "chat") == 0 ? PROMPT_CHAT : PROMPT_COMPLETION;
    return OK;
}

/* A template without its placeholder would drop what it stands for. */
static enum status parse_template(const struct json_at *top, const char *key, const char *placeholder, bool is_required,
                                  struct arena *arena, char **ret, struct error *err)
{
    struct json_at member;

    TRY(json_opt(top, key, JSON_STRING, &member, err));
    if (!member.value && is_required)
        return json_bad(top, err, "'%s' is missing: a prompt of kind completion needs it, with %s in it", key,
                        placeholder);
    TRY(json_more_text_or(top, key, "", arena, ret, err));
    if (member.value && !strstr(*ret, placeholder))
        return json_bad(&member, err, "the template has no %s", placeholder);
    return OK;
}

static enum status refuse_keys(const struct prompt *p, const struct json_at *top, struct error *err)
{
    static const char *const of_completion[] = {"preamble", "turn", "reply"};
    struct json_at member;
    size_t i;

    for (i = 0; p->kind == PROMPT_CHAT && i < 3; i++) {
        TRY(json_opt(top, of_completion[i], -1, &member, err));
        if (member.value)
            return json_bad(&member, err, "a prompt of kind chat has no '%s'", of_completion[i]);
    }
    TRY(json_opt(top, "system", -1, &member, err));
    if (member.value && p->kind == PROMPT_COMPLETION)
        return json_bad(&member, err, "a prompt of kind completion has no 'system': write it into 'preamble'");
    return OK;
}

static enum status parse(struct prompt *p, const struct json_at *top, struct error *err)
{
    static const char *const keys[] = {"schema",   "version", "kind",  "description", "preamble",
                                       "document", "turn",    "reply", "stop",        "system"};
    bool is_completion;

    TRY(json_is(top, JSON_OBJECT, err));
    TRY(json_more_schema(top, PROMPT_SCHEMA, err));
    TRY(json_only_keys(top, keys, sizeof keys / sizeof *keys, err));
    TRY(json_more_id(top, "version", &p->arena, &p->version, err));
    TRY(parse_kind(p, top, err));
    TRY(refuse_keys(p, top, err));
    is_completion = p->kind == PROMPT_COMPLETION;
    TRY(json_more_text_or(top, "description", "", &p->arena, &p->description, err));
    TRY(json_more_text_or(top, "preamble", "", &p->arena, &p->preamble, err));
    TRY(json_more_text_or(top, "system", "", &p->arena, &p->system, err));
    TRY(parse_template(top, "document", "{text}", false, &p->arena, &p->document, err));
    TRY(parse_template(top, "turn", "{user}", is_completion, &p->arena, &p->turn, err));
    TRY(parse_template(top, "reply", "{reply}", is_completion, &p->arena, &p->reply, err));
    return json_more_texts(top, "stop", 0, &p->arena, &p->stop, &p->n_stop, err);
}

enum status prompt_parse(struct prompt *ret, const char *name, const char *text, size_t len, struct error *err)
{
    AUTO(prompt) p = {0};
    AUTO(json) j = {0};
    struct json_at top;

    TRY(json_parse(&j, name, text, len, err));
    top = json_top(&j);
    TRY(parse(&p, &top, err));
    TRY(arena_strndup(&p.arena, text, len, &p.json, err));
    TRY(sha256_bytes(&p.hash, text, len, err));
    *ret = p;
    memset(&p, 0, sizeof p);
    return OK;
}

enum status prompt_read(struct prompt *ret, const char *path, struct error *err)
{
    AUTO(buf) text = {.limit = MAX_FILE_BYTES};

    TRY(file_read(path, MAX_FILE_BYTES, &text, err));
    return prompt_parse(ret, path, buf_text(&text), text.len, err);
}
