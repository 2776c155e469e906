#include "tests/support/endpoint.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void *serve(void *mock)
{
    if (mock_serve(mock, NULL) != OK)
        abort();
    return NULL;
}

void endpoint_start(struct endpoint *e, const struct mock_opts *opts)
{
    struct mock_opts none = {0};

    memset(e, 0, sizeof *e);
    if (mock_new(&e->mock, opts ? opts : &none, NULL) != OK || pthread_create(&e->thread, NULL, serve, e->mock) != 0)
        abort();
    snprintf(e->url, sizeof e->url, "http://127.0.0.1:%u/v1", mock_port(e->mock));
}

void endpoint_stop(struct endpoint *e)
{
    mock_stop(e->mock);
    pthread_join(e->thread, NULL);
}

void endpoint_done(struct endpoint *e)
{
    mock_free(e->mock);
    memset(e, 0, sizeof *e);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int dial(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 2};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        abort();
    return fd;
}

void endpoint_ask(const struct endpoint *e, const char *path, const char *spec, const char *words, struct stream *ret)
{
    static const char body[] =
        "{\"model\":\"mock\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    char request[2048], text[65536];
    int fd = dial(mock_port(e->mock));
    ssize_t n;

    stream_init(ret);
    n = snprintf(request, sizeof request,
                 "POST %s HTTP/1.1\r\nHost: x\r\nX-Mock: %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", path,
                 spec, sizeof body - 3 + strlen(words));
    n += snprintf(request + n, sizeof request - (size_t)n, body, words);
    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        abort();
    ret->exchange.sent_ns = now_ns();
    while ((n = recv(fd, text, sizeof text, 0)) > 0)
        stream_add(ret, now_ns(), text, (size_t)n);
    if (n == 0)
        stream_add(ret, now_ns(), "", 0);
    close(fd);
}
