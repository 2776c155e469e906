#include "core/metrics/attention_pass.h"

#include "core/base/checked.h"
#include "core/base/mem.h"
#include "core/metrics/attention_parts.h"
#include "kernels/cpu_isa.h"
#include "kernels/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row sums off 1 by more than the stored type's rounding explains. A correct softmax rounded to fp16 stays within 3e-4
 * and to bf16 within 2.3e-3 at 131,072 keys; the bounds leave a factor of two. */
static const double sum_tolerance[N_DTYPES] = {
    [DTYPE_F32] = 1e-4, [DTYPE_F16] = 1e-3, [DTYPE_BF16] = 5e-3,    [DTYPE_F64] = 1e-6,
    [DTYPE_U8] = 2e-2,  [DTYPE_I8] = 2e-2,  [DTYPE_F8_E4M3] = 2e-2, [DTYPE_F8_E5M2] = 2e-2};

/* Fewer rows are finished before a thread is woken. */
enum { FEW_ROWS = 4096 };

static void slot_done(const struct pass *p, struct tile_slot *slot)
{
    struct error err = {0};

    /* After a failure elsewhere: what the device still does is waited for, whether or not it goes well. */
    if (slot->is_busy && p->backend->row_end(slot->work, &err) != OK)
        slot->is_busy = false;
    free(slot->rows);
    free(slot->scales);
}

void pass_done(struct pass *p)
{
    for (int i = 0; i < TILE_SLOTS; i++)
        slot_done(p, &p->slots[i]);
    if (p->a)
        p->backend->host_free(p->a);
    if (p->b)
        p->backend->host_free(p->b);
    band_workers_done(p);
    free(p->heads);
    free(p->digests);
    free(p->profiles);
    free(p->spans);
    free(p->rows);
    free(p->entropies);
    free(p->row_digests);
    free(p->tile);
    free(p->key_digests);
    free(p->lse);
    free(p->key_norms);
    free(p->scales);
    memset(p, 0, sizeof *p);
}

enum status pass_reserve(const struct backend *backend, void **ptr, size_t *have, size_t want, struct error *err)
{
    if (want <= *have)
        return OK;
    if (*ptr)
        backend->host_free(*ptr);
    *have = 0;
    *ptr = backend->host_alloc(want);
    if (!*ptr)
        return error_set(err, ERR_MEMORY, "no memory for a tile of %zu bytes: lower --memory", want);
    *have = want;
    return OK;
}

size_t pass_fit(size_t memory, size_t n, size_t each)
{
    size_t fit = each ? memory / each : n;

    return fit < 1 ? 1 : fit < n ? fit : n;
}

struct row_stat *part_row(const struct part *part, size_t head, size_t row)
{
    return part->pass->rows + head * part->n + row;
}

unsigned char *part_digest(const struct part *part, size_t head, size_t row)
{
    return part->pass->row_digests + (head * (part->n + part->n_keys) + row) * DIGEST_BYTES;
}

uint64_t *part_profile(const struct part *part, size_t head)
{
    return part->pass->profiles + (part->head + head) * PROFILE_BUCKETS;
}

const double *part_scales(const struct part *part, size_t head, size_t row)
{
    return dump_has_scales(part->layer) ? part->pass->scales + head * part->n + row : NULL;
}

struct row_entropy_args part_args(const struct part *part, const void *weights, size_t head, size_t row, size_t n_heads,
                                  size_t n)
{
    const struct attention_options *o = part->pass->options;
    const struct dump_layer *l = part->layer;
    size_t first = part->first + row;

    return (struct row_entropy_args){.kind = l->kind == DUMP_SCORES ? ROWS_SCORES : ROWS_WEIGHTS,
                                     .weights = weights,
                                     .value_scales = part_scales(part, head, row),
                                     .spans = part->pass->spans + first,
                                     .dtype = l->dtype,
                                     .n_heads = n_heads,
                                     .n_rows = n,
                                     .n_cols = l->n_cols,
                                     .query_col = part->sample->query_start - l->key_start + (int64_t)first,
                                     .sink_col = part->sample->first - l->key_start,
                                     .check_mask = o->check_mask,
                                     .implicit_sink = o->implicit_sink,
                                     .eps_form = o->eps_form,
                                     .entropy_eps = o->entropy_eps,
                                     .profile = part_profile(part, head)};
}

void part_keep(const struct part *part, const struct row_stat *rows, size_t head, size_t n_heads, size_t row, size_t n)
{
    size_t h;

    for (h = 0; h < n_heads; h++)
        memcpy(part_row(part, head + h, row), rows + h * n, n * sizeof *rows);
}

struct fill_job {
    const struct fill *fill;
    size_t band_rows, n_bands;
    struct error *errors; /* of each thread; the first message is kept */
    enum status *states;
};

/* A piece of this size is worth the handing out, and is still in the cache when its digests are taken. */
enum { FILL_BYTES = 1 << 18, MAX_FILL_THREADS = 64 };

static void fill_band(void *context, size_t item, int thread)
{
    const struct fill_job *job = context;
    const struct fill *f = job->fill;
    size_t head = item / job->n_bands, from = item % job->n_bands * job->band_rows;
    size_t n = f->n - from < job->band_rows ? f->n - from : job->band_rows;
    const struct row_span *spans = f->spans ? f->spans + from : NULL;
    char *to = f->to + (head * f->n + from) * f->rows->row_bytes;
    struct digest_rows digest = {.rows = to, .n = n, .row_bytes = f->rows->row_bytes, .spans = spans};

    if (job->states[thread] == OK)
        job->states[thread] = dump_rows_read(f->rows, f->head + head, f->row + from, n, f->reads_hidden ? NULL : spans,
                                             to, &job->errors[thread]);
    if (job->states[thread] != OK)
        return;
    digest.element = f->rows->element;
    digest_each(&digest, f->digests + head * f->digest_step + from * DIGEST_BYTES);
}

enum status part_fill(const struct fill *fill, struct error *err)
{
    struct fill_job job = {.fill = fill};
    size_t row_bytes = fill->rows->row_bytes ? fill->rows->row_bytes : 1;
    int n_threads = fill->rows->place.fd >= 0 ? cpu_threads() : 1, i;
    enum status st = OK;

    if (n_threads > MAX_FILL_THREADS)
        n_threads = MAX_FILL_THREADS;
    job.band_rows = fill->rows->place.fd >= 0 ? pass_fit(FILL_BYTES, fill->n, row_bytes) : fill->n;
    job.n_bands = fill->n ? (fill->n + job.band_rows - 1) / job.band_rows : 0;
    TRY(mem_new((size_t)n_threads, sizeof *job.errors, &job.errors, err));
    st = mem_new((size_t)n_threads, sizeof *job.states, &job.states, err);
    if (st == OK)
        parallel_for(fill->n_heads * job.n_bands, n_threads, fill_band, &job);
    for (i = 0; st == OK && i < n_threads; i++)
        if (job.states[i] != OK)
            st = error_set(err, job.states[i], "%s", job.errors[i].message);
    free(job.errors);
    free(job.states);
    return st;
}

/* How far the sum of a row of 8-bit weights may be off 1 by rounding alone: half a step of each key's integer; of a
 * float of 8 bits its relative rounding, and half the smallest number where that is more. */
static double allowance(const struct part *part, size_t head, size_t row, const struct row_stat *r)
{
    const double *scale = part_scales(part, head, row);
    double step = scale ? *scale : 1;

    switch (part->layer->dtype) {
    case DTYPE_F8_E4M3:
        return 0x1p-4 * r->sum + 0x1p-10 * step * r->n_keys;
    case DTYPE_F8_E5M2:
        return 0x1p-3 * r->sum + 0x1p-17 * step * r->n_keys;
    default:
        return 0.5 * step * r->n_keys;
    }
}

/* Sums of 8-bit weights are right or wrong by what each row's rounding allows. */
static void judge_8_bit_sums(const struct part *part, size_t item, struct head_stats *head)
{
    size_t i;

    if (dtype_bytes(part->layer->dtype) != 1)
        return;
    head->n_sum_off = head->n_sum_bad = 0;
    for (i = 0; i < part->n; i++) {
        const struct row_stat *r = part_row(part, item, i);
        double off = r->status == ROW_OK ? fabs(r->sum - 1) - allowance(part, item, i, r) : 0;

        head->n_sum_off += off > sum_tolerance[part->layer->dtype];
        head->n_sum_bad += off > sum_tolerance[part->layer->dtype];
    }
}

/* The same bytes with another factor are other weights. */
static void add_factors(const struct part *part, size_t head)
{
    const double *factors = part_scales(part, head, 0);
    size_t i;

    for (i = 0; factors && i < part->n; i++)
        digest_factor(part_digest(part, head, i), factors[i]);
}

static void finish_head(void *context, size_t item, int thread)
{
    const struct part *part = context;
    struct pass *p = part->pass;
    struct head_stats *head = &p->heads[part->head + item];

    (void)thread;
    head_stats_init(head, p->entropies + item * part->n);
    head->n_more_keys = p->options->implicit_sink && part->layer->kind == DUMP_WEIGHTS;
    head_stats_add(head, part_row(part, item, 0), part->n, sum_tolerance[part->layer->dtype]);
    head_stats_finish(head);
    judge_8_bit_sums(part, item, head);
    head->entropies = NULL; /* the next part's */
    add_factors(part, item);
    digest_head(part_digest(part, item, 0), p->spans + part->first, part->n, part_digest(part, item, part->n),
                part->n_keys, p->digests + (part->head + item) * DIGEST_BYTES);
}

static enum status reserve_part(const struct part *part, struct error *err)
{
    struct pass *p = part->pass;
    size_t n = part->n_heads * part->n;

    TRY(mem_grow(&p->rows, &p->cap_rows, n, sizeof *p->rows, err));
    TRY(mem_grow(&p->entropies, &p->cap_entropies, n, sizeof *p->entropies, err));
    return mem_grow(&p->row_digests, &p->cap_row_digests, n + part->n_heads * part->n_keys, DIGEST_BYTES, err);
}

/* What is kept of one head's rows while it is measured. */
static size_t head_bytes(const struct part *part)
{
    return part->n * (sizeof(struct row_stat) + sizeof(double) + DIGEST_BYTES) + part->n_keys * DIGEST_BYTES;
}

/* The factors of a part's rows: few bytes beside the rows themselves. */
static enum status read_scales(const struct part *part, struct error *err)
{
    struct pass *p = part->pass;
    size_t h;

    if (!dump_has_scales(part->layer))
        return OK;
    TRY(mem_grow(&p->scales, &p->cap_scales, part->n_heads * part->n, sizeof *p->scales, err));
    for (h = 0; h < part->n_heads; h++)
        TRY(dump_read_scales(part->dump, part->n_layer, part->n_sample, part->head + h, part->first, part->n,
                             p->scales + h * part->n, err));
    return OK;
}

static enum status measure_heads(struct part *part, const struct dump_rows *rows, const struct dump_rows *keys,
                                 struct error *err)
{
    TRY(reserve_part(part, err));
    TRY(read_scales(part, err));
    if (part->layer->kind == DUMP_QK)
        TRY(part_qk(part, rows, keys, err));
    else if (part->pass->backend->works_in_bands && rows->for_threads)
        TRY(part_bands(part, rows, err));
    else
        TRY(part_tiles(part, rows, err));
    parallel_for(part->n_heads, part->n_heads * part->n < FEW_ROWS ? 1 : cpu_threads(), finish_head, part);
    return OK;
}

/* The keys that any row sees. */
static size_t n_seen(const struct part *part)
{
    const struct row_span *spans = part->pass->spans + part->first;
    size_t lo = SIZE_MAX, hi = 0, i;

    for (i = 0; i < part->n; i++) {
        if (spans[i].lo >= spans[i].hi)
            continue;
        lo = spans[i].lo < lo ? spans[i].lo : lo;
        hi = spans[i].hi > hi ? spans[i].hi : hi;
    }
    return hi - lo;
}

static enum status measure(struct part *part, struct error *err)
{
    const struct dump_layer *l = part->layer;
    bool is_qk = l->kind == DUMP_QK;
    struct dump_rows rows, keys = {0};
    size_t group, step;

    TRY(dump_rows_find(&rows, part->dump, part->n_layer, part->n_sample, is_qk ? DUMP_PART_Q : DUMP_PART_WEIGHTS, err));
    if (is_qk)
        TRY(dump_rows_find(&keys, part->dump, part->n_layer, part->n_sample, DUMP_PART_K, err));
    part->n_keys = is_qk ? n_seen(part) : 0;
    group = is_qk ? l->n_heads / l->n_kv_heads : rows.step_heads;
    if (group == 0)
        return error_set(err, ERR_INTERNAL, "layer %lld has no heads to measure", (long long)l->index);
    step = pass_fit(part->pass->memory, (l->n_heads + group - 1) / group, group * head_bytes(part)) * group;
    for (part->head = 0; part->head < l->n_heads; part->head += step) {
        part->n_heads = l->n_heads - part->head < step ? l->n_heads - part->head : step;
        TRY(measure_heads(part, &rows, &keys, err));
    }
    return OK;
}

static enum status begin_heads(struct pass *p, const struct dump_layer *l, struct error *err)
{
    size_t h;

    TRY(mem_grow(&p->heads, &p->cap_heads, l->n_heads, sizeof *p->heads, err));
    TRY(mem_grow(&p->digests, &p->cap_digests, l->n_heads, DIGEST_BYTES, err));
    TRY(mem_grow(&p->profiles, &p->cap_profiles, l->n_heads * PROFILE_BUCKETS, sizeof *p->profiles, err));
    for (h = 0; h < l->n_heads; h++)
        head_stats_init(&p->heads[h], NULL);
    memset(p->digests, 0, l->n_heads * DIGEST_BYTES);
    memset(p->profiles, 0, l->n_heads * PROFILE_BUCKETS * sizeof *p->profiles);
    return OK;
}

/* Rows by status, those without a visible key left out: they may not have been read. */
static size_t seen_rows(const struct head_stats *h)
{
    size_t n = 0, i;

    for (i = 0; i < N_ROW_STATUSES; i++)
        n += i == ROW_EMPTY ? 0 : (size_t)h->n_rows[i];
    return n;
}

enum status pass_measure(struct pass *p, struct dump *d, size_t layer, size_t sample, struct error *err)
{
    struct part part = {.pass = p,
                        .dump = d,
                        .layer = &d->layers[layer],
                        .sample = &d->samples[sample],
                        .n_layer = layer,
                        .n_sample = sample};
    const struct dump_layer *l = part.layer;
    size_t last = l->n_rows, n;

    if (!size_mul(l->n_heads, l->n_rows, &n) || !size_mul(n, sizeof *p->rows, &n))
        return error_set(err, ERR_LIMIT, "%zu heads of %zu rows are too many", l->n_heads, l->n_rows);
    TRY(begin_heads(p, l, err));
    TRY(mem_grow(&p->spans, &p->cap_spans, l->n_rows, sizeof *p->spans, err));
    dump_spans(l, part.sample, p->spans);
    while (part.first < last && p->spans[part.first].lo >= p->spans[part.first].hi)
        part.first++;
    while (last > part.first && p->spans[last - 1].lo >= p->spans[last - 1].hi)
        last--;
    part.n = last - part.first;
    if (part.n)
        TRY(measure(&part, err));
    for (n = 0; n < l->n_heads; n++)
        p->heads[n].n_rows[ROW_EMPTY] = l->n_rows - seen_rows(&p->heads[n]);
    return OK;
}
