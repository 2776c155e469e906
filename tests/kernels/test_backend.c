#include "kernels/backend.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

Test(backend, auto_always_finds_one)
{
    const struct backend *b = NULL;

    cr_assert(eq(int, backend_choose("auto", &b, NULL), OK));
    cr_assert(ne(ptr, (void *)b, NULL));
}

Test(backend, cpu_is_always_there_and_aligns_to_64_bytes)
{
    const struct backend *b = NULL;
    void *p;

    cr_assert(eq(int, backend_choose("cpu", &b, NULL), OK));
    cr_assert(eq(str, (char *)b->name, "cpu"));
    p = b->host_alloc(100);
    cr_assert(p && (uintptr_t)p % 64 == 0);
    memset(p, 1, 100);
    b->host_free(p);
    cr_assert(eq(ptr, b->host_alloc(SIZE_MAX), NULL));
    b->host_free(b->host_alloc(0));
}

Test(backend, asking_for_a_missing_device_says_what_to_do)
{
    const struct backend *b = NULL;
    struct error err = {0};
    char text[512];

    if (backend_describe_cuda(text, sizeof text)) {
        cr_assert(eq(int, backend_choose("cuda", &b, &err), OK));
        return;
    }
    cr_assert(eq(int, backend_choose("cuda", &b, &err), ERR_DEVICE));
    cr_assert(strstr(err.message, "use auto or cpu") != NULL, "%s", err.message);
    cr_assert(eq(ptr, (void *)b, NULL));
}

Test(backend, a_misspelt_word_is_a_usage_error_with_a_hint)
{
    const struct backend *b = NULL;
    struct error err = {0};

    cr_assert(eq(int, backend_choose("cudo", &b, &err), ERR_USAGE));
    cr_assert(strstr(err.message, "did you mean 'cuda'") != NULL, "%s", err.message);
    error_clear(&err);
    cr_assert(eq(int, backend_choose("", &b, &err), ERR_USAGE));
    error_clear(&err);
    cr_assert(eq(int, backend_set_isa("avx51", &err), ERR_USAGE));
    cr_assert(strstr(err.message, "did you mean") != NULL, "%s", err.message);
}

Test(backend, the_instruction_set_can_be_forced_and_freed)
{
    char best[16];

    snprintf(best, sizeof best, "%s", backend_isa());
    cr_assert(eq(int, backend_set_isa("portable", NULL), OK));
    cr_assert(eq(str, (char *)backend_isa(), "portable"));
    cr_assert(eq(int, backend_set_isa("auto", NULL), OK));
    cr_assert(eq(str, (char *)backend_isa(), best));
}
