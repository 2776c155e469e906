#include "cli/attention_opts.h"

#include "core/base/scope.h"

#include <string.h>

enum status attention_opts_read(const struct opts *o, const struct run *replayed, struct attention_options *ret,
                                struct error *err)
{
    const char *eps = opts_text(o, "entropy-eps", NULL), *collapse = opts_text(o, "collapse", NULL);
    const char *on_nan = opts_text(o, "on-nan", "skip");

    *ret = attention_options_default();
    if (replayed)
        TRY(attention_options_of(ret, replayed, err));
    if (eps)
        TRY(attention_options_eps(ret, "--entropy-eps", eps, err));
    if (collapse)
        TRY(collapse_parse(&ret->collapse, "--collapse", collapse, err));
    if (opts_given(o, "implicit-sink"))
        ret->implicit_sink = opts_flag(o, "implicit-sink");
    if (opts_given(o, "check-mask"))
        ret->check_mask = opts_flag(o, "check-mask");
    ret->fail_on_nan = strcmp(on_nan, "fail") == 0;
    if (ret->implicit_sink && ret->eps_form != EPS_NONE)
        return error_set(err, ERR_USAGE,
                         "--implicit-sink and --entropy-eps are two other entropies: ask for one of them");
    return OK;
}

enum status attention_opts_check_copied(const struct attention_options *asked, const struct run *replayed,
                                        struct error *err)
{
    struct attention_options was;
    AUTO(buf) want = {0};
    AUTO(buf) have = {0};

    TRY(attention_options_of(&was, replayed, err));
    attention_options_text(asked, &want);
    attention_options_text(&was, &have);
    TRY(buf_check(&want, err));
    TRY(buf_check(&have, err));
    if (strcmp(buf_text(&want), buf_text(&have)) == 0)
        return OK;
    return error_set(
        err, ERR_USAGE,
        "the dumps of the replayed run are gone or changed, so its attention stays as it was measured (%s), "
        "and cannot be measured otherwise (%s): bring the dumps back with --dump, or leave these options "
        "out",
        buf_text(&have), buf_text(&want));
}
