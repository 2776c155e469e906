#include "core/io/taskset_read.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/json_more.h"
#include "core/io/texts.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)64 << 20)
enum { MAX_TASKS = 100000, MAX_TURNS = 10000, MAX_ITEMS = 10000 };

#define ONLY(at, ...)                                                                                                  \
    TRY(json_only_keys(at, (const char *const[]){__VA_ARGS__},                                                         \
                       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), err))

/* Says now, with its place, what would otherwise fail in the middle of a run. */
static enum status check_pattern(const struct json_at *at, const char *pattern, struct error *err)
{
    PCRE2_SIZE offset = 0;
    PCRE2_UCHAR why[120] = "";
    int code = 0;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_CASELESS, &code, &offset, NULL);

    if (!compiled) {
        pcre2_get_error_message(code, why, sizeof why);
        return json_bad(at, err, "not a valid pattern at byte %zu: %s", (size_t)offset, (const char *)why);
    }
    pcre2_code_free(compiled);
    return OK;
}

static enum status parse_rule(struct rule *r, const struct json_at *at, bool needs_name, struct arena *arena,
                              struct error *err)
{
    struct json_at pattern, text;

    ONLY(at, "name", "pattern", "text");
    if (needs_name)
        TRY(json_more_text(at, "name", arena, &r->name, err));
    else
        TRY(json_more_text_or(at, "name", "", arena, &r->name, err));
    TRY(json_opt(at, "pattern", JSON_STRING, &pattern, err));
    TRY(json_opt(at, "text", JSON_STRING, &text, err));
    if (!pattern.value == !text.value)
        return json_bad(at, err, "write either 'pattern' or 'text'");
    if (text.value)
        return json_more_text(at, "text", arena, &r->text, err);
    TRY(json_more_text(at, "pattern", arena, &r->pattern, err));
    return check_pattern(&pattern, r->pattern, err);
}

static enum status parse_rules(const struct json_at *intent, const char *key, bool needs_name, struct arena *arena,
                               struct rule **ret, size_t *ret_n, struct error *err)
{
    struct json_at list, item;
    struct rule *rules = NULL;
    size_t n = 0, i;

    TRY(json_more_list(intent, key, MAX_ITEMS, &list, &n, err));
    TRY(arena_new(arena, n, sizeof *rules, &rules, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        TRY(parse_rule(&rules[i], &item, needs_name, arena, err));
    }
    *ret = rules;
    *ret_n = n;
    return OK;
}

static enum status parse_entities(struct turn *turn, const struct json_at *intent, struct arena *arena,
                                  struct error *err)
{
    struct json_at list, item;
    size_t n = 0, i;

    TRY(json_more_list(intent, "entities", MAX_ITEMS, &list, &n, err));
    TRY(arena_new(arena, n, sizeof *turn->entities, &turn->entities, err));
    for (i = 0; i < n; i++) {
        struct entity *e = &turn->entities[i];
        char *text = NULL;

        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        ONLY(&item, "text", "variants");
        TRY(json_more_text(&item, "text", arena, &text, err));
        TRY(json_more_texts(&item, "variants", 1, arena, &e->text, &e->n, err));
        e->text[0] = text;
    }
    turn->n_entities = n;
    return OK;
}

static enum status parse_intent(struct turn *turn, const struct json_at *at, struct arena *arena, struct error *err)
{
    struct json_at intent;

    TRY(json_opt(at, "intent", JSON_OBJECT, &intent, err));
    if (!intent.value)
        return OK;
    ONLY(&intent, "entities", "actions", "must_not");
    TRY(parse_entities(turn, &intent, arena, err));
    TRY(parse_rules(&intent, "actions", true, arena, &turn->actions, &turn->n_actions, err));
    return parse_rules(&intent, "must_not", false, arena, &turn->must_not, &turn->n_must_not, err);
}

static const struct document *find_document(const struct task *task, const char *id)
{
    size_t i;

    for (i = 0; i < task->n_documents; i++)
        if (strcmp(task->documents[i].id, id) == 0)
            return &task->documents[i];
    return NULL;
}

static enum status parse_need(struct need *need, const struct json_at *at, const struct task *task, struct arena *arena,
                              struct error *err)
{
    const struct document *doc;

    ONLY(at, "document", "quote");
    TRY(json_more_text(at, "document", arena, &need->document, err));
    TRY(json_more_text(at, "quote", arena, &need->quote, err));
    doc = find_document(task, need->document);
    if (!doc)
        return json_bad(at, err, "task '%s' has no document '%.60s'", task->id, need->document);
    if (!strstr(doc->text, need->quote))
        return json_bad(at, err, "the quote does not stand word for word in document '%.60s'", need->document);
    return OK;
}

static enum status parse_needs(struct turn *turn, const struct json_at *at, const struct task *task,
                               struct arena *arena, struct error *err)
{
    struct json_at list, item;
    size_t n = 0, i;

    TRY(json_more_list(at, "needs", MAX_ITEMS, &list, &n, err));
    TRY(arena_new(arena, n, sizeof *turn->needs, &turn->needs, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        TRY(parse_need(&turn->needs[i], &item, task, arena, err));
    }
    turn->n_needs = n;
    return OK;
}

static enum status parse_turn(struct turn *turn, const struct json_at *at, const struct task *task, struct arena *arena,
                              struct error *err)
{
    struct json_at reference;

    ONLY(at, "user", "max_tokens", "intent", "reference", "needs");
    TRY(json_more_text(at, "user", arena, &turn->user, err));
    TRY(json_i64_or(at, "max_tokens", 1, INT32_MAX, 0, &turn->max_tokens, err));
    TRY(json_opt(at, "reference", JSON_STRING, &reference, err));
    if (reference.value)
        TRY(json_more_text(at, "reference", arena, &turn->reference, err));
    TRY(parse_intent(turn, at, arena, err));
    return parse_needs(turn, at, task, arena, err);
}

static enum status parse_turns(struct task *task, const struct json_at *at, struct arena *arena, struct error *err)
{
    struct json_at list, item;
    size_t n = 0, i;

    TRY(json_get(at, "turns", JSON_ARRAY, &list, err));
    TRY(json_more_list(at, "turns", MAX_TURNS, &list, &n, err));
    if (n == 0)
        return json_bad(&list, err, "task '%s' needs at least one turn", task->id);
    TRY(arena_new(arena, n, sizeof *task->turns, &task->turns, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        TRY(parse_turn(&task->turns[i], &item, task, arena, err));
    }
    task->n_turns = n;
    return OK;
}

static enum status parse_documents(struct task *task, const struct json_at *at, struct arena *arena, struct error *err)
{
    struct json_at list, item;
    size_t n = 0, i;

    TRY(json_more_list(at, "documents", MAX_ITEMS, &list, &n, err));
    TRY(arena_new(arena, n, sizeof *task->documents, &task->documents, err));
    for (i = 0; i < n; i++) {
        struct document *doc = &task->documents[i];

        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        ONLY(&item, "id", "text");
        TRY(json_more_text(&item, "id", arena, &doc->id, err));
        TRY(json_more_text(&item, "text", arena, &doc->text, err));
        if (find_document(task, doc->id))
            return json_bad(&item, err, "document '%.60s' stands there twice", doc->id);
        task->n_documents = i + 1;
    }
    return OK;
}

static enum status parse_task(struct task *task, const struct json_at *at, struct arena *arena, struct error *err)
{
    ONLY(at, "id", "tags", "documents", "turns");
    TRY(json_more_id(at, "id", arena, &task->id, err));
    TRY(json_more_texts(at, "tags", 0, arena, &task->tags, &task->n_tags, err));
    TRY(parse_documents(task, at, arena, err));
    return parse_turns(task, at, arena, err);
}

static enum status check_unique(const struct taskset *t, const struct json_at *list, struct error *err)
{
    char **ids = NULL;
    size_t repeated = SIZE_MAX, i;
    struct json_at item;
    enum status st;

    TRY(mem_new(t->n_tasks, sizeof *ids, &ids, err));
    for (i = 0; i < t->n_tasks; i++)
        ids[i] = t->tasks[i].id;
    st = texts_find_repeated(ids, t->n_tasks, &repeated, err);
    free(ids);
    TRY(st);
    if (repeated == SIZE_MAX)
        return OK;
    TRY(json_item(list, repeated, JSON_OBJECT, &item, err));
    return json_bad(&item, err, "a task '%s' stands there before: ids must be unique", t->tasks[repeated].id);
}

static enum status parse_tasks(struct taskset *t, const struct json_at *top, struct error *err)
{
    struct json_at list, item;
    size_t n = 0, i;

    TRY(json_get(top, "tasks", JSON_ARRAY, &list, err));
    TRY(json_more_list(top, "tasks", MAX_TASKS, &list, &n, err));
    if (n == 0)
        return json_bad(&list, err, "a task set needs at least one task");
    TRY(arena_new(&t->arena, n, sizeof *t->tasks, &t->tasks, err));
    for (i = 0; i < n; i++) {
        TRY(json_item(&list, i, JSON_OBJECT, &item, err));
        TRY(parse_task(&t->tasks[i], &item, &t->arena, err));
    }
    t->n_tasks = n;
    return check_unique(t, &list, err);
}

enum status taskset_parse(struct taskset *ret, const char *name, const char *text, size_t len, struct error *err)
{
    AUTO(taskset) t = {0};
    AUTO(json) j = {0};
    struct json_at top;

    TRY(json_parse(&j, name, text, len, err));
    top = json_top(&j);
    TRY(json_is(&top, JSON_OBJECT, err));
    TRY(json_more_schema(&top, TASKSET_SCHEMA, err));
    ONLY(&top, "schema", "name", "version", "description", "context_limit", "tasks");
    TRY(json_more_id(&top, "name", &t.arena, &t.name, err));
    TRY(json_more_text_or(&top, "version", "", &t.arena, &t.version, err));
    TRY(json_more_text_or(&top, "description", "", &t.arena, &t.description, err));
    TRY(json_i64_or(&top, "context_limit", 1, INT64_MAX, 0, &t.context_limit, err));
    TRY(parse_tasks(&t, &top, err));
    TRY(arena_strndup(&t.arena, text, len, &t.json, err));
    t.json_len = len;
    TRY(sha256_bytes(&t.hash, text, len, err));
    *ret = t;
    memset(&t, 0, sizeof t);
    return OK;
}

enum status taskset_read(struct taskset *ret, const char *path, struct error *err)
{
    AUTO(buf) text = {.limit = MAX_FILE_BYTES};
    char *file = NULL;
    enum status st;

    TRY(file_is_dir(path) ? path_join(path, "taskset.json", &file, err) : mem_strdup(path, &file, err));
    st = file_read(file, MAX_FILE_BYTES, &text, err);
    if (st == OK)
        st = taskset_parse(ret, file, buf_text(&text), text.len, err);
    free(file);
    return st;
}
