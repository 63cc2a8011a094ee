/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows_out: rows of a table into a file: columns two blanks apart, CSV (RFC 4180), or JSON. */
#pragma once

#include "views/table/fields.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rows_out {
	struct rows rows;
	const uint32_t *row; /* n of them, in their order */
	uint32_t n;
	const struct field *const *field; /* columns */
	size_t nfield;
};

/* With a line of the fields' names. */
void rows_out_text(FILE *out, const struct rows_out *r);
/* Likewise; numbers as in JSON, nothing for what is unknown. */
void rows_out_csv(FILE *out, const struct rows_out *r);
/* A text as one of its cells. */
void rows_out_csv_text(FILE *out, const char *text);
/* An object for each row, null for what is unknown. */
json_t *rows_out_json(const struct rows_out *r);
json_t *rows_out_json_row(const struct rows_out *r, uint32_t row);
