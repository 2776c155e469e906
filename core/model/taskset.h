/* taskset.h - a fixed, versioned set of tasks and what each reply must fulfil. Plain data; core/io reads it. */
#ifndef CORE_MODEL_TASKSET_H
#define CORE_MODEL_TASKSET_H

#include "core/base/arena.h"
#include "core/base/sha256.h"

#include <stddef.h>
#include <stdint.h>

/* Something that must appear in the reply: its text or one of its variants. */
struct entity {
    char **text; /* [n]: the text first, then its variants */
    size_t n;
};

/* A named PCRE2 pattern, or a plain text where pattern is NULL. */
struct rule {
    char *name;
    char *pattern;
    char *text;
};

struct need {
    char *document; /* id of a document of the task */
    char *quote;    /* stands in it word for word   */
};

struct turn {
    char *user;
    int64_t max_tokens; /* 0 = not stated */
    char *reference;    /* may be NULL    */
    struct entity *entities;
    size_t n_entities;
    struct rule *actions;
    size_t n_actions;
    struct rule *must_not;
    size_t n_must_not;
    struct need *needs;
    size_t n_needs;
};

struct document {
    char *id;
    char *text;
};

struct task {
    char *id;
    char **tags;
    size_t n_tags;
    struct document *documents;
    size_t n_documents;
    struct turn *turns;
    size_t n_turns;
};

struct taskset {
    struct arena arena; /* owns everything below */
    char *name;
    char *version;
    char *description;
    int64_t context_limit; /* tokens; 0 = not stated */
    struct task *tasks;
    size_t n_tasks;
    struct sha256 hash; /* of taskset.json's bytes */
    char *json;         /* those bytes, kept in the run so that it can be replayed from its own file */
    size_t json_len;
};

void taskset_done(struct taskset *t);

/* NULL when there is no such task, or `turn` (counted from 1) is not one of its turns. */
const struct task *taskset_find(const struct taskset *t, const char *id);
const struct turn *task_turn(const struct task *task, int64_t turn);

#endif
