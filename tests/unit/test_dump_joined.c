#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/npz_archive.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(dump_joined, .init = folder_make, .fini = folder_drop);

static void has_rows(struct dump *d, size_t layer, size_t sample, size_t head, size_t n, size_t width,
                     const float *want)
{
    struct error err = {0};
    float got[64], one[16];
    size_t row;

    cr_assert(d->layers[layer].n_rows == n && d->layers[layer].n_cols == width, "%zu x %zu", d->layers[layer].n_rows,
              d->layers[layer].n_cols);
    MUST(dump_read_weights(d, layer, sample, head, 0, n, got, &err));
    cr_assert(memcmp(got, want, n * width * sizeof *got) == 0);
    for (row = 0; row < n; row++) {
        MUST(dump_read_weights(d, layer, sample, head, row, 1, one, &err));
        cr_assert(memcmp(one, want + row * width, width * sizeof *one) == 0, "row %zu", row);
    }
}

/* What generate() returns: step 0 has a row for each token of the prompt, the later ones one row and one key more. */
static const float prompt[1][1][2][2] = {{{{1, 0}, {0.5F, 0.5F}}}}, first[1][1][1][3] = {{{{0.5F, 0.25F, 0.25F}}}},
                   second[1][1][1][4] = {{{{0.25F, 0.25F, 0.25F, 0.25F}}}};
static const float whole[4][4] = {
    {1, 0, 0, 0}, {0.5F, 0.5F, 0, 0}, {0.5F, 0.25F, 0.25F, 0}, {0.25F, 0.25F, 0.25F, 0.25F}};

static void add_steps(struct npz_archive *a)
{
    npz_archive_add(a, "step.0.layer.3.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
    npz_archive_add(a, "step.1.layer.3.npy", "<f4", "(1, 1, 1, 3)", first, sizeof first);
    npz_archive_add(a, "step.2.layer.3.npy", "<f4", "(1, 1, 1, 4)", second, sizeof second);
}

Test(dump_joined, steps_of_a_generation_are_one_sample)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    add_steps(&a);
    MUST(npz_archive_open(&d, &a, "{\"causal\": true, \"ids\": [\"a\"], \"lengths\": null}", &err));
    cr_assert(d.n_layers == 1 && d.layers[0].index == 3 && d.n_samples == 1);
    cr_assert(d.samples[0].query_start == 0 && d.samples[0].length == 4);
    has_rows(&d, 0, 0, 0, 4, 4, &whole[0][0]);
}

Test(dump_joined, steps_may_begin_after_the_prompt)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "a/1/3.npy", "<f4", "(1, 1, 1, 3)", first, sizeof first);
    npz_archive_add(&a, "a/2/3.npy", "<f4", "(1, 1, 1, 4)", second, sizeof second);
    MUST(npz_archive_open(
        &d, &a, "{\"weights\": \"/a/{step}/{layer}\", \"causal\": true, \"ids\": [\"a\"], \"lengths\": null}", &err));
    cr_assert(d.samples[0].query_start == 2 && d.samples[0].length == 4);
    has_rows(&d, 0, 0, 0, 2, 4, &whole[2][0]);
}

/* Two samples of two keys, the second padded on the left by one; the mask speaks of the prompt alone. */
Test(dump_joined, a_mask_of_the_prompt_holds_for_what_was_generated)
{
    static const float two[2][1][2][2] = {{{{1, 0}, {0.5F, 0.5F}}}, {{{0, 0}, {0, 1}}}};
    static const float later[2][1][1][3] = {{{{0.5F, 0.25F, 0.25F}}}, {{{0, 0.5F, 0.5F}}}};
    static const int64_t mask[2][2] = {{1, 1}, {0, 1}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "step.0.layer.0.npy", "<f4", "(2, 1, 2, 2)", two, sizeof two);
    npz_archive_add(&a, "step.1.layer.0.npy", "<f4", "(2, 1, 1, 3)", later, sizeof later);
    npz_archive_add(&a, "attention_mask.npy", "<i8", "(2, 2)", mask, sizeof mask);
    MUST(npz_archive_open(&d, &a, "{\"causal\": true, \"ids\": [\"a\", \"b\"], \"mask\": \"attention_mask\"}", &err));
    cr_assert(d.samples[0].first == 0 && d.samples[0].length == 3);
    cr_assert(d.samples[1].first == 1 && d.samples[1].length == 2 && d.samples[1].query_start == 0);
}

Test(dump_joined, samples_of_unequal_length_have_an_array_each)
{
    static const float short_one[1][2][2] = {{{1, 0}, {0.5F, 0.5F}}};
    static const float long_one[1][3][3] = {{{1, 0, 0}, {0.5F, 0.5F, 0}, {0.25F, 0.25F, 0.5F}}};
    static const float padded[3][3] = {{1, 0, 0}, {0.5F, 0.5F, 0}, {0, 0, 0}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "hello/attn_0.npy", "<f4", "(1, 2, 2)", short_one, sizeof short_one);
    npz_archive_add(&a, "bye/attn_0.npy", "<f4", "(1, 3, 3)", long_one, sizeof long_one);
    MUST(npz_archive_open(
        &d, &a, "{\"weights\": \"{sample}/attn_{layer}\", \"axes\": \"heads,rows,cols\", \"causal\": true}", &err));
    cr_assert(d.n_samples == 2 && d.n_layers == 1);
    cr_assert(eq(str, d.samples[0].id, "bye"));
    cr_assert(eq(str, d.samples[1].id, "hello"));
    cr_assert(d.samples[0].length == 3 && d.samples[1].length == 2 && d.samples[1].query_start == 0);
    has_rows(&d, 0, 0, 0, 3, 3, &long_one[0][0][0]);
    has_rows(&d, 0, 1, 0, 3, 3, &padded[0][0]);
}

/* A cache that keeps the last three keys: where its columns stand has to be said. */
static const float ring[1][1][1][3] = {{{{0.5F, 0.25F, 0.25F}}}};

Test(dump_joined, a_cache_of_the_last_keys_may_roll)
{
    static const float rolled[4][4] = {
        {1, 0, 0, 0}, {0.5F, 0.5F, 0, 0}, {0.5F, 0.25F, 0.25F, 0}, {0, 0.5F, 0.25F, 0.25F}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "step.0.layer.0.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
    npz_archive_add(&a, "step.1.layer.0.npy", "<f4", "(1, 1, 1, 3)", first, sizeof first);
    npz_archive_add(&a, "step.2.layer.0.npy", "<f4", "(1, 1, 1, 3)", ring, sizeof ring);
    MUST(npz_archive_open(
        &d, &a,
        "{\"causal\": true, \"window\": 3, \"ids\": [\"a\"], \"lengths\": [4], \"pad_side\": \"right\", "
        "\"cache\": \"rolling\"}",
        &err));
    has_rows(&d, 0, 0, 0, 4, 4, &rolled[0][0]);
}

Test(dump_joined, a_ring_needs_the_positions_of_its_columns)
{
    static const float turned[4][4] = {
        {1, 0, 0, 0}, {0.5F, 0.5F, 0, 0}, {0.5F, 0.25F, 0.25F, 0}, {0, 0.25F, 0.25F, 0.5F}};
    static const int32_t p0[] = {0, 1}, p1[] = {0, 1, 2}, p2[] = {3, 1, 2};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "step.0.layer.0.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
    npz_archive_add(&a, "step.1.layer.0.npy", "<f4", "(1, 1, 1, 3)", first, sizeof first);
    npz_archive_add(&a, "step.2.layer.0.npy", "<f4", "(1, 1, 1, 3)", ring, sizeof ring);
    npz_archive_add(&a, "at.0.npy", "<i4", "(2,)", p0, sizeof p0);
    npz_archive_add(&a, "at.1.npy", "<i4", "(3,)", p1, sizeof p1);
    npz_archive_add(&a, "at.2.npy", "<i4", "(3,)", p2, sizeof p2);
    MUST(npz_archive_open(
        &d, &a,
        "{\"causal\": true, \"window\": 3, \"ids\": [\"a\"], \"lengths\": [4], \"pad_side\": \"right\", "
        "\"positions\": \"at.{step}\"}",
        &err));
    has_rows(&d, 0, 0, 0, 4, 4, &turned[0][0]);
}

/* Queries and keys of each step, keys as they are cached: the last step has them all. */
Test(dump_joined, queries_and_keys_are_joined_too)
{
    static const float q0[] = {1, 2, 3, 4}, q1[] = {5, 6}, k1[] = {7, 8, 9, 10, 11, 12}, q[] = {1, 2, 3, 4, 5, 6};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    float got[6];

    npz_archive_add(&a, "q.0.0.npy", "<f4", "(1, 1, 2, 2)", q0, sizeof q0);
    npz_archive_add(&a, "q.1.0.npy", "<f4", "(1, 1, 1, 2)", q1, sizeof q1);
    npz_archive_add(&a, "k.0.0.npy", "<f4", "(1, 1, 2, 2)", k1, 16);
    npz_archive_add(&a, "k.1.0.npy", "<f4", "(1, 1, 3, 2)", k1, sizeof k1);
    MUST(npz_archive_open(
        &d, &a,
        "{\"q\": \"q.{step}.{layer}\", \"k\": \"k.{step}.{layer}\", \"causal\": true, \"scale\": 1, \"ids\": "
        "[\"a\"], \"lengths\": null}",
        &err));
    cr_assert(d.layers[0].n_rows == 3 && d.layers[0].n_cols == 3 && d.samples[0].length == 3);
    MUST(dump_read_q(&d, 0, 0, 0, 0, 3, got, &err));
    cr_assert(memcmp(got, q, sizeof q) == 0);
    MUST(dump_read_k(&d, 0, 0, 0, got, &err));
    cr_assert(memcmp(got, k1, sizeof k1) == 0);
}

/* The same numbers with their dimensions in any order. */
Test(dump_joined, dimensions_may_stand_in_any_order)
{
    static const char *const orders[] = {"samples,heads,rows,cols", "samples,rows,heads,cols",
                                         "heads,samples,rows,cols", "samples,heads,cols,rows",
                                         "cols,rows,heads,samples"};
    enum { S = 2, H = 3, R = 4, C = 4 };
    size_t o, i;

    for (o = 0; o < sizeof orders / sizeof *orders; o++) {
        float values[S * H * R * C], want[S][H][R][C];
        size_t dim[4], word = 0, at[4] = {0};
        struct npz_archive a = {0};
        struct error err = {0};
        AUTO(dump) d = {0};
        char shape[40], map[200], which[4], text[40];

        snprintf(text, sizeof text, "%s", orders[o]);
        for (char *save = NULL, *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save), word++) {
            which[word] = w[0];
            dim[word] = w[0] == 's' ? S : w[0] == 'h' ? H : R;
        }
        for (i = 0; i < S * H * R * C; i++) {
            size_t left = i, s = 0, h = 0, r = 0, c = 0, k;

            for (k = 4; k-- > 0; left /= dim[k])
                at[k] = left % dim[k];
            for (k = 0; k < 4; k++)
                *(which[k] == 's' ? &s : which[k] == 'h' ? &h : which[k] == 'r' ? &r : &c) = at[k];
            values[i] = (float)i;
            want[s][h][r][c] = (float)i;
        }
        snprintf(shape, sizeof shape, "(%zu, %zu, %zu, %zu)", dim[0], dim[1], dim[2], dim[3]);
        snprintf(
            map, sizeof map,
            "{\"weights\": \"x\", \"axes\": \"%s\", \"causal\": false, \"ids\": [\"a\", \"b\"], \"lengths\": null}",
            orders[o]);
        npz_archive_add(&a, "x.npy", "<f4", shape, values, sizeof values);
        MUST(npz_archive_open(&d, &a, map, &err));
        for (i = 0; i < S * H; i++)
            has_rows(&d, 0, i / H, i % H, R, C, &want[i / H][i % H][0][0]);
    }
}

Test(dump_joined, what_does_not_fit_together_is_said)
{
    static const struct {
        const char *map, *words;
        bool has_gap;
    } cases[] = {
        {"{\"weights\": \"step.{step}.layer.{layer}\"}", "step.2.layer.3' is step 2, but the one before it is 0", true},
        {"{\"weights\": \"x.{step}\"}", "no array is named 'x.{step}' with numbers for its holes; the file holds",
         false},
        {"{\"weights\": \"step.{step}.layer.{sample}\", \"causal\": true, \"mask\": \"m\"}", "m", false},
        {"{\"causal\": true, \"ids\": [\"a\"]}", "the samples have no lengths", false},
        {"{\"q\": \"step.0.layer.3\", \"k\": \"step.1.layer.{sample}\"}", "use {sample} in all names, or in none",
         false},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npz_archive a = {0};
        struct error err = {0};
        AUTO(dump) d = {0};

        if (cases[i].has_gap) {
            npz_archive_add(&a, "step.0.layer.3.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
            npz_archive_add(&a, "step.2.layer.3.npy", "<f4", "(1, 1, 1, 4)", second, sizeof second);
        } else {
            add_steps(&a);
        }
        cr_assert(npz_archive_open(&d, &a, cases[i].map, &err) == ERR_FORMAT, "%s", cases[i].map);
        cr_assert(strstr(err.message, cases[i].words) != NULL, "'%s' is not in '%s'", cases[i].words, err.message);
    }
}

Test(dump_joined, a_cut_cache_is_asked_about)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "step.0.layer.0.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
    npz_archive_add(&a, "step.1.layer.0.npy", "<f4", "(1, 1, 1, 3)", first, sizeof first);
    npz_archive_add(&a, "step.2.layer.0.npy", "<f4", "(1, 1, 1, 3)", ring, sizeof ring);
    cr_assert(npz_archive_open(&d, &a, "{\"causal\": true, \"ids\": [\"a\"], \"lengths\": null}", &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "Say \"cache\": \"rolling\" where they stand oldest first") != NULL, "%s",
              err.message);
}

/* numpy.savez(…, None) of a layer whose attention was not returned. */
Test(dump_joined, layers_without_attention_are_named_and_left_out)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "arr_0.npy", "<f4", "(1, 1, 2, 2)", prompt, sizeof prompt);
    npz_archive_add(&a, "arr_1.npy", "|O", "()", "\x80\x04N.", 4);
    MUST(npz_archive_open(
        &d, &a, "{\"weights\": \"arr_{layer}\", \"causal\": true, \"ids\": [\"a\"], \"lengths\": null}", &err));
    cr_assert(d.n_layers == 1 && d.layers[0].index == 0 && d.n_notices == 1);
    cr_assert(strstr(d.notices[0], "1 arrays hold nothing (None), the first is 'arr_1'") != NULL, "%s", d.notices[0]);
}
