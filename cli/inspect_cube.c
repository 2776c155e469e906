#include "cli/inspect.h"

#include "core/base/num.h"
#include "reports/escape.h"

#include <inttypes.h>
#include <math.h>

void inspect_cube_csv(const struct run *run, const struct cube *c, struct buf *out)
{
    size_t at[N_AXES] = {0}, axis;

    for (axis = 0; axis < N_AXES; axis++)
        if (c->axes & AXIS_BIT(axis))
            buf_printf(out, "%s,", axis_names[axis]);
    buf_puts(out, "value\n");
    if (cube_len(c) == 0)
        return;
    do {
        for (axis = 0; axis < N_AXES; axis++) {
            if (!(c->axes & AXIS_BIT(axis)))
                continue;
            if (axis == AXIS_TASK)
                escape_csv(out, run->axes.task[at[axis]]);
            else
                buf_printf(out, "%" PRId64, run->axes.number[axis][at[axis]]);
            buf_putc(out, ',');
        }
        num_append17(out, c->values[cube_index(c, at)]);
        buf_putc(out, '\n');
    } while (cube_next(c, at));
}

static void add(struct desc *d, json_t *array, json_t *value)
{
    if (!array || json_array_append_new(array, value))
        d->failed = true;
}

static void add_row(struct desc *d, json_t *rows, const struct run *run, const struct cube *c, const size_t at[N_AXES])
{
    double value = c->values[cube_index(c, at)];
    json_t *row = json_array();
    size_t axis;

    for (axis = 0; axis < N_AXES; axis++) {
        if (!(c->axes & AXIS_BIT(axis)))
            continue;
        if (axis == AXIS_TASK)
            add(d, row, json_string(run->axes.task[at[axis]]));
        else
            add(d, row, json_integer(run->axes.number[axis][at[axis]]));
    }
    add(d, row, isfinite(value) ? json_real(value) : json_null());
    add(d, rows, row);
}

enum status inspect_cube_json(struct desc *d, const struct run *run, const struct cube *c, const char *path,
                              struct error *err)
{
    size_t at[N_AXES] = {0}, axis;
    json_t *columns, *rows;

    TRY(desc_init(d, "cube", path, err));
    desc_text(d, d->root, "metric", c->metric);
    desc_text(d, d->root, "unit", c->unit);
    desc_text(d, d->root, "direction", better_name(c->better));
    desc_text(d, d->root, "noise", noise_name(c->noise));
    desc_int(d, d->root, "version", c->version);
    columns = desc_array(d, d->root, "columns");
    for (axis = 0; axis < N_AXES; axis++)
        if (c->axes & AXIS_BIT(axis))
            add(d, columns, json_string(axis_names[axis]));
    add(d, columns, json_string("value"));
    rows = desc_array(d, d->root, "rows");
    if (cube_len(c) > 0)
        do
            add_row(d, rows, run, c, at);
        while (!d->failed && cube_next(c, at));
    return desc_check(d, err);
}
