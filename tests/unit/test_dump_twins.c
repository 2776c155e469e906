#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same dump in HDF5 and in another container: what test_dump.c finds in the one must stand in the other. */
static const struct {
    const char *hdf5, *other;
} twins[] = {
    {"short_fp16.h5", "short_fp16.safetensors"},
    {"short_bf16.h5", "short_bf16.safetensors"},
    {"short_bf16_h5float.h5", "short_bf16.safetensors"},
    {"short_qk_fp16.h5", "short_qk_fp16.safetensors"},
    {"short_fp16.h5", "short_fp16.npz"},
    {"short_fp16.h5", "short_fp16_zip64.npz"},
    {"short_bf16.h5", "short_bf16.npz"},
    {"batch3_fp16.h5", "batch3_fp16_deflate.npz"},
};

static void open_fixture(struct dump *d, const char *name)
{
    struct error err = {0};
    char path[128];

    snprintf(path, sizeof path, "tests/fixtures/dumps/%s", name);
    MUST(dump_open(d, path, &err));
}

static void same_samples(const struct dump *a, const struct dump *b)
{
    size_t i;

    cr_assert(a->n_samples == b->n_samples);
    for (i = 0; i < a->n_samples; i++) {
        const struct dump_sample *x = &a->samples[i], *y = &b->samples[i];

        cr_assert(eq(str, x->id, y->id));
        cr_assert(eq(str, x->task, y->task));
        cr_assert(x->turn == y->turn && x->repeat == y->repeat && x->first == y->first);
        cr_assert(x->length == y->length && x->query_start == y->query_start);
    }
}

static void same_source(const struct dump_source *x, const struct dump_source *y)
{
    cr_assert(eq(str, x->model_name, y->model_name));
    cr_assert(eq(str, x->weights_sha256, y->weights_sha256));
    cr_assert(eq(str, x->prompt_version, y->prompt_version));
    cr_assert(eq(str, x->prompt_sha256, y->prompt_sha256));
    cr_assert(eq(str, x->compute_dtype, y->compute_dtype));
    cr_assert(eq(str, x->store_dtype, y->store_dtype));
    cr_assert(eq(str, x->capture, y->capture));
    cr_assert(eq(str, x->variant, y->variant));
}

static void same_layer(const struct dump_layer *x, const struct dump_layer *y)
{
    cr_assert(eq(str, x->name, y->name));
    cr_assert(x->index == y->index && x->kind == y->kind && x->dtype == y->dtype && x->causal == y->causal);
    cr_assert(x->window == y->window && x->key_start == y->key_start);
    cr_assert(memcmp(&x->scale, &y->scale, sizeof x->scale) == 0, "%.17g and %.17g", x->scale, y->scale);
    cr_assert(memcmp(&x->softcap, &y->softcap, sizeof x->softcap) == 0);
    cr_assert(x->n_heads == y->n_heads && x->n_kv_heads == y->n_kv_heads && x->n_rows == y->n_rows);
    cr_assert(x->n_cols == y->n_cols && x->dim == y->dim);
}

/* Rows of a head; of queries where the layer has them. */
static void read_rows(struct dump *d, size_t layer, size_t sample, size_t head, size_t row, size_t n, void *ret)
{
    struct error err = {0};

    if (d->layers[layer].kind == DUMP_QK)
        MUST(dump_read_q(d, layer, sample, head, row, n, ret, &err));
    else
        MUST(dump_read_weights(d, layer, sample, head, row, n, ret, &err));
}

static void same_values(struct dump *a, struct dump *b, size_t layer)
{
    const struct dump_layer *l = &a->layers[layer];
    size_t width = (l->kind == DUMP_QK ? l->dim : l->n_cols) * dtype_bytes(l->dtype), s, h, row;
    size_t k_bytes = l->n_cols * l->dim * dtype_bytes(l->dtype);
    size_t bytes = l->n_rows * width > k_bytes ? l->n_rows * width : k_bytes;
    unsigned char *x = malloc(bytes), *y = malloc(bytes);
    struct error err = {0};

    for (s = 0; s < a->n_samples; s++)
        for (h = 0; h < l->n_heads; h++) {
            read_rows(a, layer, s, h, 0, l->n_rows, x);
            for (row = 0; row < l->n_rows; row += 7) /* in tiles that do not divide the rows */
                read_rows(b, layer, s, h, row, l->n_rows - row < 7 ? l->n_rows - row : 7, y + row * width);
            cr_assert(memcmp(x, y, l->n_rows * width) == 0, "layer %zu, sample %zu, head %zu", layer, s, h);
            if (l->kind != DUMP_QK || h >= l->n_kv_heads)
                continue;
            MUST(dump_read_k(a, layer, s, h, x, &err));
            MUST(dump_read_k(b, layer, s, h, y, &err));
            cr_assert(memcmp(x, y, k_bytes) == 0, "keys of layer %zu, sample %zu, head %zu", layer, s, h);
        }
    free(x);
    free(y);
}

Test(dump_twins, every_container_says_the_same)
{
    size_t i, l;

    for (i = 0; i < sizeof twins / sizeof *twins; i++) {
        AUTO(dump) a = {0};
        AUTO(dump) b = {0};

        open_fixture(&a, twins[i].hdf5);
        open_fixture(&b, twins[i].other);
        same_samples(&a, &b);
        same_source(&a.source, &b.source);
        cr_assert(a.n_layers == b.n_layers, "%s", twins[i].other);
        for (l = 0; l < a.n_layers; l++) {
            same_layer(&a.layers[l], &b.layers[l]);
            same_values(&a, &b, l);
        }
    }
}

/* Layers are read from the last to the first and back, so that nothing that was kept may be taken for another's. */
Test(dump_twins, layers_may_be_read_in_any_order)
{
    size_t i, l;

    for (i = 0; i < sizeof twins / sizeof *twins; i++) {
        AUTO(dump) a = {0};
        AUTO(dump) b = {0};

        open_fixture(&a, twins[i].hdf5);
        open_fixture(&b, twins[i].other);
        for (l = 0; l < 2 * a.n_layers; l++)
            same_values(&a, &b, l < a.n_layers ? a.n_layers - 1 - l : l - a.n_layers);
    }
}
