/* version.h - which tare this is, and with which libraries. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include "core/base/buf.h"

extern const char tool_version[]; /* "0.1.0" */

/* Compiler, build type, backends: what besides the version decides the bits of a result. */
void version_build(struct buf *out);

void version_libraries(struct buf *out); /* "HDF5 1.10.8, jansson 2.14, …" */
void version_text(struct buf *out);      /* what --version prints; the first line is "tare 0.1.0" */

#endif
