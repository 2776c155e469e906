/* cmd.h - what a command is: a name, a table of options, a recipe. A command is one file and one word in commands.c. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/opt.h"
#include "cli/project.h"
#include "core/base/buf.h"
#include "core/base/error.h"

#include <stddef.h>

/* One call of a command. */
struct call {
    const struct command *command;
    struct project project; /* tare.json, or empty */
    struct opts opts;
    struct buf out; /* data for standard output: written once, at the end, when the recipe returned OK */
    int exit_code;  /* when the recipe returned OK: 0, or what the verdict asks for */
};

struct command {
    const char *name;
    const char *operands; /* "BASE CANDIDATE"; "" for none                                   */
    size_t min_words, max_words;
    const char *brief;    /* one line, for the list of commands                              */
    const char *about;    /* paragraphs, a newline between two; wrapped by whoever shows them */
    const char *examples; /* command lines, one a line                                        */
    const struct opt *options;
    size_t n_options;
    enum status (*run)(struct call *c, struct error *err);
};

void call_done(struct call *c);

/* All commands in the order of the help; NULL when there is none of that name, and the nearest name for a message. */
const struct command *const *commands_all(size_t *ret_n);
const struct command *command_find(const char *name);
const char *command_similar(const char *name);

/* Options that several commands have, in one wording. */
#define OPTION_HELP                                                                                                    \
    {                                                                                                                  \
        .name = "help", .letter = 'h', .kind = OPT_FLAG, .help = "show this help and exit"                             \
    }
#define OPTION_PROJECT                                                                                                 \
    {                                                                                                                  \
        .name = "project", .kind = OPT_TEXT, .value = "FILE",                                                          \
        .help = "project file with defaults (default: tare.json in this folder, where there is one)"                   \
    }
#define OPTION_BASELINES                                                                                               \
    {                                                                                                                  \
        .name = "baselines", .kind = OPT_TEXT, .value = "DIR", .key = "baselines",                                     \
        .help = "folder of the baselines (default: baselines)"                                                         \
    }
#define OPTION_POLICY                                                                                                  \
    {                                                                                                                  \
        .name = "policy", .kind = OPT_TEXT, .value = "FILE", .key = "policy",                                          \
        .help = "policy file, or default, strict or published, which ship (default: default)"                          \
    }
#define OPTION_SEED                                                                                                    \
    {                                                                                                                  \
        .name = "seed", .letter = 's', .kind = OPT_TEXT, .value = "N", .key = "seed",                                  \
        .help = "seed of the random signs (default: 0)"                                                                \
    }
#define OPTION_TEST_DEVICE                                                                                             \
    {                                                                                                                  \
        .name = "device", .kind = OPT_TEXT, .value = "auto|cpu|cuda",                                                  \
        .help =                                                                                                        \
            "where permutation tests count, to the same result; auto takes a GPU for what keeps the CPU for seconds"   \
    }
#define OPTION_MAX_FINDINGS                                                                                            \
    {                                                                                                                  \
        .name = "max-findings", .kind = OPT_TEXT, .value = "N", .key = "max_findings",                                 \
        .help = "findings listed one by one; the rest is counted (default: 50)"                                        \
    }
#define OPTION_QUIET                                                                                                   \
    {                                                                                                                  \
        .name = "quiet", .letter = 'q', .kind = OPT_FLAG, .help = "say nothing but warnings, errors and --json"        \
    }
#define OPTION_VERBOSE                                                                                                 \
    {                                                                                                                  \
        .name = "verbose", .letter = 'v', .kind = OPT_FLAG,                                                            \
        .help = "also the smallest attainable p, bootstrap intervals and how many would decide"                        \
    }
/* Reports of a comparison; `KEY`: of the project file, or NULL. */
#define OPTION_REPORTS(KEY)                                                                                            \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = OPT_LIST, .value = "FILE", .takes_many = true,                        \
        .takes = present_takes, .key = (KEY),                                                                          \
        .help = "report to write, its format by suffix: .html .md .json .csv .junit.xml .prom .txt .svg .png"          \
    }
#define OPTION_JSON                                                                                                    \
    {                                                                                                                  \
        .name = "json", .kind = OPT_FLAG, .help = "JSON on standard output"                                            \
    }

#endif
