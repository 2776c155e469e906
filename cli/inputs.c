#include "cli/inputs.h"

#include "cli/message.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/io/taskset_read.h"
#include "core/metrics/attention_content.h"

#include <stdlib.h>
#include <string.h>

void inputs_done(struct inputs *in)
{
    size_t i;

    taskset_done(&in->taskset);
    for (i = 0; i < in->n_dumps; i++)
        dump_done(&in->dumps[i]);
    free(in->dumps);
    free(in->dump_list);
    memset(in, 0, sizeof *in);
}

static enum status open_taskset(struct inputs *in, const struct run *run, const char *path, struct error *err)
{
    if (path)
        TRY(taskset_read(&in->taskset, path, err));
    else if (run->taskset_json)
        TRY(taskset_parse(&in->taskset, "taskset.json of the run", run->taskset_json, strlen(run->taskset_json), err));
    else
        return OK;
    in->tasks = &in->taskset;
    return OK;
}

enum status inputs_taskset(struct inputs *in, struct run *run, const char *path, struct error *err)
{
    struct provenance *p = &run->provenance;
    const struct taskset *t;

    TRY(open_taskset(in, run, path, err));
    t = in->tasks;
    if (!t)
        return OK;
    if (p->taskset_hash.hex[0] && strcmp(p->taskset_hash.hex, t->hash.hex) != 0)
        return error_set(err, ERR_FORMAT,
                         "the replies were recorded with another version of the task set: theirs has the hash %.12s, "
                         "'%s' %s has %.12s; name that version, or record again",
                         p->taskset_hash.hex, t->name, t->version, t->hash.hex);
    p->taskset_hash = t->hash;
    TRY(arena_strdup(&run->arena, t->name, &p->taskset_name, err));
    TRY(arena_strdup(&run->arena, t->version, &p->taskset_version, err));
    return arena_strndup(&run->arena, t->json, t->json_len, &run->taskset_json, err);
}

enum status inputs_prompt(struct run *run, const char *path, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(prompt) prompt = {0};

    if (!path)
        return OK;
    TRY(prompt_read(&prompt, path, err));
    if (p->prompt_hash.hex[0] && strcmp(p->prompt_hash.hex, prompt.hash.hex) != 0)
        return error_set(err, ERR_FORMAT,
                         "the replies were recorded with another prompt: theirs, '%s', has the hash %.12s, '%s' has "
                         "%.12s; name that one, or leave --prompt out",
                         p->prompt_version, p->prompt_hash.hex, path, prompt.hash.hex);
    p->prompt_hash = prompt.hash;
    TRY(arena_strdup(&run->arena, prompt.version, &p->prompt_version, err));
    return arena_strdup(&run->arena, prompt.json, &run->prompt_json, err);
}

/* What the map says decides what numbers mean, so the run keeps which one it was. */
static enum status note_layout(struct run *run, const char *path, const char *layout, struct error *err)
{
    struct sha256 hash;

    TRY(sha256_file(&hash, layout, err));
    return run_note(run, err, "dump-layout", "'%s' was read with the layout map '%s' (SHA-256 %.12s)", path, layout,
                    hash.hex);
}

static enum status open_dump(struct inputs *in, struct run *run, size_t i, const char *path,
                             const struct dump_options *options, struct error *err)
{
    size_t j;

    TRY(dump_begin(&in->dumps[i], path, options, err));
    in->dump_list[i] = &in->dumps[i];
    in->n_dumps = i + 1;
    if (options->layout && !options->layout_text)
        TRY(note_layout(run, path, options->layout, err));
    for (j = 0; j < in->dumps[i].n_notices; j++)
        TRY(run_note(run, err, "dump-assumed", "%s", in->dumps[i].notices[j]));
    return OK;
}

static enum status reserve_dumps(struct inputs *in, size_t n, struct error *err)
{
    TRY(mem_new(n, sizeof *in->dumps, &in->dumps, err));
    return mem_new(n, sizeof *in->dump_list, &in->dump_list, err);
}

static enum status open_dumps(struct inputs *in, struct run *run, const char *const *paths, size_t n,
                              const struct dump_options *options, struct error *err)
{
    size_t i;

    TRY(reserve_dumps(in, n, err));
    for (i = 0; i < n; i++)
        TRY(open_dump(in, run, i, paths[i], options, err));
    return OK;
}

static enum status hash_content(const char *path, const struct dump_options *options, size_t memory, struct sha256 *ret,
                                struct error *err)
{
    AUTO(dump) dump = {0};

    TRY(dump_begin(&dump, path, options, err));
    return content_of_dump(&dump, memory, ret, err);
}

/* Why a dump cannot be read again, or NULL when it is there as recorded: to the byte, or, of a large one, to the bit of
 * what is measured. */
static const char *what_happened(const struct dump_source *dump, const struct dump_options *options, size_t memory)
{
    struct error ignored = {0};
    struct dump_source now = {0};
    enum status st;

    if (!file_exists(dump->path))
        return "is not there";
    st = dump->hash.hex[0] ? sha256_file(&now.hash, dump->path, &ignored)
                           : hash_content(dump->path, options, memory, &now.content, &ignored);
    if (st != OK)
        return "cannot be read";
    return dump_source_is_same(&now, dump) ? NULL : "has changed since";
}

static enum status reopen(struct inputs *in, struct run *run, const struct replay *replay,
                          const struct dump_options *options, size_t memory, struct error *err)
{
    size_t i;

    for (i = 0; i < replay->n_dumps; i++) {
        const char *why = what_happened(&replay->dumps[i], options, memory);

        if (!why)
            continue;
        in->copies_attention = true;
        return run_note(run, err, "attention-copied", "dump '%s' %s: attention is copied from the replayed run",
                        replay->dumps[i].path, why);
    }
    TRY(reserve_dumps(in, replay->n_dumps, err));
    for (i = 0; i < replay->n_dumps; i++) {
        struct dump_options how = *options;
        const char *layout = replay->dumps[i].layout;

        if (!how.layout && layout && layout[0]) {
            how.layout = "layout map of the replayed run";
            how.layout_text = layout;
        }
        TRY(open_dump(in, run, i, replay->dumps[i].path, &how, err));
    }
    return OK;
}

enum status inputs_dumps(struct inputs *in, struct run *run, const struct replay *replay, const char *const *paths,
                         size_t n, const struct dump_options *options, size_t memory, struct error *err)
{
    return n ? open_dumps(in, run, paths, n, options, err) : reopen(in, run, replay, options, memory, err);
}

/* Said, since the new run is then not of the same attention. */
static void warn_left_out(const struct inputs *in, const struct replay *replay)
{
    size_t i, j;

    for (i = 0; i < replay->n_dumps; i++) {
        for (j = 0; j < in->n_dumps; j++)
            if (dump_source_is_same(&replay->dumps[i], &in->dumps[j].source))
                break;
        if (j == in->n_dumps)
            message_warn("attention is that of the dumps given: '%s' of the replayed run is not among them",
                         replay->dumps[i].path);
    }
}

enum status inputs_settle(struct inputs *in, const struct replay *replay, struct error *err)
{
    size_t i;

    for (i = 0; i < in->n_dumps; i++)
        TRY(dump_settle(&in->dumps[i], err));
    if (!in->copies_attention)
        warn_left_out(in, replay);
    return OK;
}
