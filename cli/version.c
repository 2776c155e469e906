#include "cli/version.h"

#include <hdf5.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

const char tool_version[] = TARE_VERSION;

void version_build(struct buf *out)
{
    buf_puts(out, TARE_BUILD);
}

void version_libraries(struct buf *out)
{
    unsigned major = 0, minor = 0, release = 0;
    char pcre2[64] = "";

    if (H5get_libversion(&major, &minor, &release) >= 0)
        buf_printf(out, "HDF5 %u.%u.%u, ", major, minor, release);
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < (int)sizeof pcre2)
        pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    pcre2[strcspn(pcre2, " ")] = '\0';
    buf_printf(out, "jansson %s, PCRE2 %s, utf8proc %s, ", jansson_version_str(), pcre2, utf8proc_version());
    buf_puts(out, OpenSSL_version(OPENSSL_VERSION));
}

void version_text(struct buf *out)
{
    buf_printf(out, "tare %s\n", tool_version);
    version_build(out);
    buf_putc(out, '\n');
    version_libraries(out);
    buf_putc(out, '\n');
}
