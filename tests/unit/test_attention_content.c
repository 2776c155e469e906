#include "core/base/scope.h"
#include "core/metrics/attention_content.h"
#include "core/metrics/compute.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct error err;

static struct sha256 content_of(const char *path, size_t memory)
{
    AUTO(dump) d = {0};
    struct sha256 hash;

    MUST(dump_open(&d, path, &err));
    MUST(content_of_dump(&d, memory, &hash, &err));
    return hash;
}

Test(attention_content, is_the_same_in_every_container_and_with_any_memory)
{
    static const char *const same[] = {"tests/fixtures/dumps/short_fp16.h5", "tests/fixtures/dumps/short_fp16.npz",
                                       "tests/fixtures/dumps/short_fp16.safetensors"};
    struct sha256 first = content_of(same[0], (size_t)1 << 20);
    size_t i;

    cr_assert(eq(int, (int)strlen(first.hex), 64));
    for (i = 0; i < sizeof same / sizeof *same; i++) {
        struct sha256 little = content_of(same[i], 8192), much = content_of(same[i], (size_t)1 << 30);

        cr_assert(eq(str, little.hex, first.hex), "%s", same[i]);
        cr_assert(eq(str, much.hex, first.hex), "%s", same[i]);
    }
}

Test(attention_content, is_what_measuring_gives)
{
    static const char *const paths[] = {"tests/fixtures/dumps/short_fp16.h5", "tests/fixtures/dumps/short_qk_fp16.h5"};
    struct attention_options options = attention_options_default();
    const struct backend *cpu = NULL;
    size_t i;

    MUST(backend_choose("cpu", &cpu, &err));
    for (i = 0; i < 2; i++) {
        AUTO(dump) d = {0};
        AUTO(run) run = {0};
        struct dump *list = &d;
        struct sha256 alone = content_of(paths[i], (size_t)1 << 16);

        MUST(dump_open(&d, paths[i], &err));
        MUST(run_init(&run, &err));
        MUST(compute_axes(&run, NULL, &list, 1, &err));
        MUST(compute_attention(&run, &list, 1, &options, cpu, (size_t)1 << 20, &err));
        cr_assert(eq(str, d.source.content.hex, alone.hex), "%s", paths[i]);
    }
}
