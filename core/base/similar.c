#include "core/base/similar.h"

#include <stdint.h>
#include <string.h>

enum { MAX_WORD = 64 };

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One row of the table: `up` and `upper` are the rows above it. */
static void fill_row(size_t *now, const size_t *up, const size_t *upper, const char *a, size_t i, const char *b)
{
    size_t j;

    now[0] = i;
    for (j = 1; b[j - 1]; j++) {
        size_t best = min_of(up[j - 1] + (a[i - 1] != b[j - 1]), min_of(up[j], now[j - 1]) + 1);

        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            best = min_of(best, upper[j - 2] + 1);
        now[j] = best;
    }
}

/* Edit distance with transpositions of neighbours (optimal string alignment), three rows at a time. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][MAX_WORD + 1] = {{0}};
    size_t la = strlen(a), lb = strlen(b);
    size_t i;

    if (la > MAX_WORD || lb > MAX_WORD)
        return SIZE_MAX;
    for (i = 0; i <= lb; i++)
        rows[0][i] = i;
    for (i = 1; i <= la; i++)
        fill_row(rows[i % 3], rows[(i - 1) % 3], rows[(i + 1) % 3], a, i, b);
    return rows[la % 3][lb];
}

const char *similar_find(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t limit = strlen(word) / 3 + 1;
    size_t i;

    for (i = 0; i < n; i++) {
        size_t d = distance(word, words[i]);

        if (d <= limit) {
            best = words[i];
            limit = d ? d - 1 : 0;
        }
        if (d == 0)
            return words[i];
    }
    return best;
}
