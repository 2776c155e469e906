#include "core/base/rng.h"
#include "core/base/scope.h"
#include "core/client/chunk_plain.h"
#include "tests/support/must.h"
#include "tests/support/stream.h"

#include <string.h>

static const char *const seeds[] = {
    "{\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1796074015,\"model\":\"m\",\"choices\":[{"
    "\"index\":0,"
    "\"delta\":{\"content\":\" a\\n\\\"b\\\\ "
    "\\u4e16\\u00e9/\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}",
    "{\"id\": \"x\", \"model\": \"m\", \"choices\": [{\"text\": \" caf\xC3\xA9\", \"index\": 0, \"finish_reason\": "
    "\"stop\"}]}",
    "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}",
    "{\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}],\"created\":-5}",
    "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"delta\":{\"content\":null},\"finish_reason\":\"stop\","
    "\"finish_reason\":null}],\"model\":\"m\",\"model\":\"n\"}",
};
enum { N_SEEDS = sizeof seeds / sizeof *seeds };

Test(chunk_plain, takes_the_common_forms)
{
    size_t i;

    for (i = 0; i < N_SEEDS; i++) {
        AUTO(chunk) c = {0};

        chunk_clear(&c);
        cr_assert(chunk_plain(&c, seeds[i], strlen(seeds[i])) == (i + 1 < N_SEEDS), "seed %zu", i);
        if (i == 0)
            cr_assert(eq(str, c.content.data, " a\n\"b\\ 世é/"));
    }
}

Test(chunk_plain, leaves_to_the_long_way_what_is_not_plain)
{
    static const char *const others[] = {
        "",
        "{}",
        "[]",
        "{\"choices\":[]}",
        "{\"choices\":[{},{}]}",
        "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"\\ud83d\\ude00\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"\\u0000\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"\\x\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"\xFF\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]} {}",
        "{\"choices\":[{\"delta\":{\"reasoning\":\"a\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"error\":{\"message\":\"no\"}}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":5}}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]",
    };
    size_t i;

    for (i = 0; i < sizeof others / sizeof *others; i++) {
        AUTO(chunk) c = {0};

        chunk_clear(&c);
        cr_assert(not(chunk_plain(&c, others[i], strlen(others[i]))), "%s", others[i]);
        cr_assert(c.content.len == 0 && c.n_pieces == 0);
    }
}

/* What the short way takes, the long way reads the same: inside an array no object goes the short way. */
static void compare(const char *text, size_t len)
{
    struct error err = {0};
    AUTO(chunk) quick = {0};
    AUTO(chunk) slow = {0};
    AUTO(buf) list = {0};
    bool says_more;

    chunk_clear(&quick);
    chunk_clear(&slow);
    if (!chunk_plain(&quick, text, len))
        return;
    buf_putc(&list, '[');
    buf_append(&list, text, len);
    buf_putc(&list, ']');
    MUST(chunk_read(&slow, list.data, list.len, &err));
    cr_assert(not(slow.is_garbage), "%s", list.data);
    cr_assert(eq(str, (char *)buf_text(&quick.content), (char *)buf_text(&slow.content)));
    cr_assert(eq(str, (char *)buf_text(&quick.finish_reason), (char *)buf_text(&slow.finish_reason)));
    cr_assert(eq(str, (char *)buf_text(&quick.model), (char *)buf_text(&slow.model)));
    cr_assert(eq(u64, quick.n_pieces, slow.n_pieces));
    says_more = slow.is_error || slow.has_reasoning || slow.has_tool_call;
    cr_assert(not(says_more), "%s", list.data);
    cr_assert(slow.prompt_tokens == -1 && slow.completion_tokens == -1);
}

static const char *const bits[] = {"\"",
                                   "\\",
                                   "null",
                                   "{",
                                   "}",
                                   "[",
                                   "]",
                                   ",",
                                   ":",
                                   "\"content\":\"x\"",
                                   "0",
                                   "\\u00e9",
                                   "\\ud83d",
                                   "\xC3",
                                   " ",
                                   "\"delta\":{\"content\":\"y\"}",
                                   "\"text\":\"z\"",
                                   "\"index\":1"};

/* One of the bits in the place of up to eleven bytes somewhere. */
static void compare_mutant(const char *seed, size_t len, uint64_t n)
{
    struct rng_block r = rng_at(1, 2, n);
    size_t at = r.word[1] % len, cut = r.word[2] % 3 * (r.word[3] % 12);
    AUTO(buf) text = {0};

    if (cut > len - at)
        cut = len - at;
    buf_append(&text, seed, at);
    buf_puts(&text, bits[r.word[0] % (sizeof bits / sizeof *bits)]);
    buf_append(&text, seed + at + cut, len - at - cut);
    compare(text.data, text.len);
}

Test(chunk_plain, agrees_with_the_long_way_on_mutations)
{
    uint64_t n, i;

    for (n = 0; n < 40000; n++)
        compare_mutant(seeds[n % N_SEEDS], strlen(seeds[n % N_SEEDS]), n);
    for (i = 0; i < N_SEEDS; i++)
        compare(seeds[i], strlen(seeds[i]));
}

/* Counts the JSON texts of a stream that the short way takes; compares each, and mutants of it, with the long way. */
static size_t compare_stream(const struct stream *s)
{
    const char *at = buf_text(&s->bytes), *end = at + s->bytes.len;
    size_t n = 0;

    while ((at = memmem(at, (size_t)(end - at), "{\"", 2)) != NULL) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((lf ? lf : end) - at), k;
        AUTO(chunk) c = {0};

        chunk_clear(&c);
        n += chunk_plain(&c, at, len);
        compare(at, len);
        for (k = 0; k < 40; k++)
            compare_mutant(at, len, n * 40 + k);
        at += len;
    }
    return n;
}

Test(chunk_plain, agrees_with_the_long_way_on_recorded_streams_and_their_mutations)
{
    static const char *const names[] = {
        "err-route",   "err-toolong",   "fact-capital-t1",     "fs-capital",       "fs-json",    "fs-utf8",
        "interrupted", "nostream-chat", "nostream-completion", "plain-completion", "plain-utf8", "queued-ping",
    };
    size_t n = 0, i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO(stream) s = {0};

        stream_init(&s);
        stream_load(&s, names[i]);
        n += compare_stream(&s);
    }
    cr_assert(gt(sz, n, 200)); /* nearly all events go the short way, else it would be of no use */
}
