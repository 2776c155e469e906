#include "core/base/file.h"
#include "core/base/scope.h"
#include "core/io/dump.h"
#include "tests/support/folder.h"
#include "tests/support/must.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

TestSuite(dump_absent, .init = folder_make, .fini = folder_drop);

/* A copy of a fixture without some of its objects. */
static void copy_without(const char *const *names, size_t n)
{
    static unsigned char bytes[1 << 20];
    FILE *from = fopen("tests/fixtures/dumps/short_fp16.h5", "rb"), *to = fopen(folder_file("x.h5"), "wb");
    size_t len = from ? fread(bytes, 1, sizeof bytes, from) : 0, i;
    hid_t f;

    cr_assert(len > 0 && to && fwrite(bytes, 1, len, to) == len && fclose(to) == 0 && fclose(from) == 0);
    f = H5Fopen(folder_file("x.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    for (i = 0; i < n; i++)
        cr_assert(H5Ldelete(f, names[i], H5P_DEFAULT) >= 0);
    cr_assert(H5Fclose(f) >= 0);
}

Test(dump_absent, a_layer_without_attention_is_named_and_left_out)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    copy_without((const char *const[]){"layers/005/attn_weights"}, 1);
    MUST(dump_open(&d, folder_file("x.h5"), &err));
    cr_assert(d.n_layers == 1 && d.layers[0].index == 0 && d.n_notices == 1);
    cr_assert(strstr(d.notices[0], "1 layers hold no attention and are left out, the first is 005") != NULL, "%s",
              d.notices[0]);
}

Test(dump_absent, a_dump_without_any_attention_is_refused)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    copy_without((const char *const[]){"layers/005/attn_weights", "layers/000/attn_weights"}, 2);
    cr_assert(dump_open(&d, folder_file("x.h5"), &err) == ERR_FORMAT);
    cr_assert(strstr(err.message, "at /layers/000: has no tensor; it needs attn_weights, attn_logits, or q and k") !=
                  NULL,
              "%s", err.message);
}

/* Rows as many as keys begin with the first, wherever that is not said. */
Test(dump_absent, rows_may_be_left_unplaced)
{
    struct error err = {0};
    AUTO(dump) d = {0};

    copy_without((const char *const[]){"samples/query_start"}, 1);
    MUST(dump_open(&d, folder_file("x.h5"), &err));
    cr_assert(d.samples[0].query_start == 0 && d.n_notices == 0);
}
