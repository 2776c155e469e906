#include "core/metrics/metric.h"
#include "core/metrics/repetition.h"

#include <math.h>

static double reply_compression(const struct reply_view *view)
{
    return reply_has_answer(view->reply) ? repetition_compression(buf_text(&view->reply->text), view->reply->text.len)
                                         : NAN;
}

const struct metric metric_reply_compression = {
    .name = "reply.compression",
    .unit = "1",
    .better = BETTER_LOWER,
    .noise = NOISE_TASK,
    .version = 1,
    .axes = AXIS_BIT(AXIS_TASK) | AXIS_BIT(AXIS_TURN) | AXIS_BIT(AXIS_REPEAT),
    .help = "bytes of a reply over its bytes when compressed: high for loops",
    .definition = "UTF-8 bytes / bytes after deflate (zlib, level 9, raw). Prose of some hundred bytes gives 1.3 to "
                  "2; above 2.4 Whisper takes a transcript for a loop. Missing under 64 bytes, and for a failed "
                  "request.",
    .example = "\"The lamp is on the table. \" forty times: 1,040 bytes become 36: 28.9.",
    .reads_words = true,
    .of_reply = reply_compression,
};
