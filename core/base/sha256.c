#include "core/base/sha256.h"

#include "core/base/file.h"
#include "core/base/scope.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

struct digest {
    EVP_MD_CTX *ctx;
};

static void digest_done(struct digest *d)
{
    EVP_MD_CTX_free(d->ctx);
    d->ctx = NULL;
}

static enum status digest_init(struct digest *d, struct error *err)
{
    d->ctx = EVP_MD_CTX_new();
    if (!d->ctx || !EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL))
        return error_set(err, ERR_INTERNAL, "SHA-256 is not available in libcrypto");
    return OK;
}

static enum status digest_finish(struct digest *d, struct sha256 *h, struct error *err)
{
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned len = 0, i;

    if (!EVP_DigestFinal_ex(d->ctx, raw, &len) || len != 32)
        return error_set(err, ERR_INTERNAL, "SHA-256 could not be finished");
    for (i = 0; i < len; i++)
        snprintf(h->hex + 2 * (size_t)i, 3, "%02x", raw[i]);
    return OK;
}

enum status sha256_bytes(struct sha256 *h, const void *data, size_t len, struct error *err)
{
    AUTO(digest) d = {0};

    TRY(digest_init(&d, err));
    if (!EVP_DigestUpdate(d.ctx, data, len))
        return error_set(err, ERR_INTERNAL, "SHA-256 failed");
    return digest_finish(&d, h, err);
}

enum status sha256_file(struct sha256 *h, const char *path, struct error *err)
{
    AUTO(digest) d = {0};
    unsigned char chunk[1 << 16];
    enum status st;
    FILE *f;
    size_t n;

    TRY(file_check_regular(path, err));
    f = fopen(path, "rbe");
    if (!f)
        return error_set(err, ERR_IO, "'%s': cannot open: %s", path, strerror(errno));
    st = digest_init(&d, err);
    while (st == OK && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
        if (!EVP_DigestUpdate(d.ctx, chunk, n))
            st = error_set(err, ERR_INTERNAL, "SHA-256 failed");
    if (st == OK && ferror(f))
        st = error_set(err, ERR_IO, "'%s': cannot read: %s", path, strerror(errno));
    fclose(f);
    TRY(st);
    return digest_finish(&d, h, err);
}
