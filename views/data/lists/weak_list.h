/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weak_list: what the failure of each cable and switch would cost, as the weak view shows it. */
#pragma once

#include "engines/weak/weak.h"
#include "fabric/model/tables/tables.h"

struct weak_list {
	const struct fabric *fabric; /* of which it is; owned, like the next two */
	const struct tables *tables;
	struct weak_report *report;
	uint64_t serial; /* another one each time */
};

struct state;

/* That of the fabric that is shown; NULL: none was made. */
const struct weak_list *state_weak(const struct state *s);

/* "leaf17/33 - spine04/17", or the switch; returns buf. */
const char *weak_part_label(char *buf, size_t len, const struct fabric *f,
			    const struct weak_part *p);
/* "repaired", "rerouted", "cut off" */
const char *weak_end_name(enum weak_end end);
/* How much longer all takes then, in per cent; NAN: it is not repaired. */
double weak_part_rise(const struct weak_report *w, const struct weak_part *p);

void weak_list_free(struct weak_list *l); /* NULL is fine */
