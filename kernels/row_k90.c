#include "kernels/row_k90.h"

#include <math.h>
#include <string.h>

/* With more keys the single weight is not clear of what floats round. */
enum { MANY_KEYS = 1 << 14 };

/* Of two float sums, relative to the whole. */
static const double FLOAT_ERROR = 36 * 0x1p-24;

/* Of a long row so many vectors say about where to look. */
enum { PROBED_VECTORS = 32 };

/* The search: the last of the keys weighs [lo, hi); `from` holds what is left, `need` of which is still to be taken
 * and `spare` not, while n_taken larger ones are. */
struct search {
    const struct row_isa *isa;
    bool is_exact;
    const void *from;
    enum dtype type;
    size_t n, n_taken;
    uint32_t lo, hi; /* bits of floats, which stand in the same order */
    double need, spare;
};

static float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The limits of the first look, relative to the least weight that the last key can have: in rows of real models half of
 * the last keys weigh 4.5 to 9.7 times that, 90 % of them 3.7 to 80 times. */
static const float FIRST_LIMITS[ROW_LIMITS] = {2.3F, 3, 4, 5, 6.4F, 8.5F, 14, 40};

/* Cuts [lo, hi) into cells: as above, or evenly by bits. */
static void cut(const struct search *s, bool is_first, uint32_t at[ROW_LIMITS + 2])
{
    at[0] = s->lo;
    at[ROW_LIMITS + 1] = s->hi;
    for (int i = 1; i <= ROW_LIMITS; i++) {
        uint32_t evenly = s->lo + (uint32_t)((uint64_t)(s->hi - s->lo) * (uint64_t)i / (ROW_LIMITS + 1));
        uint32_t usual = bits_of(float_of(s->lo) * FIRST_LIMITS[i - 1]);

        at[i] = !is_first ? evenly : usual < s->hi ? usual : s->hi;
    }
}

/* The cell of [lo, hi) that the last key should lie in, by the masses of every `step`-th vector. */
static void find_cell(const struct search *s, bool is_first, size_t step, uint32_t *ret_lo, uint32_t *ret_hi)
{
    float limit[ROW_LIMITS], mass[ROW_LIMITS];
    double spare;
    uint32_t at[ROW_LIMITS + 2];
    int i;

    cut(s, is_first, at);
    for (i = 0; i < ROW_LIMITS; i++)
        limit[i] = float_of(at[i + 1]);
    spare = s->isa->masses(s->from, s->n, s->type, step, limit, mass) * s->spare;
    for (i = ROW_LIMITS; i > 0 && ((double)mass[i - 1] > spare || at[i] == s->hi); i--)
        ;
    *ret_lo = at[i];
    *ret_hi = at[i + 1] > at[i] ? at[i + 1] : at[i] + 1;
}

/* One step: goes on with what lies in the cell, or looks elsewhere where the last key is not there. */
static void take_cell(struct search *s, uint32_t lo, uint32_t hi, float *to)
{
    struct row_split split;

    s->isa->split(s->from, s->n, s->type, s->is_exact, float_of(lo), float_of(hi), to, &split);
    if (split.above >= s->need && hi < s->hi) {
        s->lo = hi;
    } else if (split.above + split.between < s->need && lo > s->lo) {
        s->hi = lo;
    } else if (split.above + split.between < s->need && s->lo > 0) { /* as no exact sum would have it */
        s->lo = 0;
    } else {
        s->spare = split.above + split.between - s->need;
        s->need -= split.above;
        s->from = to;
        s->type = DTYPE_F32;
        s->n = split.n_between;
        s->n_taken += split.n_above;
        s->lo = lo;
        s->hi = hi;
    }
}

/* Takes the last keys. *ret_margin: by how much the sum could have been off and the number still the same. */
static uint32_t take_last(const struct search *s, float *sorted, double *ret_margin)
{
    const float *x = s->from;
    double taken = 0, before = 0;
    size_t k = 0;

    if (s->n > ROW_ORDER_MAX) { /* all equal */
        k = (size_t)ceil(s->need / (double)x[0]);
        taken = (double)k * (double)x[0];
        before = taken - (double)x[0];
    } else {
        s->isa->order(x, s->n, sorted);
        while (k < s->n && taken < s->need) {
            before = taken;
            taken += (double)sorted[k++];
        }
    }
    *ret_margin = taken - s->need < s->need - before ? taken - s->need : s->need - before;
    return (uint32_t)(s->n_taken + k);
}

static uint32_t search(const struct row_isa *isa, const void *weights, size_t n, enum dtype type, double sum, float max,
                       bool is_exact, struct k90_scratch *scratch, double *ret_margin)
{
    static const double PART = 0.9 - 0x1p-40;
    struct search s = {isa, is_exact, weights, type, n, 0, 0, 0, PART * sum, sum - PART * sum};
    size_t step = n / ((size_t)PROBED_VECTORS * ROW_PAD);
    bool is_first = true;

    /* all keys lighter than a tenth of the mean hold less than a tenth of the row together */
    s.lo = bits_of((float)(0.0999 * sum / (double)n));
    s.hi = bits_of(max) + 1;
    while (s.from == weights || (s.n > ROW_ORDER_MAX && s.hi - s.lo > 1)) {
        uint32_t lo = s.lo, hi = s.hi;

        if (s.n > ROW_ORDER_MAX)
            find_cell(&s, is_first, is_first && step > 1 ? step : 1, &lo, &hi);
        take_cell(&s, lo, hi, s.from == scratch->a ? scratch->b : scratch->a);
        is_first = false;
    }
    return take_last(&s, s.from == scratch->a ? scratch->b : scratch->a, ret_margin);
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
        k = search(isa, weights, n, type, sum, max, false, scratch, &margin);
        if (margin > FLOAT_ERROR * sum)
            return k;
    }
    isa->split(weights, n, type, true, 0, 0, scratch->a, &all);
    return search(isa, weights, n, type, all.above, max, true, scratch, &margin);
}
