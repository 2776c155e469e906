#include "core/model/redact.h"
#include "tests/support/must.h"

#include <stdlib.h>
#include <string.h>

Test(redact, hides_words_and_keeps_the_rest)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"data: {\"choices\":[{\"delta\":{\"content\":\"a\\\"b\"},\"finish_reason\":\"stop\"}]}\n\n",
         "data: {\"choices\":[{\"delta\":{\"content\":\"xxxx\"},\"finish_reason\":\"stop\"}]}\n\n"},
        {"{\"role\": \"user\", \"content\" : \"\\u4e16\xC3\xA9\"}", "{\"role\": \"user\", \"content\" : \"xxxxxxxx\"}"},
        {"{\"content\":\"\",\"text\":null,\"model\":\"m\"}", "{\"content\":\"\",\"text\":null,\"model\":\"m\"}"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}", "{\"content\":[{\"type\":\"text\",\"text\":\"xx\"}]}"},
        {"{\"logprobs\":{\"content\":[{\"token\":\"hi\",\"bytes\":[104, 105],\"logprob\":-0.5}]}}",
         "{\"logprobs\":{\"content\":[{\"token\":\"xx\",\"bytes\":[0  , 0  ],\"logprob\":-0.5}]}}"},
        {"{\"id\":\"content\",\"x\":\"text\",\"prompt\":\"p\"}",
         "{\"id\":\"content\",\"x\":\"text\",\"prompt\":\"x\"}"},
        {"{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\"}}",
         "{\"function\":{\"name\":\"f\",\"arguments\":\"xxxx\"}}"},
        {": it's a \"ping\ndata: {\"text\":\"a\"}", ": it's a \"ping\ndata: {\"text\":\"x\"}"},
        {"{\"text\":\"cut off", "{\"text\":\"xxxxxxx"},
        {"{\"text\":\"cut off\\", "{\"text\":\"xxxxxxxx"},
        {"\"text\"", "\"text\""},
        {"", ""},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = strdup(cases[i].text);

        redact_json(text, strlen(text));
        cr_assert(eq(str, text, (char *)cases[i].want));
        free(text);
    }
}
