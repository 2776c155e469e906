/* prompt.h - a prompt version: how a conversation of a task set is put to the model. */
#ifndef CORE_IO_PROMPT_H
#define CORE_IO_PROMPT_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/sha256.h"

#include <stddef.h>

enum { PROMPT_SCHEMA = 1 };

enum prompt_kind {
    PROMPT_COMPLETION, /* one text: preamble, documents, earlier turns with their replies, the new turn */
    PROMPT_CHAT        /* messages: system, then user and assistant in turn                            */
};

/* Texts are "" where the file states none. */
struct prompt {
    struct arena arena; /* owns every text */
    char *version;
    char *json;         /* the file's text */
    struct sha256 hash; /* of its bytes */
    enum prompt_kind kind;
    char *description;
    char *preamble; /* PROMPT_COMPLETION */
    char *document; /* template, "{text}" stands for a document's text */
    char *turn;     /* PROMPT_COMPLETION: template with "{user}"       */
    char *reply;    /* PROMPT_COMPLETION: template with "{reply}"      */
    char *system;   /* PROMPT_CHAT */
    char **stop;    /* [n_stop] */
    size_t n_stop;
};

/* Checked against the format; errors name file and JSON pointer. */
MUST_CHECK enum status prompt_read(struct prompt *ret, const char *path, struct error *err);
MUST_CHECK enum status prompt_parse(struct prompt *ret, const char *name, const char *text, size_t len,
                                    struct error *err);
void prompt_done(struct prompt *p);

#endif
