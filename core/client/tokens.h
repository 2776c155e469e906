/* tokens.h - how many tokens the prompts have that were sent, so that a server which reads fewer shows. */
#ifndef CORE_CLIENT_TOKENS_H
#define CORE_CLIENT_TOKENS_H

#include "core/base/error.h"
#include "core/client/address.h"
#include "core/client/head.h"
#include "core/client/transport.h"
#include "core/model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tokens_options {
    bool asks_server;    /* where it has a route for it: vLLM's, llama.cpp's or llama-cpp-python's /tokenize */
    bool estimates;      /* the rest, by the length of the text; marked as such                              */
    int64_t patience_ns; /* for asking, in all */
};

/* Sets tokens_sent of the run's exchanges that have none yet. */
MUST_CHECK enum status tokens_count(struct run *run, const struct tokens_options *o, const struct transport_options *t,
                                    const struct address *e, const struct head *head, struct error *err);

/* About how many tokens a text has: four bytes of ASCII one, other characters one each. */
int64_t tokens_estimate(const char *text);

#endif
