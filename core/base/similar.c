#include "core/base/similar.h"

#include <string.h>

enum { MAX_WORD = 64 };

/* Edit distance with transpositions of neighbours (optimal string alignment), two rows back. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][MAX_WORD + 1];
    size_t la = strlen(a), lb = strlen(b);
    size_t i, j;

    if (la > MAX_WORD || lb > MAX_WORD)
        return MAX_WORD;
    for (j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (i = 1; i <= la; i++) {
        size_t *now = rows[i % 3];
        const size_t *up = rows[(i - 1) % 3];

        now[0] = i;
        for (j = 1; j <= lb; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);

            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                size_t swapped = rows[(i - 2) % 3][j - 2] + 1;

                best = swapped < best ? swapped : best;
            }
            now[j] = best;
        }
    }
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
