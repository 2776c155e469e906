#include "kernels/row_k90.h"

#include <math.h>
#include <string.h>

/* So few are sorted. */
enum { FEW = 24 };

/* With more keys the single weight is not clear of what floats round. */
enum { MANY_KEYS = 1 << 14 };

/* Of two float sums, relative to the whole. */
static const double FLOAT_ERROR = 36 * 0x1p-24;

/* The search: the weights in [lo, hi) are what is left, `between` their sum; `need` of them is still to be taken, while
 * n_taken larger ones are. */
struct search {
    const struct row_isa *isa;
    bool is_exact;
    float lo, hi;
    double need, between;
    size_t n_taken, n_left;
};

static float next_up(float x)
{
    return nextafterf(x, INFINITY);
}

/* Finds [lo, hi) about the guess in which the last key lies, and packs it to `to`. */
static void find_range(struct search *s, const void *weights, size_t n, enum dtype type, float guess, float *to)
{
    float lo = guess * 0.8F, hi = guess * 1.25F, floor = 0, roof = INFINITY;

    for (;;) {
        struct row_split split;

        s->isa->split(weights, n, type, s->is_exact, lo, hi, to, &split);
        if (split.above >= s->need && hi < roof) {
            floor = hi;
            lo = hi;
            hi = hi * 4 < roof ? hi * 4 : roof;
        } else if (split.above + split.between < s->need && lo > floor) {
            roof = lo;
            hi = lo;
            lo = lo / 4 > floor && lo > 0x1p-100F ? lo / 4 : floor;
        } else {
            s->need -= split.above;
            s->between = split.between;
            s->n_taken = split.n_above;
            s->n_left = split.n_between;
            s->lo = lo;
            s->hi = hi;
            return;
        }
    }
}

static void shrink_to_values(struct search *s, const float *x)
{
    float min = x[0], max = x[0];

    for (size_t i = 1; i < s->n_left; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    s->lo = min;
    s->hi = next_up(max);
}

/* One step: splits what is left about the place where the last key should be if they lay evenly. */
static void narrow(struct search *s, const float *from, float *to, bool *ret_moved)
{
    double lo = (double)s->lo, hi = (double)s->hi, share = s->need / s->between;
    double at = sqrt(fmax(hi * hi - share * (hi * hi - lo * lo), lo * lo)), half = (hi - lo) / 12;
    float a = (float)fmax(at - half, lo), b = (float)fmin(at + half, hi);
    struct row_split split;

    b = b > a ? b : next_up(a);
    s->isa->split(from, s->n_left, DTYPE_F32, s->is_exact, a, b, to, &split);
    *ret_moved = false;
    if (split.above >= s->need) {
        s->lo = b;
    } else if (split.above + split.between < s->need && a > s->lo) {
        s->hi = a;
    } else {
        s->need -= split.above;
        s->between = split.between;
        s->n_taken += split.n_above;
        s->n_left = split.n_between;
        s->lo = a;
        s->hi = b;
        *ret_moved = true;
    }
}

/* All that lies in [lo, hi) after a step that missed. */
static void take_rest(struct search *s, const float *from, float *to)
{
    struct row_split split;

    s->isa->split(from, s->n_left, DTYPE_F32, s->is_exact, s->lo, s->hi, to, &split);
    s->need -= split.above;
    s->between = split.between;
    s->n_taken += split.n_above;
    s->n_left = split.n_between;
}

static void sort_descending(float *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        float v = x[i];
        size_t j = i;

        for (; j > 0 && x[j - 1] < v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

/* Takes the last keys. *ret_margin: by how much the sum could have been off and the number still the same. */
static uint32_t take_last(const struct search *s, float *x, float *ret_last, double *ret_margin)
{
    double taken = 0, before = 0;
    size_t k = 0;

    if (s->n_left > FEW) { /* all equal */
        k = (size_t)ceil(s->need / (double)x[0]);
        taken = (double)k * (double)x[0];
        before = taken - (double)x[0];
        *ret_last = x[0];
    } else {
        sort_descending(x, s->n_left);
        while (k < s->n_left && taken < s->need) {
            before = taken;
            taken += (double)x[k++];
        }
        *ret_last = k ? x[k - 1] : s->hi;
    }
    *ret_margin = fmin(taken - s->need, s->need - before);
    return (uint32_t)(s->n_taken + k);
}

static uint32_t search(const struct row_isa *isa, const void *weights, size_t n, enum dtype type, double sum,
                       bool is_exact, struct k90_scratch *scratch, double *ret_margin)
{
    struct search s = {.isa = isa, .is_exact = is_exact, .need = 0.9 * sum - 0x1p-40 * sum};
    float *from = scratch->a, *to = scratch->b, *swap, last, guess = scratch->guess;
    uint32_t k;

    if (!(guess > (float)(sum * 0x1p-90) && guess < (float)sum))
        guess = (float)(0.5 * sum / (double)n);
    find_range(&s, weights, n, type, guess, from);
    while (s.n_left > FEW) {
        size_t n_before = s.n_left;
        bool is_moved;

        narrow(&s, from, to, &is_moved);
        if (!is_moved)
            take_rest(&s, from, to);
        swap = from;
        from = to;
        to = swap;
        if (s.n_left == 0 || s.n_left < n_before)
            continue;
        shrink_to_values(&s, from);
        if (s.hi <= next_up(s.lo))
            break;
    }
    k = take_last(&s, from, &last, ret_margin);
    scratch->guess = last;
    return k;
}

uint32_t row_k90(const struct row_isa *isa, const void *weights, size_t n, enum dtype type, double sum, float max,
                 struct k90_scratch *scratch)
{
    struct row_split all;
    double margin;
    uint32_t k;

    if ((double)max > (0.9 + FLOAT_ERROR) * sum)
        return 1;
    if (n < MANY_KEYS) {
        k = search(isa, weights, n, type, sum, false, scratch, &margin);
        if (margin > FLOAT_ERROR * sum)
            return k;
    }
    isa->split(weights, n, type, true, 0, 0, scratch->a, &all);
    return search(isa, weights, n, type, all.above, true, scratch, &margin);
}
