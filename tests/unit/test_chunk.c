#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/chunk.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

struct one {
    const char *json;
    const char *content, *finish, *error;
    int n_pieces;
    int64_t prompt, completion;
    char flags[4]; /* r: reasoning, t: tool call, g: garbage */
};

#define DELTA(members) "{\"choices\":[{\"index\":0,\"delta\":{" members "},\"finish_reason\":null}]}"
#define ERROR(words)   "", "", words, 0, -1, -1, ""
#define NOTHING        "", "", "", 0, -1, -1, ""

static const struct one chunks[] = {
    /* chat */
    {DELTA("\"role\":\"assistant\""), NOTHING},
    {DELTA("\"role\":\"assistant\",\"content\":\"\""), NOTHING},
    {DELTA("\"content\":null,\"tool_calls\":null"), NOTHING},
    {DELTA(""), NOTHING},
    {DELTA("\"content\":\" a\""), " a", "", "", 1, -1, -1, ""},
    {DELTA("\"content\":\"\\u4e16\\u754c \\ud83d\\ude00\""), "世界 😀", "", "", 1, -1, -1, ""},
    {DELTA("\"content\":\"世界\""), "世界", "", "", 1, -1, -1, ""},
    {DELTA("\"content\":[{\"type\":\"text\",\"text\":\"a\"},\"b\",{\"type\":\"thinking\",\"thinking\":[]},3,null]"),
     "ab", "", "", 1, -1, -1, "r"},
    {DELTA("\"content\":[]"), NOTHING},
    {DELTA("\"content\":5"), NOTHING},
    {DELTA("\"refusal\":\"I cannot\""), "I cannot", "", "", 1, -1, -1, ""},
    {DELTA("\"reasoning_content\":\"hm\""), "", "", "", 1, -1, -1, "r"},
    {DELTA("\"reasoning\":\"hm\",\"content\":\"\""), "", "", "", 1, -1, -1, "r"},
    {"{\"choices\":[{\"text\":\"a NaN\",\"logprobs\":{\"top\":[NaN,-Infinity, "
     "Infinity]}}],\"usage\":{\"prompt_tokens\":NaN,"
     "\"completion_tokens\":2}}",
     "a NaN", "", "", 1, -1, 2, ""},
    {DELTA("\"content\":NaNa"), "", "", "", 0, -1, -1, "g"},
    {DELTA("\"reasoning_text\":\"hm\""), "", "", "", 1, -1, -1, "r"},
    {DELTA("\"reasoning\":\"\",\"content\":null"), NOTHING},
    {DELTA("\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\"}]"), "", "", "", 1, -1, -1, "r"},
    {DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]"), "", "", "",
     1, -1, -1, "t"},
    {DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\"}}]"), "", "", "", 1, -1, -1, "t"},
    {DELTA("\"tool_calls\":[{\"function\":{\"arguments\":{\"a\":1}}}]"), "", "", "", 1, -1, -1, "t"},
    {DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}}]"), NOTHING},
    {DELTA("\"tool_calls\":[null,3,[]]"), NOTHING},
    {DELTA("\"function_call\":{\"name\":\"f\"}"), "", "", "", 1, -1, -1, "t"},
    {"{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}", "", "stop", "", 0, -1, -1, ""},
    {"{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}", NOTHING},
    {"{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"all\"},\"finish_reason\":\"length\"}],"
     "\"usage\":{\"prompt_tokens\":14,\"completion_tokens\":24}}",
     "all", "length", "", 1, 14, 24, ""},
    /* completions */
    {"{\"choices\":[{\"text\":\" red\",\"index\":0,\"logprobs\":null,\"finish_reason\":null}]}", " red", "", "", 1, -1,
     -1, ""},
    {"{\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}", "", "length", "", 0, -1, -1, ""},
    {"{\"choices\":[{\"text\":null}]}", NOTHING},
    /* usage */
    {"{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":0}}", "", "", "", 0, 5, 0, ""},
    {"{\"choices\":[{\"text\":\"a\"}],\"usage\":null}", "a", "", "", 1, -1, -1, ""},
    {"{\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":-1}}", NOTHING},
    {"{\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":99999999999}}", NOTHING},
    {"{\"usage\":{\"prompt_tokens\":7.0,\"completion_tokens\":7.5}}", "", "", "", 0, 7, -1, ""},
    {"{\"usage\":{\"prompt_tokens\":\"7\",\"completion_tokens\":true}}", NOTHING},
    {"{\"usage\":[1],\"choices\":{\"a\":1}}", NOTHING},
    {"{\"usage\":{\"prompt_tokens\":99999999999999999999999,\"completion_tokens\":3},\"choices\":[{\"text\":\"a\"}]}",
     "a", "", "", 1, -1, 3, ""},
    {"{\"x_groq\":{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}}", "", "", "", 0, 5, 2, ""},
    /* errors */
    {"{\"error\":{\"message\":\"too long\",\"type\":\"x\",\"code\":400}}", ERROR("too long")},
    {"{\"object\":\"error\",\"message\":\"no model\",\"code\":404}", ERROR("no model")},
    {"{\"error\":\"overloaded\",\"error_type\":\"overloaded\"}", ERROR("overloaded")},
    {"{\"detail\":\"Not Found\"}", ERROR("Not Found")},
    {"{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"bad\"}]}", ERROR("[{\"loc\":[\"body\"],\"msg\":\"bad\"}]")},
    {"{\"message\":\"no route\"}", ERROR("no route")},
    {"{\"error\":{\"code\":7}}", ERROR("{\"code\":7}")},
    {"{\"error\":{\"message\":{\"a\":1}}}", ERROR("{\"message\":{\"a\":1}}")},
    {"{\"error\":true}", ERROR("true")},
    {"{\"type\":\"error\",\"error\":{\"message\":\"busy\"}}", ERROR("busy")},
    {"[{\"error\":{\"message\":\"in a list\"}}]", ERROR("in a list")},
    {"{\"choices\":[{\"delta\":{},\"error\":{\"message\":\"late\"}}]}", ERROR("late")},
    {"{\"error\":null,\"choices\":[]}", NOTHING},
    {"{\"error\":\"\",\"errors\":false}", NOTHING},
    {"{\"error\":{\"message\":\"a\\u001b[31m\\u0000b\"}}", ERROR("a [31m b")},
    {"{\"detail\":\"x\",\"message\":\"y\",\"choices\":[]}", NOTHING},
    /* text-generation-inference */
    {"{\"token\":{\"id\":5,\"text\":\" a\",\"special\":false},\"generated_text\":null,\"details\":null}", " a", "", "",
     1, -1, -1, ""},
    {"{\"token\":{\"text\":\"</s>\",\"special\":true},\"generated_text\":\" a b\",\"details\":"
     "{\"finish_reason\":\"eos_token\",\"generated_tokens\":3,\"input_length\":9}}",
     "", "eos_token", "", 0, 9, 3, ""},
    {"[{\"generated_text\":\"all of it\"}]", "all of it", "", "", 1, -1, -1, ""},
    /* several values, and none */
    {"{\"choices\":[{\"text\":\"a\"}]}{\"choices\":[{\"text\":\"b\",\"finish_reason\":\"stop\"}]}", "ab", "stop", "", 2,
     -1, -1, ""},
    {" {\"choices\":[{\"text\":\"a\"}]} \n {\"choices\":[{\"text\":\"b\"}]} \n", "ab", "", "", 2, -1, -1, ""},
    {"{\"choices\":[{\"text\":\"a\"}]}{\"choices\":[{\"te", "a", "", "", 1, -1, -1, "g"},
    {"{\"choices\":[{\"text\":\"a", "", "", "", 0, -1, -1, "g"},
    {"ping", "", "", "", 0, -1, -1, "g"},
    {"3", "", "", "", 0, -1, -1, "g"},
    {"", NOTHING},
    {"{}", NOTHING},
    {"[]", NOTHING},
    /* what a strict reader refuses */
    {"{\"choices\":[{\"text\":\"a\xFFz\"}]}", "a\xEF\xBF\xBDz", "", "", 1, -1, -1, ""},
    {"{\"choices\":[{\"text\":\"\\udc00x\"}]}", "\xEF\xBF\xBDx", "", "", 1, -1, -1, ""},
    {"{\"choices\":[{\"text\":\"\\\\ud83d\"}]}", "\\ud83d", "", "", 1, -1, -1, ""},
    {"{\"choices\":[{\"text\":\"\xF4\x8F\xA0\x80\"}]}", "\xF4\x8F\xA0\x80", "", "", 1, -1, -1, ""}, /* U+10F800 */
};

Test(chunk, reads_every_shape)
{
    size_t i;

    for (i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        const struct one *o = &chunks[i];
        AUTO(chunk) c = {0};

        chunk_clear(&c);
        cr_assert(eq(int, chunk_read(&c, o->json, strlen(o->json), NULL), OK), "%s", o->json);
        cr_assert(eq(str, (char *)buf_text(&c.content), (char *)o->content), "%s", o->json);
        cr_assert(eq(str, (char *)buf_text(&c.finish_reason), (char *)o->finish), "%s", o->json);
        cr_assert(eq(str, (char *)buf_text(&c.error), (char *)o->error), "%s", o->json);
        cr_assert(eq(int, c.is_error, o->error[0] != '\0'), "%s", o->json);
        cr_assert(eq(int, (int)c.n_pieces, o->n_pieces), "%s", o->json);
        cr_assert(eq(i64, c.prompt_tokens, o->prompt), "%s", o->json);
        cr_assert(eq(i64, c.completion_tokens, o->completion), "%s", o->json);
        cr_assert(eq(int, c.has_reasoning, strchr(o->flags, 'r') != NULL), "%s", o->json);
        cr_assert(eq(int, c.has_tool_call, strchr(o->flags, 't') != NULL), "%s", o->json);
        cr_assert(eq(int, c.is_garbage, strchr(o->flags, 'g') != NULL), "%s", o->json);
    }
}

Test(chunk, joins_a_character_that_two_events_share)
{
    static const char *const events[] = {DELTA("\"content\":\"a\\ud83d\""), DELTA("\"content\":\"\""),
                                         DELTA("\"content\":\"\\ude00b\""), DELTA("\"content\":\"\\ud83d\""),
                                         DELTA("\"content\":\"c\"")};
    struct buf text = {0};
    AUTO(chunk) c = {0};
    size_t i;

    for (i = 0; i < 5; i++) {
        chunk_clear(&c);
        cr_assert(eq(int, chunk_read(&c, events[i], strlen(events[i]), NULL), OK));
        cr_assert(not(c.is_garbage));
        cr_assert(eq(int, (int)c.n_pieces, i != 1), "event %zu", i);
        buf_append(&text, buf_text(&c.content), c.content.len);
    }
    cr_assert(eq(str, (char *)buf_text(&text),
                 "a😀b\xEF\xBF\xBD"
                 "c"));
    buf_done(&text);
}

Test(chunk, keeps_nul_characters_of_the_text)
{
    static const char json[] = DELTA("\"content\":\"a\\u0000b\"");
    AUTO(chunk) c = {0};

    cr_assert(eq(int, chunk_read(&c, json, strlen(json), NULL), OK));
    cr_assert(eq(sz, c.content.len, 3));
}

Test(chunk, deep_nesting_is_garbage_and_no_crash)
{
    size_t n = 1 << 20;
    char *deep = malloc(n);
    AUTO(chunk) c = {0};

    cr_assert(ne(ptr, deep, NULL));
    memset(deep, '[', n);
    cr_assert(eq(int, chunk_read(&c, deep, n, NULL), OK));
    cr_assert(c.is_garbage);
    free(deep);
}

Test(chunk, words_are_cut_between_characters_and_cleaned)
{
    AUTO(buf) words = {0};

    chunk_words(&words, "ab\x1B世\xFFz", 8, 5);
    cr_assert(eq(str, (char *)buf_text(&words), "ab "));
    buf_clear(&words);
    chunk_words(&words, "ab\x1B世\xFFz", 8, 6);
    cr_assert(eq(str, (char *)buf_text(&words), "ab 世"));
    buf_clear(&words);
    chunk_words(&words, "ab\x1B世\xFFz", 8, 500);
    cr_assert(eq(str, (char *)buf_text(&words), "ab 世\xEF\xBF\xBDz"));
    chunk_words(&words, "more", 4, 5);
    cr_assert(eq(str, (char *)buf_text(&words), "ab 世\xEF\xBF\xBDz"));
}

Test(chunk, random_damage_never_breaks_the_reader)
{
    uint64_t round;

    for (round = 0; round < 20000; round++) {
        const struct one *o = &chunks[round % (sizeof chunks / sizeof *chunks)];
        char json[512];
        size_t len = strlen(o->json);
        AUTO(chunk) c = {0};
        uint64_t i;

        memcpy(json, o->json, len);
        for (i = 0; len && i < 1 + round % 4; i++) {
            struct rng_block r = rng_at(3, round, i);

            json[r.word[0] % len] = r.word[2] % 2 ? (char)r.word[1] : "\"\\u{}[],:ud8"[r.word[1] % 12];
        }
        cr_assert(eq(int, chunk_read(&c, json, len - (round % 7 == 0 && len ? 1 : 0), NULL), OK));
    }
}
