#include "cli/opt_help.h"

#include <string.h>

static void option_words(struct buf *out, const struct command *c)
{
    size_t i;

    for (i = 0; i < c->n_options; i++)
        buf_printf(out, "%s--%s", i ? " " : "", c->options[i].name);
}

/* A case for each option whose value is one of fixed words. */
static void choice_cases(struct buf *out, const struct command *c)
{
    size_t i;

    for (i = 0; i < c->n_options; i++) {
        const struct opt *opt = &c->options[i];
        const char *p;

        if (!opt_has_choices(opt))
            continue;
        buf_printf(out, "        %s:--%s) words=\"", c->name, opt->name);
        for (p = opt->value; *p; p++)
            buf_putc(out, (char)(*p == '|' ? ' ' : *p));
        buf_puts(out, "\" ;;\n");
    }
}

void help_completion(struct buf *out)
{
    size_t n, i;
    const struct command *const *all = commands_all(&n);

    buf_puts(out,
             "# bash completion for tare\n_tare() {\n"
             "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$previous\" = help ]; }; then\n"
             "        words=\"");
    for (i = 0; i < n; i++)
        buf_printf(out, "%s ", all[i]->name);
    buf_puts(out, "--help --version\"\n        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                  "        return\n    fi\n    case ${COMP_WORDS[1]}:$previous in\n");
    for (i = 0; i < n; i++)
        choice_cases(out, all[i]);
    buf_puts(out,
             "    esac\n    if [ -z \"$words\" ]; then\n        case ${COMP_WORDS[1]}:$current in\n"
             "            baseline:[a-z]* | baseline:) [ \"$COMP_CWORD\" -eq 2 ] && words=\"accept list show\" ;;\n");
    for (i = 0; i < n; i++) {
        buf_printf(out, "            %s:-*) words=\"", all[i]->name);
        option_words(out, all[i]);
        buf_puts(out, "\" ;;\n");
    }
    buf_puts(out, "        esac\n    fi\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
                  "complete -o default -F _tare tare\n");
}
