/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_fdbs.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/format/opensm/lft_text.h"
#include "fabric/format/opensm/osm_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX

enum fdb_line { FDB_ENTRY, FDB_NONE, FDB_OTHER };

/* "0x0001 : 005  : 05   : yes", "0x0001 : UNREACHABLE" */
static enum fdb_line osm_fdbs_read_entry(uint64_t *lid, uint64_t *port, const char *s)
{
	scan_blank(&s);
	if (s[0] != '0' || s[1] != 'x' || !scan_hex(lid, &s))
		return FDB_OTHER;
	scan_blank(&s);
	if (!scan_word(&s, ":"))
		return FDB_OTHER;
	scan_blank(&s);
	if (scan_word(&s, "UNREACHABLE"))
		return FDB_NONE;
	if (!scan_dec(port, &s) || (*s && *s != ' ' && *s != '\t' && *s != ':'))
		return FDB_OTHER;
	return FDB_ENTRY;
}

static bool osm_fdbs_read_heading(uint64_t *guid, const char *s)
{
	scan_blank(&s);
	if (!scan_word(&s, "dump_ucast_routes: "))
		scan_word(&s, "osm_ucast_mgr_dump_ucast_routes: ");
	return scan_word(&s, "Switch 0x") && scan_hex(guid, &s);
}

/* "PLFT_NUM: 0": ibdiagnet 2 numbers the private tables of a switch.  Ours has one, number 0. */
static bool osm_fdbs_read_private(uint64_t *number, const char *s)
{
	scan_blank(&s);
	return scan_word(&s, "PLFT_NUM:") && scan_blank(&s) && scan_dec(number, &s) && scan_end(&s);
}

static bool osm_fdbs_is_frame(const char *s)
{
	return scan_blank(&s) && scan_word(&s, "LID ");
}

static int osm_fdbs_do_read(struct tables **out, FILE *file, const char *path,
			    const struct fabric *f, bool partial, struct read_report *report,
			    struct err *err)
{
	struct lines *l = lines_new(file, path, report);
	struct lft_text x;
	uint64_t guid, lid, port, private = 0;
	char *s;
	int rc;

	lft_text_begin(&x, f, report);
	x.partial = partial;
	while (!private && (s = lines_next_data(l))) {
		switch (osm_fdbs_read_entry(&lid, &port, s)) {
		case FDB_ENTRY:
			lft_text_listed(&x, lid);
			lft_text_entry(&x, lid, port, lines_number(l));
			break;
		case FDB_OTHER:
			if (osm_fdbs_read_heading(&guid, s))
				lft_text_switch(&x, guid, lines_number(l));
			else if (!osm_fdbs_read_private(&private, s) && !osm_fdbs_is_frame(s))
				read_report_skip(report, lines_number(l), "not understood: %.60s",
						 s);
			break;
		case FDB_NONE:
			lft_text_listed(&x, lid);
			break;
		}
	}
	rc = lft_text_end(out, &x, l, "opensm.fdbs", err);
	if (private && !rc)
		tables_put(*out);
	if (private)
		rc = err_set(err, -ENOTSUP,
			     "%s:%" PRIu64 ": a switch with private table %" PRIu64
			     ": it forwards by input port (PLFT), which a single table does not "
			     "express; only switches with table 0 alone can be judged",
			     path, lines_number(l), private);
	lines_free(l);
	return rc;
}

int osm_fdbs_read(struct tables **out, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err)
{
	return osm_fdbs_do_read(out, file, path, f, false, report, err);
}

int osm_fdbs_read_before(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err)
{
	return osm_fdbs_do_read(out, file, path, f, true, report, err);
}

/* Inter-switch hops from a switch to every other, and back: cables have two directions. */
static void osm_fdbs_distances(uint16_t *dist, uint32_t *queue, const struct fabric *f,
			       uint32_t from)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		dist[sw] = FAR;
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint32_t next = f->chan_dst[c];

			if (dist[next] != FAR)
				continue;
			dist[next] = (uint16_t)(dist[sw] + 1);
			queue[tail++] = next;
		}
	}
}

struct writer {
	struct text_out *o;
	const struct fabric *f;
	uint16_t *dist; /* nsw rows of osm_fdbs_distances() */
};

static void osm_fdbs_put_digits(char *to, unsigned v, int n)
{
	while (n--) {
		to[n] = (char)('0' + v % 10);
		v /= 10;
	}
}

/* OpenSM names a better port where there is one: any on a shortest path is right. */
static void osm_fdbs_put_detour(struct writer *w, uint32_t sw, uint32_t to, unsigned best)
{
	const struct fabric *f = w->f;
	const uint16_t *dist = w->dist + (size_t)to * f->nsw;
	uint32_t c = f->chan_off[sw];

	while (c < f->chan_off[sw + 1] && dist[f->chan_dst[c]] >= dist[sw])
		c++;
	text_out_fmt(w->o, "No %u hop path possible via port %u!\n", best,
		     c < f->chan_off[sw + 1] ? f->chan_port[c] : 0u);
}

static void osm_fdbs_put_entry(struct writer *w, uint32_t sw, uint32_t lid, uint8_t port)
{
	static const char hex[] = "0123456789ABCDEF";
	const struct fabric *f = w->f;
	const uint16_t *row = w->dist + (size_t)sw * f->nsw;
	char line[] = "0x0000 : 000  : 00   : ";
	uint8_t last;
	uint32_t to = fabric_lid_switch(f, lid, &last), chan = fabric_chan(f, sw, port);
	unsigned host, best, hops;

	for (int i = 0; i < 4; i++)
		line[5 - i] = hex[lid >> (4 * i) & 15];
	if (to == FAB_NONE || port == FAB_NO_PORT || row[to] == FAR) {
		text_out_bytes(w->o, line, 9);
		text_out_str(w->o, "UNREACHABLE\n");
		return;
	}
	/* counted up to the LID's owner: a host is one further than its switch */
	host = f->lid_end[lid] < f->nend;
	best = hops = row[to] + host;
	if (chan != FAB_NONE)
		hops = w->dist[(size_t)f->chan_dst[chan] * f->nsw + to] + host + 1;
	osm_fdbs_put_digits(line + 9, port, 3);
	osm_fdbs_put_digits(line + 16, hops < 99 ? hops : 99, 2);
	text_out_bytes(w->o, line, sizeof(line) - 1);
	if (hops == best)
		text_out_bytes(w->o, "yes\n", 4);
	else
		osm_fdbs_put_detour(w, sw, to, best);
}

static int osm_fdbs_find_distances(struct writer *w, struct err *err)
{
	uint32_t nsw = w->f->nsw, *queue = xcalloc(nsw, sizeof(*queue));
	int rc = 0;

	w->dist = xcalloc((size_t)nsw * nsw, sizeof(*w->dist));
	for (uint32_t sw = 0; sw < nsw && !rc; sw++) {
		osm_fdbs_distances(w->dist + (size_t)sw * nsw, queue, w->f, sw);
		if (progress_step(file_progress(), "distances", sw + 1, nsw))
			rc = err_set(err, -ECANCELED, "cancelled");
	}
	free(queue);
	return rc;
}

static void osm_fdbs_write_switch(struct writer *w, const struct tables *t, uint32_t sw)
{
	text_out_fmt(w->o,
		     "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
		     w->f->sw_guid[sw]);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		osm_fdbs_put_entry(w, sw, lid, tables_row(t, sw)[lid]);
}

int osm_fdbs_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct writer w = { .o = text_out_new(file), .f = f };
	uint32_t *order = osm_order_new(f->sw_guid, f->nsw);
	int rc = osm_fdbs_find_distances(&w, err), end;

	for (uint32_t i = 0; i < f->nsw && !rc; i++) {
		osm_fdbs_write_switch(&w, t, order[i]);
		if (!text_out_step(w.o, i + 1, f->nsw))
			break;
	}
	free(w.dist);
	free(order);
	end = text_out_end(w.o, "opensm.fdbs", rc ? NULL : err);
	return rc ? rc : end;
}
