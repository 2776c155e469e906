#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/prompt.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(prompt, .init = folder_make, .fini = folder_drop);

static enum status parse(struct prompt *p, const char *text, struct error *err)
{
    return prompt_parse(p, "p.json", text, strlen(text), err);
}

Test(prompt, reads_a_completion_prompt)
{
    static const char text[] = "{\"schema\":1,\"version\":\"v1\",\"kind\":\"completion\",\"preamble\":\"Hi\\n\","
                               "\"document\":\"N: {text}\\n\",\"turn\":\"Q: {user}\\nA:\",\"reply\":\" {reply}\\n\","
                               "\"stop\":[\"\\n\",\"\xe3\x80\x82\"]}";
    struct error err = {0};
    AUTO(prompt) p = {0};

    MUST(file_write(folder_file("v1.json"), text, strlen(text), &err));
    MUST(prompt_read(&p, folder_file("v1.json"), &err));
    cr_assert(eq(str, p.version, "v1"));
    cr_assert(p.kind == PROMPT_COMPLETION);
    cr_assert(eq(str, p.preamble, "Hi\n"));
    cr_assert(eq(str, p.document, "N: {text}\n"));
    cr_assert(eq(str, p.turn, "Q: {user}\nA:"));
    cr_assert(eq(str, p.reply, " {reply}\n"));
    cr_assert(eq(str, p.system, ""));
    cr_assert(p.n_stop == 2 && strcmp(p.stop[1], "\xe3\x80\x82") == 0);
    cr_assert(eq(str, p.json, (char *)text));
    cr_assert(eq(sz, strlen(p.hash.hex), 64));
}

Test(prompt, reads_a_chat_prompt)
{
    struct error err = {0};
    AUTO(prompt) p = {0};

    MUST(parse(&p, "{\"$schema\":\"x\",\"schema\":1,\"version\":\"c\",\"kind\":\"chat\",\"system\":\"Be kind.\"}",
               &err));
    cr_assert(p.kind == PROMPT_CHAT && p.n_stop == 0);
    cr_assert(eq(str, p.system, "Be kind."));
}

Test(prompt, says_what_is_wrong_and_where)
{
    static const char *const cases[][2] = {
        {"", "not valid JSON"},
        {"[]", "expected an object"},
        {"{}", "'schema' is missing"},
        {"{\"schema\":2}", "written for a newer tare (schema 2), this one reads up to 1"},
        {"{\"schema\":0}", "at /schema: schema 0 does not exist"},
        {"{\"schema\":\"1\"}", "at /schema: expected a whole number"},
        {"{\"schema\":1,\"vesion\":\"v\"}", "unknown key 'vesion', did you mean 'version'?"},
        {"{\"schema\":1,\"kind\":\"chat\"}", "'version' is missing"},
        {"{\"schema\":1,\"version\":\"a/b\",\"kind\":\"chat\"}", "at /version: 'a/b' is no name"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"talk\"}", "at /kind: 'talk' is no kind"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"completion\"}", "'turn' is missing"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"completion\",\"turn\":\"{usr}\",\"reply\":\"{reply}\"}",
         "at /turn: the template has no {user}"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"completion\",\"turn\":\"{user}\",\"reply\":\"{reply}\","
         "\"document\":\"text\"}",
         "at /document: the template has no {text}"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"completion\",\"system\":\"s\"}", "has no 'system'"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"preamble\":\"s\"}", "has no 'preamble'"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"stop\":\"x\"}", "at /stop: expected an array"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"stop\":[1]}", "at /stop/0: expected a text"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"stop\":[\"\"]}", "at /stop/0: the text may not be empty"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"system\":\"a\\u0000b\"}", "NUL"},
        {"{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"kind\":\"chat\"}", "not valid JSON"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(prompt) p = {0};

        cr_assert(parse(&p, cases[i][0], &err) == ERR_FORMAT, "%s was taken", cases[i][0]);
        cr_assert(strstr(err.message, cases[i][1]) != NULL && strstr(err.message, "p.json") != NULL, "'%s': %s",
                  cases[i][1], err.message);
        cr_assert(p.version == NULL);
    }
}

Test(prompt, a_missing_file_is_an_io_error)
{
    struct error err = {0};
    AUTO(prompt) p = {0};

    cr_assert(prompt_read(&p, folder_file("none.json"), &err) == ERR_IO);
}
