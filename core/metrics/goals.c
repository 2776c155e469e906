#include "core/metrics/goals.h"

#include "core/base/num.h"
#include "core/metrics/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 64 };

static enum status read_goal(struct goals *g, char *word, struct error *err)
{
    char name[MAX_WORD + 16];
    char *colon = strchr(word, ':');
    const struct metric *m;
    double limit;

    if (!colon)
        return error_set(err, ERR_USAGE, "goodput: '%s' has no limit: write it as NAME:MILLISECONDS, as in ttft:200",
                         word);
    *colon = '\0';
    snprintf(name, sizeof name, "latency.%s", word);
    m = metric_find(name);
    if (!m || !m->of_reply)
        return error_set(err, ERR_USAGE, "goodput: there is no latency '%s': 'tare explain' lists them", word);
    if (!num_double(colon + 1, &limit) || !(limit > 0))
        return error_set(err, ERR_USAGE, "goodput: '%s' is no limit for %s: it must be a number above 0", colon + 1,
                         word);
    if (g->n == MAX_GOALS)
        return error_set(err, ERR_USAGE, "goodput: more than %d limits", MAX_GOALS);
    g->goal[g->n++] = (struct goal){.metric = m, .limit = limit};
    return OK;
}

enum status goals_read(struct goals *g, const char *text, struct error *err)
{
    memset(g, 0, sizeof *g);
    while (text && *text) {
        size_t n = strcspn(text, " ,");
        char word[MAX_WORD];

        if (n >= sizeof word)
            return error_set(err, ERR_USAGE, "goodput: '%.20s…' is no limit", text);
        memcpy(word, text, n);
        word[n] = '\0';
        if (n)
            TRY(read_goal(g, word, err));
        text += n + (text[n] != '\0');
    }
    return OK;
}

/* One token has no time per token, and no gap. */
static bool is_excused(const struct reply *r)
{
    return r->completion_tokens >= 0 && r->completion_tokens < 2;
}

double goals_met(const struct goals *g, const struct reply_view *view)
{
    double met = g->n ? 1 : NAN;
    size_t i;

    if (g->n && !reply_has_answer(view->reply))
        return 0;
    for (i = 0; i < g->n; i++) {
        double value = g->goal[i].metric->of_reply(view);

        if (isnan(value) && !is_excused(view->reply))
            return NAN;
        if (value > g->goal[i].limit)
            met = 0;
    }
    return met;
}
