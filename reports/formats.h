/* formats.h - one descriptor a format; the list stands in report.c. A new format is one file and one word there. */
#ifndef REPORTS_FORMATS_H
#define REPORTS_FORMATS_H

#include "reports/report.h"

extern const struct report report_html, report_markdown, report_json, report_csv, report_junit, report_prometheus,
    report_text, report_svg, report_png;

#endif
