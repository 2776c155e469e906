#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/io/runfile.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(baseline, .init = folder_make, .fini = folder_drop);

static struct error err;

/* A run file whose attention is `value`. */
static const char *run_file(const char *name, double value, bool complete)
{
    const char *path = folder_file(name);
    AUTO(run) r = {0};

    fake_run(&r, 8, 1, 2, 2);
    r.provenance.is_complete = complete;
    fake_noise(fake_cube(&r, "attn.entropy", value), 0.5, 1);
    MUST(runfile_write(&r, path, &err));
    return path;
}

static enum status accept(const char *dir, const char *name, const char *run, const char *reason, struct error *e)
{
    return baseline_accept(dir, name, &run, 1, reason, e);
}

static void read_text(const char *path, struct buf *text)
{
    buf_clear(text);
    MUST(file_read(path, 1u << 20, text, &err));
}

Test(baseline, keeps_what_was_accepted)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true), *second = run_file("2.h5", 3.01, true);
    AUTO(baseline) b = {0};
    AUTO(run) r = {0};
    AUTO(buf) text = {0};
    char summary[300];

    setenv("SOURCE_DATE_EPOCH", "86400", 1);
    MUST(accept(dir, "main", first, "the \"first\" run", &err));
    MUST(accept(dir, "main", second, "a rerun", &err));
    MUST(baseline_open(&b, dir, "main", &err));
    cr_assert(eq(sz, b.n_runs, 2));
    cr_assert(eq(str, b.runs[0].reason, "the \"first\" run"));
    cr_assert(eq(str, b.runs[1].when_utc, "1970-01-02T00:00:00Z"));
    cr_assert(strncmp(b.runs[0].file, "run-", 4) == 0 && strncmp(b.runs[0].file + 4, b.runs[0].hash.hex, 12) == 0);
    MUST(baseline_run(&b, 1, &r, &err));
    cr_assert(run_cube(&r, "attn.entropy") != NULL);
    snprintf(summary, sizeof summary, "%s/main/summary.json", dir);
    read_text(summary, &text);
    cr_assert(strstr(buf_text(&text), "    \"attn.entropy\": {\"n\": 8, \"mean\": 3.005, \"sd\": ") != NULL, "%s",
              buf_text(&text));
    cr_assert(strstr(buf_text(&text), "\"unit\": \"bit\"}\n  }\n}\n") != NULL, "%s", buf_text(&text));
}

/* The third is incomplete: neither the first two nor the folder remain. */
Test(baseline, several_runs_are_accepted_together_or_not_at_all)
{
    const char *runs[] = {run_file("1.h5", 3, true), run_file("2.h5", 3.01, true), run_file("3.h5", 3.02, false)};
    const char *same[] = {runs[0], runs[1], runs[0]}, *dir = folder_file("b"), *main_dir = folder_file("b/main");
    AUTO(baseline) b = {0};
    char first[400], second[400];

    cr_assert(eq(int, baseline_accept(dir, "main", runs, 3, "why", &err), ERR_NO_VERDICT));
    cr_assert(strstr(err.message, "3.h5") != NULL, "%s", err.message);
    cr_assert(not(file_exists(main_dir)));
    error_clear(&err);
    cr_assert(eq(int, baseline_accept(dir, "main", same, 3, "why", &err), ERR_USAGE));
    cr_assert(strstr(err.message, "are the same run") != NULL, "%s", err.message);
    error_clear(&err);
    MUST(baseline_accept(dir, "other", runs, 2, "why", &err));
    MUST(baseline_open(&b, dir, "other", &err));
    cr_assert(eq(sz, b.n_runs, 2));
    /* A file stands where the second should go: the first is taken back, and the file stays. */
    snprintf(first, sizeof first, "%s/%s", main_dir, b.runs[0].file);
    snprintf(second, sizeof second, "%s/%s", main_dir, b.runs[1].file);
    MUST(dir_make(main_dir, &err));
    MUST(file_write(second, "mine", 4, &err));
    cr_assert(eq(int, baseline_accept(dir, "main", runs, 2, "why", &err), ERR_FORMAT));
    cr_assert(strstr(err.message, "nothing is overwritten") != NULL, "%s", err.message);
    cr_assert(not(file_exists(first)));
    cr_assert(file_exists(second));
    cr_assert(not(file_exists(folder_file("b/main/baseline.json"))));
}

Test(baseline, lists_names_in_order)
{
    const char *dir = folder_file("b"), *run = run_file("1.h5", 3, true);
    AUTO(arena) strings = {0};
    char **names;
    size_t n;

    MUST(baseline_list(dir, &strings, &names, &n, &err));
    cr_assert(eq(sz, n, 0), "no folder, no baseline");
    MUST(accept(dir, "nightly", run, "why", &err));
    MUST(accept(dir, "main", run, "why", &err));
    MUST(dir_make(folder_file("b/empty"), &err));
    MUST(baseline_list(dir, &strings, &names, &n, &err));
    cr_assert(eq(sz, n, 2));
    cr_assert(eq(str, names[0], "main"));
    cr_assert(eq(str, names[1], "nightly"));
}

Test(baseline, says_how_to_make_the_first)
{
    AUTO(baseline) b = {0};

    cr_assert(eq(int, baseline_open(&b, folder_file("b"), "main", &err), ERR_NO_VERDICT));
    cr_assert(strstr(err.message, "tare baseline accept RUN --name main --reason") != NULL, "%s", err.message);
}

Test(baseline, refuses_what_may_not_be_accepted)
{
    const char *dir = folder_file("b"), *good = run_file("1.h5", 3, true), *half = run_file("2.h5", 3, false);
    AUTO(run) other = {0};
    AUTO(buf) before = {0};
    AUTO(buf) after = {0};

    MUST(accept(dir, "main", good, "why", &err));
    read_text(folder_file("b/main/baseline.json"), &before);
    cr_assert(eq(int, accept(dir, "main", good, "again", &err), ERR_USAGE), "the same run twice");
    error_clear(&err);
    cr_assert(eq(int, accept(dir, "main", half, "why", &err), ERR_NO_VERDICT), "an incomplete run");
    error_clear(&err);
    cr_assert(eq(int, accept(dir, "main", good, "", &err), ERR_USAGE), "no reason");
    error_clear(&err);
    cr_assert(eq(int, accept(dir, "../main", good, "why", &err), ERR_USAGE), "a name that climbs");
    error_clear(&err);
    cr_assert(eq(int, accept(dir, "main", folder_file("none.h5"), "why", &err), ERR_IO), "no such file");
    error_clear(&err);
    fake_run(&other, 8, 1, 2, 2);
    fake_cube(&other, "attn.entropy", 3)->version = 9;
    MUST(runfile_write(&other, folder_file("3.h5"), &err));
    cr_assert(eq(int, accept(dir, "main", folder_file("3.h5"), "why", &err), ERR_NO_VERDICT), "not comparable");
    cr_assert(strstr(err.message, "definition version") != NULL, "%s", err.message);
    error_clear(&err);
    read_text(folder_file("b/main/baseline.json"), &after);
    cr_assert(eq(str, after.data, before.data), "a refusal changes nothing");
}

/* The next release stands under its own name: what versions differ by would pass for noise. */
Test(baseline, holds_runs_of_one_version)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true), *second = folder_file("2.h5");
    AUTO(baseline) b = {0};
    AUTO(run) r = {0};

    fake_run(&r, 8, 1, 2, 2);
    fake_noise(fake_cube(&r, "attn.entropy", 3.01), 0.5, 1);
    r.provenance.prompt_version = fake_text(&r, "v2");
    MUST(runfile_write(&r, second, &err));
    MUST(accept(dir, "main", first, "release 1", &err));
    cr_assert(accept(dir, "main", second, "release 2", &err) == ERR_USAGE);
    cr_assert(strstr(err.message, "is of another version than 'run-") != NULL, "%s", err.message);
    cr_assert(strstr(err.message, "and v2: what versions differ by is no noise") != NULL, "%s", err.message);
    error_clear(&err);
    MUST(accept(dir, "next", second, "release 2", &err));
    MUST(baseline_open(&b, dir, "main", &err));
    cr_assert(eq(sz, b.n_runs, 1));
}

Test(baseline, notices_a_changed_run)
{
    const char *dir = folder_file("b");
    AUTO(baseline) b = {0};
    AUTO(run) r = {0};
    char *path = NULL;

    MUST(accept(dir, "main", run_file("1.h5", 3, true), "why", &err));
    MUST(baseline_open(&b, dir, "main", &err));
    MUST(path_join(b.dir, b.runs[0].file, &path, &err));
    MUST(file_write(path, "not what it was", 15, &err));
    free(path);
    cr_assert(eq(int, baseline_run(&b, 0, &r, &err), ERR_FORMAT));
    cr_assert(strstr(err.message, "was changed after it was accepted") != NULL, "%s", err.message);
}

Test(baseline, runs_accepted_at_once_are_all_kept)
{
    static const char *const names[] = {"1.h5", "2.h5", "3.h5", "4.h5"};
    const char *dir = folder_file("b");
    AUTO(baseline) b = {0};
    int i, state = 0;

    for (i = 0; i < 4; i++)
        run_file(names[i], i, true);
    for (i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(accept(dir, "main", folder_file(names[i]), "at once", &err) == OK ? 0 : 1);
    for (i = 0; i < 4; i++)
        cr_assert(wait(&state) > 0 && state == 0);
    MUST(baseline_open(&b, dir, "main", &err));
    cr_assert(eq(sz, b.n_runs, 4));
}

/* A list that is as long as before need not be the same: the baseline may have been dropped and made anew. */
Test(baseline, is_whole_however_accepting_and_dropping_meet)
{
    static const char *const names[] = {"1.h5", "2.h5", "3.h5"};
    const char *dir = folder_file("b"), *first = run_file("0.h5", 3, true);
    size_t i, k;

    for (i = 0; i < 3; i++)
        run_file(names[i], 3 + 0.01 * (double)(i + 1), true);
    for (k = 0; k < 20; k++) {
        AUTO(baseline) b = {0};
        int state = 0;

        error_clear(&err);
        (void)(accept(dir, "main", first, "first", &err) == OK);
        for (i = 0; i < 4; i++)
            if (fork() == 0)
                _exit((i < 3 ? accept(dir, "main", folder_file(names[i]), "at once", &err)
                             : baseline_drop(dir, "main", NULL, 0, "d", &err)) == OK
                          ? 0
                          : 1);
        for (i = 0; i < 4; i++)
            cr_assert(wait(&state) > 0 && state == 0);
        if (baseline_open(&b, dir, "main", NULL) != OK) /* dropped last */
            continue;
        for (i = 0; i < b.n_runs; i++) {
            AUTO(run) r = {0};

            MUST(baseline_run(&b, i, &r, &err));
        }
        if (b.n_runs)
            MUST(baseline_drop(dir, "main", NULL, 0, "next", &err));
    }
}

Test(baseline, what_may_not_be_looked_at_is_not_missing)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true);
    AUTO(baseline) b = {0};
    char main_dir[300];
    int state = 0;
    enum status st;

    MUST(accept(dir, "main", first, "first", &err));
    snprintf(main_dir, sizeof main_dir, "%s/main", dir);
    cr_assert(chmod(main_dir, 0) == 0 && chmod(folder_file(""), 0755) == 0);
    if (fork() == 0) {
        if (geteuid() == 0 && setuid(65534)) /* root, whom no mode stops */
            _exit(2);
        st = baseline_open(&b, dir, "main", &err);
        _exit(st == ERR_IO && strstr(err.message, "Permission denied") ? 0 : 1);
    }
    cr_assert(wait(&state) > 0 && state == 0);
    cr_assert(chmod(main_dir, 0700) == 0);
}

Test(baseline, a_reason_that_is_no_text_leaves_nothing_behind)
{
    const char *dir = folder_file("b");

    cr_assert(eq(int, accept(dir, "main", run_file("1.h5", 3, true), "why \xff", &err), ERR_USAGE));
    cr_assert(not(file_exists(folder_file("b/main"))));
}

/* Each reason is short enough for one argument of a program; together they would not be read again. */
Test(baseline, never_writes_a_list_that_it_cannot_read)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true), *second = run_file("2.h5", 3.01, true);
    char *reason = calloc(600001, 1);
    AUTO(baseline) b = {0};

    memset(reason, 'x', 600000);
    MUST(accept(dir, "main", first, reason, &err));
    cr_assert(eq(int, accept(dir, "main", second, reason, &err), ERR_LIMIT));
    cr_assert(strstr(err.message, "shorten the reason") != NULL, "%s", err.message);
    error_clear(&err);
    MUST(baseline_open(&b, dir, "main", &err));
    cr_assert(eq(sz, b.n_runs, 1));
    free(reason);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

Test(baseline, refuses_foreign_indexes)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "not valid JSON"},
        {"[]", "expected an object"},
        {"{\"schema\": 2, \"runs\": []}", "schema 2 is newer"},
        {"{\"schema\": 1, \"runs\": []}", "1 to"},
        {"{\"schema\": 1}", "'runs' is missing"},
        {"{\"schema\": 1, \"runs\": [3]}", "/runs/0"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"a.h5\"}]}", "'sha256' is missing"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"a.h5\", \"sha256\": \"12\"}]}", "64 lower-case"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"../a.h5\", \"sha256\": \"" HASH "\"}]}", "leads out"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"/etc/passwd\", \"sha256\": \"" HASH "\"}]}", "leads out"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"a.h5\", \"sha\": \"" HASH "\"}]}", "unknown key"},
        {"{\"schema\": 1, \"runs\": [{\"file\": \"a.h5\", \"sha256\": \"" HASH
         "\"}, {\"file\": \"b.h5\", \"sha256\": \"" HASH "\"}]}",
         "twice"},
    };
    size_t i;

    MUST(dir_make(folder_file("b/main"), &err));
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        AUTO(baseline) b = {0};

        MUST(file_write(folder_file("b/main/baseline.json"), bad[i].text, strlen(bad[i].text), &err));
        cr_assert(eq(int, baseline_open(&b, folder_file("b"), "main", &err), ERR_FORMAT), "%s", bad[i].text);
        cr_assert(strstr(err.message, bad[i].says) != NULL, "%s", err.message);
        cr_assert(strstr(err.message, "baseline.json") != NULL, "%s", err.message);
        error_clear(&err);
    }
}

Test(baseline, names_are_plain_words)
{
    static const char *const bad[] = {"", ".", "..", ".hidden", "a/b", "a b", "ä", "a\n", "-x\\", "-x"};
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(baseline_name_ok(bad[i])), "'%s'", bad[i]);
    cr_assert(baseline_name_ok("smoke_v1.2-rc") && baseline_name_ok("7"));
}

Test(baseline, drops_what_is_named_and_keeps_why)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true), *second = run_file("2.h5", 3.01, true);
    AUTO(baseline) b = {0};
    AUTO(baseline) left = {0};
    char digits[13], path[300];
    const char *which[] = {digits};

    MUST(accept(dir, "main", first, "first", &err));
    MUST(accept(dir, "main", second, "second", &err));
    MUST(baseline_open(&b, dir, "main", &err));
    snprintf(digits, sizeof digits, "%.12s", b.runs[0].hash.hex);
    snprintf(path, sizeof path, "%s/main/%s", dir, b.runs[0].file);
    cr_assert(baseline_drop(dir, "main", which, 1, "", NULL) == ERR_USAGE && file_exists(path));
    MUST(baseline_drop(dir, "main", which, 1, "a busy machine", &err));
    cr_assert(not(file_exists(path)));
    MUST(baseline_open(&left, dir, "main", &err));
    cr_assert(left.n_runs == 1 && left.n_dropped == 1);
    cr_assert(eq(str, left.runs[0].reason, "second"));
    cr_assert(eq(str, left.dropped[0].reason, "a busy machine"));
    cr_assert(eq(str, left.dropped[0].hash.hex, b.runs[0].hash.hex));
    /* accepting anew keeps what was dropped */
    MUST(accept(dir, "main", first, "again", &err));
    baseline_done(&left);
    MUST(baseline_open(&left, dir, "main", &err));
    cr_assert(left.n_runs == 2 && left.n_dropped == 1);
}

Test(baseline, drop_refuses_what_it_cannot_mean)
{
    const char *dir = folder_file("b"), *first = run_file("1.h5", 3, true), *second = run_file("2.h5", 3.01, true);
    const char *unknown[] = {"0123456789ab"}, *twice[] = {"x", "x"}, *few[] = {"5f1"}, *outside[] = {"../1.h5"};
    char path[300];

    MUST(accept(dir, "main", first, "first", &err));
    MUST(accept(dir, "main", second, "second", &err));
    cr_assert(baseline_drop(dir, "main", unknown, 1, "r", NULL) == ERR_USAGE);
    cr_assert(baseline_drop(dir, "main", few, 1, "r", NULL) == ERR_USAGE);
    cr_assert(baseline_drop(dir, "main", outside, 1, "r", NULL) == ERR_USAGE);
    cr_assert(baseline_drop(dir, "main", twice, 2, "r", NULL) == ERR_USAGE, "one must stay");
    cr_assert(baseline_drop(dir, "other", NULL, 0, "r", NULL) == ERR_NO_VERDICT);
    snprintf(path, sizeof path, "%s/alias", dir);
    cr_assert(symlink("main", path) == 0);
    cr_assert(baseline_drop(dir, "alias", NULL, 0, "r", NULL) == ERR_USAGE, "it would empty what it leads to");
    snprintf(path, sizeof path, "%s/main", dir);
    cr_assert(file_exists(path));
    MUST(baseline_drop(dir, "main", NULL, 0, "no longer served", &err));
    cr_assert(not(file_exists(path)));
}
