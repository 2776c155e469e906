#include "cli/candidates.h"

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/base/scope.h"
#include "core/base/sha256.h"
#include "core/io/runfile.h"
#include "core/model/observed.h"

#include <stdlib.h>
#include <string.h>

void candidates_done(struct candidates *c)
{
    run_list_free(c->runs, c->n);
    free(c->name);
    memset(c, 0, sizeof *c);
}

/* Two replays of one recording are two files and still one observation. */
static enum status check_apart(const struct run *runs, const char *const *paths, size_t n, struct error *err)
{
    struct sha256 *hash = NULL;
    enum status st = OK;
    size_t i, k;

    if (n < 2)
        return OK;
    TRY(mem_new(n, sizeof *hash, &hash, err));
    for (i = 0; i < n && st == OK; i++) {
        st = sha256_file(&hash[i], paths[i], err);
        for (k = 0; k < i && st == OK; k++)
            if (strcmp(hash[k].hex, hash[i].hex) == 0 || observed_twice(&runs[k], &runs[i]))
                st = error_set(err, ERR_USAGE,
                               "'%s' and '%s' are the same run: counted twice it would look like one without noise",
                               paths[k], paths[i]);
    }
    free(hash);
    return st;
}

static enum status give_name(struct candidates *c, const char *first, size_t n, struct error *err)
{
    AUTO(buf) name = {0};

    buf_puts(&name, first);
    if (n > 1)
        buf_printf(&name, " and %zu more", n - 1);
    TRY(buf_check(&name, err));
    return mem_strdup(buf_text(&name), &c->name, err);
}

enum status candidates_read(struct candidates *c, const char *const *paths, size_t n, struct error *err)
{
    memset(c, 0, sizeof *c);
    TRY(mem_new(n, sizeof *c->runs, &c->runs, err));
    while (c->n < n) {
        TRY(runfile_read(&c->runs[c->n], paths[c->n], err));
        c->n++;
    }
    TRY(check_apart(c->runs, paths, n, err));
    return give_name(c, paths[0], n, err);
}
