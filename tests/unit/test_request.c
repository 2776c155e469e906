#include "core/base/scope.h"
#include "core/client/request.h"
#include "core/io/taskset_read.h"
#include "tests/support/must.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char tasks_json[] =
    "{\"schema\":1,\"name\":\"t\",\"tasks\":[{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":\"Doc {user}.\"}],"
    "\"turns\":[{\"user\":\"One?\",\"max_tokens\":7},{\"user\":\"Two?\"}]}]}";

static struct request_options options(enum request_api api)
{
    return (struct request_options){.api = api,
                                    .model = "m",
                                    .is_stream = true,
                                    .wants_usage = true,
                                    .temperature = 0,
                                    .top_p = NAN,
                                    .seed = -1,
                                    .max_tokens = 99,
                                    .max_tokens_fields = "max_tokens"};
}

static void check(const struct request_options *o, const char *prompt_json, int64_t turn, const char *want)
{
    struct error err = {0};
    AUTO(taskset) tasks = {0};
    AUTO(prompt) prompt = {0};
    AUTO(buf) body = {0};
    char reply[] = "  Yes. \n", *replies[] = {reply};

    MUST(taskset_parse(&tasks, "tasks", tasks_json, strlen(tasks_json), &err));
    if (prompt_json)
        MUST(prompt_parse(&prompt, "prompt", prompt_json, strlen(prompt_json), &err));
    MUST(request_body(o, prompt_json ? &prompt : NULL, &tasks.tasks[0], turn, replies, &body, &err));
    cr_assert(eq(str, (char *)buf_text(&body), (char *)want));
}

Test(request, a_chat_without_a_prompt_is_documents_and_question)
{
    struct request_options o = options(REQUEST_CHAT);

    check(&o, NULL, 1,
          "{\"model\":\"m\",\"max_tokens\":7,\"temperature\":0,\"messages\":[{\"role\":\"user\",\"content\":"
          "\"Doc {user}.\\n\\nOne?\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

Test(request, a_chat_has_the_system_text_and_trimmed_replies)
{
    struct request_options o = options(REQUEST_CHAT);

    o.is_stream = false;
    check(&o, "{\"schema\":1,\"version\":\"v\",\"kind\":\"chat\",\"system\":\"S\",\"document\":\"[{text}]\"}", 2,
          "{\"model\":\"m\",\"max_tokens\":99,\"temperature\":0,\"messages\":[{\"role\":\"system\",\"content\":\"S\"},"
          "{\"role\":\"user\",\"content\":\"[Doc {user}.]One?\"},{\"role\":\"assistant\",\"content\":\"Yes.\"},"
          "{\"role\":\"user\",\"content\":\"Two?\"}]}");
}

Test(request, a_completion_fills_templates_once)
{
    struct request_options o = options(REQUEST_COMPLETIONS);

    o.is_stream = false;
    o.temperature = 0.5;
    o.seed = 3;
    check(&o,
          "{\"schema\":1,\"version\":\"v\",\"kind\":\"completion\",\"preamble\":\"P\",\"document\":\"N {text}\\n\","
          "\"turn\":\"Q {user}\\nA\",\"reply\":\" {reply}\\n\",\"stop\":[\"\\n\"]}",
          2,
          "{\"model\":\"m\",\"max_tokens\":99,\"temperature\":0.5,\"seed\":3,"
          "\"prompt\":\"PN Doc {user}.\\nQ One?\\nA Yes.\\nQ Two?\\nA\",\"stop\":[\"\\n\"]}");
}

Test(request, extra_members_come_last_and_win)
{
    struct request_options o = options(REQUEST_CHAT);
    json_t *extra = json_pack("{s:i, s:b}", "max_tokens", 5, "ignore_eos", 1);

    o.is_stream = false;
    o.temperature = NAN;
    o.extra = extra;
    o.cache_salt = "s";
    o.max_tokens_fields = "both";
    check(&o, NULL, 1,
          "{\"model\":\"m\",\"max_tokens\":5,\"max_completion_tokens\":7,\"messages\":[{\"role\":\"user\",\"content\":"
          "\"Doc {user}.\\n\\nOne?\"}],\"cache_salt\":\"s\",\"ignore_eos\":true}");
    json_decref(extra);
}

Test(request, sampling_is_canonical)
{
    struct request_options o = options(REQUEST_CHAT);
    struct error err = {0};
    AUTO(taskset) tasks = {0};
    AUTO(buf) text = {0};

    o.top_p = 0.9;
    MUST(taskset_parse(&tasks, "tasks", tasks_json, strlen(tasks_json), &err));
    MUST(request_sampling(&o, &tasks, &text, &err));
    cr_assert(eq(str, text.data, "{\"max_tokens\":\"per turn, else 99\",\"temperature\":0,\"top_p\":0.9}"));
}
