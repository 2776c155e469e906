/* pattern.h - a regular expression (PCRE2) that cannot hang: what one match may cost is bounded. */
#ifndef CORE_METRICS_PATTERN_H
#define CORE_METRICS_PATTERN_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Case does not count; \w, \d and \b know Unicode; ^ and $ are the ends of the text. */
struct pattern {
    void *code; /* owned: pcre2_code      */
    char *text; /* owned: for messages    */
};

/* ERR_FORMAT names the place of a mistake, counted in characters from 1. */
MUST_CHECK enum status pattern_init(struct pattern *p, const char *text, struct error *err);
void pattern_done(struct pattern *p);

/* Whether the pattern is found anywhere in valid UTF-8. ERR_FORMAT when the search takes too many steps. */
MUST_CHECK enum status pattern_match(const struct pattern *p, const char *text, size_t len, bool *ret,
                                     struct error *err);

#endif
