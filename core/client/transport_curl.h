/* transport_curl.h - the transport's dealings with libcurl: handles, callbacks, what its codes mean. */
#ifndef CORE_CLIENT_TRANSPORT_CURL_H
#define CORE_CLIENT_TRANSPORT_CURL_H

#include "core/base/error.h"
#include "core/client/transport.h"

#include <stdint.h>

MUST_CHECK enum status transport_curl_init(struct transport *t, struct error *err);
void transport_curl_done(struct transport *t);

MUST_CHECK enum status transport_curl_start(struct transport *t, struct transfer *x, struct error *err);

/* Whose the handle of libcurl's is; NULL for nobody's. */
struct transfer *transport_curl_transfer(void *easy);

/* Takes the handle off the transfer, for another one. */
void transport_curl_stop(struct transport *t, struct transfer *x);

/* A socket has something, as epoll says; -1: libcurl's own timer is due. */
void transport_curl_ready(struct transport *t, int fd, uint32_t events);

/* How the transfer came to its end. */
void transport_curl_judge(struct transport *t, struct transfer *x, int code);

#endif
