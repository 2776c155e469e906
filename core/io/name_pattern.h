/* name_pattern.h - names of arrays with holes: "step.{step}.layer.{layer}", "{sample}/attn_{layer}". */
#ifndef CORE_IO_NAME_PATTERN_H
#define CORE_IO_NAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Layers and steps are digits; a sample is any text without a slash, as short as the rest allows. */
enum name_pattern_hole { HOLE_LAYER, HOLE_STEP, HOLE_SAMPLE, N_NAME_HOLES };

struct name_pattern {
    const char *text; /* borrowed; NULL = no pattern */
    size_t n_holes;
    enum name_pattern_hole hole[N_NAME_HOLES]; /* in the order of the text, with literals before, between and after */
    const char *literal[N_NAME_HOLES + 1];
    size_t len[N_NAME_HOLES + 1];
};

/* What stands in a hole; len 0 where the pattern has no such hole. Borrowed from the name. */
struct name_pattern_value {
    const char *text;
    size_t len;
};

/* Leading slashes are left out. False where a hole stands there twice, or two holes touch each other, or nothing is
 * left. */
bool name_pattern_parse(const char *text, struct name_pattern *ret);
bool name_pattern_has(const struct name_pattern *p, enum name_pattern_hole hole);

/* Is the name one of the pattern's? */
bool name_pattern_match(const struct name_pattern *p, const char *name, struct name_pattern_value ret[N_NAME_HOLES]);

#endif
