/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prom_priv: the parts of the Prometheus text share this: prom.c uses prom_state.c and
 * prom_updates.c, and all of them prom_text.c. */
#pragma once

#include "console/batch/batch_record.h"

void prom_head(FILE *out, const char *name, const char *help, const char *type);
/* The name and the first label of a sample. */
void prom_name(FILE *out, const struct batch_record *r, const char *name);
/* A further one, escaped; before: '{' or ','. */
void prom_label(FILE *out, char before, const char *name, const char *text);
void prom_number(FILE *out, double v); /* the value, and the end of the line */
/* A gauge without further labels; nothing where v is not known. */
void prom_one(FILE *out, const struct batch_record *r, const char *name, const char *help,
	      double v);
/* A counter likewise. */
void prom_count(FILE *out, const struct batch_record *r, const char *name, const char *help,
		uint64_t v);

/* prom_state.c.  Families of the whole fabric, and of single ports. */
void prom_state_print(FILE *out, const struct batch_record *r);
void prom_state_collector(FILE *out, const struct batch_record *r);
void prom_state_print_ports(FILE *out, const struct batch_record *r);

/* prom_updates.c.  Nothing where they are not known. */
void prom_updates_print(FILE *out, const struct batch_record *r);
