#include "cli/present.h"

#include "cli/builtin.h"
#include "cli/message.h"
#include "cli/place.h"
#include "core/base/scope.h"
#include "kernels/backend.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool present_takes(const char *word)
{
    struct error ignored = {0};
    const struct report *report;

    return report_find(word, &report, &ignored) == OK;
}

enum status present_policy(struct policy *ret, const struct opts *o, struct error *err)
{
    const char *name = opts_text(o, "policy", "default");

    return builtin_has_policy(name) ? builtin_policy(ret, name, err) : policy_load(ret, name, err);
}

enum status present_check(struct report_input *in, const struct opts *o, struct error *err)
{
    const struct report *report;
    const char *const *paths;
    uint64_t max;
    size_t n, i;

    TRY(backend_set_test_device(opts_text(o, "device", "auto"), err));
    TRY(opts_u64(o, "max-findings", 0, SIZE_MAX, 50, &max, err));
    in->max_findings = (size_t)max;
    in->is_verbose = opts_flag(o, "verbose");
    paths = opts_list(o, "output", &n);
    for (i = 0; i < n; i++)
        TRY(report_find(paths[i], &report, err));
    return OK;
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no && no[0]) && term && strcmp(term, "dumb") != 0;
}

enum status present_files(struct call *c, const struct report_input *in, struct error *err)
{
    const struct report *json;
    const char *const *paths;
    size_t n, i;

    paths = opts_list(&c->opts, "output", &n);
    for (i = 0; i < n; i++)
        TRY(place_make(paths[i], err));
    TRY(reports_write(in, paths, n, err));
    message_quiet(opts_flag(&c->opts, "quiet") || opts_flag(&c->opts, "json"));
    for (i = 0; i < n; i++)
        message_say("wrote %s", paths[i]);
    if (!opts_flag(&c->opts, "json"))
        return OK;
    TRY(report_find("x.json", &json, err));
    json->write(in, &c->out);
    return OK;
}

enum status present(struct call *c, const struct report_input *in, struct error *err)
{
    TRY(present_files(c, in, err));
    if (!opts_flag(&c->opts, "json") && !opts_flag(&c->opts, "quiet"))
        report_terminal(in, wants_colour(), &c->out);
    return OK;
}
