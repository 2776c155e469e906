#include "core/io/machine.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "core/base/scope.h"
#include "kernels/backend.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* The line "model name : …" of /proc/cpuinfo, or "" where there is none. */
static enum status cpu_model(struct arena *strings, char **ret, struct error *err)
{
    AUTO(buf) text = {0};
    struct error ignored = {0};
    const char *line, *value;

    if (file_read("/proc/cpuinfo", (size_t)16 << 20, &text, &ignored) != OK)
        return arena_strdup(strings, "", ret, err);
    line = strstr(buf_text(&text), "model name");
    value = line ? strchr(line, ':') : NULL;
    if (!value)
        return arena_strdup(strings, "", ret, err);
    value += 1 + strspn(value + 1, " \t");
    return arena_strndup(strings, value, strcspn(value, "\n"), ret, err);
}

static int64_t cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

enum status machine_now(struct arena *strings, char **ret, struct error *err)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds;
    time_t now = time(NULL);
    char text[40];
    struct tm tm;

    if (epoch && num_i64(epoch, &seconds) && seconds >= 0)
        now = (time_t)seconds;
    if (!gmtime_r(&now, &tm) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        text[0] = '\0';
    return arena_strdup(strings, text, ret, err);
}

enum status machine_describe(struct place *ret, struct arena *strings, struct error *err)
{
    struct place p = {.cores = cores()};
    struct utsname uts = {0};
    char gpu[512] = "";

    if (uname(&uts))
        memset(&uts, 0, sizeof uts);
    if (!backend_describe_cuda(gpu, sizeof gpu))
        gpu[0] = '\0';
    TRY(arena_strdup(strings, uts.nodename, &p.host, err));
    TRY(arena_printf(strings, &p.os, err, "%s %s %s", uts.sysname, uts.release, uts.machine));
    TRY(cpu_model(strings, &p.cpu, err));
    TRY(arena_strdup(strings, gpu, &p.gpu, err));
    TRY(arena_strdup(strings, "", &p.driver, err));
    TRY(arena_strdup(strings, "", &p.server, err));
    TRY(machine_now(strings, &p.when_utc, err));
    *ret = p;
    return OK;
}
