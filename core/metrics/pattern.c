#include "core/metrics/pattern.h"

#include "core/base/mem.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PATTERN = 64 * 1024, /* bytes                                        */
    MAX_HEAP_KIB = 64 * 1024,
    MAX_BACKTRACKS = 20000000, /* from one place of the text                   */
    MAX_STEPS = 100000000      /* items tried and characters passed, in all    */
};

void pattern_done(struct pattern *p)
{
    pcre2_code_free(p->code);
    free(p->text);
    memset(p, 0, sizeof *p);
}

static void free_compile_context(pcre2_compile_context **ctx)
{
    pcre2_compile_context_free(*ctx);
}

static void free_match_context(pcre2_match_context **ctx)
{
    pcre2_match_context_free(*ctx);
}

static void free_match_data(pcre2_match_data **data)
{
    pcre2_match_data_free(*data);
}

/* Characters that begin before text[bytes], plus one. */
static size_t place_of(const char *text, size_t bytes)
{
    size_t n = 1, i;

    for (i = 0; i < bytes && text[i]; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* A callout before every item is what lets the steps be counted over all starting places; the library's own limits
 * begin anew at each. */
static const uint32_t OPTIONS = PCRE2_UTF | PCRE2_UCP | PCRE2_CASELESS | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C;

static enum status compile(struct pattern *p, const char *text, struct error *err)
{
    __attribute__((cleanup(free_compile_context))) pcre2_compile_context *ctx = pcre2_compile_context_create(NULL);
    unsigned char why[160] = "";
    PCRE2_SIZE offset = 0;
    int code = 0;

    if (!ctx)
        return error_set(err, ERR_MEMORY, "no memory for a pattern");
    pcre2_set_max_pattern_length(ctx, MAX_PATTERN);
    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS, &code, &offset, ctx);
    if (!p->code) {
        pcre2_get_error_message(code, why, sizeof why);
        return error_set(err, ERR_FORMAT, "the pattern '%.100s' is wrong at character %zu: %s", text,
                         place_of(text, offset), (const char *)why);
    }
    if (pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) != 0)
        return OK; /* no code generator here: the interpreter gives the same answers */
    return OK;
}

enum status pattern_init(struct pattern *p, const char *text, struct error *err)
{
    __attribute__((cleanup(pattern_done))) struct pattern made = {0};

    TRY(mem_strdup(text, &made.text, err));
    TRY(compile(&made, text, err));
    *p = made;
    memset(&made, 0, sizeof made);
    return OK;
}

/* Steps left, and where the last callout stood. */
struct budget {
    int64_t left;
    PCRE2_SIZE last;
};

static int count_step(pcre2_callout_block *block, void *ctx)
{
    struct budget *b = ctx;
    PCRE2_SIZE at = block->current_position;

    b->left -= 1 + (int64_t)(at > b->last ? at - b->last : b->last - at);
    b->last = at;
    return b->left < 0 ? PCRE2_ERROR_CALLOUT : 0;
}

static enum status judge(const struct pattern *p, int rc, size_t len, bool *ret, struct error *err)
{
    unsigned char why[160] = "";

    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH || rc == PCRE2_ERROR_PARTIAL) {
        *ret = rc >= 0;
        return OK;
    }
    if (rc == PCRE2_ERROR_NOMEMORY)
        return error_set(err, ERR_MEMORY, "no memory to search with the pattern '%.100s'", p->text);
    if (rc == PCRE2_ERROR_CALLOUT || rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT ||
        rc == PCRE2_ERROR_HEAPLIMIT || rc == PCRE2_ERROR_RECURSELOOP)
        return error_set(
            err, ERR_FORMAT,
            "the pattern '%.100s' is too costly on a text of %zu bytes: repeats within repeats, or several "
            "'.*', try every way to share the text among them; write what stands between them",
            p->text, len);
    pcre2_get_error_message(rc, why, sizeof why);
    return error_set(err, ERR_INTERNAL, "the pattern '%.100s' could not be searched for: %s", p->text,
                     (const char *)why);
}

enum status pattern_match(const struct pattern *p, const char *text, size_t len, bool *ret, struct error *err)
{
    __attribute__((cleanup(free_match_context))) pcre2_match_context *ctx = pcre2_match_context_create(NULL);
    __attribute__((cleanup(free_match_data))) pcre2_match_data *data = NULL;
    struct budget budget = {.left = MAX_STEPS};
    int rc;

    data = pcre2_match_data_create(1, NULL); /* one pair: only whether it matched is asked for */
    if (!ctx || !data)
        return error_set(err, ERR_MEMORY, "no memory to search with a pattern");
    pcre2_set_match_limit(ctx, MAX_BACKTRACKS);
    pcre2_set_heap_limit(ctx, MAX_HEAP_KIB);
    pcre2_set_callout(ctx, count_step, &budget);
    rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, 0, data, ctx);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
        budget = (struct budget){.left = MAX_STEPS};
        rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_JIT, data, ctx);
    }
    return judge(p, rc, len, ret, err);
}
