#include "core/io/dump_samples.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(dump_samples, an_id_names_task_turn_and_repeat)
{
    static const struct {
        const char *id;
        size_t task_len;
        int64_t turn, repeat;
    } good[] = {{"a", 1, 1, 1},
                {"a#2", 1, 2, 1},
                {"refund-en#12#3", 9, 12, 3},
                {"\xe4\xbd\xa0#1", 3, 1, 1},
                {"a b#9223372036854775807", 3, INT64_MAX, 1}};
    size_t i;

    for (i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t turn = 0, repeat = 0;
        size_t len = 0;

        cr_assert(dump_samples_parse_id(good[i].id, &len, &turn, &repeat), "%s", good[i].id);
        cr_assert(len == good[i].task_len && turn == good[i].turn && repeat == good[i].repeat, "%s", good[i].id);
    }
}

Test(dump_samples, other_ids_are_refused)
{
    static const char *const bad[] = {
        "",        "#1",  "a#",    "a##1", "a#0",  "a#-1", "a#1#", "a#1#0",
        "a#1#2#3", "a#x", "a#1.5", "a# 1", "a#01", "a\n",  "a#+1", "a#9223372036854775808"};
    int64_t turn, repeat;
    size_t len, i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(dump_samples_parse_id(bad[i], &len, &turn, &repeat)), "'%s' was taken", bad[i]);
}
