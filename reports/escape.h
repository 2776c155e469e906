/* escape.h - foreign text made safe for a format: no markup, no control characters, valid UTF-8. */
#ifndef REPORTS_ESCAPE_H
#define REPORTS_ESCAPE_H

#include "core/base/buf.h"

/* HTML and XML 1.0: & < > " ' as entities; characters that XML 1.0 forbids and invalid UTF-8 become U+FFFD. */
void escape_xml(struct buf *out, const char *text);

/* GitHub Markdown inside a table cell: pipes, backslashes, backticks, brackets, angle brackets, newlines. */
void escape_markdown(struct buf *out, const char *text);

/* The inside of a JSON string, ASCII controls and invalid UTF-8 escaped. */
void escape_json(struct buf *out, const char *text);

/* A Prometheus label value: backslash, quote, newline. */
void escape_prometheus(struct buf *out, const char *text);

/* A terminal: control characters (ESC among them) shown as U+FFFD. */
void escape_terminal(struct buf *out, const char *text);

/* One CSV field: quoted when it holds a comma, quote, CR or LF. */
void escape_csv(struct buf *out, const char *text);

#endif
