#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/runfile.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/sample_run.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

TestSuite(runfile, .init = folder_make, .fini = folder_drop);

/* Bit patterns, so that the payload of a NaN counts too. */
static void same_bits(const struct cube *a, const struct cube *b)
{
    cr_assert(a->axes == b->axes && cube_len(a) == cube_len(b));
    cr_assert(memcmp(a->values, b->values, cube_len(a) * sizeof(double)) == 0, "%s", a->metric);
    cr_assert(a->better == b->better && a->noise == b->noise && a->version == b->version);
    cr_assert(strcmp(a->unit, b->unit) == 0 && strcmp(a->help, b->help) == 0);
}

static void write_to(const char *path)
{
    AUTO(run) r = {0};
    struct error err = {0};

    sample_run(&r);
    MUST(runfile_write(&r, path, &err));
}

Test(runfile, gives_back_what_was_written)
{
    AUTO(run) want = {0};
    AUTO(run) got = {0};
    struct error err = {0};
    uint64_t odd_nan = 0x7ff8000000abcdefU;
    size_t i;

    sample_run(&want);
    memcpy(run_cube(&want, "attn.entropy")->values + 5, &odd_nan, sizeof odd_nan);
    MUST(runfile_write(&want, folder_file("a.h5"), &err));
    cr_assert(runfile_is(folder_file("a.h5")));
    MUST(runfile_read(&got, folder_file("a.h5"), &err));
    cr_assert(eq(str, got.provenance.model_asked, "gemma-3-270m"));
    cr_assert(eq(str, got.provenance.observed_on.host, "lab-1"));
    cr_assert(eq(str, got.provenance.prompt_version, ""));
    cr_assert(eq(str, got.provenance.taskset_hash.hex, want.provenance.taskset_hash.hex));
    cr_assert(eq(u64, got.provenance.seed, UINT64_MAX));
    cr_assert(got.provenance.is_complete && !got.provenance.is_reproducible);
    cr_assert(eq(sz, got.provenance.n_dumps, 2));
    cr_assert(eq(str, got.provenance.dumps[1].hash.hex, want.provenance.dumps[1].hash.hex));
    cr_assert(eq(i64, got.provenance.observed_on.cores, 16));
    cr_assert(eq(str, got.axes.task[1], want.axes.task[1]));
    cr_assert(eq(i64, got.axes.number[AXIS_LAYER][1], 17));
    cr_assert(eq(sz, got.n_cubes, 3));
    for (i = 0; i < 3; i++)
        same_bits(&want.cubes[i], run_cube(&got, want.cubes[i].metric));
    cr_assert(eq(sz, got.n_bytes, want.n_bytes));
    cr_assert(memcmp(got.bytes, want.bytes, got.n_bytes) == 0);
    cr_assert(memcmp(got.events, want.events, got.n_events * sizeof *got.events) == 0);
    cr_assert(eq(sz, got.n_exchanges, 2));
    cr_assert(eq(str, got.exchanges[1].task, want.exchanges[1].task));
    cr_assert(eq(str, got.exchanges[1].request, want.exchanges[1].request));
    cr_assert(got.exchanges[1].scheduled_ns == NS_UNKNOWN && got.exchanges[1].sent_ns == -5);
    cr_assert(got.exchanges[1].first_event == 2 && got.exchanges[1].has_http_head);
    cr_assert(eq(str, got.taskset_json, "{\"schema\": 1}"));
    cr_assert(got.prompt_json == NULL);
    cr_assert(eq(str, got.notes[0].code, "row-sum"));
    cr_assert(eq(str, got.notes[0].text, "3 rows of 'd1' sum to 0.9: look"));
}

Test(runfile, its_header_alone_says_what_everything_is)
{
    static const struct {
        const char *object, *words;
    } rows[] = {
        {"/", "A run of tare"},
        {"/provenance", "SHA-256 of the prompt file"},
        {"/provenance/observed_on", ""},
        {"/axes/layer", "from 0"},
        {"/cubes", "NaN where it has none"},
        {"/cubes/attn.entropy", "mean entropy \xc2\xb5; in bit, over task,turn,layer,head"},
        {"/cubes/x.scalar", "over the whole run"},
        {"/observations/requests", "One row an exchange"},
        {"/notes", "code: text"},
    };
    hid_t file;
    size_t i;

    write_to(folder_file("a.h5"));
    file = H5Fopen(folder_file("a.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2000] = "";

        cr_assert(H5Oget_comment_by_name(file, rows[i].object, text, sizeof text, H5P_DEFAULT) > 0, "%s has no comment",
                  rows[i].object);
        cr_assert(strstr(text, rows[i].words) != NULL, "%s: '%s' lacks '%s'", rows[i].object, text, rows[i].words);
    }
    H5Fclose(file);
}

Test(runfile, an_empty_run_comes_back_empty)
{
    AUTO(run) want = {0};
    AUTO(run) got = {0};
    struct error err = {0};

    MUST(run_init(&want, &err));
    MUST(runfile_write(&want, folder_file("a.h5"), &err));
    MUST(runfile_read(&got, folder_file("a.h5"), &err));
    cr_assert(got.n_cubes == 0 && got.n_exchanges == 0 && got.n_bytes == 0 && got.axes.n[AXIS_TASK] == 0);
    cr_assert(not(got.provenance.is_complete));
}

static void same_bytes(const char *a, const char *b)
{
    AUTO(buf) x = {0};
    AUTO(buf) y = {0};
    struct error err = {0};

    MUST(file_read(a, 1 << 24, &x, &err));
    MUST(file_read(b, 1 << 24, &y, &err));
    cr_assert(eq(sz, x.len, y.len));
    cr_assert(memcmp(x.data, y.data, x.len) == 0);
}

/* The freed blocks of a first writing, filled with another pattern, would show through any padding. */
Test(runfile, equal_runs_give_equal_bytes)
{
    AUTO(run) back = {0};
    struct error err = {0};
    size_t i;

    write_to(folder_file("a.h5"));
    for (i = 16; i < 200000; i += i / 2) {
        void *p = malloc(i);

        memset(p, 0xa5, i);
        free(p);
    }
    write_to(folder_file("b.h5"));
    same_bytes(folder_file("a.h5"), folder_file("b.h5"));
    MUST(runfile_read(&back, folder_file("a.h5"), &err));
    MUST(runfile_write(&back, folder_file("c.h5"), &err));
    same_bytes(folder_file("a.h5"), folder_file("c.h5"));
}

Test(runfile, a_failed_write_leaves_nothing_and_keeps_what_was_there)
{
    AUTO(run) r = {0};
    struct error err = {0};
    AUTO(buf) old = {0};

    sample_run(&r);
    MUST(file_write(folder_file("a.h5"), "precious", 8, &err));
    r.cubes[1].metric[3] = '/';
    cr_assert(runfile_write(&r, folder_file("a.h5"), &err) == ERR_INTERNAL);
    MUST(file_read(folder_file("a.h5"), 100, &old, &(struct error){0}));
    cr_assert(eq(str, old.data, "precious"));
    cr_assert(eq(sz, folder_count(), 1), "a temporary file was left");
    error_clear(&err);
    cr_assert(runfile_write(&r, folder_file("none/a.h5"), &err) == ERR_IO);
    cr_assert(not(file_exists(folder_file("none"))));
}
