/* talk.h - one conversation being held: which turn it is at, what was said, the request that is on its way. */
#ifndef CORE_CLIENT_TALK_H
#define CORE_CLIENT_TALK_H

#include "core/base/error.h"
#include "core/client/clerk.h"
#include "core/client/load.h"
#include "core/client/plan.h"
#include "core/client/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct talk {
    struct talk *next; /* in whatever list it stands */
    struct plan_unit unit;
    const struct task *task; /* borrowed                                              */
    int64_t turn;            /* being asked, from 1                                   */
    char **replies;          /* owned: [n_replies] of the turns before, each owned    */
    size_t n_replies, cap_replies;
    struct transfer transfer;
    size_t n_failed_attempts; /* of this turn          */
    int64_t due_ns;           /* of the next attempt   */
    struct clerk_job job;
    const char *why_not_asked; /* of a turn that is not: a constant text */
    bool is_warmup;
};

/* At its first turn, with nothing said; what memory it has, it keeps. */
void talk_begin(struct talk *t, const struct task *task, const struct plan_unit *unit);
void talk_free(struct talk *t); /* and what it holds; NULL will do */

/* Keeps what was replied to the present turn. */
MUST_CHECK enum status talk_keep_reply(struct talk *t, const char *text, struct error *err);

/* The body of the request for the present turn, and where it goes. */
MUST_CHECK enum status talk_write(struct talk *t, const struct load_arm *arm, struct error *err);

/* What the transfer brought, for the clerk. Times are told from `zero_ns` on. */
void talk_report(struct talk *t, const struct load_arm *arm, int64_t zero_ns);

/* The same for a turn that is not asked, since `why`, one of these. */
#define TALK_NO_ANSWER "not asked: an earlier turn has no answer"
#define TALK_TOO_LONG  "not asked: an earlier turn was refused as too long"
void talk_report_not_asked(struct talk *t, const struct load_arm *arm, const char *why);

/* False for what talk_report_not_asked() reported. */
bool talk_was_asked(const struct exchange *x);

/* Whether the server read the question and will say nothing else to it again: an answer, or "too long". */
bool talk_is_settled(const struct reply *r);

#endif
