#include "core/client/refusal.h"

#include <stddef.h>
#include <string.h>

static bool has_any(const char *words, const char *const *list, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (strcasestr(words, list[i]))
            return true;
    }
    return false;
}

#define HAS_ANY(words, list) has_any(words, list, sizeof(list) / sizeof *(list))

/* The servers' sentences name what is too long (context, prompt, input tokens) and that it is so ("maximum context
 * length is 4096", "exceed context window of 512", "is longer than", "must be <= 4096"). Rates and time limits are
 * told in much the same words and mean something else. */
bool refusal_is_for_length(int64_t status, const char *words)
{
    static const char *const other[] = {"rate limit", "rate_limit", "quota",      "per minute", "per day",
                                        "timeout",    "timed out",  "time limit", "deadline",   "recursion"};
    static const char *const answer[] = {"completion tokens", "max_tokens is", "max_completion_tokens is"};
    static const char *const context[] = {"context length", "context_length",  "context window", "context size",
                                          "context_size",   "maximum context", "context limit"};
    static const char *const subject[] = {"prompt", "input", "token", "context"};
    static const char *const verdict[] = {"too long", "too large",   "longer than",
                                          "exceed",   "larger than", "must be <="};

    if (status == 413)
        return true;
    if (status != 400 && status != 422 && status != 500 && (status < 200 || status > 299))
        return false;
    if (HAS_ANY(words, other))
        return false;
    if (HAS_ANY(words, context))
        return true;
    return HAS_ANY(words, subject) && HAS_ANY(words, verdict) && !HAS_ANY(words, answer);
}
