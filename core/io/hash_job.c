#include "core/io/hash_job.h"

#include "core/base/mem.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct hash_job {
    const char *path;
    struct sha256 hash;
    enum status status;
    struct error err;
    pthread_t thread;
    bool has_thread;
};

static void *run(void *arg)
{
    struct hash_job *job = arg;

    job->status = sha256_file(&job->hash, job->path, &job->err);
    return NULL;
}

enum status hash_job_start(struct hash_job **ret, const char *path, struct error *err)
{
    struct hash_job *job = NULL;

    TRY(mem_new(1, sizeof *job, &job, err));
    job->path = path;
    job->has_thread = pthread_create(&job->thread, NULL, run, job) == 0;
    if (!job->has_thread)
        run(job);
    *ret = job;
    return OK;
}

enum status hash_job_finish(struct hash_job *job, struct sha256 *ret, struct error *err)
{
    enum status st;

    if (!job)
        return OK;
    if (job->has_thread)
        pthread_join(job->thread, NULL);
    st = job->status;
    if (st != OK)
        error_set(err, st, "%s", job->err.message);
    else if (ret)
        *ret = job->hash;
    free(job);
    return st;
}
