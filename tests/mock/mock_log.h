/* mock_log.h - what the mock server really sent, and when. */
#ifndef TESTS_MOCK_MOCK_LOG_H
#define TESTS_MOCK_MOCK_LOG_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* One reply. Times are of CLOCK_MONOTONIC, taken right before the write. */
struct mock_record {
    uint64_t id; /* as in the reply's "chatcmpl-mock-ID" */
    int64_t received_ns, begin_ns;
    int64_t *sent_ns; /* owned: of each token; the same for those of one event */
    size_t n, cap;
    const char *end; /* "whole", "closed", "reset", "client-left", "" while under way */
};

struct mock_log {
    struct mock_record *records; /* owned */
    size_t n, cap;
    size_t n_open, peak_open;
};

void mock_log_done(struct mock_log *log);

/* Index of a new record. */
size_t mock_log_begin(struct mock_log *log, uint64_t id, int64_t received_ns, int64_t begin_ns);
void mock_log_sent(struct mock_log *log, size_t record, uint64_t n_tokens, int64_t t_ns);
void mock_log_end(struct mock_log *log, size_t record, const char *end);

/* JSON Lines: a line a reply, then one with the peak of replies under way and the CPU time of the process. */
MUST_CHECK enum status mock_log_write(const struct mock_log *log, const char *path, struct error *err);

#endif
