/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_priv: between the two files of a table. */
#pragma once

#include "views/table/table.h"

#define TABLE_GUTTER 3 /* cursor, sign of the row, tag */

struct rows table_rows(const struct table_ops *ops, const struct table_in *in);
