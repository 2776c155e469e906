#include "core/model/provenance.h"

#include <string.h>

static bool is_same(const struct sha256 *a, const struct sha256 *b)
{
    return a->hex[0] && strcmp(a->hex, b->hex) == 0;
}

bool dump_source_is_same(const struct dump_source *a, const struct dump_source *b)
{
    return a->hash.hex[0] && b->hash.hex[0] ? is_same(&a->hash, &b->hash) : is_same(&a->content, &b->content);
}

const struct sha256 *dump_source_hash(const struct dump_source *d)
{
    return d->hash.hex[0] ? &d->hash : &d->content;
}
