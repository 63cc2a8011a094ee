/* SPDX-License-Identifier: GPL-2.0-or-later */
/* noted: notes on rows of tables. */
#pragma once

#include "views/data/row_notes.h"
#include "views/table/fields.h"

/* NULL: none.  An event has that of its moment. */
const struct row_note *noted_row(const struct rows *r, uint32_t row);
/* What a note on it is of; false: rows of this kind have none. */
bool noted_subject(struct note_subject *out, const struct rows *r, uint32_t row);
