/* provenance.h - where a run's numbers come from: what was asked, what answered, on what, computed by whom. */
#ifndef CORE_MODEL_PROVENANCE_H
#define CORE_MODEL_PROVENANCE_H

#include "core/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place where something happened. Texts are "" where not known; borrowed from the run's arena. */
struct place {
    char *host, *os, *cpu, *gpu, *driver;
    char *server;   /* what served the model, with its version; observed_on only */
    char *when_utc; /* ISO 8601                                                    */
    int64_t cores;  /* 0 unknown */
};

struct dump_source {
    char *path;
    struct sha256 hash;    /* of the file's bytes; "" where the file is large and nobody asked for it */
    struct sha256 content; /* of what was measured, core/metrics/attention_content.h; "" where nothing was */
    char *model_name;      /* attributes of the dump, "" where it has none */
    char *weights_sha256;
    char *prompt_version;
    char *prompt_sha256;
    char *compute_dtype, *store_dtype;
    char *capture; /* what captured it, with versions */
    char *variant;
    char *layout; /* the layout map that it was read with, JSON in one line; "" where it had none */
};

/* By the hashes of both files where they are known, else by those of their contents. */
bool dump_source_is_same(const struct dump_source *a, const struct dump_source *b);

/* The one to show: of the file where it is known. */
const struct sha256 *dump_source_hash(const struct dump_source *d);

struct provenance {
    char *taskset_name, *taskset_version;
    struct sha256 taskset_hash;
    char *prompt_version;
    struct sha256 prompt_hash; /* of the prompt file's bytes                     */
    char *model_asked, *model_served;
    char *weights_version;
    char *weights_sha256;
    char *sampling;               /* canonical JSON: sorted keys, no spaces          */
    char *source;                 /* "recording", "replay", "dump", "endpoint", …: what observations came from */
    struct sha256 recording_hash; /* of the manifest's bytes                         */
    int64_t context_limit;        /* tokens; 0 unknown                               */
    char *context_limit_from;     /* "option", "server", "taskset" or ""             */
    char *entropy_eps, *collapse; /* how attention was measured, as tare run takes it; "" by default */
    char *goodput;                /* limits of latency, "ttft:200 tpot:50"; "" none   */
    char *single_tokens_per_s;    /* throughput.total with one request at a time, see --single; "" none */
    struct dump_source *dumps;    /* [n_dumps], in the run's arena */
    size_t n_dumps;
    struct place observed_on, computed_on;
    char *load; /* how a live endpoint was asked, and how well that went: JSON; "" for other sources */
    char *tool_version, *tool_build; /* version; compiler, flags, backends, instruction set */
    uint64_t seed;
    bool implicit_sink, mask_checked; /* how attention was measured, too */
    bool is_client_bound;             /* the client, not the server, may have made the latencies: they decide nothing */
    bool is_complete;
    bool is_reproducible; /* time and host left out */
};

#endif
