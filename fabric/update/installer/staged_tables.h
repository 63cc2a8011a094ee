/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * staged_tables: the tables as they should be after each of an update's writes, for installers that
 * hand over tables and not blocks.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/update/installer/installer.h"

struct staged_tables;

/* Begins with what t (of f) says. */
struct staged_tables *staged_tables_new(const struct fabric *f, const struct tables *t);
void staged_tables_free(struct staged_tables *s); /* NULL is fine */

/* Returns how many of the items were not there already. */
uint32_t staged_tables_write(struct staged_tables *s, const struct install_item *items, uint32_t n);
/* A number for what was written since the beginning: the same for the same tables, whatever path
 * led there, and 0 for those that it began with. */
uint64_t staged_tables_mark(const struct staged_tables *s);
/* Fills in their data. */
void staged_tables_read(const struct staged_tables *s, struct install_item *items, uint32_t n);

/* As they stand, with the service levels of sl (of the same fabric).  The caller owns one
 * reference. */
struct tables *staged_tables_tables(const struct staged_tables *s, const struct tables *sl);
/* Do they forward as t, whatever the service levels of paths? */
bool staged_tables_is(const struct staged_tables *s, const struct tables *t);
