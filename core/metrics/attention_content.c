#include "core/metrics/attention_content.h"

#include "core/base/scope.h"
#include "core/metrics/attention_pass.h"

#include <stdlib.h>

void content_done(struct content *c)
{
    buf_done(&c->text);
    buf_done(&c->digests);
}

static void say(struct content *c, const char *name, const char *text)
{
    buf_printf(&c->text, "%s %s\n", name, text ? text : "");
}

void content_begin(struct content *c, const struct dump *d)
{
    const struct dump_source *s = &d->source;
    size_t i;

    buf_puts(&c->text, "tare dump content 1\n");
    say(c, "model_name", s->model_name);
    say(c, "weights_sha256", s->weights_sha256);
    say(c, "prompt_version", s->prompt_version);
    say(c, "prompt_sha256", s->prompt_sha256);
    say(c, "compute_dtype", s->compute_dtype);
    say(c, "store_dtype", s->store_dtype);
    say(c, "capture", s->capture);
    say(c, "variant", s->variant);
    for (i = 0; i < d->n_samples; i++) {
        const struct dump_sample *t = &d->samples[i];

        buf_printf(&c->text, "sample %lld %lld %lld %s\n", (long long)t->first, (long long)t->length,
                   (long long)t->query_start, t->id);
    }
}

void content_add(struct content *c, const unsigned char *digests, size_t n_heads)
{
    buf_append(&c->digests, digests, n_heads * DIGEST_BYTES);
}

enum status content_end_layer(struct content *c, const struct dump_layer *l, struct error *err)
{
    struct sha256 hash;

    TRY(buf_check(&c->digests, err));
    TRY(sha256_bytes(&hash, c->digests.data, c->digests.len, err));
    buf_printf(&c->text,
               "layer %lld kind %d dtype %s causal %d window %lld key_start %lld scale %.17g softcap %.17g "
               "heads %zu %zu rows %zu keys %zu dim %zu digests %s\n",
               (long long)l->index, (int)l->kind, dtype_name(l->dtype), (int)l->causal, (long long)l->window,
               (long long)l->key_start, l->scale, l->softcap, l->n_heads, l->n_kv_heads, l->n_rows, l->n_cols, l->dim,
               hash.hex);
    buf_clear(&c->digests);
    return OK;
}

enum status content_end(const struct content *c, struct sha256 *ret, struct error *err)
{
    TRY(buf_check(&c->text, err));
    return sha256_bytes(ret, c->text.data, c->text.len, err);
}

/* A backend that measures nothing: what is wanted was taken while the rows were read. */

static void leave_empty(struct row_stat *rows, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        rows[i] = (struct row_stat){.status = ROW_EMPTY};
}

static enum status no_weights(const struct row_entropy_args *args, struct row_stat *ret, struct error *err)
{
    (void)err;
    leave_empty(ret, args->n_heads * args->n_rows);
    return OK;
}

static enum status no_qk(const struct qk_entropy_args *args, struct row_stat *ret, struct error *err)
{
    (void)err;
    leave_empty(ret, args->n_heads * args->n_rows);
    return OK;
}

static const struct backend nothing = {.name = "none",
                                       .works_in_bands = true,
                                       .row_entropy = no_weights,
                                       .qk_entropy = no_qk,
                                       .host_alloc = malloc,
                                       .host_free = free};

enum status content_of_dump(struct dump *d, size_t memory, struct sha256 *ret, struct error *err)
{
    struct attention_options options = attention_options_default();
    AUTO(pass) pass = {.backend = &nothing, .memory = memory, .options = &options};
    AUTO(content) content = {0};
    size_t layer, sample;

    dump_limit_memory(d, memory);
    content_begin(&content, d);
    for (layer = 0; layer < d->n_layers; layer++) {
        for (sample = 0; sample < d->n_samples; sample++) {
            TRY(pass_measure(&pass, d, layer, sample, err));
            content_add(&content, pass.digests, d->layers[layer].n_heads);
        }
        TRY(content_end_layer(&content, &d->layers[layer], err));
    }
    TRY(dump_unchanged(d, err));
    return content_end(&content, ret, err);
}
