/* address.h - an address as people write it, to where requests go. */
#ifndef CORE_CLIENT_ADDRESS_H
#define CORE_CLIENT_ADDRESS_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/client/request.h"

/* Texts are in the arena. */
struct address {
    struct arena arena;
    char *url;    /* of the requests: "http://host:8000/v1/chat/completions" */
    char *path;   /* "/v1/chat/completions"                                  */
    char *models; /* "http://host:8000/v1/models"                            */
    char *root;   /* "http://host:8000", and what path stands before "/v1"   */
    char *host;   /* "host"                                                  */
};

/* "http://host:8000", "…/v1", "…/v1/", "…/v1/chat/completions": without a path it is "/v1". ERR_USAGE for what is no
 * http or https address, and for one that holds a name and password, which belong in the environment. */
MUST_CHECK enum status address_parse(struct address *ret, const char *address, enum request_api api, struct error *err);
void address_done(struct address *e);

#endif
