#include "core/metrics/repetition.h"

#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/metrics/textmatch.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { RUN = 4, MIN_WORDS = 8, MIN_BYTES = 64 };

/* The words of a text, as hashes in their order. */
struct hashes {
    uint64_t *hash; /* owned */
    size_t n, cap;
};

static void hashes_done(struct hashes *h)
{
    free(h->hash);
}

static uint64_t fnv(uint64_t hash, const char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

#define FNV_START 0xcbf29ce484222325u

/* Bytes of the word at text[at]: a run of letters and digits, or one character of a script without spaces; 0: none. */
static size_t word_at(const char *text, size_t len, size_t at)
{
    size_t n = 0, bytes = 0;
    int32_t c = textmatch_char_at(text, len, at, &bytes);

    if (!textmatch_is_word(c, true))
        return textmatch_is_word(c, false) ? bytes : 0;
    while (at + n < len && textmatch_is_word(c, true)) {
        n += bytes;
        c = at + n < len ? textmatch_char_at(text, len, at + n, &bytes) : 0;
    }
    return n;
}

static bool add_words(struct hashes *h, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t n = word_at(text, len, at), bytes = 1;

        if (n == 0) {
            textmatch_char_at(text, len, at, &bytes);
            at += bytes ? bytes : 1;
            continue;
        }
        if (mem_grow(&h->hash, &h->cap, h->n + 1, sizeof *h->hash, NULL) != OK)
            return false;
        h->hash[h->n++] = fnv(FNV_START, text + at, n);
        at += n;
    }
    return true;
}

static bool read_words(struct hashes *h, const char *text, size_t len)
{
    AUTO(buf) folded = {0};

    return textmatch_normalise(&folded, text, len, TEXTMATCH_FOLDED, NULL) == OK &&
           add_words(h, buf_text(&folded), folded.len);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

double repetition_ngrams(const char *text, size_t len)
{
    AUTO(hashes) h = {0};
    size_t n, distinct = 1, i;

    if (!read_words(&h, text, len) || h.n < MIN_WORDS)
        return NAN;
    n = h.n - RUN + 1;
    for (i = 0; i < n; i++) /* in place: what is overwritten is not needed again */
        h.hash[i] = fnv(FNV_START, (const char *)&h.hash[i], RUN * sizeof *h.hash);
    qsort(h.hash, n, sizeof *h.hash, by_hash);
    for (i = 1; i < n; i++)
        distinct += h.hash[i] != h.hash[i - 1];
    return 1 - (double)distinct / (double)n;
}

/* Bytes of the mark that ends a sentence at text[at]; 0: none. A point inside a number or a name ends none. */
static size_t end_at(const char *text, size_t len, size_t at)
{
    static const char *const wide[] = {"。", "！", "？", "।"};
    size_t i;

    if (text[at] == '\n')
        return 1;
    if (strchr(".!?", text[at]) && text[at])
        return at + 1 == len || strchr(" \n\r\t\"')", text[at + 1]) ? 1 : 0;
    for (i = 0; i < sizeof wide / sizeof *wide; i++)
        if (len - at >= 3 && memcmp(text + at, wide[i], 3) == 0)
            return 3;
    return 0;
}

struct sentence {
    size_t first, n; /* words */
};

struct sentences {
    struct hashes words;
    struct sentence *list; /* owned: those that have a word */
    size_t n, cap;
};

static void sentences_done(struct sentences *s)
{
    hashes_done(&s->words);
    free(s->list);
}

static bool add_sentence(struct sentences *s, const char *text, size_t len)
{
    size_t first = s->words.n;

    if (!read_words(&s->words, text, len))
        return false;
    if (s->words.n == first)
        return true;
    if (mem_grow(&s->list, &s->cap, s->n + 1, sizeof *s->list, NULL) != OK)
        return false;
    s->list[s->n++] = (struct sentence){.first = first, .n = s->words.n - first};
    return true;
}

static bool read_sentences(struct sentences *s, const char *text, size_t len)
{
    size_t from = 0, at = 0;

    while (at < len) {
        size_t mark = end_at(text, len, at);

        at += mark ? mark : 1;
        if (mark) {
            if (!add_sentence(s, text + from, at - from))
                return false;
            from = at;
        }
    }
    return add_sentence(s, text + from, len - from);
}

double repetition_last_sentence(const char *text, size_t len)
{
    AUTO(sentences) s = {0};
    const struct sentence *last;
    size_t times = 0, i;

    if (!read_sentences(&s, text, len) || s.n == 0)
        return NAN;
    last = &s.list[s.n - 1];
    for (i = 0; i + 1 < s.n; i++)
        times += s.list[i].n >= last->n && memcmp(s.words.hash + s.list[i].first, s.words.hash + last->first,
                                                  last->n * sizeof *s.words.hash) == 0;
    return (double)times;
}

double repetition_compression(const char *text, size_t len)
{
    unsigned char packed[4096];
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)text, .avail_in = (uInt)len};
    int rc = Z_OK;

    if (len < MIN_BYTES || len > UINT_MAX || deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return NAN;
    while (rc == Z_OK) { /* only the length counts */
        z.next_out = packed;
        z.avail_out = sizeof packed;
        rc = deflate(&z, Z_FINISH);
    }
    deflateEnd(&z);
    return rc == Z_STREAM_END && z.total_out ? (double)len / (double)z.total_out : NAN;
}
