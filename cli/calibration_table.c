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

void calibration_table(struct buf *out, const struct calibration *c)
{
    static const char *const heads[] = {"metric", "role", "sd", "noisiest", "at", "margin", "finds 1x", "2x"};
    AUTO(table) t = {.n_columns = 8, .align = "llrrlrrr"};
    size_t i;

    buf_printf(out, "%zu runs, %zu tasks, policy %s, alpha %.4g, seed %llu\n\nfalse alarms (regressed or changed)\n",
               c->n_runs, c->n_tasks, c->policy_name, c->alpha, (unsigned long long)c->seed);
    put_count(out, "  run against run", &c->pairs);
    if (c->can_exchange)
        put_count(out, "  exchanged within tasks", &c->exchanged);
    else
        buf_puts(out, "  the runs have not the same tasks, turns or layers: nothing was exchanged between them\n");
    buf_putc(out, '\n');
    for (i = 0; i < 8; i++)
        table_cell(&t, heads[i], 12);
    for (i = 0; i < c->n_metrics; i++)
        put_metric(&t, &c->metrics[i]);
    table_print(&t, out, 0, 110, 0);
    buf_puts(out,
             "\nsd: of a task's difference between two runs, of the mean over cells and of the noisiest cell; of "
             "latencies between\nruns. finds: how often a shift of every cell by one and by two margins is found.\n");
}
