/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the Prometheus text. */
#include "console/prom/prom_priv.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <math.h>
#include <stdlib.h>

/* Backslash, quote and newline are escaped; other control characters are replaced. */
static void prom_text_value(FILE *out, const char *text)
{
	char *clean = plain_text(xstrdup(text), "\n");

	for (const char *c = clean; *c; c++) {
		if (*c == '\\' || *c == '"')
			fputc('\\', out);
		if (*c == '\n')
			fputs("\\n", out);
		else
			fputc(*c, out);
	}
	free(clean);
}

void prom_label(FILE *out, char before, const char *name, const char *text)
{
	fprintf(out, "%c%s=\"", before, name);
	prom_text_value(out, text);
	fputc('"', out);
}

void prom_name(FILE *out, const struct batch_record *r, const char *name)
{
	fputs(name, out);
	prom_label(out, '{', "fabric", r->s->fabric->name);
}

void prom_head(FILE *out, const char *name, const char *help, const char *type)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prom_number(FILE *out, double v)
{
	if (fabs(v) < 1e15 && v >= floor(v) && v <= floor(v))
		fprintf(out, " %.0f\n", v);
	else
		fprintf(out, " %.15g\n", v);
}

void prom_one(FILE *out, const struct batch_record *r, const char *name, const char *help, double v)
{
	if (!isfinite(v))
		return;
	prom_head(out, name, help, "gauge");
	prom_name(out, r, name);
	fputc('}', out);
	prom_number(out, v);
}

void prom_count(FILE *out, const struct batch_record *r, const char *name, const char *help,
		uint64_t v)
{
	prom_head(out, name, help, "counter");
	prom_name(out, r, name);
	fprintf(out, "} %lu\n", (unsigned long)v);
}
