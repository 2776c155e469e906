/* probe.h - what a server says of itself when asked: models, version, context limit. */
#ifndef CORE_CLIENT_PROBE_H
#define CORE_CLIENT_PROBE_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/client/address.h"
#include "core/client/head.h"
#include "core/client/transport.h"

#include <stddef.h>
#include <stdint.h>

struct probe {
    struct arena arena; /* owns every text */
    char **models;      /* [n_models] */
    size_t n_models;
    int64_t status;        /* HTTP, of the answer that should have told them                */
    char *server;          /* software and version, as far as it says; "" unknown */
    int64_t context_limit; /* tokens, of the model asked for; 0 unknown           */
};

void probe_done(struct probe *p);

/* GET …/models. ERR_IO when the server cannot be reached; one that knows no such route has no models. */
MUST_CHECK enum status probe_models(struct probe *p, const struct transport_options *o, const struct address *e,
                                    const struct head *head, struct error *err);

/* Software and context limit too: …/models, /version, /props. What a server does not say stays unknown; only memory is
 * an error. */
MUST_CHECK enum status probe_server(struct probe *p, const struct transport_options *o, const struct address *e,
                                    const struct head *head, const char *model, struct error *err);

#endif
