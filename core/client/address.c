#include "core/client/address.h"

#include "core/base/scope.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

/* libcurl's parsed address, owned for a scope. */
struct parsed {
    CURLU *u;
};

struct part {
    char *text;
};

static void parsed_done(struct parsed *a)
{
    curl_url_cleanup(a->u);
}

static void part_done(struct part *p)
{
    curl_free(p->text);
    p->text = NULL;
}

void address_done(struct address *e)
{
    arena_done(&e->arena);
    memset(e, 0, sizeof *e);
}

static bool has_part(const struct parsed *a, CURLUPart which)
{
    AUTO(part) p = {0};

    return curl_url_get(a->u, which, &p.text, 0) == CURLUE_OK && p.text && p.text[0];
}

/* Takes `end` off the path, where it stands there. */
static void cut(char *path, const char *end)
{
    size_t len = strlen(path), n = strlen(end);

    if (len >= n && strcmp(path + len - n, end) == 0)
        path[len - n] = '\0';
}

/* The path without what names a single route: "/v1". */
static enum status base_path(const struct parsed *a, struct arena *arena, char **ret, struct error *err)
{
    AUTO(part) p = {0};

    if (curl_url_get(a->u, CURLUPART_PATH, &p.text, 0) != CURLUE_OK)
        return error_set(err, ERR_MEMORY, "no memory for an address");
    cut(p.text, "/");
    cut(p.text, "/completions");
    cut(p.text, "/chat");
    cut(p.text, "/");
    return arena_strdup(arena, p.text[0] ? p.text : "/v1", ret, err);
}

/* The address with another path; the query, which some gateways need, stays where `keeps_query`. */
static enum status with_path(const struct parsed *a, const char *path, bool keeps_query, struct arena *arena,
                             char **ret, struct error *err)
{
    AUTO(parsed) other = {curl_url_dup(a->u)};
    AUTO(part) text = {0};

    if (!other.u || curl_url_set(other.u, CURLUPART_PATH, path, 0) != CURLUE_OK ||
        curl_url_set(other.u, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
        (!keeps_query && curl_url_set(other.u, CURLUPART_QUERY, NULL, 0) != CURLUE_OK) ||
        curl_url_get(other.u, CURLUPART_URL, &text.text, 0) != CURLUE_OK)
        return error_set(err, ERR_MEMORY, "no memory for an address");
    return arena_strdup(arena, text.text, ret, err);
}

static enum status parse(struct address *e, const struct parsed *a, const char *text, enum request_api api,
                         struct error *err)
{
    AUTO(part) host = {0};
    char *base = NULL, *models = NULL;
    CURLUcode code = a->u ? curl_url_set(a->u, CURLUPART_URL, text, 0) : CURLUE_OUT_OF_MEMORY;

    if (code == CURLUE_OK && (has_part(a, CURLUPART_USER) || has_part(a, CURLUPART_PASSWORD)))
        return error_set(err, ERR_USAGE,
                         "the endpoint's address holds a name or a password: keys come from the environment "
                         "(TARE_API_KEY), where they are not written down");
    if (code != CURLUE_OK || (strncasecmp(text, "http://", 7) != 0 && strncasecmp(text, "https://", 8) != 0) ||
        curl_url_get(a->u, CURLUPART_HOST, &host.text, 0) != CURLUE_OK)
        return error_set(err, ERR_USAGE,
                         "'%.200s' is no address of an endpoint: write it as http://127.0.0.1:8000/v1%s%s", text,
                         code == CURLUE_OK ? "" : ": ", code == CURLUE_OK ? "" : curl_url_strerror(code));
    TRY(arena_strdup(&e->arena, host.text, &e->host, err));
    TRY(base_path(a, &e->arena, &base, err));
    TRY(arena_printf(&e->arena, &e->path, err, "%s/%s", base,
                     api == REQUEST_CHAT ? "chat/completions" : "completions"));
    TRY(arena_printf(&e->arena, &models, err, "%s/models", base));
    TRY(with_path(a, e->path, true, &e->arena, &e->url, err));
    TRY(with_path(a, models, true, &e->arena, &e->models, err));
    cut(base, "/v1");
    TRY(with_path(a, base[0] ? base : "/", false, &e->arena, &e->root, err));
    cut(e->root, "/");
    return OK;
}

enum status address_parse(struct address *ret, const char *address, enum request_api api, struct error *err)
{
    AUTO(parsed) a = {curl_url()};
    AUTO(address) e = {0};

    TRY(parse(&e, &a, address, api, err));
    *ret = e;
    memset(&e, 0, sizeof e);
    return OK;
}
