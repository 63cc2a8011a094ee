/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_doc: headings, tables and pictures as Markdown or HTML; what is text is escaped. */
#pragma once

#include "console/cli/audit/audit_cmd.h"
#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdio.h>

struct report_doc {
	FILE *f;
	enum audit_format format;
	const char *path; /* of the file; NULL: stdout, and pictures have no place in Markdown */
	unsigned pictures;
	struct err err; /* of the first picture that could not be written */
	int rc;
	uint32_t ncol; /* of the table that is open */
};

void doc_begin(struct report_doc *d, const char *title);
void doc_end(struct report_doc *d);
void doc_heading(struct report_doc *d, const char *text);
void doc_text(struct report_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A table: the head's cells, then rows; each cell is text. */
void doc_table(struct report_doc *d, uint32_t ncol, const char *const *head);
void doc_row(struct report_doc *d, const char *const *cell);
void doc_table_end(struct report_doc *d);
/* A matrix of the record type plan.figures: "before" or "after", with colours up to top. */
void doc_heat(struct report_doc *d, const json_t *heat, const char *which, double top);
