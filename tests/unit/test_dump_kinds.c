#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/close.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"
#include "tests/support/npz_archive.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(dump_kinds, .init = folder_make, .fini = folder_drop);

#define REST "\"axes\": \"heads,rows,cols\", \"causal\": true, \"window\": 0, \"ids\": [\"a\"], \"lengths\": null"

static const uint8_t bytes[1][2][2] = {{{255, 0}, {51, 204}}};
static const int8_t turned[1][2][2] = {{{127, -128}, {-77, 76}}};

Test(dump_kinds, integers_have_a_factor)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    unsigned char got[4];
    double scales[2];

    npz_archive_add(&a, "w.npy", "|u1", "(1, 2, 2)", bytes, sizeof bytes);
    MUST(npz_archive_open(&d, &a, "{\"weights\": \"w\", \"value_scale\": 0.00392156862745098, " REST "}", &err));
    cr_assert(d.layers[0].kind == DUMP_WEIGHTS && d.layers[0].dtype == DTYPE_U8 && dump_has_scales(&d.layers[0]));
    MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, bytes, 4) == 0);
    MUST(dump_read_scales(&d, 0, 0, 0, 0, 2, scales, &err));
    cr_assert(scales[0] > 0.0039 && scales[1] < 0.004);
}

/* What ONNX and PyTorch call a zero point of -128. */
Test(dump_kinds, signed_bytes_may_begin_at_their_lowest)
{
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    unsigned char got[4];

    npz_archive_add(&a, "w.npy", "|i1", "(1, 2, 2)", turned, sizeof turned);
    MUST(npz_archive_open(
        &d, &a, "{\"weights\": \"w\", \"value_scale\": 0.00392156862745098, \"zero_point\": -128, " REST "}", &err));
    cr_assert(d.layers[0].dtype == DTYPE_U8);
    MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, bytes, 4) == 0);
}

Test(dump_kinds, rows_may_have_a_factor_each)
{
    static const float factors[1][2] = {{0.5F, 0.25F}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    double scales[2];

    npz_archive_add(&a, "w.npy", "|u1", "(1, 2, 2)", bytes, sizeof bytes);
    npz_archive_add(&a, "f.npy", "<f4", "(1, 2)", factors, sizeof factors);
    MUST(npz_archive_open(
        &d, &a, "{\"weights\": \"w\", \"value_scales\": \"f\", \"lse_axes\": \"heads,rows\", " REST "}", &err));
    MUST(dump_read_scales(&d, 0, 0, 0, 1, 1, scales, &err));
    cr_assert(memcmp(scales, &(double){0.25}, sizeof *scales) == 0);
}

Test(dump_kinds, what_integers_need_is_proposed)
{
    static const struct {
        const char *descr;
        const void *values;
        const char *map, *words;
    } cases[] = {
        {"|u1", bytes, "{\"weights\": \"w\", " REST "}",
         "uint8 whose rows sum to some 255: add \"value_scale\", 1/255 = 0.0039215686274509803"},
        {"|i1", turned, "{\"weights\": \"w\", " REST "}", "int8 below 0: add \"zero_point\", -128"},
        {"|u1", bytes, "{\"weights\": \"w\", \"value_scale\": -1, " REST "}",
         "attribute 'value_scale' is -1, it must be a positive number"},
        {"|u1", bytes, "{\"weights\": \"w\", \"value_scale\": 0.1, \"zero_point\": 3, " REST "}",
         "attribute 'zero_point' is 3"},
        {"|u1", bytes, "{\"logits\": \"w\", " REST "}", "scores of 8 bits say nothing of the weights"},
        {"|V1", bytes, "{\"weights\": \"w\", " REST "}", "values of 1 byte without the attribute 'logical_dtype'"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npz_archive a = {0};
        struct error err = {0};
        AUTO(dump) d = {0};

        npz_archive_add(&a, "w.npy", cases[i].descr, "(1, 2, 2)", cases[i].values, 4);
        cr_assert(npz_archive_open(&d, &a, cases[i].map, &err) == ERR_FORMAT, "%s", cases[i].map);
        cr_assert(strstr(err.message, cases[i].words) != NULL, "'%s' is not in '%s'", cases[i].words, err.message);
    }
}

/* A byte that is not known to be an integer: 0x38 is 1 in e4m3, 0x30 a half, 0x28 a quarter. */
Test(dump_kinds, floats_of_one_byte_are_read)
{
    static const uint8_t values[] = {0x38, 0, 0x30, 0x30};
    static const char *const descrs[] = {"|V1", "|u1"};
    size_t i;

    for (i = 0; i < 2; i++) {
        struct npz_archive a = {0};
        struct error err = {0};
        AUTO(dump) d = {0};

        npz_archive_add(&a, "w.npy", descrs[i], "(1, 2, 2)", values, sizeof values);
        MUST(npz_archive_open(&d, &a, "{\"weights\": \"w\", \"dtype\": \"float8_e4m3\", " REST "}", &err));
        cr_assert(d.layers[0].dtype == DTYPE_F8_E4M3 && !dump_has_scales(&d.layers[0]));
    }
}

/* 8 tanh(0.5 x / 8) of x = 4, and what a mask hides stays hidden. */
Test(dump_kinds, raw_scores_get_their_scale_and_softcap)
{
    static const float raw[1][2][2] = {{{4, -3.4e38F}, {4, -INFINITY}}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    double got[4];

    npz_archive_add(&a, "s.npy", "<f4", "(1, 2, 2)", raw, sizeof raw);
    MUST(npz_archive_open(
        &d, &a, "{\"logits\": \"s\", \"logits_are\": \"raw\", \"scale\": 0.5, \"softcap\": 8, " REST "}", &err));
    cr_assert(d.layers[0].kind == DUMP_SCORES && d.layers[0].dtype == DTYPE_F64);
    MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(
        close_to(got[0], 8 * 0.24491866240370913,
                 (struct tol){1e-15, 0x1p-51})); /* math.tanh(2 / 8); a few last places for tanh and the product */
    cr_assert(isinf(got[1]) && isinf(got[3]));
}

Test(dump_kinds, scores_are_what_the_softmax_takes_unless_said)
{
    static const uint16_t half[1][2][2] = {{{0x4400, 0xfbff}, {0x4400, 0x4400}}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    uint16_t got[4];

    npz_archive_add(&a, "s.npy", "<f2", "(1, 1, 2, 2)", half, sizeof half);
    MUST(
        npz_archive_open(&d, &a,
                         "{\"stacked\": \"s\", \"kind\": \"logits\", \"axes\": \"layers,heads,rows,cols\", \"causal\": "
                         "true, \"window\": 0, \"ids\": [\"a\"], \"lengths\": null}",
                         &err));
    cr_assert(d.layers[0].kind == DUMP_SCORES && d.layers[0].dtype == DTYPE_F16);
    MUST(dump_read_weights(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, half, sizeof half) == 0);
}

Test(dump_kinds, an_upper_triangle_that_is_masked_proposes_causal)
{
    static const float scores[1][2][2] = {{{1, -INFINITY}, {1, 2}}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "s.npy", "<f4", "(1, 2, 2)", scores, sizeof scores);
    cr_assert(npz_archive_open(
                  &d, &a, "{\"logits\": \"s\", \"axes\": \"heads,rows,cols\", \"ids\": [\"a\"], \"lengths\": null}",
                  &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "no attribute 'causal'; write 1") != NULL, "%s", err.message);
}

/* Scores of q = (1, 0), (0, 2) and k = (1, 0), (0, 1) are 1; and 0, 2: log-sum-exp 1 and log(1 + e^2). */
static const float q[1][2][2] = {{{1, 0}, {0, 2}}}, k[1][2][2] = {{{1, 0}, {0, 1}}};

static enum status open_lse(struct dump *d, const float *lse, const char *said, struct error *err)
{
    struct npz_archive a = {0};
    char map[400];

    npz_archive_add(&a, "q.npy", "<f4", "(1, 2, 2)", q, sizeof q);
    npz_archive_add(&a, "k.npy", "<f4", "(1, 2, 2)", k, sizeof k);
    npz_archive_add(&a, "lse.npy", "<f4", "(1, 2)", lse, 8);
    snprintf(map, sizeof map,
             "{\"q\": \"q\", \"k\": \"k\", \"lse\": \"lse\", \"lse_axes\": \"heads,rows\", \"axes\": "
             "\"heads,rows,cols\", \"ids\": [\"a\"], \"lengths\": null, %s}",
             said);
    return npz_archive_open(d, &a, map, err);
}

Test(dump_kinds, queries_and_keys_must_give_their_log_sum_exp)
{
    static const struct {
        float lse[2];
        const char *said, *words; /* NULL: they do */
    } cases[] = {
        {{1, 2.126928F}, "\"causal\": true, \"scale\": 1", NULL},
        {{1.442695F, 3.0685085F}, "\"causal\": true, \"scale\": 1, \"lse_base\": \"2\"", NULL},
        {{1.442695F, 3.0685085F}, "\"causal\": true, \"scale\": 1", "with lse_base \"2\" they fit: write that"},
        {{1, 2.126928F}, "\"causal\": true, \"scale\": 0.70710678", "with scale 1 they fit: write that"},
        {{1.3132617F, 2.126928F}, "\"causal\": true, \"scale\": 1", "with causal 0 they fit: write that"},
        {{1, 2.126928F}, "\"causal\": true, \"scale\": 1, \"softcap\": 3", "with softcap 0 they fit: write that"},
        {{1, 2.126928F}, "\"causal\": true, \"scale\": 1, \"window\": 1", "without window they fit: write 0"},
        {{1, 9},
         "\"causal\": true, \"scale\": 1",
         "1 of 2 rows differ, row 1 of sample 'a' has 9, they give 2.126928; no other scale"},
        {{INFINITY, 2.126928F}, "\"causal\": true, \"scale\": 1", "row 0 of sample 'a' has inf, they give 1"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(dump) d = {0};
        enum status st = open_lse(&d, cases[i].lse, cases[i].said, &err);

        cr_assert(st == (cases[i].words ? ERR_FORMAT : OK), "case %zu: %s", i, err.message);
        cr_assert(cases[i].words == NULL || strstr(err.message, cases[i].words), "case %zu: %s", i, err.message);
    }
}

/* Queries in float32 and keys in float16 are measured as float32. */
Test(dump_kinds, queries_and_keys_may_be_of_two_types)
{
    static const uint16_t half[1][2][2] = {{{0x3c00, 0}, {0, 0x3800}}};
    static const float want[4] = {1, 0, 0, 0.5F};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    float got[4];

    npz_archive_add(&a, "q.npy", "<f4", "(1, 2, 2)", q, sizeof q);
    npz_archive_add(&a, "k.npy", "<f2", "(1, 2, 2)", half, sizeof half);
    MUST(npz_archive_open(&d, &a, "{\"q\": \"q\", \"k\": \"k\", \"scale\": 1, " REST "}", &err));
    cr_assert(d.layers[0].dtype == DTYPE_F32);
    MUST(dump_read_k(&d, 0, 0, 0, got, &err));
    cr_assert(memcmp(got, want, sizeof want) == 0);
    MUST(dump_read_q(&d, 0, 0, 0, 0, 2, got, &err));
    cr_assert(memcmp(got, q, sizeof q) == 0);
}

/* Twenty rows, each with weight on its last four keys. */
Test(dump_kinds, a_window_that_nobody_spoke_of_is_asked_about)
{
    static float banded[1][20][20];
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};
    int i, j;

    for (i = 0; i < 20; i++)
        for (j = i < 3 ? 0 : i - 3; j <= i; j++)
            banded[0][i][j] = 1.0F / (float)(i < 3 ? i + 1 : 4);
    npz_archive_add(&a, "w.npy", "<f4", "(1, 20, 20)", banded, sizeof banded);
    cr_assert(
        npz_archive_open(&d, &a,
                         "{\"weights\": \"w\", \"axes\": \"heads,rows,cols\", \"causal\": true, \"ids\": [\"a\"], "
                         "\"lengths\": null}",
                         &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "the last 16 rows give weight to exactly 4 keys each: add \"window\", 4") != NULL,
              "%s", err.message);
}

/* One list or object for all layers of what differs between them. */
Test(dump_kinds, layers_may_differ)
{
    static const float w[2][1][2][2] = {{{{1, 0}, {0.5F, 0.5F}}}, {{{0.5F, 0.5F}, {0.5F, 0.5F}}}};
    struct npz_archive a = {0};
    struct error err = {0};
    AUTO(dump) d = {0};

    npz_archive_add(&a, "w.npy", "<f4", "(2, 1, 2, 2)", w, sizeof w);
    MUST(npz_archive_open(
        &d, &a,
        "{\"stacked\": \"w\", \"axes\": \"layers,heads,rows,cols\", \"causal_by_layer\": [true, false], "
        "\"window\": 0, \"scale_by_layer\": {\"1\": 0.5}, \"ids\": [\"a\"], \"lengths\": null}",
        &err));
    cr_assert(d.layers[0].causal && !d.layers[1].causal);
    cr_assert(d.layers[0].scale < 0.1 && d.layers[1].scale > 0.4);
}
