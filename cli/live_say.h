/* live_say.h - what a live run says to people while it goes on and when it is over. */
#ifndef CLI_LIVE_SAY_H
#define CLI_LIVE_SAY_H

#include "core/client/load.h"

/* For load_options.on_progress: a status line on a terminal, elsewhere a line now and then. */
void live_say_progress(void *ctx, const struct load_state *s);

/* How requests went, and how the client itself did. */
void live_say_load(const struct load_options *o, const struct load_stats *s);

#endif
