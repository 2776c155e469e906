#include "tests/support/npz_archive.h"

#include "core/base/scope.h"
#include "tests/support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

void npz_archive_add(struct npz_archive *a, const char *name, const char *descr, const char *shape, const void *values,
                     size_t len)
{
    char header[160];

    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    npy_make(&a->npy[a->n], 1, header, values, len);
    a->parts[a->n] = (struct zip_part){name, a->npy[a->n].data, a->npy[a->n].len, a->n % 2 == 1};
    a->n++;
}

static void put(const char *name, const void *bytes, size_t len)
{
    FILE *f = fopen(folder_file(name), "wb");

    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

enum status npz_archive_open(struct dump *d, struct npz_archive *a, const char *map, struct error *err)
{
    struct dump_options options = {.layout = map ? folder_file("map.json") : NULL};
    AUTO(buf) zip = {0};
    size_t i;

    zip_make(&zip, a->parts, a->n, 0, NULL);
    put("x.npz", zip.data, zip.len);
    if (map)
        put("map.json", map, strlen(map));
    for (i = 0; i < a->n; i++)
        buf_done(&a->npy[i]);
    a->n = 0;
    return dump_open_as(d, folder_file("x.npz"), &options, err);
}
