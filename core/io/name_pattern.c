#include "core/io/name_pattern.h"

#include <string.h>

static const char *const words[N_NAME_HOLES] = {"{layer}", "{step}", "{sample}"};

/* The first hole in a text, or NULL. */
static const char *find_hole(const char *text, enum name_pattern_hole *ret)
{
    const char *first = NULL;
    int i;

    for (i = 0; i < N_NAME_HOLES; i++) {
        const char *at = strstr(text, words[i]);

        if (!at || (first && first < at))
            continue;
        first = at;
        *ret = (enum name_pattern_hole)i;
    }
    return first;
}

bool name_pattern_has(const struct name_pattern *p, enum name_pattern_hole hole)
{
    size_t i;

    for (i = 0; i < p->n_holes; i++)
        if (p->hole[i] == hole)
            return true;
    return false;
}

bool name_pattern_parse(const char *text, struct name_pattern *ret)
{
    struct name_pattern p = {0};
    enum name_pattern_hole hole = HOLE_LAYER;
    const char *at;

    while (*text == '/')
        text++;
    p.text = text;
    while ((at = find_hole(text, &hole)) != NULL) {
        if (name_pattern_has(&p, hole) || (p.n_holes > 0 && at == text))
            return false;
        p.literal[p.n_holes] = text;
        p.len[p.n_holes] = (size_t)(at - text);
        p.hole[p.n_holes++] = hole;
        text = at + strlen(words[hole]);
    }
    p.literal[p.n_holes] = text;
    p.len[p.n_holes] = strlen(text);
    *ret = p;
    return p.text[0] != '\0';
}

/* How much of `name` the hole takes before the literal that follows it; 0 where it takes nothing. */
static size_t fill(const struct name_pattern *p, size_t i, const char *name)
{
    size_t n_digits = strspn(name, "0123456789"), most = strcspn(name, "/"), len = p->len[i + 1], n;
    bool is_last = i + 1 == p->n_holes;

    if (p->hole[i] != HOLE_SAMPLE)
        return n_digits;
    if (is_last) { /* the literal is the end of the name */
        n = strlen(name);
        return n > len && n - len <= most ? n - len : 0;
    }
    for (n = 1; n <= most; n++)
        if (strncmp(name + n, p->literal[i + 1], len) == 0)
            return n;
    return 0;
}

bool name_pattern_match(const struct name_pattern *p, const char *name, struct name_pattern_value ret[N_NAME_HOLES])
{
    size_t i;

    memset(ret, 0, N_NAME_HOLES * sizeof *ret);
    for (i = 0; i <= p->n_holes; i++) {
        size_t n;

        if (strncmp(name, p->literal[i], p->len[i]) != 0)
            return false;
        name += p->len[i];
        if (i == p->n_holes)
            break;
        n = fill(p, i, name);
        if (n == 0)
            return false;
        ret[p->hole[i]] = (struct name_pattern_value){name, n};
        name += n;
    }
    return *name == '\0';
}
