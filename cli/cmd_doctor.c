#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/version.h"
#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/gate/baseline.h"
#include "core/metrics/registry.h"
#include "kernels/backend.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt options[] = {OPTION_HELP, OPTION_BASELINES};

static void line(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "%-14s%s\n", name, text);
}

static int cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* The place of a program on PATH; false when it is not there. */
static bool find_program(const char *name, struct buf *ret)
{
    const char *path = getenv("PATH");

    while (path) {
        size_t len = strcspn(path, ":");

        buf_clear(ret);
        buf_printf(ret, "%.*s/%s", (int)len, len ? path : ".", name);
        if (access(buf_text(ret), X_OK) == 0 && !file_is_dir(buf_text(ret)))
            return true;
        path = path[len] ? path + len + 1 : NULL;
    }
    return false;
}

static void report_devices(struct buf *out)
{
    char cuda[512] = "";

    (void)backend_describe_cuda(cuda, sizeof cuda); /* it says by itself that there is no device */
    buf_printf(out, "%-14sCPU, %s instructions, %d cores for this process\n", "device", backend_isa(), cores());
    buf_printf(out, "%-14s%s; %s\n", "CUDA", backend_has_cuda() ? "compiled in" : "not compiled in", cuda);
}

static void report_programs(struct buf *out)
{
    AUTO(buf) place = {0};

    line(out, "gnuplot",
         find_program("gnuplot", &place) ? buf_text(&place) : "not found (only plots as files need it)");
}

static bool report_project(struct buf *out, struct project *p)
{
    struct error err = {0};

    if (project_read(p, NULL, &err) != OK) {
        buf_printf(out, "%-14sBROKEN: %s\n", "project", err.message);
        return false;
    }
    line(out, "project", p->doc.root ? PROJECT_FILE : "no tare.json in this folder (tare init writes one)");
    return true;
}

static bool report_baselines(struct buf *out, const char *dir)
{
    AUTO(arena) strings = {0};
    struct error err = {0};
    char **names = NULL;
    size_t n = 0, i;

    if (baseline_list(dir, &strings, &names, &n, &err) != OK) {
        buf_printf(out, "%-14sBROKEN: %s\n", "baselines", err.message);
        return false;
    }
    buf_printf(out, "%-14s%zu in '%s'", "baselines", n, dir);
    for (i = 0; i < n; i++)
        buf_printf(out, "%s %s", i ? "," : ":", names[i]);
    buf_putc(out, '\n');
    return true;
}

static enum status run(struct call *c, struct error *err)
{
    struct buf *out = &c->out;
    bool is_well;
    size_t n;

    buf_printf(out, "%-14s%s (", "tare", tool_version);
    version_build(out);
    buf_printf(out, ")\n%-14s", "libraries");
    version_libraries(out);
    buf_putc(out, '\n');
    report_devices(out);
    metrics_all(&n);
    buf_printf(out, "%-14s%zu\n", "metrics", n);
    report_programs(out);
    is_well = report_project(out, &c->project);
    if (is_well)
        TRY(project_apply(&c->project, &c->opts, err));
    is_well &= report_baselines(out, opts_text(&c->opts, "baselines", "baselines"));
    line(out, "this folder",
         access(".", W_OK) == 0 ? "may be written to" : "may NOT be written to: outputs go elsewhere");
    line(out, "result", is_well ? "all that is needed is there" : "something is BROKEN: see above");
    c->exit_code = is_well ? EXIT_PASS : EXIT_SOURCE;
    return OK;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .brief = "what this tare, this machine and this folder offer",
    .about = "Lists build, libraries, devices, gnuplot, project file and baselines. Exits 0 unless something that is "
             "there is broken.",
    .examples = "tare doctor",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
