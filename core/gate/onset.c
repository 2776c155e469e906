#include "core/gate/onset.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/gate/view.h"
#include "core/gate/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two runs' digests, and where in the base the candidate's labels are. */
struct bits {
    const struct fingerprints *base, *cand;
    struct view view;
    bool *differs; /* owned: [heads] of the layer at hand */
};

static void bits_done(struct bits *b)
{
    view_done(&b->view);
    free(b->differs);
    memset(b, 0, sizeof *b);
}

enum same { SAME_UNKNOWN, SAME_BITS, OTHER_BITS };

static enum same compare(const struct bits *b, const size_t at[N_AXES])
{
    const unsigned char *x, *y;
    size_t there[N_AXES] = {0}, a;

    x = fingerprints_digest(b->cand, fingerprints_index(b->cand, at));
    for (a = 0; a < N_AXES; a++) {
        if (a == AXIS_REPEAT)
            continue;
        there[a] = b->view.index[a][at[a]];
        if (there[a] == SIZE_MAX)
            return SAME_UNKNOWN;
    }
    y = fingerprints_digest(b->base, fingerprints_index(b->base, there));
    if (!x || !y)
        return SAME_UNKNOWN;
    return memcmp(x, y, DIGEST_BYTES) == 0 ? SAME_BITS : OTHER_BITS;
}

/* One layer of a sample: heads compared, and those that differ. */
struct layer {
    size_t n, n_differ;
};

static struct layer look(const struct bits *b, size_t at[N_AXES], bool *differs)
{
    struct layer l = {0};

    for (at[AXIS_HEAD] = 0; at[AXIS_HEAD] < b->cand->dim[AXIS_HEAD]; at[AXIS_HEAD]++) {
        enum same same = compare(b, at);

        l.n += same != SAME_UNKNOWN;
        l.n_differ += same == OTHER_BITS;
        if (same == OTHER_BITS && differs)
            differs[at[AXIS_HEAD]] = true;
    }
    return l;
}

/* The sample's lowest layer that was compared and its first that differs, as indices; SIZE_MAX none. */
struct course {
    size_t lowest, first;
};

static struct course follow(const struct bits *b, size_t at[N_AXES], struct onset *o)
{
    struct course c = {SIZE_MAX, SIZE_MAX};

    for (at[AXIS_LAYER] = 0; at[AXIS_LAYER] < b->cand->dim[AXIS_LAYER]; at[AXIS_LAYER]++) {
        struct layer l = look(b, at, NULL);

        o->n_cells += l.n;
        o->n_equal += l.n - l.n_differ;
        if (l.n && c.lowest == SIZE_MAX)
            c.lowest = at[AXIS_LAYER];
        if (l.n_differ && c.first == SIZE_MAX)
            c.first = at[AXIS_LAYER];
    }
    return c;
}

typedef void each_sample(const struct bits *b, size_t at[N_AXES], struct onset *o);

static void each(const struct bits *b, each_sample *look_at, struct onset *o)
{
    size_t at[N_AXES] = {0};

    for (at[AXIS_TASK] = 0; at[AXIS_TASK] < b->cand->dim[AXIS_TASK]; at[AXIS_TASK]++)
        for (at[AXIS_TURN] = 0; at[AXIS_TURN] < b->cand->dim[AXIS_TURN]; at[AXIS_TURN]++)
            look_at(b, at, o);
}

/* Here `first`, `before` and `layer` are indices still. */
static void count_sample(const struct bits *b, size_t at[N_AXES], struct onset *o)
{
    struct course c = follow(b, at, o);

    if (c.lowest == SIZE_MAX)
        return;
    o->n_samples++;
    o->n_same += c.first == SIZE_MAX;
    o->n_from_first += c.first == c.lowest;
    if (o->first < 0 || (int64_t)c.lowest < o->first)
        o->first = (int64_t)c.lowest;
    if (c.first != SIZE_MAX && c.first != c.lowest && (o->layer < 0 || (int64_t)c.first < o->layer))
        o->layer = (int64_t)c.first;
}

/* The heads that differ in the onset's layer, of the samples that are the same before it. */
static void count_heads(const struct bits *b, size_t at[N_AXES], struct onset *o)
{
    struct onset ignored = {0};
    struct course c = follow(b, at, &ignored);
    struct layer l;

    if (c.lowest == SIZE_MAX || (o->layer != o->first && c.first == c.lowest))
        return;
    if (c.lowest < (size_t)o->layer) {
        size_t i;

        for (i = c.lowest; i < (size_t)o->layer; i++) {
            at[AXIS_LAYER] = i;
            if (look(b, at, NULL).n && (int64_t)i > o->before)
                o->before = (int64_t)i;
        }
    }
    at[AXIS_LAYER] = (size_t)o->layer;
    l = look(b, at, b->differs);
    o->n_layer_heads = l.n > o->n_layer_heads ? l.n : o->n_layer_heads;
}

static enum status keep_heads(struct onset *o, const struct bits *b, const struct run *cand, struct arena *texts,
                              struct error *err)
{
    int64_t *heads = NULL;
    size_t i;

    TRY(arena_new(texts, b->cand->dim[AXIS_HEAD], sizeof *heads, &heads, err));
    for (i = 0; i < b->cand->dim[AXIS_HEAD]; i++)
        if (b->differs[i])
            heads[o->n_heads++] = cand->axes.number[AXIS_HEAD][i];
    o->heads = heads;
    return OK;
}

static int64_t label(const struct run *r, int64_t layer)
{
    return layer < 0 ? -1 : r->axes.number[AXIS_LAYER][layer];
}

static enum status compare_runs(struct onset *o, const struct run *base, const struct run *cand, struct arena *texts,
                                struct error *err)
{
    AUTO(bits) b = {.base = &base->fingerprints, .cand = &cand->fingerprints};

    *o = (struct onset){.first = -1, .before = -1, .layer = -1};
    if (!fingerprints_len(b.base) || !fingerprints_len(b.cand))
        return OK;
    TRY(view_init(&b.view, base, &cand->axes, "", err));
    TRY(mem_new(b.cand->dim[AXIS_HEAD], sizeof *b.differs, &b.differs, err));
    each(&b, count_sample, o);
    if (o->layer < 0 && o->n_from_first)
        o->layer = o->first;
    if (o->layer >= 0) {
        each(&b, count_heads, o);
        TRY(keep_heads(o, &b, cand, texts, err));
    }
    o->first = label(cand, o->first);
    o->before = label(cand, o->before);
    o->layer = label(cand, o->layer);
    o->samples_are_turns = b.cand->dim[AXIS_TURN] > 1;
    return OK;
}

/* "layer 9, there in head 2 alone" */
static void put_heads(struct buf *b, const struct onset *o)
{
    enum { LISTED = 8 };
    size_t i;

    if (o->n_heads == o->n_layer_heads) {
        if (o->n_heads > 1)
            buf_printf(b, " in all %zu heads", o->n_heads);
    } else if (o->n_heads == 1) {
        buf_printf(b, ", there in head %lld alone", (long long)o->heads[0]);
    } else if (o->n_heads > LISTED) {
        buf_printf(b, ", there in %zu of %zu heads alone", o->n_heads, o->n_layer_heads);
    } else {
        buf_puts(b, ", there in heads ");
        for (i = 0; i < o->n_heads; i++)
            buf_printf(b, "%s%lld", !i ? "" : i + 1 < o->n_heads ? ", " : " and ", (long long)o->heads[i]);
        buf_puts(b, " alone");
    }
}

/* A head by itself was given the same input as the others: what changed is its own. Weights would show in most samples:
 * where some are the same throughout, they are the less likely cause. */
static void put_cause(struct buf *b, const struct onset *o)
{
    long long layer = (long long)o->layer;

    if (o->n_same)
        buf_printf(b,
                   "; %zu %s the same throughout, which weights that every token passes would not leave so: consistent "
                   "with other tokens in those that differ, or another way of computing them",
                   o->n_same, o->n_same == 1 ? "is" : "are");
    else if (o->n_heads < o->n_layer_heads && o->n_heads == 1)
        buf_printf(b, ": consistent with other weights of that head in layer %lld", layer);
    else if (o->n_heads < o->n_layer_heads)
        buf_printf(b, ": consistent with other weights of those heads in layer %lld, or of the keys they share", layer);
    else if (o->layer == o->before + 1)
        buf_printf(b, ": consistent with other weights in the attention of layer %lld or behind that of layer %lld",
                   layer, (long long)o->before);
    else
        buf_printf(b, ": consistent with other weights in the attention of layer %lld or between it and layer %lld",
                   layer, (long long)o->before);
    buf_puts(b, "; an internal metric alone proves no cause");
}

static const char *samples(const struct onset *o, size_t n)
{
    if (o->samples_are_turns)
        return n == 1 ? "turn" : "turns";
    return n == 1 ? "task" : "tasks";
}

static void put_later(struct buf *b, const struct onset *o)
{
    size_t n = o->n_samples - o->n_from_first;

    if (o->n_from_first)
        buf_printf(b, "in %zu of %zu %s ", n, o->n_samples, samples(o, o->n_samples));
    words_layers(b, o->first, o->before);
    buf_printf(b, " %s the same to the last bit%s, differences begin at layer %lld",
               o->first == o->before ? "is" : "are",
               o->n_from_first        ? ""
               : o->samples_are_turns ? " in every turn"
                                      : " in every task",
               (long long)o->layer);
    if (o->n_same)
        buf_printf(b, " in %zu of %zu %s", n - o->n_same, o->n_samples, samples(o, o->n_samples));
    put_heads(b, o);
    put_cause(b, o);
    if (o->n_from_first)
        buf_printf(b, "; in the other %zu the first layer differs already, as where other tokens were read",
                   o->n_from_first);
}

static const struct change *changed(const struct judgement *j, const char *what)
{
    size_t i;

    for (i = 0; i < j->n_changes; i++)
        if (strcmp(j->changes[i].what, what) == 0)
            return &j->changes[i];
    return NULL;
}

/* Where bits differ everywhere, where it begins by size: the lowest layer of a primary finding. */
static void put_by_size(struct buf *b, const struct judgement *j)
{
    const struct finding *first = NULL;
    char text[160];
    size_t i;

    for (i = 0; i < j->n_findings; i++) {
        const struct finding *f = &j->findings[i];

        if (f->role == ROLE_PRIMARY && f->where.layer >= 0 && (!first || f->where.layer < first->where.layer))
            first = f;
    }
    if (!first) {
        buf_puts(b, "; by size no layer moved beyond its margin");
        return;
    }
    where_text(&first->where, text, sizeof text);
    buf_printf(b, "; by size the lowest to move beyond its margin is %s, in %s", text, first->metric);
}

static void put_from_first(struct buf *b, const struct onset *o, const struct judgement *j, bool prompts_equal)
{
    if (o->n_heads < o->n_layer_heads) {
        buf_printf(b, "bits differ from layer %lld on, the lowest there is", (long long)o->layer);
        if (o->n_same)
            buf_printf(b, ", in %zu of %zu %s", o->n_from_first, o->n_samples, samples(o, o->n_samples));
        put_heads(b, o);
        put_cause(b, o);
        return;
    }
    buf_printf(b, "bits differ from layer %lld on, the lowest there is, in %zu of %zu %s", (long long)o->layer,
               o->n_from_first, o->n_samples, samples(o, o->n_samples));
    if (o->n_same)
        put_cause(b, o);
    else if (!prompts_equal)
        buf_puts(b, ", as they must with another prompt");
    else if (changed(j, "stored type"))
        buf_puts(b, ", as they must with another stored type");
    else if (changed(j, "compute type"))
        buf_puts(b, ", as they must with another compute type");
    else
        buf_puts(b, ": consistent with another prompt, tokenizer, embedding or compute type, which bits cannot tell "
                    "apart");
    put_by_size(b, j);
}

static enum status put_words(struct onset *o, struct judgement *j, bool prompts_equal, struct error *err)
{
    AUTO(buf) b = {0};
    char *text = NULL;

    if (!o->n_samples)
        return OK;
    if (o->layer < 0)
        buf_printf(&b, "attention is the same to the last bit in %s%zu %s", o->n_samples > 1 ? "all " : "",
                   o->n_samples, samples(o, o->n_samples));
    else if (o->layer != o->first)
        put_later(&b, o);
    else
        put_from_first(&b, o, j, prompts_equal);
    TRY(buf_check(&b, err));
    TRY(arena_strdup(&j->arena, buf_text(&b), &text, err));
    o->words = text;
    return OK;
}

enum status onset_find(struct judgement *j, const struct comparison *c, struct error *err)
{
    struct onset best = {.first = -1, .before = -1, .layer = -1};
    size_t i;

    /* Of base runs that share as much, the latest. */
    for (i = 0; i < c->n_base; i++) {
        struct onset o;

        TRY(compare_runs(&o, &c->base[i], c->cand, &j->arena, err));
        if (o.n_samples && (!best.n_samples || o.n_equal >= best.n_equal))
            best = o;
    }
    TRY(put_words(&best, j, c->prompts_equal, err));
    j->onset = best;
    return OK;
}
