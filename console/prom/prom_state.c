/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an alert is made of: findings, ports that stay when they are down, error counters, the SM.
 */
#include "console/prom/prom_priv.h"

#include "console/app/app_priv.h"
#include "fabric/baseline/findings.h"

#include <string.h>

/* --- what is not as expected ---------------------------------------------------------------- */

static void prom_state_finding_counts(FILE *out, const struct batch_record *r,
				      const struct findings *l)
{
	uint32_t n[FINDING_KINDS] = { 0 };

	for (size_t i = 0; i < l->n; i++)
		n[l->v[i].kind]++;
	prom_head(out, "ibroute_findings",
		  "What is not as the baseline has it, and error counters that rose, by kind.",
		  "gauge");
	for (int k = 0; k < FINDING_KINDS; k++) {
		prom_name(out, r, "ibroute_findings");
		prom_label(out, ',', "kind", finding_kind_name(k));
		fprintf(out, "} %u\n", n[k]);
	}
}

static bool prom_state_same_finding(const struct finding *a, const struct finding *b)
{
	return a->kind == b->kind && !strcmp(a->what, b->what) && !strcmp(a->subject, b->subject);
}

/* A host with two ports is gone twice under the same name. */
static bool prom_state_told_before(const struct findings *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (prom_state_same_finding(&l->v[i], &l->v[at]))
			return true;
	return false;
}

#define FINDINGS_MAX 200u /* more of them are one failure, and the counts are there */

static void prom_state_findings(FILE *out, const struct batch_record *r, const struct findings *l)
{
	if (l->n)
		prom_head(out, "ibroute_finding", "1 for each of them; at most 200.", "gauge");
	for (size_t i = 0; i < l->n && i < FINDINGS_MAX; i++) {
		const struct finding *f = &l->v[i];

		if (prom_state_told_before(l, i))
			continue;
		prom_name(out, r, "ibroute_finding");
		prom_label(out, ',', "kind", finding_kind_name(f->kind));
		prom_label(out, ',', "what", f->what);
		prom_label(out, ',', "subject", f->subject);
		fputs("} 1\n", out);
	}
}

/* --- ports that stay ------------------------------------------------------------------------- */

struct prom_port {
	const struct fabric *f; /* that has the far end: as it is, or as it is expected */
	uint32_t sw;
	uint8_t port;
	bool up, info; /* info: of the link as it is */
};

static void prom_state_port(FILE *out, const struct batch_record *r, const struct prom_port *x)
{
	const char *name = x->info ? "ibroute_port_info" : "ibroute_port_up";
	const struct port *p = fabric_port(x->f, x->sw, x->port);
	bool host = p->chan == FAB_NONE;
	char buf[NAME_LEN];

	prom_name(out, r, name);
	prom_label(out, ',', "switch", switch_label(buf, sizeof(buf), x->f, x->sw));
	fprintf(out, ",port=\"%u\",guid=\"0x%016lx\"", x->port,
		(unsigned long)x->f->sw_guid[x->sw]);
	prom_label(out, ',', "peer",
		   host ? x->f->term_name[p->term]
			: switch_label(buf, sizeof(buf), x->f, x->f->chan_dst[p->chan]));
	fprintf(out, ",peer_port=\"%u\",peer_kind=\"%s\"",
		host ? x->f->term_ca_port[p->term] : x->f->chan_rport[p->chan],
		host ? "host" : "switch");
	if (x->info)
		fprintf(out, ",width=\"%u\",speed=\"%s\"", p->width, p->speed);
	fprintf(out, "} %d\n", x->up || x->info);
}

/* A port is of the fabric that has a cable there; one that only the baseline has is down. */
static void prom_state_ports_of(FILE *out, const struct batch_record *r, struct prom_port x,
				const struct fabric *other)
{
	for (x.sw = 0; x.sw < x.f->nsw; x.sw++) {
		uint32_t there =
			other ? fabric_switch_by_guid(other, x.f->sw_guid[x.sw]) : FAB_NONE;

		for (unsigned p = 1; p <= x.f->sw_nports[x.sw]; p++) {
			x.port = (uint8_t)p;
			if (!port_cabled(fabric_port(x.f, x.sw, x.port)) ||
			    (there != FAB_NONE && p <= other->sw_nports[there] &&
			     port_cabled(fabric_port(other, there, x.port))))
				continue;
			prom_state_port(out, r, &x);
		}
	}
}

static void prom_state_port_states(FILE *out, const struct batch_record *r)
{
	const struct fabric *now = r->s->fabric;
	const struct fabric *expected = r->s->findings ? r->s->findings->expected : NULL;
	struct prom_port x = { .f = now, .up = true };

	prom_head(out, "ibroute_port_up",
		  "1 if the port has a link, 0 if it is expected to have one and has none.",
		  "gauge");
	prom_state_ports_of(out, r, x, NULL);
	if (expected)
		prom_state_ports_of(out, r, (struct prom_port){ .f = expected }, now);
	prom_head(out, "ibroute_port_info", "Width and speed of the link.", "gauge");
	x.info = true;
	prom_state_ports_of(out, r, x, NULL);
}

/* --- error counters of all ports, of hosts as well ------------------------------------------- */

static void prom_state_error_labels(FILE *out, const struct batch_record *r, const char *name,
				    const struct port_errors *p)
{
	const struct fabric *f = r->s->fabric;
	uint32_t i = p->host ? fabric_term_by_guid(f, p->guid) : fabric_switch_by_guid(f, p->guid);
	char buf[NAME_LEN] = "";

	prom_name(out, r, name);
	if (i != FAB_NONE)
		prom_label(out, ',', "node",
			   p->host ? f->term_name[i] : switch_label(buf, sizeof(buf), f, i));
	fprintf(out, ",port=\"%u\",guid=\"0x%016lx\",kind=\"%s\"", p->port, (unsigned long)p->guid,
		p->host ? "host" : "switch");
}

static void prom_state_error_counters(FILE *out, const struct batch_record *r,
				      const struct error_set *s)
{
	static const char name[] = "ibroute_port_error_counter_total";
	bool headed = false;

	for (uint32_t i = 0; i < s->n; i++)
		for (unsigned c = 0; c < ERROR_COUNT; c++) {
			if (!s->port[i].v[c])
				continue;
			if (!headed)
				prom_head(
					out, name,
					"Error counters that are not 0, named as in PortCounters.",
					"counter");
			headed = true;
			prom_state_error_labels(out, r, name, &s->port[i]);
			prom_label(out, ',', "counter", error_counter_name(c));
			fprintf(out, "} %lu\n", (unsigned long)s->port[i].v[c]);
		}
}

static void prom_state_errors(FILE *out, const struct batch_record *r, const struct error_set *s)
{
	static const char name[] = "ibroute_port_errors_total";

	if (s->n)
		prom_head(out, name,
			  "All error counters of PortCounters added up, also of ports of hosts.",
			  "counter");
	for (uint32_t i = 0; i < s->n; i++) {
		prom_state_error_labels(out, r, name, &s->port[i]);
		fprintf(out, "} %lu\n", (unsigned long)port_errors_sum(&s->port[i]));
	}
	prom_state_error_counters(out, r, s);
}

/* --- the subnet manager ---------------------------------------------------------------------- */

/* They begin again with OpenSM. */
static void prom_state_sm_counts(FILE *out, const struct batch_record *r)
{
	static const char routings[] = "ibroute_sm_routings_total";
	const struct state_sm *sm = &r->s->sm;

	prom_count(
		out, r, "ibroute_sm_sweeps_total",
		"Sweeps in which OpenSM discovered the whole fabric and routed it, as our plugin "
		"counts them.",
		sm->sweeps);
	prom_count(out, r, "ibroute_sm_reroutes_total",
		   "Times that OpenSM routed without such a sweep.", sm->reroutes);
	prom_head(out, routings,
		  "Routings of OpenSM, by whether our plugin made them or left them to "
		  "another engine.",
		  "counter");
	for (int other = 0; other < 2; other++) {
		prom_name(out, r, routings);
		prom_label(out, ',', "by", other ? "other" : "plugin");
		fprintf(out, "} %lu\n", (unsigned long)(other ? sm->refused : sm->routings));
	}
	prom_count(out, r, "ibroute_sm_link_events_total",
		   "Changes of links (notices 128) that OpenSM was told of.", sm->link_events);
}

static void prom_state_sm(FILE *out, const struct batch_record *r)
{
	const struct state_sm *sm = &r->s->sm;

	if (!sm->known && r->s->mode == RUN_FILE)
		return;
	prom_one(out, r, "ibroute_sm_up", "1 if the master subnet manager responds.",
		 sm->known && !sm->lost);
	if (!sm->known)
		return;
	prom_head(out, "ibroute_sm_info",
		  "The master subnet manager; engine: in use, where the plugin reports it.",
		  "gauge");
	prom_name(out, r, "ibroute_sm_info");
	prom_label(out, ',', "name", sm->name);
	prom_label(out, ',', "state", sm->state);
	fprintf(out, ",guid=\"0x%016lx\",lid=\"%u\"", (unsigned long)sm->guid, sm->lid);
	prom_label(out, ',', "engine", sm->engine);
	fputs("} 1\n", out);
	if (r->a)
		prom_count(
			out, r, "ibroute_sm_activity_total",
			"ActCount of its SMInfo, which grows while it works; where our plugin is "
			"not in OpenSM, nothing else tells of its sweeps.",
			r->a->sm.act_count);
	if (sm->counted)
		prom_state_sm_counts(out, r);
}

/* --- the collector, and all of it ------------------------------------------------------------ */

void prom_state_collector(FILE *out, const struct batch_record *r)
{
	const struct state_collector *c = &r->s->collector;

	if (!c->on)
		return;
	prom_one(out, r, "ibroute_collector_up",
		 "1 if the collector responds that this is read from.", !c->gone);
	if (!c->gone && c->keeping != KEEPING_UNKNOWN)
		prom_one(out, r, "ibroute_history_up", "1 if the collector can write its history.",
			 c->keeping == KEEPING_WELL);
}

void prom_state_print(FILE *out, const struct batch_record *r)
{
	prom_state_sm(out, r);
	prom_state_collector(out, r);
	if (!r->s->findings)
		return;
	prom_state_finding_counts(out, r, r->s->findings);
	prom_state_findings(out, r, r->s->findings);
}

void prom_state_print_ports(FILE *out, const struct batch_record *r)
{
	prom_state_port_states(out, r);
	if (r->s->findings && r->s->findings->errors)
		prom_state_errors(out, r, r->s->findings->errors);
}
