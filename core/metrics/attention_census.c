#include "core/metrics/attention_census.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More rows than this share off by more than 2 %: the file does not hold what it says. */
#define MAX_BAD_SUM_SHARE 0.01

/* With a sink that is no key rows sum to 1 at most, but for rounding. */
#define MAX_SINK_SUM 1.02

void census_init(struct census *c, const struct attention_options *options)
{
    *c = (struct census){.options = options, .sum_min = INFINITY, .sum_max = -INFINITY};
}

void census_done(struct census *c)
{
    free(c->streaks);
    *c = (struct census){0};
}

enum status census_begin_layer(struct census *c, const struct dump_layer *l, struct error *err)
{
    TRY(mem_grow(&c->streaks, &c->cap_streaks, l->n_heads, sizeof *c->streaks, err));
    memset(c->streaks, 0, c->cap_streaks * sizeof *c->streaks);
    return OK;
}

static void count_head(struct census *c, const struct dump_layer *l, const struct dump_sample *s, size_t head,
                       const struct head_stats *h)
{
    char place[160];
    int i;

    snprintf(place, sizeof place, "sample '%.80s', layer %lld, head %zu", s->id, (long long)l->index, head);
    for (i = 0; i < N_ROW_STATUSES; i++) {
        if (h->n_rows[i] && !c->n[i])
            memcpy(c->place[i], place, sizeof place);
        c->n[i] += h->n_rows[i];
    }
    if (h->n_sum_off && !c->n_sum_off)
        memcpy(c->sum_place, place, sizeof place);
    if (h->leak_sum > c->leak_max * (double)h->n_rows[ROW_OK]) {
        c->leak_max = h->leak_sum / (double)h->n_rows[ROW_OK];
        memcpy(c->leak_place, place, sizeof place);
    }
    if (h->n_k90 < h->n_rows[ROW_OK] && !c->n_without_k90)
        memcpy(c->k90_place, place, sizeof place);
    if (h->n_uniform && !c->n_uniform)
        memcpy(c->uniform_place, place, sizeof place);
    c->n_uniform += h->n_uniform;
    c->n_without_k90 += h->n_rows[ROW_OK] - h->n_k90;
    c->n_sum_off += h->n_sum_off;
    c->n_sum_bad += h->n_sum_bad;
    c->sum_min = fmin(c->sum_min, h->sum_min);
    c->sum_max = fmax(c->sum_max, h->sum_max);
}

/* Called for the samples of a layer in file order. */
static void count_collapses(struct census *c, const struct dump *d, const struct dump_layer *l, size_t sample,
                            const struct head_stats *heads)
{
    const struct collapse *numbers = &c->options->collapse;
    struct streak *streaks = c->streaks;
    size_t h;

    for (h = 0; h < l->n_heads; h++) {
        if (!head_has_collapsed(&heads[h], numbers->bits, numbers->weight)) {
            streaks[h].n = 0;
            continue;
        }
        if (streaks[h].n == 0)
            streaks[h].first = sample;
        if (++streaks[h].n != numbers->samples)
            continue;
        if (c->n_collapsed++ == 0)
            snprintf(c->collapse_place, sizeof c->collapse_place, "layer %lld, head %zu from sample '%.80s' on",
                     (long long)l->index, h, d->samples[streaks[h].first].id);
    }
}

void census_add(struct census *c, const struct dump *d, size_t layer, size_t sample, const struct head_stats *heads)
{
    const struct dump_layer *l = &d->layers[layer];
    size_t h;

    for (h = 0; h < l->n_heads; h++)
        count_head(c, l, &d->samples[sample], h, &heads[h]);
    count_collapses(c, d, l, sample, heads);
}

/* What makes the dump no measure of attention. */
static enum status refuse(const struct census *c, const struct dump *d, struct error *err)
{
    uint64_t n_ok = c->n[ROW_OK];
    bool may_lack = c->options->implicit_sink && !(c->sum_max > MAX_SINK_SUM);

    if (c->n[ROW_NEGATIVE])
        return error_set(
            err, ERR_FORMAT,
            "'%s': %llu rows hold negative weights, the first in %s: these are no softmax weights; scores belong in "
            "'attn_logits', in a layout map under \"logits\"",
            d->path, (unsigned long long)c->n[ROW_NEGATIVE], c->place[ROW_NEGATIVE]);
    if (c->n[ROW_INF])
        return error_set(err, ERR_FORMAT,
                         "'%s': %llu rows hold infinities, the first in %s: dump the weights again in a wider type",
                         d->path, (unsigned long long)c->n[ROW_INF], c->place[ROW_INF]);
    if (c->n[ROW_NAN] && c->options->fail_on_nan)
        return error_set(
            err, ERR_FORMAT,
            "'%s': %llu rows hold NaN among the keys that their mask shows, the first in %s: dump it again, "
            "or leave such rows out with --on-nan skip",
            d->path, (unsigned long long)c->n[ROW_NAN], c->place[ROW_NAN]);
    if (n_ok == 0)
        return error_set(err, ERR_FORMAT,
                         "'%s': no row has weights to measure (%llu NaN, %llu all zero): dump it again", d->path,
                         (unsigned long long)c->n[ROW_NAN], (unsigned long long)c->n[ROW_ZERO]);
    if ((double)c->n_sum_bad > MAX_BAD_SUM_SHARE * (double)n_ok && !may_lack)
        return error_set(
            err, ERR_FORMAT,
            "'%s': %llu of %llu rows sum to something off 1 by more than 2 %% (between %.4g and %.4g), the first in "
            "%s: these are no softmax weights over the visible keys; check causal, window and lengths, or dump again%s",
            d->path, (unsigned long long)c->n_sum_bad, (unsigned long long)n_ok, c->sum_min, c->sum_max, c->sum_place,
            c->sum_max <= MAX_SINK_SUM ? "; where a learned sink takes the rest, as in gpt-oss, --implicit-sink" : "");
    return OK;
}

static enum status note_sums(const struct census *c, struct run *run, const struct dump *d, struct error *err)
{
    if (c->leak_max > 0)
        TRY(run_note(run, err, "mask-leak",
                     "'%s': weight stands on keys that the mask hides, %.3g a row at most, in %s; see attn.mask_leak",
                     d->path, c->leak_max, c->leak_place));
    if (!c->n_sum_off)
        return OK;
    if (c->options->implicit_sink && !(c->sum_max > MAX_SINK_SUM))
        return run_note(run, err, "implicit-sink",
                        "'%s': %llu of %llu rows leave up to %.3g of their weight to a sink that is no key", d->path,
                        (unsigned long long)c->n_sum_off, (unsigned long long)c->n[ROW_OK], 1 - c->sum_min);
    return run_note(run, err, "row-sums",
                    "'%s': %llu of %llu rows sum to something off 1 (between %.6g and %.6g), the first in %s", d->path,
                    (unsigned long long)c->n_sum_off, (unsigned long long)c->n[ROW_OK], c->sum_min, c->sum_max,
                    c->sum_place);
}

static enum status note_k90(const struct census *c, struct run *run, const struct dump *d, struct error *err)
{
    if (!c->n_without_k90)
        return OK;
    return run_note(run, err, "without-k90",
                    "'%s': attn.k90 is not measured for %llu of %llu rows, the first in %s: queries and keys give it "
                    "on the CPU alone (--device cpu), and not where they are too long for float",
                    d->path, (unsigned long long)c->n_without_k90, (unsigned long long)c->n[ROW_OK], c->k90_place);
}

static enum status note_uniform(const struct census *c, struct run *run, const struct dump *d, struct error *err)
{
    if (!c->n_uniform)
        return OK;
    return run_note(run, err, "uniform-rows",
                    "'%s': %llu of %llu rows give each of %d or more visible keys the same weight, the first in %s: a "
                    "softmax over fully masked scores does that; they are measured, so leave such rows out by first "
                    "and length if they are padding",
                    d->path, (unsigned long long)c->n_uniform, (unsigned long long)c->n[ROW_OK], (int)UNIFORM_KEYS,
                    c->uniform_place);
}

enum status census_judge(const struct census *c, struct run *run, const struct dump *d, struct error *err)
{
    static const char *const what[N_ROW_STATUSES] = {
        [ROW_ZERO] = "are all zero (fully masked)", [ROW_NAN] = "hold NaN (fully masked, or broken)"};
    int i;

    TRY(refuse(c, d, err));
    for (i = 0; i < N_ROW_STATUSES; i++)
        if (what[i] && c->n[i])
            TRY(run_note(run, err, "masked-rows", "'%s': %llu rows %s and are left out, the first in %s", d->path,
                         (unsigned long long)c->n[i], what[i], c->place[i]));
    TRY(note_k90(c, run, d, err));
    TRY(note_uniform(c, run, d, err));
    if (c->n_collapsed)
        TRY(run_note(
            run, err, "collapsed-heads",
            "'%s': heads put nearly all weight on single keys over %zu or more samples in a row (%llu such streaks), "
            "the first is %s; see attn.collapse",
            d->path, c->options->collapse.samples, (unsigned long long)c->n_collapsed, c->collapse_place));
    return note_sums(c, run, d, err);
}
