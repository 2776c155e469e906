#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/h5attr.h"
#include "core/io/h5data.h"
#include "core/io/h5scale.h"
#include "core/io/runfile.h"
#include "core/io/runfile_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_CHUNK = 1 << 18 };

/* The five scales of a file, released together. */
struct scales {
    struct h5scale s[N_AXES];
};

static void scales_done(struct scales *all)
{
    int i;

    for (i = 0; i < N_AXES; i++)
        h5scale_done(&all->s[i]);
}

static const char *const axis_help[N_AXES] = {
    "Ids of the tasks, in the order of the source.",
    "Turns of the conversations, from 1.",
    "Repeats of the same turn, from 1.",
    "Layers of the model, from 0.",
    "Query heads, from 0.",
};

static enum status write_provenance(const struct h5 *root, const struct provenance *p, struct error *err)
{
    AUTO(h5) group = {0};
    AUTO(h5) dumps = {0};
    size_t i;

    TRY(runfile_put_fields(root, "provenance", &runfile_provenance, p, &group, err));
    TRY(runfile_put_fields(&group, "observed_on", &runfile_observed, &p->observed_on, NULL, err));
    TRY(runfile_put_fields(&group, "computed_on", &runfile_computed, &p->computed_on, NULL, err));
    TRY(h5_make_group(&group, "dumps", "The attention dumps that were read, numbered from 0.", &dumps, err));
    for (i = 0; i < p->n_dumps; i++) {
        char name[24];

        snprintf(name, sizeof name, "%zu", i);
        TRY(runfile_put_fields(&dumps, name, &runfile_dump, &p->dumps[i], NULL, err));
    }
    return OK;
}

static enum status write_axes(const struct h5 *root, const struct axes *axes, struct scales *ret, struct error *err)
{
    AUTO(h5) group = {0};
    int i;

    TRY(h5_make_group(root, "axes", "Labels along the dimensions of the cubes.", &group, err));
    for (i = 0; i < N_AXES; i++) {
        struct h5data what = {.name = axis_names[i],
                              .help = axis_help[i],
                              .file_type = H5T_STD_I64LE,
                              .mem_type = H5T_NATIVE_INT64,
                              .rank = 1,
                              .dims = {axes->n[i]}};
        AUTO(h5) ds = {0};

        if (i == AXIS_TASK)
            TRY(h5data_put_texts(&group, what.name, what.help, axes->task, axes->n[i], &ds, err));
        else
            TRY(h5data_put(&group, &what, axes->number[i], &ds, err));
        TRY(h5scale_init(&ret->s[i], &ds, axis_names[i], err));
    }
    return OK;
}

static enum status describe_cube(const struct h5 *ds, const struct cube *c, struct error *err)
{
    const char *unit = c->unit ? c->unit : "";
    bool is_ratio = !*unit || strcmp(unit, "1") == 0;
    AUTO(buf) comment = {0};
    char axes[64] = "";
    int i;

    for (i = 0; i < N_AXES; i++)
        if (c->axes & AXIS_BIT(i))
            snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%s", axes[0] ? "," : "", axis_names[i]);
    TRY(h5attr_put_text(ds, "unit", unit, err));
    TRY(h5attr_put_text(ds, "direction", better_name(c->better), err));
    TRY(h5attr_put_text(ds, "noise", noise_name(c->noise), err));
    TRY(h5attr_put_i64(ds, "version", c->version, err));
    TRY(h5attr_put_text(ds, "axes", axes, err));
    buf_printf(&comment, "%s; %s%s%sover %s", c->help ? c->help : "", is_ratio ? "" : "in ", is_ratio ? "" : unit,
               is_ratio ? "" : ", ", axes[0] ? axes : "the whole run");
    TRY(buf_check(&comment, err));
    return h5_comment(ds, buf_text(&comment), err);
}

static enum status write_cube(const struct h5 *group, const struct cube *c, struct scales *scales, struct error *err)
{
    struct h5data what = {
        .name = c->metric, .help = c->help ? c->help : "", .file_type = H5T_IEEE_F64LE, .mem_type = H5T_NATIVE_DOUBLE};
    struct h5scale *along[N_AXES];
    AUTO(h5) ds = {0};
    int i;

    if (!c->metric || !c->metric[0] || strchr(c->metric, '/'))
        return error_set(err, ERR_INTERNAL, "a metric's name cannot be '%s'", c->metric ? c->metric : "");
    for (i = 0; i < N_AXES; i++) {
        if (!(c->axes & AXIS_BIT(i)))
            continue;
        along[what.rank] = &scales->s[i];
        what.dims[what.rank++] = c->dim[i];
    }
    TRY(h5data_put(group, &what, c->values, &ds, err));
    TRY(describe_cube(&ds, c, err));
    return h5scale_attach(&ds, along, what.rank, err);
}

static int by_metric(const void *a, const void *b)
{
    return strcmp((*(const struct cube *const *)a)->metric, (*(const struct cube *const *)b)->metric);
}

/* In the order of their names, so that the file does not depend on the order in which metrics were computed. */
static enum status write_cubes(const struct h5 *root, const struct run *run, struct scales *scales, struct error *err)
{
    AUTO(h5) group = {0};
    const struct cube **sorted = NULL;
    enum status st = OK;
    size_t i;

    TRY(h5_make_group(root, "cubes",
                      "The values of each metric; NaN where it has none.\n"
                      "unit: of the values, \"1\" for a ratio or a flag.\n"
                      "direction: higher or lower is better, or neither: it should not move.\n"
                      "noise: the unit of comparison, task or run. version: of the metric's definition.\n"
                      "axes: the dimensions, outermost first; their labels are in /axes.",
                      &group, err));
    TRY(mem_new(run->n_cubes, sizeof *sorted, &sorted, err));
    for (i = 0; i < run->n_cubes; i++)
        sorted[i] = &run->cubes[i];
    qsort(sorted, run->n_cubes, sizeof *sorted, by_metric);
    for (i = 0; st == OK && i < run->n_cubes; i++)
        st = write_cube(&group, sorted[i], scales, err);
    free(sorted);
    return st;
}

static enum status write_requests(const struct h5 *group, const struct run *run, const struct runfile_types *types,
                                  struct error *err)
{
    struct h5data what = {.name = "requests",
                          .help = runfile_help_requests,
                          .file_type = types->request_file.id,
                          .mem_type = types->request_mem.id,
                          .rank = 1,
                          .dims = {run->n_exchanges}};
    struct runfile_request *rows = NULL;
    static char empty[] = "";
    enum status st;
    size_t i;

    TRY(mem_new(run->n_exchanges, sizeof *rows, &rows, err));
    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];

        rows[i] = (struct runfile_request){
            .task = x->task ? x->task : empty,
            .path = x->path ? x->path : empty,
            .request = x->request ? x->request : empty,
            .headers = x->headers ? x->headers : empty,
            .turn = x->turn,
            .repeat = x->repeat,
            .status = x->status,
            .sent_ns = x->sent_ns,
            .scheduled_ns = x->scheduled_ns,
            .prompt_tokens = x->prompt_tokens,
            .completion_tokens = x->completion_tokens,
            .first_event = x->first_event,
            .n_events = x->n_events,
            .has_http_head = x->has_http_head,
        };
    }
    st = h5data_put(group, &what, rows, NULL, err);
    free(rows);
    return st;
}

static bool is_live(const struct run *run)
{
    size_t i;

    for (i = 0; i < run->n_exchanges; i++)
        if (run->exchanges[i].failure)
            return true;
    return false;
}

static enum status write_transfers(const struct h5 *group, const struct run *run, const struct runfile_types *types,
                                   struct error *err)
{
    struct h5data what = {.name = "transfers",
                          .help = runfile_help_transfers,
                          .file_type = types->transfer_file.id,
                          .mem_type = types->transfer_mem.id,
                          .rank = 1,
                          .dims = {run->n_exchanges}};
    struct runfile_transfer *rows = NULL;
    static char empty[] = "";
    enum status st;
    size_t i;

    if (!is_live(run))
        return OK;
    TRY(mem_new(run->n_exchanges, sizeof *rows, &rows, err));
    for (i = 0; i < run->n_exchanges; i++) {
        const struct exchange *x = &run->exchanges[i];

        rows[i] = (struct runfile_transfer){
            .failure = x->failure ? x->failure : empty,
            .started_ns = x->started_ns,
            .connect_ns = x->connect_ns,
            .n_retries = x->n_retries,
            .tokens_sent = x->tokens_sent,
            .is_estimate = x->tokens_sent_is_estimate,
            .is_redacted = x->is_redacted,
        };
    }
    st = h5data_put(group, &what, rows, NULL, err);
    free(rows);
    return st;
}

static enum status write_observations(const struct h5 *root, const struct run *run, struct error *err)
{
    AUTO(runfile_types) types = {0};
    AUTO(h5) group = {0};
    struct h5data events = {.name = "events", .help = runfile_help_events, .rank = 1, .dims = {run->n_events}};
    struct h5data bytes = {.name = "bytes",
                           .help = runfile_help_bytes,
                           .file_type = H5T_STD_U8LE,
                           .mem_type = H5T_NATIVE_UINT8,
                           .rank = 1,
                           .dims = {run->n_bytes},
                           .chunk = run->n_bytes < BYTES_CHUNK ? run->n_bytes : BYTES_CHUNK};

    TRY(runfile_types_init(&types, err));
    TRY(h5_make_group(root, "observations", "What was sent and what came back, kept raw.", &group, err));
    TRY(write_requests(&group, run, &types, err));
    TRY(write_transfers(&group, run, &types, err));
    events.file_type = types.event_file.id;
    events.mem_type = types.event_mem.id;
    TRY(h5data_put(&group, &events, run->events, NULL, err));
    return h5data_put(&group, &bytes, run->bytes, NULL, err);
}

static enum status write_inputs(const struct h5 *root, const struct run *run, struct error *err)
{
    AUTO(h5) group = {0};

    TRY(h5_make_group(root, "inputs", "The texts of the inputs, so that the run can be replayed from this file.",
                      &group, err));
    if (run->taskset_json)
        TRY(h5data_put_texts(&group, "taskset.json", "The task set.", &run->taskset_json, SIZE_MAX, NULL, err));
    if (run->prompt_json)
        TRY(h5data_put_texts(&group, "prompt.json", "The prompt version.", &run->prompt_json, SIZE_MAX, NULL, err));
    return OK;
}

static enum status write_notes(const struct h5 *root, const struct run *run, struct error *err)
{
    AUTO(arena) arena = {0};
    char **texts = NULL;
    size_t i;

    TRY(arena_new(&arena, run->n_notes, sizeof *texts, &texts, err));
    for (i = 0; i < run->n_notes; i++)
        TRY(arena_printf(&arena, &texts[i], err, "%s: %s", run->notes[i].code, run->notes[i].text));
    return h5data_put_texts(root, "notes", "What a reader of the run must know, \"code: text\".", texts, run->n_notes,
                            NULL, err);
}

static enum status write_all(const struct h5 *root, const struct run *run, struct error *err)
{
    AUTO(scales) scales = {0};
    size_t i;

    TRY(h5attr_put_text(root, "format", "tare-run", err));
    TRY(h5attr_put_i64(root, "schema", RUNFILE_SCHEMA, err));
    TRY(h5_explain(root,
                   "A run of tare: provenance, raw observations, and the values of each metric over "
                   "task, turn, repeat, layer and head. Read it with tare, h5dump or h5py.",
                   err));
    TRY(write_provenance(root, &run->provenance, err));
    TRY(write_axes(root, &run->axes, &scales, err));
    TRY(write_cubes(root, run, &scales, err));
    TRY(runfile_put_fingerprints(root, &run->fingerprints, scales.s, err));
    for (i = 0; i < N_AXES; i++)
        TRY(h5scale_finish(&scales.s[i], err));
    TRY(write_observations(root, run, err));
    TRY(write_inputs(root, run, err));
    return write_notes(root, run, err);
}

enum status runfile_write(const struct run *run, const char *path, struct error *err)
{
    AUTO(outfile) out = {0};
    AUTO(h5) root = {0};

    TRY(outfile_open(&out, path, err));
    TRY(h5_create(&root, out.tmp, path, err));
    TRY(write_all(&root, run, err));
    TRY(h5_close(&root, err));
    return outfile_commit(&out, err);
}
