/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discovery of the fabric over the poller's wire. */
#include "console/session/poller_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void poller_discover_log_gaps(const struct sweep_report *r)
{
	uint32_t shown = r->ngaps < 5 ? r->ngaps : 5;

	for (uint32_t i = 0; i < shown; i++)
		log_add(LOG_WARN, "sweep", "%s", r->gaps[i].text);
	if (r->ngaps > shown)
		log_add(LOG_WARN, "sweep", "... and %u more such messages", r->ngaps - shown);
}

/* A node that went silent may be named again when it is left out. */
static char *poller_discover_silent(const struct sweep_report *r)
{
	char *text = NULL;
	const char *last = "";
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < r->ngaps; i++) {
		const char *place = r->gaps[i].place;

		if (place[0] && strcmp(place, last) != 0)
			fprintf(out, "%s\n", place);
		last = place;
	}
	fclose(out);
	return text;
}

/* What cannot be told from a part is told by the whole. */
static int poller_discover_sweep(struct fabric **out, struct poller *p, struct sweep_report *report,
				 bool *part, struct err *err)
{
	struct sweep_opts so = { .name = p->name, .names = p->opts.names, .lmc = -1 };
	int rc;

	if (*part) {
		rc = wire_sweep_part(out, report, p->wire, &so, p->heard_sw, p->nheard_sw,
				     &p->progress, err);
		if (rc != -EAGAIN)
			return rc;
		log_add(LOG_INFO, "sweep", "%s", err->text);
		sweep_report_clear(report);
		*part = false;
	}
	return wire_sweep(out, report, p->wire, &so, &p->progress, err);
}

int poller_discover(const struct fabric **out, struct poller *p, bool *part, bool *partial,
		    char **silent, struct err *err)
{
	struct sweep_report report = { 0 };
	struct mad_local local;
	struct fabric *f;
	int rc;

	wire_local(p->wire, &local);
	sweep_pace_begin(&p->pace, p->opts.simulated ? 0 : local.port_guid);
	p->discovering = &report;
	rc = poller_discover_sweep(&f, p, &report, part, err);
	p->discovering = NULL;
	if (rc) {
		sweep_report_clear(&report);
		return rc;
	}
	sweep_pace_end(&p->pace);
	poller_discover_log_gaps(&report);
	*partial = report.no_answer || report.clashes;
	*silent = poller_discover_silent(&report);
	sweep_report_clear(&report);
	poller_watch_found(p, f, *partial);
	*out = f;
	return 0;
}
