#include "core/base/similar.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char *const words[] = {"taskset", "dump", "replay", "reproducible"};

Test(similar, finds_slips_of_the_finger)
{
    static const char *const rows[][2] = {{"tasket", "taskset"},
                                          {"dmup", "dump"},
                                          {"repaly", "replay"},
                                          {"reproducable", "reproducible"},
                                          {"dump", "dump"}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found = similar_find(rows[i][0], words, 4);

        cr_assert(found && strcmp(found, rows[i][1]) == 0, "'%s' gave '%s'", rows[i][0], found ? found : "nothing");
    }
}

Test(similar, leaves_strangers_alone)
{
    char longer[200];

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cr_assert(similar_find("quantise", words, 4) == NULL);
    cr_assert(similar_find(longer, words, 4) == NULL);
    cr_assert(similar_find("abc", words, 0) == NULL);
}
