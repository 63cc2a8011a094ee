/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/prom/prom_priv.h"

#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const prom_up[] = { "ibroute_up", "1 if the fabric can be reached." };

struct family {
	const char *name; /* after ibroute_KIND_; counters end with _total */
	const char *help;
	const char *field; /* of views/table/fields.h */
	double scale;
};

/* Base units only (bytes, seconds, ratios), as Prometheus requires. */
static const struct family port_families[] = {
	{ "transmit_bytes_total", "Bytes sent (PortXmitData).", "tx_bytes", 1 },
	{ "receive_bytes_total", "Bytes received (PortRcvData).", "rx_bytes", 1 },
	{ "transmit_packets_total", "Packets sent.", "tx_packets", 1 },
	{ "receive_packets_total", "Packets received.", "rx_packets", 1 },
	{ "transmit_wait_ticks_total", "Ticks with data to send but no credits (PortXmitWait).",
	  "tx_wait_ticks", 1 },
	{ "symbol_errors_total", "SymbolErrorCounter.", "symbol_errors", 1 },
	{ "link_recoveries_total", "LinkErrorRecoveryCounter.", "link_recovered", 1 },
	{ "link_downed_total", "LinkDownedCounter.", "link_downed", 1 },
	{ "receive_errors_total", "PortRcvErrors.", "rx_errors", 1 },
	{ "transmit_discards_total", "PortXmitDiscards.", "tx_discards", 1 },
	{ "transmit_bytes_per_second", "Bytes sent per second, between the two newest samples.",
	  "tx_Bps", 1 },
	{ "receive_bytes_per_second", "Bytes received per second, between the two newest samples.",
	  "rx_Bps", 1 },
	{ "utilization_ratio", "Share of the data rate that is used for sending.", "util_pct",
	  0.01 },
	{ "wait_ratio", "Share of time with data to send but no credits (XmitWait).", "wait_pct",
	  0.01 },
	{ "rate_bytes_per_second", "Data rate of one direction.", "rate_Mbps", 125000 },
	{ "efi_routes", "Paths over the channel, one for each ordered pair of hosts (EFI).", "efi",
	  1 },
	{ "effective_efi_routes",
	  "Paths over the channel between hosts that share a job (job EFI).", "eff_efi", 1 },
	{ "replied", "1 if the port responded to the newest poll.", "replied", 1 },
	{ 0 },
};

static const struct family job_families[] = {
	{ "nodes", "Nodes of the job.", "nodes", 1 },
	{ "transmit_bytes_per_second", "Bytes per second that the hosts of the job send.", "tx_Bps",
	  1 },
	{ "links", "Channels that the paths of the job use.", "links", 1 },
	{ "efi_routes", "Maximum number of paths of the job on one channel.", "efi", 1 },
	{ 0 },
};

static const struct family tier_families[] = {
	{ "links", "Channels (directions of links) of the tier.", "links", 1 },
	{ "utilization_average_ratio", "Mean utilisation.", "util_avg_pct", 0.01 },
	{ "utilization_max_ratio", "Highest utilisation.", "util_max_pct", 0.01 },
	{ "wait_max_ratio", "Highest share of time with data to send but no credits (XmitWait).",
	  "wait_max_pct", 0.01 },
	{ 0 },
};

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
static const struct label_of job_ids[] = { { "job", "id" }, { NULL, NULL } };
static const struct label_of tier_labels[] = { { "tier", "tier" }, { NULL, NULL } };

struct prom_kind {
	enum row_kind kind;
	const char *name;
	const struct label_of *labels;
	const struct family *families; /* up to one without a name */
};

static const struct prom_kind prom_tiers = { ROWS_TIERS, "tier", tier_labels, tier_families };
static const struct prom_kind prom_jobs = { ROWS_JOBS, "job", job_labels, job_families };
static const struct prom_kind prom_ids = { ROWS_JOBS, "job", job_ids, job_families };
static const struct prom_kind prom_ports = { ROWS_PORTS, "port", port_labels, port_families };

static void prom_labels(FILE *out, const struct rows *rows, uint32_t row, const struct label_of *l)
{
	for (; l->name; l++) {
		const struct field *f = field_find(rows->kind, l->field, strlen(l->field));
		char buf[VALUE_LEN];
		struct value v;

		field_get(&v, f, rows, row);
		prom_label(out, ',', l->name, value_text(buf, &v, f));
	}
	fputc('}', out);
}

/* The format requires all samples of a family in one group. */
static void prom_print_family(FILE *out, const struct batch_record *r, const struct prom_kind *k,
			      const struct family *fam, const uint32_t *row, uint32_t n)
{
	const struct rows rows = { k->kind, r->s, r->v };
	const struct field *f = field_find(k->kind, fam->field, strlen(fam->field));
	bool counter = strstr(fam->name, "_total"), headed = false;
	char name[80];

	snprintf(name, sizeof(name), "ibroute_%s_%s", k->name, fam->name);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = row ? row[i] : i;
		struct value v;

		if (!rows_wanted(&rows, at))
			continue;
		field_get(&v, f, &rows, at);
		if (!value_known(&v, f))
			continue;
		if (!headed)
			prom_head(out, name, fam->help, counter ? "counter" : "gauge");
		headed = true;
		prom_name(out, r, name);
		prom_labels(out, &rows, at, k->labels);
		prom_number(out, v.num * fam->scale);
	}
}

/* Of the rows given; NULL: of the first n. */
static void prom_print_kind(FILE *out, const struct batch_record *r, const struct prom_kind *k,
			    const uint32_t *row, uint32_t n)
{
	for (const struct family *fam = k->families; fam->name; fam++)
		prom_print_family(out, r, k, fam, row, n);
}

static void prom_print_ports_by_problem(FILE *out, const struct batch_record *r)
{
	static const char *const words[] = { "down", "reduced", "errors", "no_reply" };
	const uint32_t n[] = { r->v->down, r->v->reduced, r->v->errors, r->v->no_reply };

	prom_head(out, "ibroute_problem_ports", "Ports with a problem, by kind.", "gauge");
	for (int i = 0; i < 4; i++) {
		prom_name(out, r, "ibroute_problem_ports");
		prom_label(out, ',', "kind", words[i]);
		fprintf(out, "} %u\n", n[i]);
	}
}

static void prom_print_fabric(FILE *out, const struct batch_record *r)
{
	const struct state *s = r->s;
	const struct metrics *m = state_metrics(s);
	const struct verdict *v = s->verdict;

	prom_one(out, r, prom_up[0], prom_up[1], 1);
	prom_one(out, r, "ibroute_complete", "1 if nothing was missing in the newest poll.",
		 r->complete);
	prom_one(out, r, "ibroute_sample_timestamp_seconds",
		 "Unix time of the newest poll, in seconds.",
		 (double)s->now_s - (isfinite(s->poll.age_s) ? floor(s->poll.age_s) : 0));
	prom_one(out, r, "ibroute_poll_duration_seconds",
		 "Duration of the newest poll, in seconds.", s->poll.took_s);
	prom_one(out, r, "ibroute_switches", "Switches found.", s->fabric->nsw);
	prom_one(out, r, "ibroute_hosts", "Host ports found.", s->fabric->nterm);
	prom_one(out, r, "ibroute_missing_nodes",
		 "Switches and hosts that were known and are missing.",
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
		 "Share of channels that no path of a job uses.",
		 m && m->njob ? m->dark_fiber_pct / 100 : NAN);
}

struct prom_series {
	char *labels;
	uint32_t row;
};

static int prom_by_labels(const void *pa, const void *pb)
{
	const struct prom_series *a = pa, *b = pb;
	int c = strcmp(a->labels, b->labels);

	return c ? c : (a->row > b->row) - (a->row < b->row);
}

static int prom_by_row(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static char *prom_labels_text(const struct rows *rows, uint32_t row, const struct label_of *l)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		guard_give_up(-ENOMEM, "out of memory for the labels of a job");
	prom_labels(f, rows, row, l);
	fclose(f);
	return text;
}

/* A scrape with a series twice is refused as a whole, and a file of jobs may have an id twice: the
 * first row of each.  *n of them; the caller frees the result. */
static uint32_t *prom_distinct(uint32_t *n, const struct rows *rows, const struct label_of *l)
{
	uint32_t all = rows_count(rows), *row = xcalloc(all, sizeof(*row));
	struct prom_series *s = xcalloc(all, sizeof(*s));

	for (uint32_t i = 0; i < all; i++)
		s[i] = (struct prom_series){ prom_labels_text(rows, i, l), i };
	qsort(s, all, sizeof(*s), prom_by_labels);
	*n = 0;
	for (uint32_t i = 0; i < all; i++)
		if (!i || strcmp(s[i].labels, s[i - 1].labels))
			row[(*n)++] = s[i].row;
	qsort(row, *n, sizeof(*row), prom_by_row);
	for (uint32_t i = 0; i < all; i++)
		free(s[i].labels);
	free(s);
	return row;
}

static void prom_print_jobs(FILE *out, const struct batch_record *r)
{
	const struct prom_kind *kind = r->o->prom_nameless ? &prom_ids : &prom_jobs;
	const struct rows jobs = { ROWS_JOBS, r->s, r->v };
	uint32_t n, *job = prom_distinct(&n, &jobs, kind->labels);

	prom_print_kind(out, r, kind, job, n);
	free(job);
}

void prom_print(FILE *out, const struct batch_record *r)
{
	const struct rows ports = { ROWS_PORTS, r->s, r->v };
	bool some = r->o->filter && r->o->kind == BATCH_OVERVIEW;
	unsigned groups = r->o->prom_groups ? r->o->prom_groups : ~0u;

	prom_print_fabric(out, r);
	prom_state_print(out, r);
	if (groups & PROM_UPDATES)
		prom_updates_print(out, r);
	if (groups & PROM_TIERS)
		prom_print_kind(out, r, &prom_tiers, NULL, r->v->tiers->n);
	if (groups & PROM_JOBS)
		prom_print_jobs(out, r);
	if (groups & PROM_PORTS)
		prom_print_kind(out, r, &prom_ports, some ? r->rows->row : NULL,
				some ? r->rows->n : rows_count(&ports));
	if (!some && (groups & PROM_ERRORS))
		prom_state_print_ports(out, r);
}

char *prom_down(const struct state *s)
{
	const struct batch_record r = { .s = s };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		guard_give_up(-ENOMEM, "out of memory for metrics");
	prom_one(f, &r, prom_up[0], prom_up[1], 0);
	prom_state_collector(f, &r);
	fclose(f);
	return text;
}
