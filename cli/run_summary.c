#include "cli/run_summary.h"

#include "cli/message.h"

#include <math.h>

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

void run_summary_say(const struct run *run, const char *path)
{
    size_t i;

    message_say("%zu tasks, %zu requests, %zu dumps", run->axes.n[AXIS_TASK], run->n_exchanges,
                run->provenance.n_dumps);
    for (i = 0; i < run->n_cubes; i++) {
        struct cube_range r = cube_range(&run->cubes[i]);

        message_say("  %-22s mean %-12.6g %-4s over %zu cells", run->cubes[i].metric, r.mean, run->cubes[i].unit, r.n);
    }
    for (i = 0; i < run->n_notes && i < MAX_NOTES; i++)
        message_warn("%s: %s", run->notes[i].code, run->notes[i].text);
    if (run->n_notes > MAX_NOTES)
        message_warn("%zu more: 'tare inspect %s' lists them", run->n_notes - MAX_NOTES, path);
    message_say("wrote %s", path);
}
