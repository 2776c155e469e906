#include "cli/project.h"

#include "core/base/file.h"
#include "core/base/scope.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt table[] = {
    {.name = "taskset", .kind = OPT_TEXT, .value = "DIR", .key = "taskset"},
    {.name = "replay", .kind = OPT_TEXT, .value = "DIR", .key = "replay"},
    {.name = "dump", .kind = OPT_LIST, .value = "FILE", .key = "dumps"},
    {.name = "policy", .kind = OPT_TEXT, .value = "FILE", .key = "policy"},
    {.name = "seed", .kind = OPT_TEXT, .value = "N", .key = "seed"},
    {.name = "device", .kind = OPT_TEXT, .value = "auto|cpu|cuda", .key = "device"},
    {.name = "reproducible", .kind = OPT_FLAG, .key = "reproducible"},
};

enum { N_TABLE = sizeof table / sizeof *table };

/* Reads `text` as a project file in a folder of its own and applies it to `argv`. */
static enum status apply(struct project *p, struct opts *o, const char *text, char **argv, struct error *err)
{
    char dir[] = "/tmp/tare-project-XXXXXX", path[64];
    enum status st;

    cr_assert(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/p.json", dir);
    cr_assert(file_write(path, text, strlen(text), err) == OK);
    cr_assert(opts_parse(o, table, N_TABLE, argv, err) == OK);
    st = project_read(p, path, err);
    if (st == OK)
        st = project_apply(p, o, err);
    unlink(path);
    rmdir(dir);
    return st;
}

Test(project, paths_are_relative_to_its_folder_and_names_are_not)
{
    AUTO(project) p = {0};
    AUTO(opts) o = {0};
    struct error err = {0};
    char *argv[] = {NULL};
    const char *taskset;

    cr_assert(apply(&p, &o,
                    "{\"schema\": 1, \"taskset\": \"sets/a\", \"policy\": \"strict\", \"seed\": 7, \"dumps\": "
                    "[\"x.h5\", \"/abs/y.h5\"], \"reproducible\": true}",
                    argv, &err) == OK,
              "%s", err.message);
    taskset = opts_text(&o, "taskset", "");
    cr_assert(strncmp(taskset, "/tmp/tare-project-", 18) == 0 && strstr(taskset, "/sets/a"), "%s", taskset);
    cr_assert(eq(str, (char *)opts_text(&o, "policy", ""), "strict"));
    cr_assert(eq(str, (char *)opts_text(&o, "seed", ""), "7"));
    cr_assert(opts_flag(&o, "reproducible"));
    {
        size_t n;
        const char *const *dumps = opts_list(&o, "dump", &n);

        cr_assert(eq(sz, n, 2));
        cr_assert(eq(str, (char *)dumps[1], "/abs/y.h5"));
    }
}

Test(project, the_command_line_wins_and_a_source_named_there_sets_both_aside)
{
    AUTO(project) p = {0};
    AUTO(opts) o = {0};
    struct error err = {0};
    char *argv[] = {"--replay", "mine", "--seed", "1", NULL};

    cr_assert(apply(&p, &o, "{\"schema\": 1, \"replay\": \"r\", \"dumps\": [\"x.h5\"], \"seed\": 7}", argv, &err) ==
              OK);
    cr_assert(eq(str, (char *)opts_text(&o, "replay", ""), "mine"));
    cr_assert(eq(str, (char *)opts_text(&o, "seed", ""), "1"));
    cr_assert(not(opts_given(&o, "dump")));
}

Test(project, a_bad_file_is_a_wrong_configuration_that_names_the_place)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "not valid JSON"},
        {"{\"schema\": 1", "not valid JSON"},
        {"[]", "expected an object"},
        {"{}", "'schema' is missing"},
        {"{\"schema\": 2}", "newer"},
        {"{\"schema\": \"1\"}", "/schema"},
        {"{\"schema\": 1, \"tasksett\": \"x\"}", "did you mean 'taskset'?"},
        {"{\"schema\": 1, \"taskset\": 3}", "/taskset"},
        {"{\"schema\": 1, \"taskset\": \"\"}", "may not be empty"},
        {"{\"schema\": 1, \"taskset\": \"a\\u0000b\"}", "not valid JSON"},
        {"{\"schema\": 1, \"dumps\": \"x.h5\"}", "/dumps"},
        {"{\"schema\": 1, \"dumps\": [1]}", "/dumps/0"},
        {"{\"schema\": 1, \"seed\": -1}", "below 0"},
        {"{\"schema\": 1, \"seed\": 1.5}", "/seed"},
        {"{\"schema\": 1, \"device\": \"gpu\"}", "auto|cpu|cuda"},
        {"{\"schema\": 1, \"reproducible\": 1}", "/reproducible"},
        {"{\"schema\": 1, \"schema\": 1}", "duplicate"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(project) p = {0};
        AUTO(opts) o = {0};
        struct error err = {0};
        char *argv[] = {NULL};

        cr_assert(apply(&p, &o, rows[i].text, argv, &err) == ERR_USAGE, "%s", rows[i].text);
        cr_assert(err.code == ERR_USAGE);
        cr_assert(strstr(err.message, rows[i].words) != NULL, "%s: %s", rows[i].text, err.message);
    }
}
