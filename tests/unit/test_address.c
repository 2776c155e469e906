#include "core/base/scope.h"
#include "core/client/address.h"
#include "tests/support/must.h"

#include <string.h>

Test(address, takes_an_address_as_people_write_it)
{
    static const struct {
        const char *address;
        enum request_api api;
        const char *url, *models, *path, *root;
    } cases[] = {
        {"http://h:8000", REQUEST_CHAT, "http://h:8000/v1/chat/completions", "http://h:8000/v1/models",
         "/v1/chat/completions", "http://h:8000"},
        {"http://h:8000/", REQUEST_COMPLETIONS, "http://h:8000/v1/completions", "http://h:8000/v1/models",
         "/v1/completions", "http://h:8000"},
        {"https://h/v1/", REQUEST_CHAT, "https://h/v1/chat/completions", "https://h/v1/models", "/v1/chat/completions",
         "https://h"},
        {"http://h/v1/chat/completions", REQUEST_COMPLETIONS, "http://h/v1/completions", "http://h/v1/models",
         "/v1/completions", "http://h"},
        {"http://h/v1/completions", REQUEST_CHAT, "http://h/v1/chat/completions", "http://h/v1/models",
         "/v1/chat/completions", "http://h"},
        {"http://[::1]:9/openai/v1?api-version=2", REQUEST_CHAT,
         "http://[::1]:9/openai/v1/chat/completions?api-version=2", "http://[::1]:9/openai/v1/models?api-version=2",
         "/openai/v1/chat/completions", "http://[::1]:9/openai"},
        {"http://h/serving/m/", REQUEST_CHAT, "http://h/serving/m/chat/completions", "http://h/serving/m/models",
         "/serving/m/chat/completions", "http://h/serving/m"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        AUTO(address) e = {0};

        MUST(address_parse(&e, cases[i].address, cases[i].api, &err));
        cr_assert(eq(str, e.url, (char *)cases[i].url));
        cr_assert(eq(str, e.models, (char *)cases[i].models));
        cr_assert(eq(str, e.path, (char *)cases[i].path));
        cr_assert(eq(str, e.root, (char *)cases[i].root));
    }
}

Test(address, refuses_what_is_none_and_what_holds_a_password_without_repeating_it)
{
    static const char *const bad[] = {"", "h:8000", "ftp://h/v1", "http://", "http://u:secret@h/v1", "http://key@h/v1"};
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        AUTO(address) e = {0};

        cr_assert(address_parse(&e, bad[i], REQUEST_CHAT, &err) == ERR_USAGE, "%s", bad[i]);
        cr_assert(strstr(err.message, "secret") == NULL && strstr(err.message, "key@") == NULL);
    }
}
