#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/client/journal.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <string.h>
#include <unistd.h>

TestSuite(journal, .init = folder_make, .fini = folder_drop);

static const char header[] = "{\"model\":\"m\",\"prompt\":\"p\"}";

static struct exchange exchange(int64_t turn, size_t n_events)
{
    return (struct exchange){.task = "a",
                             .turn = turn,
                             .repeat = 2,
                             .path = "/v1",
                             .request = "{}",
                             .headers = "x: y\n",
                             .failure = "",
                             .status = 200,
                             .scheduled_ns = NS_UNKNOWN,
                             .started_ns = 5,
                             .sent_ns = 6,
                             .connect_ns = 7,
                             .n_retries = 8,
                             .n_events = n_events};
}

static void write_two(void)
{
    const struct read_event events[] = {{.t_ns = 10, .offset = 0, .len = 3}, {.t_ns = 20, .offset = 3, .len = 0}};
    struct exchange one = exchange(1, 2), two = exchange(2, 0);
    struct error err = {0};
    AUTO(journal) j = {0};

    two.failure = "cut off";
    MUST(journal_create(&j, folder_file("j"), header, &err));
    MUST(journal_append(&j, &one, events, (const unsigned char *)"abc", &err));
    MUST(journal_append(&j, &two, NULL, NULL, &err));
    MUST(journal_sync(&j, &err));
}

Test(journal, gives_back_what_was_put_in)
{
    struct error err = {0};
    AUTO(run) run = {0};
    const struct exchange *x;

    write_two();
    MUST(run_init(&run, &err));
    MUST(journal_read(folder_file("j"), &run, &err));
    cr_assert(eq(sz, run.n_exchanges, 2));
    x = &run.exchanges[0];
    cr_assert(eq(str, x->task, "a"));
    cr_assert(eq(str, x->headers, "x: y\n"));
    cr_assert(eq(i64, x->scheduled_ns, NS_UNKNOWN));
    cr_assert(eq(i64, x->n_retries, 8));
    cr_assert(eq(sz, x->n_events, 2));
    cr_assert(eq(i64, run.events[1].t_ns, 20));
    cr_assert(memcmp(run.bytes + run.events[0].offset, "abc", 3) == 0);
    cr_assert(eq(str, run.exchanges[1].failure, "cut off"));
}

Test(journal, is_not_written_over)
{
    struct error err = {0};
    AUTO(journal) j = {0};

    write_two();
    cr_assert(journal_create(&j, folder_file("j"), header, &err) == ERR_USAGE);
    cr_assert(strstr(err.message, "--resume") != NULL);
}

Test(journal, goes_on_with_one_that_holds_nothing_yet)
{
    struct exchange one = exchange(1, 0);
    struct error err = {0};
    AUTO(run) none = {0};
    AUTO(run) run = {0};
    AUTO(journal) j = {0};
    uint64_t torn = 5;

    MUST(file_write(folder_file("j"), "", 0, &err));
    MUST(run_init(&none, &err));
    MUST(run_init(&run, &err));
    MUST(journal_resume(&j, folder_file("j"), header, &none, &torn, &err));
    cr_assert(torn == 0 && none.n_exchanges == 0);
    MUST(journal_append(&j, &one, NULL, NULL, &err));
    MUST(journal_read(folder_file("j"), &run, &err));
    cr_assert(eq(sz, run.n_exchanges, 1));
}

Test(journal, names_what_differs_when_it_is_of_another_run)
{
    struct error err = {0};
    AUTO(journal) j = {0};
    AUTO(run) run = {0};
    uint64_t torn;

    write_two();
    MUST(run_init(&run, &err));
    cr_assert(journal_resume(&j, folder_file("j"), "{\"model\":\"m\",\"prompt\":\"q\"}", &run, &torn, &err) ==
              ERR_USAGE);
    cr_assert(strstr(err.message, "its prompt is \"p\"") != NULL, "%s", err.message);
}

/* Wherever it is cut, what was whole stays and can be appended to; with any byte changed, nothing false comes out. */
Test(journal, drops_a_torn_end_at_every_length)
{
    struct error err = {0};
    AUTO(buf) whole = {0};
    size_t len;

    write_two();
    MUST(file_read(folder_file("j"), 1 << 20, &whole, &err));
    for (len = 0; len < whole.len; len++) {
        struct exchange next = exchange(3, 0);
        AUTO(run) run = {0};
        AUTO(run) again = {0};
        uint64_t torn = 0;
        enum status st;

        MUST(file_write(folder_file("cut"), whole.data, len, &err));
        MUST(run_init(&run, &err));
        MUST(run_init(&again, &err));
        {
            AUTO(journal) j = {0};

            st = journal_resume(&j, folder_file("cut"), header, &run, &torn, &err);
            if (st != OK) { /* not even the header is whole */
                cr_assert(st == ERR_FORMAT && len < 60, "length %zu: %s", len, err.message);
                error_clear(&err);
                continue;
            }
            cr_assert(run.n_exchanges <= 1);
            MUST(journal_append(&j, &next, NULL, NULL, &err));
        }
        MUST(journal_read(folder_file("cut"), &again, &err));
        cr_assert(eq(sz, again.n_exchanges, run.n_exchanges + 1));
    }
}

Test(journal, a_changed_byte_ends_it)
{
    struct error err = {0};
    AUTO(buf) whole = {0};
    size_t i;

    write_two();
    MUST(file_read(folder_file("j"), 1 << 20, &whole, &err));
    for (i = 0; i < whole.len; i++) {
        AUTO(run) run = {0};

        whole.data[i] ^= 0x10;
        MUST(file_write(folder_file("bad"), whole.data, whole.len, &err));
        MUST(run_init(&run, &err));
        if (journal_read(folder_file("bad"), &run, &err) == OK)
            cr_assert(run.n_exchanges < 2, "byte %zu", i);
        error_clear(&err);
        whole.data[i] ^= 0x10;
    }
}
