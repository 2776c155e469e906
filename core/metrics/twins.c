#include "core/metrics/twins.h"

#include "core/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void twins_done(struct twins *t)
{
    free(t->list);
    memset(t, 0, sizeof *t);
}

enum status twins_add(struct twins *t, size_t prompt, const char *text, size_t len, struct error *err)
{
    struct twin *w;
    size_t i;

    TRY(mem_grow(&t->list, &t->cap, t->n + 1, sizeof *t->list, err));
    w = &t->list[t->n];
    *w = (struct twin){.text_hash = 0xcbf29ce484222325u, .prompt = prompt, .exchange = t->n};
    w->is_twin = len < TWINS_MIN_BYTES ? NAN : 0;
    for (i = 0; i < len; i++)
        w->text_hash = (w->text_hash ^ (unsigned char)text[i]) * 0x100000001b3u; /* FNV-1a, 64 bit */
    t->n++;
    return OK;
}

/* The same texts side by side, and among them the same prompts. Short ones come last. */
static int by_text(const void *a, const void *b)
{
    const struct twin *x = *(const struct twin *const *)a, *y = *(const struct twin *const *)b;

    if (isnan(x->is_twin) != isnan(y->is_twin))
        return isnan(x->is_twin) ? 1 : -1;
    if (x->text_hash != y->text_hash)
        return x->text_hash < y->text_hash ? -1 : 1;
    if (x->prompt != y->prompt)
        return x->prompt < y->prompt ? -1 : 1;
    return (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

/* The prompts of a group of the same text. */
static size_t n_prompts(struct twin *const *group, size_t n)
{
    size_t count = 1, i;

    for (i = 1; i < n; i++)
        count += group[i]->prompt != group[i - 1]->prompt;
    return count;
}

struct found {
    const struct twin *one, *other; /* of the largest group */
    size_t largest;                 /* prompts in it        */
    size_t n_twins, n_prompts;      /* replies; prompts with a text that is long enough */
};

static void see_group(struct twin *const *group, size_t n, struct found *f)
{
    size_t prompts = n_prompts(group, n), i;

    f->n_prompts += prompts;
    if (prompts < 2)
        return;
    for (i = 0; i < n; i++)
        group[i]->is_twin = 1;
    f->n_twins += n;
    if (prompts > f->largest) {
        f->largest = prompts;
        f->one = group[0];
        f->other = group[n - 1];
    }
}

static enum status note(struct run *run, const struct found *f, struct error *err)
{
    const struct exchange *a = &run->exchanges[f->one->exchange], *b = &run->exchanges[f->other->exchange];

    return run_note(run, err, "identical-replies",
                    "%zu replies are word for word what another prompt got; one text answers %zu prompts, among them "
                    "task '%s', turn %lld and task '%s', turn %lld: look whether the server reads the prompt",
                    f->n_twins, f->largest, a->task, (long long)a->turn, b->task, (long long)b->turn);
}

enum status twins_find(struct twins *t, struct run *run, struct error *err)
{
    struct twin **sorted = NULL;
    struct found f = {0};
    size_t from = 0, i;

    TRY(mem_new(t->n, sizeof(*sorted), &sorted, err));
    for (i = 0; i < t->n; i++)
        sorted[i] = &t->list[i];
    qsort(sorted, t->n, sizeof(*sorted), by_text);
    for (i = 1; i <= t->n; i++) {
        if (i < t->n && sorted[i]->text_hash == sorted[from]->text_hash &&
            isnan(sorted[i]->is_twin) == isnan(sorted[from]->is_twin))
            continue;
        if (!isnan(sorted[from]->is_twin))
            see_group(sorted + from, i - from, &f);
        from = i;
    }
    free(sorted);
    if (f.largest >= 3 || (f.largest >= 2 && 2 * f.largest >= f.n_prompts))
        return note(run, &f, err);
    return OK;
}
