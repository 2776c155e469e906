/* The terminal's view in a file. */
#include "reports/formats.h"

static void write_text(const struct report_input *in, struct buf *out)
{
    report_terminal(in, false, out);
}

const struct report report_text = {".txt", "text", "the terminal's view", write_text};
