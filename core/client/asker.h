/* asker.h - single questions to a server beside the load: one after the other, over a connection that stays. */
#ifndef CORE_CLIENT_ASKER_H
#define CORE_CLIENT_ASKER_H

#include "core/base/error.h"
#include "core/client/head.h"
#include "core/client/transport.h"

#include <jansson.h>

struct asker {
    struct transport transport;
    struct transfer transfer; /* the last question and its answer */
    const struct head *head;  /* borrowed                         */
    bool is_over;
};

/* Release with asker_done(); it may not be moved. */
MUST_CHECK enum status asker_init(struct asker *a, const struct transport_options *o, const struct head *head,
                                  struct error *err);
void asker_done(struct asker *a);

/* Asks and waits, some seconds at most; `body` NULL: a GET. `ret` is the answer's JSON, owned by the caller, or NULL
 * when it is no success or no JSON: that is no error. */
MUST_CHECK enum status asker_ask(struct asker *a, const char *url, const char *body, json_t **ret, struct error *err);

#endif
