#include "core/base/file.h"
#include "core/base/scope.h"
#include "reports/plot.h"
#include "tests/support/fake_judgement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Puts a program of this text as the only gnuplot on PATH. */
static void fake_gnuplot(char *dir, const char *text)
{
    char path[64];

    cr_assert(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/gnuplot", dir);
    cr_assert(file_write(path, text, strlen(text), NULL) == OK);
    cr_assert(chmod(path, 0755) == 0);
    cr_assert(setenv("PATH", dir, 1) == 0);
}

static void remove_gnuplot(const char *dir)
{
    char path[64];

    snprintf(path, sizeof path, "%s/gnuplot", dir);
    unlink(path);
    rmdir(dir);
}

Test(plot, says_what_to_install_when_gnuplot_is_absent)
{
    AUTO(buf) out = {0};
    struct error err = {0};
    struct fake f;

    fake_init(&f);
    cr_assert(setenv("PATH", "/nonexistent", 1) == 0);
    cr_assert(plot_write(&f.input, ".svg", &out, &err) == ERR_IO);
    cr_assert(strstr(err.message, "gnuplot-nox") != NULL, "%s", err.message);
    cr_assert(out.len == 0);
    fake_done(&f);
}

Test(plot, hands_the_script_over_and_takes_the_picture_back)
{
    char dir[] = "/tmp/tare-plot-XXXXXX";
    AUTO(buf) out = {0};
    struct fake f;

    fake_init(&f);
    fake_hostile(&f, "'; system('touch /tmp/owned'); '");
    fake_gnuplot(dir, "#!/bin/sh\nwhile read -r line; do echo \"$line\"; done\n");
    cr_assert(plot_write(&f.input, ".svg", &out, NULL) == OK);
    remove_gnuplot(dir);
    cr_assert(strstr(buf_text(&out), "set terminal svg") != NULL);
    cr_assert(strstr(buf_text(&out), "attn.entropy by layer") != NULL);
    cr_assert(strstr(buf_text(&out), "intent.alignment by turn") != NULL);
    cr_assert(strstr(buf_text(&out), "owned") == NULL, "no foreign text is in the script");
    fake_done(&f);
}

Test(plot, a_failing_gnuplot_and_an_empty_picture_are_errors)
{
    static const char *const programs[] = {"#!/bin/sh\nexit 3\n", "#!/bin/sh\nexit 0\n"};
    size_t i;

    for (i = 0; i < 2; i++) {
        char dir[] = "/tmp/tare-plot-XXXXXX";
        AUTO(buf) out = {0};
        struct fake f;

        fake_init(&f);
        fake_gnuplot(dir, programs[i]);
        cr_assert(plot_write(&f.input, ".png", &out, NULL) == ERR_IO);
        remove_gnuplot(dir);
        fake_done(&f);
    }
}

Test(plot, a_run_with_nothing_to_draw_is_said_before_gnuplot_starts)
{
    AUTO(buf) out = {0};
    struct error err = {0};
    struct run empty;
    struct fake f;

    fake_init(&f);
    cr_assert(run_init(&empty, NULL) == OK);
    f.input.cand = &empty;
    f.input.judgement = NULL;
    cr_assert(plot_write(&f.input, ".svg", &out, &err) == ERR_NO_VERDICT);
    cr_assert(strstr(err.message, "nothing to plot") != NULL, "%s", err.message);
    run_done(&empty);
    fake_done(&f);
}
