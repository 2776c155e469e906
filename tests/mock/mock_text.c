#include "tests/mock/mock_text.h"

#include <string.h>

static const char *const plain[32] = {"amber",  "brook",  "cedar", "delta", "ember",  "fjord",   "glade",  "heath",
                                      "inlet",  "jetty",  "knoll", "larch", "marsh",  "north",   "oasis",  "prairie",
                                      "quarry", "ridge",  "shore", "tarn",  "upland", "vale",    "willow", "xenon",
                                      "yarrow", "zephyr", "basin", "cliff", "dune",   "estuary", "forest", "grove"};
static const char *const wide[8] = {"héé", "世界", "😀", "Ünï", "привет", "👩‍🚀", "नमस्ते", "ﬁn"};
static const char refusal[] = "I'm sorry, but I can't help with that request.";
static const char loop[] = "round and round the";
static const char repeated[] = "The lamp is on the table.";

void mock_text_escape(struct buf *json, const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            buf_putc(json, '\\');
        if ((unsigned char)text[i] < 0x20)
            buf_printf(json, "\\u%04x", text[i]);
        else
            buf_putc(json, text[i]);
    }
}

static bool is_endless_text(enum mock_text text)
{
    return text == TEXT_VARIED || text == TEXT_SAME || text == TEXT_UTF8;
}

/* Words, or with `letters` pieces of that many bytes of them. */
static uint64_t count_pieces(const struct mock_reply *r)
{
    if (r->spec.letters)
        return (r->words.len + r->spec.letters - 1) / r->spec.letters;
    return (uint64_t)mock_count_words(buf_text(&r->words), r->words.len);
}

void mock_text_start(struct mock_reply *r)
{
    const struct mock_spec *s = &r->spec;
    uint64_t n_words;

    if (s->text == TEXT_ECHO)
        buf_append(&r->words, buf_text(&r->request.last), r->request.last.len);
    else if (s->text == TEXT_SAY)
        buf_puts(&r->words, s->say);
    else if (s->text == TEXT_REFUSAL)
        buf_puts(&r->words, refusal);
    else if (s->text == TEXT_LOOP)
        buf_puts(&r->words, loop);
    else if (s->text == TEXT_REPEAT)
        buf_puts(&r->words, repeated);
    n_words = count_pieces(r);
    r->n_text = s->has_n || is_endless_text(s->text) ? s->n : n_words;
    if (s->text == TEXT_REPEAT && !s->has_n)
        r->n_text = 6 * n_words;
    if (!is_endless_text(s->text) && n_words == 0)
        r->n_text = 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The next word of the text, beginning anew at its end. */
static const char *next_word(struct mock_reply *r, size_t *ret_len)
{
    const char *text = buf_text(&r->words);
    size_t at = r->word_at, len = 0;

    while (at < r->words.len && is_space(text[at]))
        at++;
    if (at == r->words.len)
        for (at = 0; is_space(text[at]);)
            at++;
    while (at + len < r->words.len && !is_space(text[at + len]))
        len++;
    r->word_at = at + len;
    *ret_len = len;
    return text + at;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return a ^ a >> 31;
}

/* The next letters of the text, spaces among them. */
static void put_letters(struct mock_reply *r, struct buf *json)
{
    size_t at = r->word_at < r->words.len ? r->word_at : 0, left = r->words.len - at;
    size_t len = left < r->spec.letters ? left : (size_t)r->spec.letters;

    mock_text_escape(json, buf_text(&r->words) + at, len);
    r->word_at = at + len;
}

void mock_text_word(struct mock_reply *r, uint64_t i, struct buf *json)
{
    const char *word;
    size_t len;

    if (r->spec.letters && r->words.len) {
        put_letters(r, json);
        return;
    }
    if (i)
        buf_putc(json, ' ');
    if (r->spec.text == TEXT_VARIED) {
        buf_puts(json, plain[mix(r->request.prompt_hash, i) % 32]);
    } else if (r->spec.text == TEXT_SAME) {
        buf_puts(json, plain[i % 32]);
    } else if (r->spec.text == TEXT_UTF8) {
        buf_puts(json, wide[i % 8]);
    } else {
        word = next_word(r, &len);
        mock_text_escape(json, word, len);
    }
}
