/* hash_job.h - the SHA-256 of a file, taken in a thread of its own while the file is read for other things. */
#ifndef CORE_IO_HASH_JOB_H
#define CORE_IO_HASH_JOB_H

#include "core/base/error.h"
#include "core/base/sha256.h"

struct hash_job;

/* `path` is borrowed until hash_job_finish(). Where no thread can be had the file is hashed at once. */
MUST_CHECK enum status hash_job_start(struct hash_job **ret, const char *path, struct error *err);

/* Waits for the hash and frees the job; `ret` may be NULL, and so may `job`: then there is nothing to do. */
MUST_CHECK enum status hash_job_finish(struct hash_job *job, struct sha256 *ret, struct error *err);

#endif
