#include "cli/calibration_table.h"

#include "core/base/scope.h"
#include "core/gate/calibration_file.h"
#include "reports/show.h"
#include "reports/table.h"

#include <math.h>
#include <string.h>

static void rate_cell(struct table *t, size_t k, size_t n)
{
    AUTO(buf) text = {0};

    if (n)
        buf_printf(&text, "%.0f %%", 100 * (double)k / (double)n);
    else
        buf_puts(&text, "-");
    table_cell(t, buf_text(&text), 8);
}

static void number_cell(struct table *t, double value)
{
    AUTO(buf) text = {0};

    show_small(&text, value);
    table_cell(t, buf_text(&text), 12);
}

static void put_metric(struct table *t, const struct calibration_metric *m)
{
    AUTO(buf) name = {0};
    char place[160] = "-";
    size_t s;

    buf_printf(&name, "%s%s%s", m->metric, strcmp(m->unit, "1") == 0 ? "" : " ",
               strcmp(m->unit, "1") == 0 ? "" : m->unit);
    if (isfinite(m->cell_sd) && m->cell_sd > 0)
        where_text(&m->cell, place, sizeof place);
    table_cell(t, buf_text(&name), 32);
    table_cell(t, role_name(m->role), 10);
    number_cell(t, m->mean_sd);
    number_cell(t, m->cell_sd);
    table_cell(t, place, 24);
    number_cell(t, m->margin);
    for (s = 0; s < CALIBRATION_SHIFTS; s++)
        rate_cell(t, m->n_found[s], m->n_trials);
}

static void put_count(struct buf *out, const char *what, const struct calibration_count *c)
{
    buf_printf(out, "%-26s", what);
    calibration_put_share(out, calibration_alarms(c), c->n);
    if (c->of[VERDICT_INCONCLUSIVE])
        buf_printf(out, "; %zu inconclusive", c->of[VERDICT_INCONCLUSIVE]);
    if (c->of[VERDICT_NONE])
        buf_printf(out, "; %zu without a verdict", c->of[VERDICT_NONE]);
    buf_putc(out, '\n');
}

static void put_counts(struct buf *out, const struct calibration *c)
{
    if (c->n_runs == 1) {
        put_count(out, "  half against half", &c->halves);
        return;
    }
    put_count(out, "  run against run", &c->pairs);
    if (c->can_exchange)
        put_count(out, "  exchanged within tasks", &c->exchanged);
    else
        buf_puts(out, "  the runs have not the same tasks, turns or layers: nothing was exchanged between them\n");
}

/* Broken into lines at the spaces. */
static void put_wrapped(struct buf *out, const char *text)
{
    enum { WIDTH = 112 };

    while (strlen(text) > WIDTH) {
        size_t len = WIDTH;

        while (len > 1 && text[len] != ' ')
            len--;
        buf_printf(out, "%.*s\n", (int)len, text);
        text += len + 1;
    }
    buf_printf(out, "%s\n", text);
}

void calibration_table(struct buf *out, const struct calibration *c)
{
    static const char *const heads[] = {"metric", "role", "sd", "noisiest", "at", "margin", "finds 1x", "2x"};
    AUTO(table) t = {.n_columns = 8, .align = "llrrlrrr"};
    size_t i;

    buf_printf(out, "%zu run%s, %zu tasks, policy %s, alpha %.4g, seed %llu\n\nfalse alarms (regressed or changed)\n",
               c->n_runs, c->n_runs == 1 ? "" : "s", c->n_tasks, c->policy_name, c->alpha, (unsigned long long)c->seed);
    put_counts(out, c);
    buf_putc(out, '\n');
    for (i = 0; i < 8; i++)
        table_cell(&t, heads[i], 12);
    for (i = 0; i < c->n_metrics; i++)
        put_metric(&t, &c->metrics[i]);
    table_print(&t, out, 0, 110, 0);
    buf_putc(out, '\n');
    if (c->n_runs == 1)
        put_wrapped(out, calibration_of_halves);
    put_wrapped(out, c->n_runs == 1
                         ? "sd: of the difference of two tasks, of the mean over cells and of the noisiest "
                           "cell. finds: how often a shift of every cell by one and by two margins is found."
                         : "sd: of a task's difference between two runs, of the mean over cells and of the "
                           "noisiest cell; of latencies between runs. finds: how often a shift of every cell "
                           "by one and by two margins is found.");
}
