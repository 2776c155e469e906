#include "core/base/mem.h"
#include "core/metrics/attention_parts.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A band is read into the second level of a core's cache and measured there. */
enum { BAND_BYTES = 384 << 10 };

/* Bands for each thread, so that none waits long for the last; a band has some rows nevertheless. */
enum { BANDS_PER_THREAD = 8, MIN_BAND_ROWS = 16 };

/* Less than this is measured before a thread is woken. */
enum { FEW_BYTES = 1 << 18 };

/* Of a tile for a CPU, which then stays in the last level of the cache. */
enum { CPU_TILE_BYTES = 16 << 20 };

struct band_worker {
    struct dump_band band;
    enum status status;
    struct error err;
};

void band_workers_done(struct pass *p)
{
    size_t i;

    for (i = 0; i < p->n_workers; i++)
        dump_band_done(&p->workers[i].band);
    free(p->workers);
    p->workers = NULL;
    p->n_workers = p->cap_workers = 0;
}

/* Items of the loop: bands of some heads, which are cut where chunks are cut. */
struct band_job {
    const struct part *part;
    const struct dump_rows *rows;
    size_t n_rows, n_bands; /* of a band; of each head */
    atomic_bool has_failed;
};

static enum status measure_band(const struct band_job *job, struct band_worker *w, size_t head, size_t n_heads,
                                size_t row, size_t n, struct error *err)
{
    const struct part *part = job->part;
    size_t h;

    TRY(dump_band_read(&w->band, job->rows, part->head + head, n_heads, part->first + row, n,
                       part->pass->options->check_mask ? NULL : part->pass->spans + part->first + row, err));
    for (h = 0; h < n_heads; h++) {
        const char *rows = w->band.rows + h * w->band.head_bytes;
        struct row_entropy_args args = part_args(part, rows, head + h, row, 1, n);

        digest_each(&(struct digest_rows){rows, n, job->rows->row_bytes, args.spans, job->rows->element},
                    part_digest(part, head + h, row));
        TRY(part->pass->backend->row_entropy(&args, part_row(part, head + h, row), err));
    }
    return OK;
}

static void run_band(void *context, size_t item, int thread)
{
    struct band_job *job = context;
    const struct part *part = job->part;
    struct band_worker *w = &part->pass->workers[thread];
    size_t head = item / job->n_bands * job->rows->step_heads;
    size_t n_heads = part->n_heads - head < job->rows->step_heads ? part->n_heads - head : job->rows->step_heads;
    size_t begin = part->first / job->n_rows * job->n_rows + item % job->n_bands * job->n_rows;
    size_t end = begin + job->n_rows, last = part->first + part->n;

    if (atomic_load_explicit(&job->has_failed, memory_order_relaxed))
        return;
    begin = begin > part->first ? begin : part->first;
    end = end < last ? end : last;
    w->status = measure_band(job, w, head, n_heads, begin - part->first, end - begin, &w->err);
    if (w->status != OK)
        atomic_store(&job->has_failed, true);
}

static enum status reserve_workers(struct pass *p, size_t n, struct error *err)
{
    TRY(mem_grow(&p->workers, &p->cap_workers, n, sizeof *p->workers, err));
    for (; p->n_workers < n; p->n_workers++)
        memset(&p->workers[p->n_workers], 0, sizeof *p->workers);
    return OK;
}

/* By one thread's failure. */
static enum status outcome(struct pass *p, size_t n_workers, struct error *err)
{
    size_t i;

    for (i = 0; i < n_workers; i++) {
        enum status st = p->workers[i].status;

        if (st == OK)
            continue;
        p->workers[i].status = OK;
        return error_set(err, st, "%s", p->workers[i].err.message);
    }
    return OK;
}

static enum status check_row_fits(const struct part *part, size_t row_bytes, struct error *err)
{
    if (row_bytes <= part->pass->memory)
        return OK;
    return error_set(err, ERR_LIMIT, "a row of %zu keys takes %zu bytes, and the memory is %zu: raise --memory",
                     part->layer->n_cols, row_bytes, part->pass->memory);
}

/* Rows of a band: as many as the cache holds, few enough that every thread has several bands, whole chunks. */
static size_t band_rows(const struct part *part, const struct dump_rows *rows, size_t n_threads)
{
    size_t each = rows->step_heads * rows->row_bytes, n = pass_fit(BAND_BYTES, part->n, each);
    size_t even = part->n_heads / rows->step_heads * part->n / (n_threads * BANDS_PER_THREAD) + MIN_BAND_ROWS;

    if (n_threads > 1 && n > even)
        n = even;
    return n < rows->step_rows ? rows->step_rows : n / rows->step_rows * rows->step_rows;
}

enum status part_bands(const struct part *part, const struct dump_rows *rows, struct error *err)
{
    struct band_job job = {.part = part, .rows = rows};
    size_t memory = part->pass->memory, n_threads = 1, n_groups, least;

    TRY(check_row_fits(part, rows->row_bytes, err));
    least = rows->step_heads * rows->step_rows * rows->row_bytes + rows->extra_bytes;
    if (least > memory)
        return dump_rows_too_large(rows, memory, err);
    if (part->n_heads * part->n * rows->row_bytes >= FEW_BYTES)
        n_threads = pass_fit(memory, (size_t)cpu_threads(), least);
    job.n_rows = band_rows(part, rows, n_threads);
    if (job.n_rows * rows->row_bytes * rows->step_heads + rows->extra_bytes > memory / n_threads)
        job.n_rows = rows->step_rows;
    job.n_bands = (part->first + part->n - 1) / job.n_rows - part->first / job.n_rows + 1;
    n_groups = (part->n_heads + rows->step_heads - 1) / rows->step_heads;
    TRY(reserve_workers(part->pass, n_threads, err));
    parallel_for(n_groups * job.n_bands, (int)n_threads, run_band, &job);
    return outcome(part->pass, n_threads, err);
}

/* Factors of the heads of a tile, one head after the other, as its rows are. */
static enum status slot_scales(const struct part *part, struct tile_slot *slot, struct error *err)
{
    size_t n = slot->args.n_rows, n_heads = slot->args.n_heads, h;

    TRY(mem_grow(&slot->scales, &slot->cap_scales, n_heads * n, sizeof *slot->scales, err));
    for (h = 0; h < n_heads; h++)
        memcpy(slot->scales + h * n, part_scales(part, slot->head + h, slot->row), n * sizeof *slot->scales);
    slot->args.value_scales = slot->scales;
    return OK;
}

static enum status slot_finish(const struct part *part, struct tile_slot *slot, struct error *err)
{
    if (!slot->is_busy)
        return OK;
    slot->is_busy = false;
    TRY(part->pass->backend->row_end(slot->work, err));
    part_keep(part, slot->rows, slot->head, slot->args.n_heads, slot->row, slot->args.n_rows);
    return OK;
}

/* Reads rows [row, row + n) of some heads into `values` and sets the backend to work on them. */
static enum status slot_begin(const struct part *part, const struct dump_rows *rows, struct tile_slot *slot,
                              void *values, size_t head, size_t n_heads, size_t row, size_t n, struct error *err)
{
    struct row_entropy_args args = part_args(part, values, head, row, n_heads, n);

    TRY(slot_finish(part, slot, err));
    slot->args = args;
    slot->head = head;
    slot->row = row;
    TRY(part_fill(&(struct fill){rows, part->head + head, n_heads, part->first + row, n, args.spans, values,
                                 part_digest(part, head, row), (part->n + part->n_keys) * DIGEST_BYTES,
                                 args.check_mask},
                  err));
    if (args.value_scales && n != part->n)
        TRY(slot_scales(part, slot, err));
    TRY(mem_grow(&slot->rows, &slot->cap_rows, n_heads * n, sizeof *slot->rows, err));
    TRY(part->pass->backend->row_begin(&slot->args, slot->rows, &slot->work, err));
    slot->is_busy = true;
    return OK;
}

/* Where the backend works on its own, one tile is read while it has another. */
enum status part_tiles(const struct part *part, const struct dump_rows *rows, struct error *err)
{
    struct pass *p = part->pass;
    bool is_cpu = p->backend->works_in_bands;
    size_t memory = !is_cpu ? p->memory / TILE_SLOTS : p->memory > CPU_TILE_BYTES ? CPU_TILE_BYTES : p->memory;
    size_t head_step, n_rows, head, row, i = 0, bytes;

    TRY(check_row_fits(part, rows->row_bytes, err));
    n_rows = pass_fit(memory / pass_fit(memory, part->n_heads, rows->row_bytes), part->n, rows->row_bytes);
    head_step = pass_fit(memory, part->n_heads, n_rows * rows->row_bytes);
    bytes = head_step * n_rows * rows->row_bytes;
    TRY(pass_reserve(p->backend, &p->a, &p->a_bytes, bytes, err));
    if (!is_cpu)
        TRY(pass_reserve(p->backend, &p->b, &p->b_bytes, bytes, err));
    for (head = 0; head < part->n_heads; head += head_step)
        for (row = 0; row < part->n; row += n_rows, i++)
            TRY(slot_begin(part, rows, &p->slots[i % TILE_SLOTS], is_cpu || i % TILE_SLOTS == 0 ? p->a : p->b, head,
                           part->n_heads - head < head_step ? part->n_heads - head : head_step, row,
                           part->n - row < n_rows ? part->n - row : n_rows, err));
    TRY(slot_finish(part, &p->slots[i % TILE_SLOTS], err));
    return slot_finish(part, &p->slots[(i + 1) % TILE_SLOTS], err);
}
