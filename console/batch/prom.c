/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/batch/prom.h"

#include "fabric/base/mem.h"
#include "fabric/base/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct family {
	const char *name, *type, *help;
	const char *field; /* of views/table/fields.h */
	double scale;
};

/* Base units only (bytes, seconds, ratios), as Prometheus wants them. */
static const struct family port_families[] = {
	{ "ibroute_port_transmit_bytes_total", "counter", "Bytes sent (PortXmitData).", "tx_bytes",
	  1 },
	{ "ibroute_port_receive_bytes_total", "counter", "Bytes received (PortRcvData).",
	  "rx_bytes", 1 },
	{ "ibroute_port_transmit_packets_total", "counter", "Packets sent.", "tx_packets", 1 },
	{ "ibroute_port_receive_packets_total", "counter", "Packets received.", "rx_packets", 1 },
	{ "ibroute_port_transmit_wait_ticks_total", "counter",
	  "Ticks with data to send but no credits (PortXmitWait).", "tx_wait_ticks", 1 },
	{ "ibroute_port_symbol_errors_total", "counter", "SymbolErrorCounter.", "symbol_errors",
	  1 },
	{ "ibroute_port_link_recoveries_total", "counter", "LinkErrorRecoveryCounter.",
	  "link_recovered", 1 },
	{ "ibroute_port_link_downed_total", "counter", "LinkDownedCounter.", "link_downed", 1 },
	{ "ibroute_port_receive_errors_total", "counter", "PortRcvErrors.", "rx_errors", 1 },
	{ "ibroute_port_transmit_discards_total", "counter", "PortXmitDiscards.", "tx_discards",
	  1 },
	{ "ibroute_port_transmit_bytes_per_second", "gauge",
	  "Bytes sent per second, between the "
	  "two newest samples.",
	  "tx_Bps", 1 },
	{ "ibroute_port_receive_bytes_per_second", "gauge",
	  "Bytes received per second, between "
	  "the two newest samples.",
	  "rx_Bps", 1 },
	{ "ibroute_port_utilization_ratio", "gauge",
	  "Share of the data rate that is used for "
	  "sending.",
	  "util_pct", 0.01 },
	{ "ibroute_port_wait_ratio", "gauge",
	  "Share of time with data to send but no credits "
	  "(XmitWait).",
	  "wait_pct", 0.01 },
	{ "ibroute_port_rate_bytes_per_second", "gauge", "Data rate of one direction.", "rate_Mbps",
	  125000 },
	{ "ibroute_port_efi_routes", "gauge",
	  "Paths over the channel, one for each ordered pair "
	  "of hosts (EFI).",
	  "efi", 1 },
	{ "ibroute_port_effective_efi_routes", "gauge",
	  "Paths over the channel between hosts that share a job (job EFI).", "eff_efi", 1 },
	{ "ibroute_port_replied", "gauge", "1 if the port responded to the newest poll.", "replied",
	  1 },
};

static const struct family job_families[] = {
	{ "ibroute_job_nodes", "gauge", "Nodes of the job.", "nodes", 1 },
	{ "ibroute_job_transmit_bytes_per_second", "gauge",
	  "Bytes per second that the hosts of "
	  "the job send.",
	  "tx_Bps", 1 },
	{ "ibroute_job_links", "gauge", "Channels that the paths of the job use.", "links", 1 },
	{ "ibroute_job_efi_routes", "gauge", "Maximum number of paths of the job on one channel.",
	  "efi", 1 },
};

static const struct family tier_families[] = {
	{ "ibroute_tier_links", "gauge", "Channels (directions of links) of the tier.", "links",
	  1 },
	{ "ibroute_tier_utilization_average_ratio", "gauge", "Mean utilisation.", "util_avg_pct",
	  0.01 },
	{ "ibroute_tier_utilization_max_ratio", "gauge", "Highest utilisation.", "util_max_pct",
	  0.01 },
	{ "ibroute_tier_wait_max_ratio", "gauge",
	  "Highest share of time with data to send but no "
	  "credits (XmitWait).",
	  "wait_max_pct", 0.01 },
};

/* Backslash, quote and newline are escaped; other control characters have no place in a name. */
static void prom_label_value(FILE *out, const char *text)
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

static void prom_label(FILE *out, char before, const char *name, const char *text)
{
	fprintf(out, "%c%s=\"", before, name);
	prom_label_value(out, text);
	fputc('"', out);
}

static void prom_head(FILE *out, const struct family *f)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
}

struct label_of {
	const char *name, *field;
};

static const struct label_of port_labels[] = {
	{ "switch", "a" },	   { "port", "a_port" },    { "guid", "a_guid" }, { "peer", "b" },
	{ "peer_port", "b_port" }, { "peer_kind", "kind" }, { NULL, NULL },
};
static const struct label_of job_labels[] = {
	{ "job", "id" }, { "user", "user" }, { "name", "name" }, { NULL, NULL }
};
static const struct label_of tier_labels[] = { { "tier", "tier" }, { NULL, NULL } };

static void prom_labels(FILE *out, const struct batch_record *r, const struct rows *rows,
			uint32_t row, const struct label_of *l)
{
	prom_label(out, '{', "fabric", r->s->fabric->name);
	for (; l->name; l++) {
		const struct field *f = field_find(rows->kind, l->field, strlen(l->field));
		char buf[VALUE_LEN];
		struct value v;

		field_get(&v, f, rows, row);
		prom_label(out, ',', l->name, value_text(buf, &v, f));
	}
	fputc('}', out);
}

static void prom_number(FILE *out, double v)
{
	if (fabs(v) < 1e15 && v >= floor(v) && v <= floor(v))
		fprintf(out, " %.0f\n", v);
	else
		fprintf(out, " %.15g\n", v);
}

/* All samples of a family stand together, as the format wants it. */
static void prom_print_family(FILE *out, const struct batch_record *r, enum row_kind kind,
			      const struct family *fam, const struct label_of *l,
			      const uint32_t *row, uint32_t n)
{
	const struct rows rows = { kind, r->s, r->v };
	const struct field *f = field_find(kind, fam->field, strlen(fam->field));
	bool headed = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = row ? row[i] : i;
		struct value v;

		if (!rows_wanted(&rows, at))
			continue;
		field_get(&v, f, &rows, at);
		if (!value_known(&v, f))
			continue;
		if (!headed)
			prom_head(out, fam);
		headed = true;
		fputs(fam->name, out);
		prom_labels(out, r, &rows, at, l);
		prom_number(out, v.num * fam->scale);
	}
}

static void prom_one(FILE *out, const struct batch_record *r, const char *name, const char *help,
		     double v)
{
	if (!isfinite(v))
		return;
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s", name, help, name, name);
	prom_label(out, '{', "fabric", r->s->fabric->name);
	fputc('}', out);
	prom_number(out, v);
}

static void prom_print_ports_by_problem(FILE *out, const struct batch_record *r)
{
	static const char *const words[] = { "down", "reduced", "errors", "no_reply" };
	const uint32_t n[] = { r->v->down, r->v->reduced, r->v->errors, r->v->no_reply };

	fputs("# HELP ibroute_problem_ports Ports with a problem, by kind.\n"
	      "# TYPE ibroute_problem_ports gauge\n",
	      out);
	for (int i = 0; i < 4; i++) {
		fputs("ibroute_problem_ports", out);
		prom_label(out, '{', "fabric", r->s->fabric->name);
		prom_label(out, ',', "kind", words[i]);
		fprintf(out, "} %u\n", n[i]);
	}
}

static void prom_print_fabric(FILE *out, const struct batch_record *r)
{
	const struct state *s = r->s;
	const struct metrics *m = state_metrics(s);
	const struct verdict *v = s->verdict;

	prom_one(out, r, "ibroute_up", "1 if the fabric can be reached.", 1);
	prom_one(out, r, "ibroute_complete", "1 if nothing was missing in the newest poll.",
		 r->complete);
	prom_one(out, r, "ibroute_sample_timestamp_seconds",
		 "Unix time of the newest poll, in "
		 "seconds.",
		 (double)s->now_s - (isfinite(s->poll.age_s) ? floor(s->poll.age_s) : 0));
	prom_one(out, r, "ibroute_poll_duration_seconds",
		 "Duration of the newest poll, in "
		 "seconds.",
		 s->poll.took_s);
	prom_one(out, r, "ibroute_switches", "Switches found.", s->fabric->nsw);
	prom_one(out, r, "ibroute_hosts", "Host ports found.", s->fabric->nterm);
	prom_one(out, r, "ibroute_missing_nodes",
		 "Switches and hosts that were known and are "
		 "missing.",
		 s->poll.missing_sw + s->poll.missing_ca);
	prom_print_ports_by_problem(out, r);
	prom_one(out, r, "ibroute_jobs", "Running jobs.", s->jobs ? s->jobs->njob : NAN);
	prom_one(out, r, "ibroute_job_source_up", "1 if the batch system responds.",
		 s->jobs_source.state == JOBS_OFF ? NAN : s->jobs_source.state == JOBS_OK);
	prom_one(out, r, "ibroute_routes_connected", "1 if every host reaches every LID.",
		 v ? v->connected && v->loop_free : NAN);
	prom_one(out, r, "ibroute_routes_deadlock_free",
		 "1 if no deadlock is possible (no credit loops).",
		 v && (s->sls_known || v->deadlock_free) ? v->deadlock_free : NAN);
	prom_one(out, r, "ibroute_efi_max_routes", "Maximum EFI: paths over one channel.",
		 m ? (double)m->efi_max : NAN);
	prom_one(out, r, "ibroute_effective_efi_max_routes",
		 "Maximum job EFI: paths over one channel between hosts that share a job.",
		 m && m->njob ? (double)m->eff_efi_max : NAN);
	prom_one(out, r, "ibroute_effective_efi_bound_routes",
		 "Lower bound of the maximum job EFI, for these jobs and cables.",
		 m && m->njob ? (double)m->eff_efi_bound : NAN);
	prom_one(out, r, "ibroute_dark_fiber_ratio",
		 "Share of channels that no path of a job "
		 "uses.",
		 m && m->njob ? m->dark_fiber_pct / 100 : NAN);
}

#define EACH(families, kind, prom_labels, row, n)                                                  \
	for (size_t i_ = 0; i_ < sizeof(families) / sizeof(*(families)); i_++)                     \
	prom_print_family(out, r, kind, &(families)[i_], prom_labels, row, n)

void prom_print(FILE *out, const struct batch_record *r)
{
	const struct rows ports = { ROWS_PORTS, r->s, r->v }, jobs = { ROWS_JOBS, r->s, r->v };
	bool some = r->o->filter && r->o->kind == BATCH_OVERVIEW;

	prom_print_fabric(out, r);
	EACH(tier_families, ROWS_TIERS, tier_labels, NULL, r->v->ntier);
	EACH(job_families, ROWS_JOBS, job_labels, NULL, rows_count(&jobs));
	EACH(port_families, ROWS_PORTS, port_labels, some ? r->rows->row : NULL,
	     some ? r->rows->n : rows_count(&ports));
}

char *prom_down(void)
{
	return xstrdup("# HELP ibroute_up 1 if the fabric can be reached.\n# TYPE ibroute_up "
		       "gauge\nibroute_up 0\n");
}
