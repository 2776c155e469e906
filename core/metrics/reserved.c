#include "core/metrics/reserved.h"

#include "core/metrics/registry.h"

#include <string.h>

static const struct reserved table[] = {
    {"context.truncated_at_85", "1", "share of prompts that were cut where 85 % or more of the context was in use"},
    {"context.truncated_at_92", "1", "share of prompts that were cut where 92 % or more of the context was in use"},
    {"intent.ecr", "1",
     "embedding consistency: by how much neighbouring replies of a conversation drift apart, a turn"},
    {"kv.hit_rate", "1", "share of looked-up key-value cache blocks that were there"},
    {"kv.block_conflicts", "1", "share of key-value cache blocks that two requests contended for"},
    {"retrieval.recall_at_5", "1", "share of needed documents among the first five that were retrieved"},
    {"retrieval.rerank_confidence", "1", "mean score of the reranker for what it put first"},
    {"reply.hallucination_index", "1", "share of a reply's statements that its sources do not carry"},
    {"server.memory_growth", "MB/min", "slope of the server's memory under steady load"},
};

enum { N_RESERVED = sizeof table / sizeof *table };

const struct reserved *reserved_all(size_t *ret_n)
{
    *ret_n = N_RESERVED;
    return table;
}

const struct reserved *reserved_find(const char *name)
{
    size_t i;

    for (i = 0; i < N_RESERVED; i++)
        if (strcmp(table[i].name, name) == 0)
            return metric_find(name) ? NULL : &table[i];
    return NULL;
}

bool reserved_glob_known(const char *glob)
{
    size_t i;

    for (i = 0; i < N_RESERVED; i++)
        if (metric_glob_matches(glob, table[i].name))
            return true;
    return false;
}
