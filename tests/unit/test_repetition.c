#include "core/base/buf.h"
#include "core/base/scope.h"
#include "core/metrics/declined.h"
#include "core/metrics/repetition.h"
#include "tests/support/close.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static const struct tol exact = {0};

struct row {
    const char *text;
    double ngrams, last;
};

static const struct row rows[] = {
    {"", NAN, NAN},
    {"...\n\n", NAN, NAN},
    {"Yes.", NAN, 0},
    {"one two three four five six seven eight", 0, 0},
    {"go on and on and on and on and on", 1 - 3.0 / 7, 0}, /* 7 runs of four: 3 distinct */
    {"GO ON and on AND on and ON and on", 1 - 3.0 / 7, 0},
    {"It is on. It is on. It is", 1 - 3.0 / 5, 2},
    {"It is on. It is on. It is off.", 1 - 4.0 / 6, 0},
    {"Version 1.2 is out. Version 1.2 is in. Version 1.2", 1 - 9.0 / 10, 2},
    {"the lamp\nthe lamp\nthe lamp\n", NAN, 2},
    {"灯在桌上。灯在桌上。灯在桌上。", 1 - 4.0 / 9, 2},
};

Test(repetition, finds_what_stood_there_before)
{
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];

        cr_assert(close_to(repetition_ngrams(r->text, strlen(r->text)), r->ngrams, (struct tol){.abs = 1e-15}),
                  "'%s': %g", r->text, repetition_ngrams(r->text, strlen(r->text)));
        cr_assert(close_to(repetition_last_sentence(r->text, strlen(r->text)), r->last, exact), "'%s': %g", r->text,
                  repetition_last_sentence(r->text, strlen(r->text)));
    }
}

/* Python: zlib.compressobj(9, zlib.DEFLATED, -15, 9) gives 36 bytes for the 1,040. */
Test(repetition, loops_compress)
{
    AUTO(buf) text = {0};
    int i;

    for (i = 0; i < 40; i++)
        buf_puts(&text, "The lamp is on the table. ");
    cr_assert(close_to(repetition_compression(buf_text(&text), text.len), 1040.0 / 36, exact));
    cr_assert(isnan(repetition_compression(buf_text(&text), 63)));
}

Test(repetition, hostile_texts_are_measured_too)
{
    AUTO(buf) text = {0};
    size_t i;

    for (i = 0; i < 300000; i++)
        buf_putc(&text, (char)(i * 7 + i / 251));
    cr_assert(ge(dbl, repetition_ngrams(buf_text(&text), text.len), 0));
    cr_assert(ge(dbl, repetition_last_sentence(buf_text(&text), text.len), 0));
    cr_assert(gt(dbl, repetition_compression(buf_text(&text), text.len), 0));
}

Test(repetition, refusals_are_told_by_how_they_begin)
{
    static const struct {
        const char *text;
        bool is_refusal;
    } texts[] = {
        {"I'm sorry, but I can't help with that request.", true},
        {"I’m sorry, but I can’t assist with that.", true},
        {"\"Sorry, I cannot provide that.\"", true},
        {"As an AI language model, I", true},
        {"I am unable to", true},
        {"Désolé, mais je ne peux pas vous aider", true},
        {"很抱歉，我无法提供", true},
        {"Es tut mir leid, aber ich kann dir dabei nicht helfen.", true},
        {"I can't find it in the text, but the lamp is on.", false},
        {"I'm sorry for your loss. The flight leaves at 9.", false},
        {"The clerk said: I can't help you.", false},
        {"", false},
        {"\xFF\xFE", false},
    };
    size_t i;

    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert(eq(int, declined_begins(texts[i].text, strlen(texts[i].text)), texts[i].is_refusal), "%s",
                  texts[i].text);
}
