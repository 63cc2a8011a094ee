/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/deadlock_text.h"

#include <inttypes.h>

void deadlock_text_line(char *buf, size_t len, const struct deadlock_test *s, uint32_t i)
{
	const struct fabric *f = s->f;
	const struct packets_wait *w = &s->cycle[i];

	snprintf(buf, len, "%s/%u -> %s/%u VL %u, %u packets, the first from %s to LID %u (SL %u)",
		 f->sw_short[f->chan_src[w->chan]], f->chan_port[w->chan],
		 f->sw_short[f->chan_dst[w->chan]], f->chan_rport[w->chan], w->vl, w->npackets,
		 f->term_name[s->src[w->conn]], w->dlid, w->sl);
}

static json_t *deadlock_text_wait_json(const struct deadlock_test *s, const struct packets_wait *w)
{
	const struct fabric *f = s->f;

	return json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:s, s:i, s:i}", "switch",
			 f->sw_name[f->chan_src[w->chan]], "port", f->chan_port[w->chan],
			 "to_switch", f->sw_name[f->chan_dst[w->chan]], "to_port",
			 f->chan_rport[w->chan], "vl", w->vl, "packets", (int)w->npackets, "source",
			 f->term_name[s->src[w->conn]], "dlid", w->dlid, "sl", w->sl);
}

/* Messages, where connections send one each; else null. */
static void deadlock_text_messages_json(json_t *o, const struct deadlock_test *s)
{
	bool messages = s->o.message && s->nconn;

	json_object_set_new(o, "message_bytes",
			    s->o.message ? json_integer((json_int_t)s->o.message) : json_null());
	json_object_set_new(o, "messages_delivered",
			    s->o.message ? json_integer(s->complete) : json_null());
	json_object_set_new(o, "delivered_share",
			    messages ? json_real((double)s->complete / s->nconn) : json_null());
}

json_t *deadlock_text_json(const struct deadlock_test *s, const char *pattern)
{
	json_t *list = json_array(), *o;

	for (uint32_t i = 0; i < s->ncycle; i++)
		json_array_append_new(list, deadlock_text_wait_json(s, &s->cycle[i]));
	o = json_pack("{s:b, s:f, s:i, s:i, s:I, s:I, s:I, s:I, s:I}", "deadlock", s->ncycle > 0,
		      "simulated_us", (double)packets_now_ns(s->p) * 1e-3, "connections",
		      (int)s->nconn, "on_cycle", (int)s->aimed, "injected",
		      (json_int_t)s->n.injected, "delivered", (json_int_t)s->n.delivered,
		      "in_flight", (json_int_t)s->n.in_flight, "dropped", (json_int_t)s->n.dropped,
		      "misordered", (json_int_t)s->n.misordered);
	json_object_set_new(o, "deadlock_us",
			    s->ncycle ? json_real((double)s->closed_ns * 1e-3) : json_null());
	json_object_set_new(o, "last_moved_us",
			    s->still ? json_real((double)s->n.last_ns * 1e-3) : json_null());
	json_object_set_new(o, "wait_for", list);
	json_object_set_new(o, "pattern", pattern ? json_string(pattern) : json_null());
	json_object_set_new(o, "shared_buffers", json_boolean(s->o.shared));
	deadlock_text_messages_json(o, s);
	return o;
}

/* "100 connections between the jobs' ranks (ring) send a message of 128 KiB each." */
static void deadlock_text_print_traffic(FILE *out, const struct deadlock_test *s,
					const char *pattern)
{
	fprintf(out, "%u connections ", s->nconn);
	if (pattern)
		fprintf(out, "between the jobs' ranks (%s) ", pattern);
	fputs("send ", out);
	if (s->o.message)
		fprintf(out, "a message of %g KiB each", (double)s->o.message / 1024);
	else
		fputs("continuously", out);
	if (s->aimed)
		fprintf(out, ", %u of them on paths that form a cycle", s->aimed);
	fputs(s->o.shared ? "; the VLs of a port share its buffer.\n" : ".\n", out);
}

static void deadlock_text_print_messages(FILE *out, const struct deadlock_test *s)
{
	if (s->o.message)
		fprintf(out, "%u of %u messages (%.1f %%) arrived.\n", s->complete, s->nconn,
			100.0 * s->complete / s->nconn);
}

static void deadlock_text_print_deadlock(FILE *out, const struct deadlock_test *s)
{
	char line[512];

	fprintf(out, "Deadlock after %.1f us: %u buffers wait for each other in a cycle.\n",
		(double)s->closed_ns * 1e-3, s->ncycle);
	for (uint32_t i = 0; i < s->ncycle; i++) {
		deadlock_text_line(line, sizeof(line), s, i);
		fprintf(out, "  %s\n", line);
	}
	if (s->still)
		fprintf(out, "The last packet moved at %.1f us; ", (double)s->n.last_ns * 1e-3);
	else
		fprintf(out, "Other packets still move at %.1f us; ",
			(double)packets_now_ns(s->p) * 1e-3);
	fprintf(out, "%" PRIu64 " were delivered, %" PRIu64 " are in flight.\n", s->n.delivered,
		s->n.in_flight);
}

static void deadlock_text_print_none(FILE *out, const struct deadlock_test *s)
{
	bool over = s->o.message && s->still;

	fprintf(out,
		"No deadlock in %.3f ms: %" PRIu64 " packets were delivered, %" PRIu64
		" are in flight, %" PRIu64 " were dropped, %" PRIu64 " arrived out of order.\n",
		(double)(over ? s->n.last_ns : s->limit_ns) * 1e-6, s->n.delivered, s->n.in_flight,
		s->n.dropped, s->n.misordered);
}

void deadlock_text_print(FILE *out, const struct deadlock_test *s, const char *pattern)
{
	if (!s->nconn) {
		fprintf(out, "Nothing was sent: there are no two hosts%s.\n",
			pattern ? " in any job" : "");
		return;
	}
	deadlock_text_print_traffic(out, s, pattern);
	if (s->ncycle)
		deadlock_text_print_deadlock(out, s);
	else
		deadlock_text_print_none(out, s);
	deadlock_text_print_messages(out, s);
}
