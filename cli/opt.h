/* opt.h - a table of options gives parsing, --help, the man page and completion. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
    OPT_FLAG, /* --name; --no-name turns it off again        */
    OPT_TEXT, /* --name VALUE or --name=VALUE; the last wins */
    OPT_LIST  /* repeatable                                  */
};

struct opt {
    const char *name;                /* "taskset"                                                                    */
    const char *value;               /* "DIR"; in lower case the words that may stand there: "auto|cpu|cuda"         */
    const char *help;                /* one line; the default stands at its end                                      */
    const char *key;                 /* the key of tare.json that gives the default; NULL = none                     */
    bool (*takes)(const char *word); /* with takes_many: which following words; NULL = any             */
    enum opt_kind kind;
    char letter;     /* 'o' or 0                                                                       */
    bool takes_many; /* OPT_LIST: following words that are no option belong to it too (--dump FILE...) */
};

/* What was given. */
struct opts {
    const struct opt *table; /* borrowed */
    size_t n_table;
    char ***values; /* owned: [n_table][n_values] */
    size_t *n_values;
    char **words; /* owned: operands */
    size_t n_words;
};

/* Exact names, --no-x, --, "did you mean". ERR_USAGE names the word and what may stand there. `argv` ends in NULL;
 * values are borrowed from it. */
MUST_CHECK enum status opts_parse(struct opts *o, const struct opt *table, size_t n, char **argv, struct error *err);
void opts_done(struct opts *o);

/* A value from the project file for an option that was not given on the command line; again for the next of a list. */
MUST_CHECK enum status opts_default(struct opts *o, const char *name, const char *value, struct error *err);

bool opts_given(const struct opts *o, const char *name);
bool opts_flag(const struct opts *o, const char *name);
const char *opts_text(const struct opts *o, const char *name, const char *other);
const char *const *opts_list(const struct opts *o, const char *name, size_t *ret_n);

/* A whole number in [min, max]; a size in bytes, with K, M, G or T for powers of 1024. `other` when not given. */
MUST_CHECK enum status opts_u64(const struct opts *o, const char *name, uint64_t min, uint64_t max, uint64_t other,
                                uint64_t *ret, struct error *err);
MUST_CHECK enum status opts_bytes(const struct opts *o, const char *name, uint64_t other, uint64_t *ret,
                                  struct error *err);

/* True when `value` lists the words themselves, as "auto|cpu|cuda" does, and not a kind of value, as "NAME|RUN". */
bool opt_has_choices(const struct opt *opt);

#endif
