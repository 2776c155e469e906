/* dump_opts.h - the options that say about a dump what does not stand in it: --layout and --dtype. */
#ifndef CLI_DUMP_OPTS_H
#define CLI_DUMP_OPTS_H

#include "cli/opt.h"
#include "core/io/dump.h"

#define DUMP_OPTIONS                                                                                                   \
    {.name = "layout",                                                                                                 \
     .kind = OPT_TEXT,                                                                                                 \
     .value = "FILE",                                                                                                  \
     .help = "map of dumps that are laid out in another way (share/tare/layout.md)"},                                  \
    {                                                                                                                  \
        .name = "dtype", .kind = OPT_TEXT, .value = "bf16|fp16|e4m3|e5m2",                                             \
        .help = "type of tensors that are stored as bytes without one"                                                 \
    }

/* Texts are borrowed from `o`. */
MUST_CHECK enum status dump_opts_read(const struct opts *o, struct dump_options *ret, struct error *err);

#endif
