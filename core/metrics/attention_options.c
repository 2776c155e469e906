#include "core/metrics/attention_options.h"

#include "core/base/num.h"
#include "core/base/scope.h"

#include <math.h>
#include <string.h>

static const char *const forms[] = {[EPS_NONE] = "none", [EPS_ADD_IN_LOG] = "add", [EPS_CLAMP] = "clamp"};

enum { MAX_SAMPLES = 1000000 };

struct attention_options attention_options_default(void)
{
    return (struct attention_options){.collapse = {.bits = 0.15, .weight = 0.95, .samples = 3}};
}

static enum status bad_eps(const char *what, const char *text, struct error *err)
{
    return error_set(err, ERR_USAGE,
                     "%s '%.40s': write add:EPS for -sum p log2(p + EPS), clamp:EPS for -sum p log2 max(p, EPS), with "
                     "EPS from 0 to 1 such as 1e-9, or none",
                     what, text);
}

/* Whether `form` stands before the colon. */
static bool names(const char *text, const char *colon, const char *form)
{
    return colon && strlen(form) == (size_t)(colon - text) && strncmp(text, form, strlen(form)) == 0;
}

enum status attention_options_eps(struct attention_options *o, const char *what, const char *text, struct error *err)
{
    const char *colon = strchr(text, ':');
    size_t form = EPS_ADD_IN_LOG;
    double eps = 0;

    if (strcmp(text, forms[EPS_NONE]) == 0) {
        o->eps_form = EPS_NONE;
        o->entropy_eps = 0;
        return OK;
    }
    while (form <= EPS_CLAMP && !names(text, colon, forms[form]))
        form++;
    if (!colon || form > EPS_CLAMP || !num_double(colon + 1, &eps) || !(eps > 0 && eps < 1))
        return bad_eps(what, text, err);
    o->eps_form = (enum eps_form)form;
    o->entropy_eps = eps;
    return OK;
}

/* The number up to a comma or the end; moves on behind it. */
static bool take_number(const char **at, double *ret)
{
    size_t len = strcspn(*at, ",");
    char digits[40];

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, *at, len);
    digits[len] = '\0';
    *at += len + ((*at)[len] == ',');
    return num_double(digits, ret);
}

enum status collapse_parse(struct collapse *ret, const char *what, const char *text, struct error *err)
{
    const char *at = text;
    double bits = NAN, weight = NAN, samples = NAN;

    if (!take_number(&at, &bits) || !take_number(&at, &weight) || !take_number(&at, &samples) || *at || at[-1] == ',' ||
        !(bits > 0 && bits <= 64) || !(weight >= 0 && weight <= 1) || !(samples >= 1 && samples <= MAX_SAMPLES) ||
        fabs(samples - floor(samples)) > 0)
        return error_set(err, ERR_USAGE,
                         "%s '%.40s': write BITS,WEIGHT,SAMPLES such as 0.15,0.95,3: entropy in bits over 0, a weight "
                         "from 0 to 1, a whole number of samples from 1",
                         what, text);
    *ret = (struct collapse){bits, weight, (size_t)samples};
    return OK;
}

void attention_options_eps_text(const struct attention_options *o, struct buf *out)
{
    buf_puts(out, forms[o->eps_form]);
    if (o->eps_form == EPS_NONE)
        return;
    buf_putc(out, ':');
    num_append(out, o->entropy_eps);
}

void collapse_text(const struct collapse *c, struct buf *out)
{
    num_append(out, c->bits);
    buf_putc(out, ',');
    num_append(out, c->weight);
    buf_printf(out, ",%zu", c->samples);
}

void attention_options_text(const struct attention_options *o, struct buf *out)
{
    buf_puts(out, "entropy-eps ");
    attention_options_eps_text(o, out);
    buf_puts(out, ", collapse ");
    collapse_text(&o->collapse, out);
    buf_puts(out, o->implicit_sink ? ", implicit-sink" : "");
    buf_puts(out, o->check_mask ? ", check-mask" : "");
}

static enum status keep(struct run *run, const struct buf *text, char **ret, struct error *err)
{
    TRY(buf_check(text, err));
    return arena_strdup(&run->arena, buf_text(text), ret, err);
}

enum status attention_options_keep(const struct attention_options *o, struct run *run, struct error *err)
{
    struct provenance *p = &run->provenance;
    AUTO(buf) eps = {0};
    AUTO(buf) collapse = {0};

    attention_options_eps_text(o, &eps);
    collapse_text(&o->collapse, &collapse);
    TRY(keep(run, &eps, &p->entropy_eps, err));
    TRY(keep(run, &collapse, &p->collapse, err));
    p->implicit_sink = o->implicit_sink;
    p->mask_checked = o->check_mask;
    return OK;
}

enum status attention_options_of(struct attention_options *ret, const struct run *run, struct error *err)
{
    const struct provenance *p = &run->provenance;
    struct attention_options o = attention_options_default();

    if (p->entropy_eps[0])
        TRY(attention_options_eps(&o, "the run's entropy_eps", p->entropy_eps, err));
    if (p->collapse[0])
        TRY(collapse_parse(&o.collapse, "the run's collapse", p->collapse, err));
    o.implicit_sink = p->implicit_sink;
    o.check_mask = p->mask_checked;
    *ret = o;
    return OK;
}

bool attention_measured(const struct run *run)
{
    size_t i;

    for (i = 0; i < run->n_cubes; i++)
        if (strncmp(run->cubes[i].metric, "attn.", 5) == 0)
            return true;
    return false;
}

static void put(struct buf *out, const char *what, const char *base, const char *cand)
{
    if (strcmp(base, cand) != 0)
        buf_printf(out, "%s%s base %s, candidate %s", out->len ? "; " : "", what, base, cand);
}

/* Collects one text of each run. */
struct texts {
    struct buf base, cand;
};

static void texts_done(struct texts *t)
{
    buf_done(&t->base);
    buf_done(&t->cand);
}

enum status attention_options_differ(const struct run *base, const struct run *cand, struct buf *out, struct error *err)
{
    struct attention_options b, c;
    AUTO(texts) eps = {{0}, {0}};
    AUTO(texts) collapse = {{0}, {0}};

    TRY(attention_options_of(&b, base, err));
    TRY(attention_options_of(&c, cand, err));
    attention_options_eps_text(&b, &eps.base);
    attention_options_eps_text(&c, &eps.cand);
    collapse_text(&b.collapse, &collapse.base);
    collapse_text(&c.collapse, &collapse.cand);
    put(out, "entropy epsilon", buf_text(&eps.base), buf_text(&eps.cand));
    put(out, "implicit sink", b.implicit_sink ? "yes" : "no", c.implicit_sink ? "yes" : "no");
    put(out, "collapse numbers", buf_text(&collapse.base), buf_text(&collapse.cand));
    return buf_check(out, err);
}
