/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is not as the baseline has it: as JSON, and for whoever gets the mail of --check. */
#include "console/batch/batch_record.h"

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"
#include "fabric/baseline/findings.h"
#include "views/canvas/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MAX 50

static json_t *batch_findings_text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static json_t *batch_findings_guid(uint64_t v)
{
	return v ? json_sprintf("0x%016" PRIx64, v) : json_null();
}

static json_t *batch_findings_row(const struct finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:i, s:o, s:o, s:o}", "kind",
			 finding_kind_name(f->kind), "what", f->what, "subject",
			 json_text(f->subject), "guid", batch_findings_guid(f->guid), "port",
			 (int)f->port, "guid_b", batch_findings_guid(f->guid_b), "before",
			 batch_findings_text_or_null(f->before), "after",
			 batch_findings_text_or_null(f->after));
}

json_t *batch_findings_json(const struct findings *l)
{
	json_t *rows = json_array();
	char since[FIGURE_LEN];

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(rows, batch_findings_row(&l->v[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "state",
			 !l->expected  ? "none"
			 : l->accepted ? "accepted"
				       : "learnt",
			 "file", batch_findings_text_or_null(l->path), "since",
			 l->since_s ? json_string(figure_utc(since, l->since_s)) : json_null(),
			 "ports_asked", l->errors ? json_integer(l->errors->asked) : json_null(),
			 "ports_answered", l->errors ? json_integer(l->errors->n) : json_null(),
			 "changes", rows);
}

void batch_findings_tell(FILE *out, const struct findings *l)
{
	uint32_t told = 0, all = findings_count(l);

	for (size_t i = 0; l && i < l->n && told < TOLD_MAX; i++) {
		char *text =
			finding_counts(&l->v[i]) ? plain_text(finding_text(&l->v[i]), "") : NULL;

		if (text)
			fprintf(out, "%s\n", text);
		told += text != NULL;
		free(text);
	}
	if (all > told)
		fprintf(out, "... and %u more\n", all - told);
}

/* Rows of ports have these, of switches. */
static bool batch_findings_in_rows(const struct port_errors *p, unsigned c)
{
	return !p->host && (c == ERROR_SYMBOL || c == ERROR_LINK_RECOVERED ||
			    c == ERROR_LINK_DOWNED || c == ERROR_RX || c == ERROR_TX_DISCARD);
}

static uint64_t batch_findings_over_port(FILE *out, const struct port_errors *p,
					 const uint64_t *limit, const struct fabric *f)
{
	char name[160];
	uint64_t n = 0;

	for (unsigned c = 0; c < ERROR_COUNT; c++) {
		if (p->v[c] <= limit[c] || batch_findings_in_rows(p, c))
			continue;
		n++;
		if (out)
			fprintf(out, "%s: %s is %" PRIu64 ", above %" PRIu64 "\n",
				port_errors_name(name, sizeof(name), p, f), error_counter_name(c),
				p->v[c], limit[c]);
	}
	return n;
}

uint64_t batch_findings_over(FILE *out, const struct findings *l, const struct batch_opts *o,
			     const struct fabric *f)
{
	uint64_t n = 0;

	if (!l || !l->errors || !o->threshold_text)
		return 0;
	for (uint32_t i = 0; i < l->errors->n; i++)
		n += batch_findings_over_port(n < TOLD_MAX ? out : NULL, &l->errors->port[i],
					      o->error_limits, f);
	return n;
}

void batch_findings_key(char *key, size_t size, const struct batch_opts *o)
{
	const char *const texts[] = { o->check ? "check" : "", o->filter_text, o->prom_file,
				      o->prom_listen };
	struct digest_stream *s;
	struct digest d;
	char hex[9];

	*key = '\0';
	if (!o->check && !o->prom_file && !o->prom_listen)
		return;
	s = digest_begin();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		digest_add(s, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
	digest_end(&d, s);
	snprintf(key, size, "%s-%s", o->check ? "check" : "prom", digest_short(hex, &d));
}
