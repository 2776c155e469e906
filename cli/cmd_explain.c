#include "cli/cmd.h"
#include "cli/opt_help.h"
#include "core/metrics/registry.h"

#include <string.h>

static const struct opt options[] = {OPTION_HELP};

static void axes_text(struct buf *out, unsigned axes)
{
    const char *before = "";
    size_t axis;

    for (axis = 0; axis < N_AXES; axis++)
        if (axes & AXIS_BIT(axis)) {
            buf_printf(out, "%s%s", before, axis_names[axis]);
            before = ", ";
        }
}

static const char *direction_words(enum better b)
{
    return b == BETTER_HIGHER ? "higher is better" : b == BETTER_LOWER ? "lower is better" : "should not move";
}

static void list_metrics(struct buf *out)
{
    size_t n, i;
    const struct metric *const *all = metrics_all(&n);
    int width = 0;

    for (i = 0; i < n; i++)
        width = (int)strlen(all[i]->name) > width ? (int)strlen(all[i]->name) : width;
    for (i = 0; i < n; i++)
        buf_printf(out, "%-*s  %-8s%-18s%s\n", width, all[i]->name, strcmp(all[i]->unit, "1") == 0 ? "-" : all[i]->unit,
                   direction_words(all[i]->better), all[i]->help);
    buf_puts(out, "\n'tare explain METRIC' gives the definition and a worked example.\n");
}

static void explain(struct buf *out, const struct metric *m)
{
    buf_printf(out, "%s: %s\n\n", m->name, m->help);
    buf_printf(out, "unit        %s%s\ndirection   %s\nnoise       %s\naxes        ", m->unit,
               strcmp(m->unit, "1") == 0 ? ": a share, a ratio or a flag" : "", direction_words(m->better),
               m->noise == NOISE_TASK ? "task: the task is the unit of comparison"
                                      : "run: a slow minute hits all tasks, so the run is the unit of comparison");
    axes_text(out, m->axes);
    buf_printf(out, "\nversion     %d of the definition\n\n", m->version);
    help_wrapped(out, m->definition, 0, 0);
    buf_puts(out, "\nexample: ");
    help_wrapped(out, m->example, 9, 9);
}

static enum status run(struct call *c, struct error *err)
{
    const char *name = c->opts.n_words ? c->opts.words[0] : NULL;
    const struct metric *m = name ? metric_find(name) : NULL;
    const char *near = name ? metric_similar(name) : NULL;

    if (m)
        explain(&c->out, m);
    else if (near)
        return error_set(err, ERR_USAGE, "no metric '%s', did you mean '%s'?", name, near);
    else if (name)
        return error_set(err, ERR_USAGE, "no metric '%s': 'tare explain' lists them", name);
    else
        list_metrics(&c->out);
    return OK;
}

const struct command cmd_explain = {
    .name = "explain",
    .operands = "[METRIC]",
    .max_words = 1,
    .brief = "what a metric means: definition, unit, direction, worked example",
    .about = "Shows the definition of a metric, or lists all metrics when none is named.",
    .examples = "tare explain\ntare explain attn.entropy",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
