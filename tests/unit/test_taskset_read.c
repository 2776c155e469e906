#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/taskset_read.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(taskset_read, .init = folder_make, .fini = folder_drop);

#define HEAD "{\"schema\":1,\"name\":\"s\",\"version\":\"1.0\",\"tasks\":["
#define TASK "{\"id\":\"a\",\"turns\":[{\"user\":\"hi\"}]}"

static const char full[] =
    "{\"$schema\":\"../taskset.schema.json\",\"schema\":1,\"name\":\"demo\",\"version\":\"1.2\",\"context_limit\":1024,"
    "\"tasks\":[{\"id\":\"pump-en\",\"tags\":[\"en\",\"rag\"],"
    "\"documents\":[{\"id\":\"sheet\",\"text\":\"It weighs 4.1 kg.\"}],"
    "\"turns\":[{\"user\":\"How heavy?\",\"max_tokens\":40,\"reference\":\"4.1 kg\","
    "\"intent\":{\"entities\":[{\"text\":\"4.1 kg\",\"variants\":[\"4100 g\"]}],"
    "\"actions\":[{\"name\":\"full sentence\",\"pattern\":\"[.!]\\\\s*$\"}],"
    "\"must_not\":[{\"pattern\":\"sorry\"},{\"name\":\"no\",\"text\":\"cannot\"}]},"
    "\"needs\":[{\"document\":\"sheet\",\"quote\":\"4.1 kg\"}]},{\"user\":\"\xe4\xbd\xa0\xe5\xa5\xbd\"}]}]}";

Test(taskset_read, reads_every_part)
{
    struct error err = {0};
    AUTO(taskset) t = {0};
    const struct turn *turn;

    MUST(file_write(folder_file("taskset.json"), full, strlen(full), &err));
    MUST(taskset_read(&t, folder_path(), &err));
    cr_assert(eq(str, t.name, "demo"));
    cr_assert(eq(str, t.version, "1.2"));
    cr_assert(eq(i64, t.context_limit, 1024));
    cr_assert(t.n_tasks == 1 && t.tasks[0].n_turns == 2 && t.tasks[0].n_tags == 2);
    cr_assert(eq(str, t.tasks[0].documents[0].text, "It weighs 4.1 kg."));
    turn = task_turn(taskset_find(&t, "pump-en"), 1);
    cr_assert(turn != NULL);
    cr_assert(turn->n_entities == 1 && turn->entities[0].n == 2);
    cr_assert(eq(str, turn->entities[0].text[0], "4.1 kg"));
    cr_assert(eq(str, turn->entities[0].text[1], "4100 g"));
    cr_assert(eq(str, turn->actions[0].pattern, "[.!]\\s*$"));
    cr_assert(turn->n_must_not == 2 && turn->must_not[1].pattern == NULL);
    cr_assert(eq(str, turn->must_not[1].text, "cannot"));
    cr_assert(eq(i64, turn->max_tokens, 40));
    cr_assert(eq(str, turn->needs[0].quote, "4.1 kg"));
    cr_assert(t.tasks[0].turns[1].reference == NULL && t.tasks[0].turns[1].max_tokens == 0);
    cr_assert(t.json_len == strlen(full) && memcmp(t.json, full, t.json_len) == 0);
}

Test(taskset_read, the_file_itself_may_be_named)
{
    struct error err = {0};
    AUTO(taskset) t = {0};

    MUST(file_write(folder_file("other.json"), full, strlen(full), &err));
    MUST(taskset_read(&t, folder_file("other.json"), &err));
    cr_assert(eq(sz, t.n_tasks, 1));
}

Test(taskset_read, says_what_is_wrong_and_where)
{
    static const char *const cases[][2] = {
        {"", "not valid JSON"},
        {"\xff", "not valid JSON"},
        {"3", "not valid JSON"},
        {"[]", "expected an object"},
        {"{\"schema\":2}", "written for a newer tare (schema 2)"},
        {"{\"schema\":1,\"name\":\"s\",\"task\":[]}", "unknown key 'task', did you mean 'tasks'?"},
        {"{\"schema\":1,\"name\":\"s\"}", "'tasks' is missing"},
        {HEAD "]}", "at /tasks: a task set needs at least one task"},
        {HEAD "7]}", "at /tasks/0: expected an object"},
        {HEAD "{\"id\":\"a b\",\"turns\":[]}]}", "at /tasks/0/id: 'a b' is no name"},
        {HEAD "{\"id\":\"\",\"turns\":[]}]}", "at /tasks/0/id: '' is no name"},
        {HEAD "{\"id\":\"a\"}]}", "at /tasks/0: 'turns' is missing"},
        {HEAD "{\"id\":\"a\",\"turns\":[]}]}", "task 'a' needs at least one turn"},
        {HEAD "{\"id\":\"a\",\"turns\":[{}]}]}", "at /tasks/0/turns/0: 'user' is missing"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"\"}]}]}", "at /tasks/0/turns/0/user: the text may not be empty"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"max_tokens\":0}]}]}", "0 is not between 1"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"max_tokens\":1.5}]}]}", "expected a whole number"},
        {HEAD TASK "," TASK "]}", "at /tasks/1: a task 'a' stands there before"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"intent\":{\"entity\":[]}}]}]}", "unknown key 'entity'"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"intent\":{\"actions\":[{\"pattern\":\"x\"}]}}]}]}",
         "'name' is missing"},
        {HEAD
         "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"intent\":{\"actions\":[{\"name\":\"n\",\"pattern\":\"(x\"}]}}]}]}",
         "at /tasks/0/turns/0/intent/actions/0/pattern: not a valid pattern at byte 2: missing closing parenthesis"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"intent\":{\"must_not\":[{}]}}]}]}",
         "write either 'pattern' or 'text'"},
        {HEAD
         "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"intent\":{\"must_not\":[{\"text\":\"a\",\"pattern\":\"b\"}]}}]}]}",
         "write either 'pattern' or 'text'"},
        {HEAD "{\"id\":\"a\",\"turns\":[{\"user\":\"x\",\"needs\":[{\"document\":\"d\",\"quote\":\"q\"}]}]}]}",
         "task 'a' has no document 'd'"},
        {HEAD "{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":\"t\"}],\"turns\":[{\"user\":\"x\",\"needs\":"
              "[{\"document\":\"d\",\"quote\":\"q\"}]}]}]}",
         "at /tasks/0/turns/0/needs/0: the quote does not stand word for word in document 'd'"},
        {HEAD
         "{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":\"t\"},{\"id\":\"d\",\"text\":\"t\"}],\"turns\":[]}]}",
         "at /tasks/0/documents/1: document 'd' stands there twice"},
        {HEAD "{\"id\":\"a\",\"tags\":[\"x\\u0000\"],\"turns\":[{\"user\":\"x\"}]}]}", "NUL"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(taskset) t = {0};

        cr_assert(taskset_parse(&t, "t.json", cases[i][0], strlen(cases[i][0]), &err) == ERR_FORMAT, "%s was taken",
                  cases[i][0]);
        cr_assert(strstr(err.message, cases[i][1]) != NULL && strstr(err.message, "t.json") != NULL, "'%s': %s",
                  cases[i][1], err.message);
        cr_assert(t.tasks == NULL);
    }
}

Test(taskset_read, every_cut_of_a_good_file_is_refused)
{
    size_t len;

    for (len = 0; len < strlen(full); len++) {
        struct error err = {0};
        AUTO(taskset) t = {0};

        cr_assert(taskset_parse(&t, "t.json", full, len, &err) == ERR_FORMAT, "%zu bytes were taken", len);
    }
}

Test(taskset_read, missing_files_are_io_errors)
{
    struct error err = {0};
    AUTO(taskset) t = {0};

    cr_assert(taskset_read(&t, folder_file("none"), &err) == ERR_IO);
    error_clear(&err);
    cr_assert(taskset_read(&t, folder_path(), &err) == ERR_IO);
    cr_assert(strstr(err.message, "taskset.json") != NULL, "%s", err.message);
}
