#include "cli/run_summary.h"

#include "cli/message.h"
#include "core/client/talk.h"
#include "core/model/span.h"

#include <math.h>
#include <string.h>

enum { MAX_NOTES = 8 };

struct cube_range cube_range(const struct cube *c)
{
    struct cube_range r = {.mean = NAN, .min = NAN, .max = NAN};
    size_t n = cube_len(c), i;
    double sum = 0;

    for (i = 0; i < n; i++) {
        if (isnan(c->values[i]))
            continue;
        r.n++;
        sum += c->values[i];
        r.min = fmin(r.min, c->values[i]);
        r.max = fmax(r.max, c->values[i]);
    }
    if (r.n)
        r.mean = sum / (double)r.n;
    return r;
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* What a reader should know and need not mend. */
static bool is_remark(const struct note *n)
{
    return strcmp(n->code, "tokens-from-plain") == 0;
}

static size_t count_requests(const struct run *run)
{
    size_t n = 0, i;

    for (i = 0; i < run->n_exchanges; i++)
        n += talk_was_asked(&run->exchanges[i]);
    return n;
}

void run_summary_say(const struct run *run, const char *path)
{
    size_t n_tasks = run_count_tasks(run), n_requests = count_requests(run), n_dumps = run->provenance.n_dumps, i;
    int width = 0;

    message_say("%zu task%s, %zu request%s, %zu dump%s", n_tasks, plural(n_tasks), n_requests, plural(n_requests),
                n_dumps, plural(n_dumps));
    for (i = 0; i < run->n_cubes; i++)
        width = (int)strlen(run->cubes[i].metric) > width ? (int)strlen(run->cubes[i].metric) : width;
    for (i = 0; i < run->n_cubes; i++) {
        const struct cube *c = &run->cubes[i];
        struct span s = cube_span_by_unit(c, 0, NULL); /* as the reports count */

        message_say("  %-*s mean %-10.5g %-4s over %zu %s%s", width, c->metric, s.mean,
                    strcmp(c->unit, "1") == 0 ? "" : c->unit, s.n, noise_counts(c->noise), plural(s.n));
    }
    for (i = 0; i < run->n_notes && i < MAX_NOTES; i++)
        if (is_remark(&run->notes[i]))
            message_say("note: %s", run->notes[i].text);
        else
            message_warn("%s: %s", run->notes[i].code, run->notes[i].text);
    if (run->n_notes > MAX_NOTES)
        message_warn("%zu more: 'tare inspect %s' lists them", run->n_notes - MAX_NOTES, path);
    message_say("wrote %s", path);
}
