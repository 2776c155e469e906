/* Where two runs begin to differ, by the digests of their attention. */
#include "core/base/scope.h"
#include "tests/support/fake_run.h"
#include "tests/support/folder.h"
#include "tests/support/gate_case.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(onset, .init = folder_make, .fini = folder_drop);

static bool says(const struct judgement *j, const char *words)
{
    size_t i, n = 0;

    for (i = 0; i < j->n_reasons; i++)
        n += strstr(j->reasons[i], words) != NULL;
    return n == 1;
}

/* Three layers of two heads, twelve tasks of two turns. */
static void compare(struct judgement *j, struct run *base, struct run *cand, size_t layer, int head, double shift)
{
    gate_attention(base, cand, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0, .shift = shift});
    fake_digests(base, 3, -1);
    fake_digests(cand, layer, head);
    gate_decide_default(j, base, cand);
}

Test(onset, names_the_layer_and_the_heads_where_differences_begin)
{
    static const struct {
        size_t layer;
        int head;
        const char *words;
    } rows[] = {
        {3, -1, "attention is the same to the last bit in all 24 turns"},
        {2, 0,
         "layers 0 to 1 are the same to the last bit in every turn, differences begin at layer 2, there in head 0 "
         "alone: consistent with other weights of that head in layer 2; an internal metric alone proves no cause"},
        {1, -1,
         "layer 0 is the same to the last bit in every turn, differences begin at layer 1 in all 2 heads: "
         "consistent with other weights in the attention of layer 1 or behind that of layer 0; an internal"},
        {0, 1,
         "bits differ from layer 0 on, the lowest there is, there in head 1 alone: consistent with other weights"},
        {0, -1,
         "bits differ from layer 0 on, the lowest there is, in 24 of 24 turns: consistent with another prompt, "
         "tokenizer, embedding or compute type, which bits cannot tell apart; by size no layer moved"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};

        compare(&j, &base, &cand, rows[i].layer, rows[i].head, 0);
        cr_assert(says(&j, rows[i].words), "%zu: %s", i, j.onset.words);
        cr_assert(eq(sz, j.onset.n_cells, 12 * 2 * 3 * 2));
    }
}

/* 0.004 bit everywhere is far under the margin: size says nothing, bits do. */
Test(onset, is_found_where_the_sizes_pass)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    compare(&j, &base, &cand, 2, 0, 0.004);
    cr_assert(j.verdict == VERDICT_PASS, "%s", j.headline);
    cr_assert(j.onset.layer == 2 && j.onset.before == 1 && j.onset.n_heads == 1 && j.onset.heads[0] == 0);
}

Test(onset, goes_by_size_where_bits_differ_everywhere)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    compare(&j, &base, &cand, 0, -1, -2);
    cr_assert(says(&j, "; by size the lowest to move beyond its margin is layer 2, head 0, in attn.entropy"), "%s",
              j.onset.words);
}

/* Where the model's own reply was read back the tokens differ, and with them every layer. */
Test(onset, tells_turns_of_other_tokens_apart)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};
    size_t at[N_AXES] = {[AXIS_TASK] = 5}, i;

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0});
    fake_digests(&base, 3, -1);
    fake_digests(&cand, 2, -1);
    for (i = 0; i < 6; i++)
        cand.fingerprints.digest[(fingerprints_index(&cand.fingerprints, at) + i) * DIGEST_BYTES + 14] = 1;
    gate_decide_default(&j, &base, &cand);
    cr_assert(says(&j,
                   "in 23 of 24 turns layers 0 to 1 are the same to the last bit, differences begin at layer 2 in all "
                   "2 heads"));
    cr_assert(says(&j, "; in the other 1 the first layer differs already"), "%s", j.onset.words);
}

/* Other weights would not leave the other turns as they were. */
Test(onset, suspects_no_weights_where_most_samples_are_the_same)
{
    static const struct {
        size_t first_layer;
        const char *words;
    } rows[] = {
        {1, "layer 0 is the same to the last bit in every turn, differences begin at layer 1 in 1 of 24 turns in all "
            "2 heads; 23 are the same throughout, which weights that every token passes would not leave so: consistent "
            "with other tokens in those that differ, or another way of computing them; an internal"},
        {0, "bits differ from layer 0 on, the lowest there is, in 1 of 24 turns; 23 are the same throughout, which"},
    };
    size_t i, k;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(run) base = {0};
        AUTO(run) cand = {0};
        AUTO(judgement) j = {0};
        size_t at[N_AXES] = {[AXIS_TASK] = 5, [AXIS_LAYER] = rows[i].first_layer};

        gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0});
        fake_digests(&base, 3, -1);
        fake_digests(&cand, 3, -1);
        for (k = 0; k < 6 - 2 * rows[i].first_layer; k++)
            cand.fingerprints.digest[(fingerprints_index(&cand.fingerprints, at) + k) * DIGEST_BYTES + 14] = 1;
        gate_decide_default(&j, &base, &cand);
        cr_assert(says(&j, rows[i].words), "%zu: %s", i, j.onset.words);
        cr_assert(eq(sz, j.onset.n_same, 23));
    }
}

Test(onset, is_against_the_base_run_that_shares_most)
{
    AUTO(judgement) j = {0};
    struct run base[2], spare;
    AUTO(run) cand = {0};
    size_t i;

    gate_attention(&base[0], &cand, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0, .shift = 0.001});
    gate_attention(&base[1], &spare, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0});
    fake_digests(&base[0], 3, -1);
    fake_digests(&base[1], 0, -1);
    fake_digests(&cand, 2, 0);
    gate_decide(&j, base, 2, &cand, "\"attn.entropy\": {\"role\": \"primary\", \"margin\": {\"abs\": 0.05}}", "");
    cr_assert(eq(i64, j.onset.layer, 2));
    run_done(&spare);
    for (i = 0; i < 2; i++)
        run_done(&base[i]);
}

Test(onset, is_not_known_without_digests_on_both_sides)
{
    AUTO(run) base = {0};
    AUTO(run) cand = {0};
    AUTO(judgement) j = {0};

    gate_attention(&base, &cand, (struct gate_change){.n_tasks = 12, .layer = 2, .head = 0, .shift = -2});
    fake_digests(&cand, 3, -1);
    gate_decide_default(&j, &base, &cand);
    cr_assert(j.onset.words == NULL && j.onset.layer == -1);
}
