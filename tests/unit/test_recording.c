#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/recording.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

TestSuite(recording, .init = folder_make, .fini = folder_drop);

#define ONE(more) "{\"schema\":1,\"files\":[{\"file\":\"a.jsonl\",\"task\":\"a\",\"turn\":1" more "}]}"
#define META      "{\"meta\":{}}\n"
#define EVENT(t)  "{\"t_ns\":" #t ",\"b64\":\"Zm9v\"}\n"

static void put(const char *name, const char *text)
{
    struct error err = {0};

    MUST(file_write(folder_file(name), text, strlen(text), &err));
}

static void read_one(struct run *run, const char *stream)
{
    struct error err = {0};

    put("manifest.json", ONE(""));
    put("a.jsonl", stream);
    MUST(run_init(run, &err));
    MUST(recording_read(run, folder_path(), &err));
    cr_assert(eq(sz, run->n_exchanges, 1));
}

Test(recording, reads_the_manifest_into_the_provenance)
{
    struct error err = {0};
    AUTO(run) run = {0};
    const struct provenance *p = &run.provenance;

    put("manifest.json",
        "{\"schema\":1,\"taskset\":\"smoke\",\"taskset_sha256\":"
        "\"ef755bd8136752fae128eba08bfbc1e7d019fa1c6e8a620b0da6a2212f4a483f\",\"prompt_version\":\"v1\","
        "\"model_asked\":\"m\",\"weights_version\":\"w\",\"sampling\":{\"top_p\":0.9,\"max_tokens\":\"per turn\"},"
        "\"context_limit\":1024,\"observed_on\":{\"host\":\"lab\",\"cores\":2,\"server\":\"llama 1\",\"gpu\":null},"
        "\"notes\":\"n\",\"dumps\":[\"attention.h5\"],\"files\":[]}");
    put("attention.h5", "x");
    MUST(run_init(&run, &err));
    MUST(recording_read(&run, folder_path(), &err));
    cr_assert(eq(str, p->taskset_name, "smoke"));
    cr_assert(eq(str, (char *)p->taskset_hash.hex, "ef755bd8136752fae128eba08bfbc1e7d019fa1c6e8a620b0da6a2212f4a483f"));
    cr_assert(eq(str, p->prompt_version, "v1"));
    cr_assert(eq(str, (char *)p->prompt_hash.hex, ""));
    cr_assert(eq(str, p->model_asked, "m"));
    cr_assert(eq(str, p->sampling, "{\"max_tokens\":\"per turn\",\"top_p\":0.9}"));
    cr_assert(eq(i64, p->context_limit, 1024));
    cr_assert(eq(str, p->context_limit_from, "server"));
    cr_assert(eq(str, p->observed_on.server, "llama 1"));
    cr_assert(eq(str, p->observed_on.gpu, ""));
    cr_assert(eq(i64, p->observed_on.cores, 2));
    cr_assert(eq(str, p->source, "recording"));
    cr_assert(eq(sz, strlen(p->recording_hash.hex), 64));
    cr_assert(eq(sz, run.n_exchanges, 0));
}

Test(recording, names_the_dumps_of_the_manifest)
{
    struct error err = {0};
    AUTO(arena) arena = {0};
    char **paths = NULL;
    size_t n = 0;

    put("manifest.json", "{\"schema\":1,\"dumps\":[\"attention.h5\"],\"files\":[]}");
    cr_assert(recording_dumps(folder_path(), &arena, &paths, &n, &err) == ERR_FORMAT);
    error_clear(&err);
    put("attention.h5", "x");
    MUST(recording_dumps(folder_path(), &arena, &paths, &n, &err));
    cr_assert(eq(sz, n, 1));
    cr_assert(eq(str, paths[0], (char *)folder_file("attention.h5")));
    cr_assert(recording_is(folder_path()) && !recording_is(folder_file("attention.h5")));
}

Test(recording, reads_times_bytes_and_what_the_first_line_says)
{
    AUTO(run) run = {0};
    const struct exchange *x;

    read_one(&run,
             "{\"meta\":{\"path\":\"/v1/completions\",\"request\":{\"b\":1,\"a\":0.7},\"sent_ns\":5,"
             "\"scheduled_ns\":3,\"status\":200,\"headers\":{\"server\":\"x\"},\"wall_ns\":1,"
             "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"source\":\"plain request\"}}}\n"
             "{\"t_ns\":10,\"b64\":\"Zm9v\"}\r\n\n{\"t_ns\":10,\"b64\":\"YmFyIQ==\"}\n{\"t_ns\":12,\"b64\":\"\"}");
    x = run.exchanges;
    cr_assert(eq(str, x->path, "/v1/completions"));
    cr_assert(eq(str, x->request, "{\"b\":1,\"a\":0.7}"), "keys keep the order in which they were sent");
    cr_assert(eq(str, x->headers, "server: x\n"));
    cr_assert(x->sent_ns == 5 && x->scheduled_ns == 3 && x->status == 200 && x->repeat == 1);
    cr_assert(x->prompt_tokens == 9 && x->completion_tokens == 4 && !x->has_http_head);
    cr_assert(x->first_event == 0 && x->n_events == 3 && run.n_events == 3);
    cr_assert(run.events[1].t_ns == 10 && run.events[1].offset == 3 && run.events[1].len == 4);
    cr_assert(run.events[2].t_ns == 12 && run.events[2].len == 0);
    cr_assert(run.n_bytes == 7 && memcmp(run.bytes, "foobar!", 7) == 0);
}

Test(recording, reads_the_older_form_with_microseconds)
{
    AUTO(run) run = {0};
    const struct exchange *x;

    read_one(&run, "{\"meta\":{\"status_line\":\"HTTP/1.1 404 Not Found\",\"headers\":[\"a: b\"],\"usage\":null}}\n"
                   "{\"t_us\":7,\"b64\":\"SFRU\"}\n{\"t_us\":9,\"b64\":\"UC8xLjEgNDA0\"}\n");
    x = run.exchanges;
    cr_assert(x->status == 404 && x->has_http_head && x->sent_ns == 0 && x->scheduled_ns == NS_UNKNOWN);
    cr_assert(eq(str, x->headers, ""), "they stand in the bytes");
    cr_assert(run.events[1].t_ns == 9000 && x->prompt_tokens == -1 && x->completion_tokens == -1);
}

Test(recording, counts_of_another_text_are_not_taken_for_its_length)
{
    AUTO(run) run = {0};

    read_one(&run, "{\"meta\":{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"same_text\":false},"
                   "\"framing\":\"http\"}}\n");
    cr_assert(run.exchanges[0].prompt_tokens == 9 && run.exchanges[0].completion_tokens == -1);
    cr_assert(run.exchanges[0].has_http_head && run.exchanges[0].n_events == 0);
}

/* Recorded from a real server. */
Test(recording, reads_real_streams)
{
    static const char *const names[] = {"plain-completion", "nostream-completion", "queued-ping"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO(run) run = {0};
        AUTO(buf) stream = {0};
        AUTO(buf) path = {0};
        struct error err = {0};

        buf_printf(&path, "tests/fixtures/streams/%s.jsonl", names[i]);
        MUST(file_read(buf_text(&path), 1 << 20, &stream, &err));
        read_one(&run, buf_text(&stream));
        cr_assert(run.exchanges[0].has_http_head && run.exchanges[0].status == 200 && run.n_bytes > 0);
    }
}

Test(recording, says_what_is_wrong_with_a_manifest)
{
    static const char *const cases[][2] = {
        {"", "not valid JSON"},
        {"{\"schema\":2}", "written for a newer tare (schema 2)"},
        {"{\"schema\":1}", "'files' is missing"},
        {"{\"schema\":1,\"fils\":[]}", "unknown key 'fils', did you mean 'files'?"},
        {"{\"schema\":1,\"files\":[],\"observed_on\":{\"gpus\":\"x\"}}", "unknown key 'gpus', did you mean 'gpu'?"},
        {"{\"schema\":1,\"files\":[],\"prompt_sha256\":\"AB\"}", "at /prompt_sha256: no SHA-256"},
        {"{\"schema\":1,\"files\":[],\"context_limit\":0}", "0 is not between 1"},
        {"{\"schema\":1,\"files\":[],\"sampling\":3}", "at /sampling: expected an object"},
        {ONE(",\"repeat\":0"), "at /files/0/repeat: 0 is not between 1"},
        {ONE(",\"turns\":0"), "unknown key 'turns', did you mean 'turn'?"},
        {"{\"schema\":1,\"files\":[{\"file\":\"a.jsonl\",\"task\":\"a\"}]}", "at /files/0: 'turn' is missing"},
        {"{\"schema\":1,\"files\":[{\"file\":\"a.jsonl\",\"task\":\"a#1\",\"turn\":1}]}", "'a#1' is no name"},
        {"{\"schema\":1,\"files\":[{\"file\":\"../a.jsonl\",\"task\":\"a\",\"turn\":1}]}",
         "leads out of the recording"},
        {"{\"schema\":1,\"files\":[{\"file\":\"/etc/passwd\",\"task\":\"a\",\"turn\":1}]}",
         "leads out of the recording"},
        {"{\"schema\":1,\"files\":[{\"file\":\"link\",\"task\":\"a\",\"turn\":1}]}", "is a link that leads out"},
        {"{\"schema\":1,\"files\":[{\"file\":\"none\",\"task\":\"a\",\"turn\":1}]}", "cannot be opened"},
        {"{\"schema\":1,\"files\":[{\"file\":\"a.jsonl\",\"task\":\"a\",\"turn\":1},"
         "{\"file\":\"a.jsonl\",\"task\":\"a\",\"turn\":1,\"repeat\":1}]}",
         "at /files/1: task 'a', turn 1, repeat 1 stands there before"},
    };
    size_t i;

    put("a.jsonl", META);
    cr_assert(symlink("/etc/passwd", folder_file("link")) == 0);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(run) run = {0};

        put("manifest.json", cases[i][0]);
        MUST(run_init(&run, &err));
        cr_assert(recording_read(&run, folder_path(), &err) == ERR_FORMAT, "%s was taken", cases[i][0]);
        cr_assert(strstr(err.message, cases[i][1]) != NULL && strstr(err.message, "manifest.json") != NULL, "'%s': %s",
                  cases[i][1], err.message);
    }
}

Test(recording, says_file_and_line_of_a_bad_stream)
{
    static const char *const cases[][2] = {
        {"", "a.jsonl': the file is empty"},
        {"\n\n", "a.jsonl': the file is empty"},
        {EVENT(1), "a.jsonl:1' at /: 'meta' is missing"},
        {"{\"meta\":3}\n", "a.jsonl:1' at /meta: expected an object"},
        {META "{\"t_ns\":1", "a.jsonl:2': not valid JSON"},
        {META EVENT(5) "\n" EVENT(4), "a.jsonl:4' at /: the time goes back: 4 ns after 5 ns"},
        {META "{\"b64\":\"\"}\n", "a.jsonl:2' at /: write the time"},
        {META "{\"t_ns\":1,\"t_us\":1,\"b64\":\"\"}\n", "a.jsonl:2' at /: write the time"},
        {META "{\"t_ns\":1.5,\"b64\":\"\"}\n", "a.jsonl:2' at /t_ns: expected a whole number"},
        {META "{\"t_us\":9223372036854775807,\"b64\":\"\"}\n",
         "a.jsonl:2' at /t_us: 9223372036854775807 is not between"},
        {META "{\"t_ns\":1}\n", "a.jsonl:2' at /: 'b64' is missing"},
        {META "{\"t_ns\":1,\"b64\":\"Zm9\"}\n", "a.jsonl:2' at /b64: not valid base64"},
        {META "{\"t_ns\":1,\"b64\":\"Zm9\\u0000\"}\n", "a.jsonl:2': not valid JSON"},
        {"{\"meta\":{\"request\":[]}}\n", "a.jsonl:1' at /meta/request: expected a text"},
        {"{\"meta\":{\"headers\":3}}\n", "a.jsonl:1' at /meta/headers: expected an array"},
        {"{\"meta\":{\"headers\":[\"a\\nb\"]}}\n", "a.jsonl:1' at /meta/headers/0: a header may not hold"},
        {"{\"meta\":{\"framing\":\"sse\"}}\n", "framing is 'sse'"},
        {"{\"meta\":{\"status\":1000}}\n", "1000 is not between 0 and 999"},
        {"{\"meta\":{\"usage\":{\"prompt_tokens\":-3}}}\n", "-3 is not between 0"},
    };
    size_t i;

    put("manifest.json", ONE(""));
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(run) run = {0};

        put("a.jsonl", cases[i][0]);
        MUST(run_init(&run, &err));
        cr_assert(recording_read(&run, folder_path(), &err) == ERR_FORMAT, "%s was taken", cases[i][0]);
        cr_assert(strstr(err.message, cases[i][1]) != NULL, "'%s': %s", cases[i][1], err.message);
    }
}

Test(recording, a_folder_that_is_none_is_an_io_error)
{
    struct error err = {0};
    AUTO(run) run = {0};

    MUST(run_init(&run, &err));
    cr_assert(recording_read(&run, folder_file("none"), &err) == ERR_IO);
    error_clear(&err);
    cr_assert(recording_read(&run, folder_path(), &err) == ERR_IO);
}
