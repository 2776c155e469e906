#include "tests/mock/mock_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void mock_log_done(struct mock_log *log)
{
    size_t i;

    for (i = 0; i < log->n; i++)
        free(log->records[i].sent_ns);
    free(log->records);
    memset(log, 0, sizeof *log);
}

static void *grow(void *array, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? 2 * *cap : 64;
    array = realloc(array, *cap * size);
    if (!array)
        abort(); /* a test's server without memory is no use to anyone */
    return array;
}

size_t mock_log_begin(struct mock_log *log, uint64_t id, int64_t received_ns, int64_t begin_ns)
{
    log->records = grow(log->records, &log->cap, log->n, sizeof *log->records);
    log->records[log->n] = (struct mock_record){.id = id, .received_ns = received_ns, .begin_ns = begin_ns, .end = ""};
    log->n_open++;
    log->peak_open = log->n_open > log->peak_open ? log->n_open : log->peak_open;
    return log->n++;
}

void mock_log_sent(struct mock_log *log, size_t record, uint64_t n_tokens, int64_t t_ns)
{
    struct mock_record *r = &log->records[record];

    while (n_tokens--) {
        r->sent_ns = grow(r->sent_ns, &r->cap, r->n, sizeof *r->sent_ns);
        r->sent_ns[r->n++] = t_ns;
    }
}

void mock_log_end(struct mock_log *log, size_t record, const char *end)
{
    if (log->records[record].end[0])
        return;
    log->records[record].end = end;
    log->n_open--;
}

static void write_record(FILE *f, const struct mock_record *r)
{
    size_t i;

    fprintf(
        f, "{\"request\":%" PRIu64 ",\"received_ns\":%" PRId64 ",\"begin_ns\":%" PRId64 ",\"end\":\"%s\",\"sent_ns\":[",
        r->id, r->received_ns, r->begin_ns, r->end);
    for (i = 0; i < r->n; i++)
        fprintf(f, "%s%" PRId64, i ? "," : "", r->sent_ns[i]);
    fputs("]}\n", f);
}

enum status mock_log_write(const struct mock_log *log, const char *path, struct error *err)
{
    FILE *f = fopen(path, "w");
    struct timespec cpu = {0};
    size_t i;

    if (!f)
        return error_set(err, ERR_IO, "'%s': cannot be written", path);
    for (i = 0; i < log->n; i++)
        write_record(f, &log->records[i]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    fprintf(f, "{\"replies\":%zu,\"peak_streams\":%zu,\"cpu_s\":%ld.%06ld}\n", log->n, log->peak_open, (long)cpu.tv_sec,
            cpu.tv_nsec / 1000);
    if (fclose(f) != 0)
        return error_set(err, ERR_IO, "'%s': cannot be written", path);
    return OK;
}
