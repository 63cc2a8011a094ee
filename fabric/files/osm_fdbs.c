/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/files/osm_fdbs.h"

#include "fabric/base/mem.h"
#include "fabric/files/lft_text.h"
#include "fabric/files/lines.h"
#include "fabric/files/text_out.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX

enum fdb_line { FDB_ENTRY, FDB_NONE, FDB_OTHER };

/* "0x0001 : 005  : 05   : yes", "0x0001 : UNREACHABLE" */
static enum fdb_line read_entry(uint64_t *lid, uint64_t *port, const char *s)
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

static bool read_heading(uint64_t *guid, const char *s)
{
	scan_blank(&s);
	if (!scan_word(&s, "dump_ucast_routes: "))
		scan_word(&s, "osm_ucast_mgr_dump_ucast_routes: ");
	return scan_word(&s, "Switch 0x") && scan_hex(guid, &s);
}

static bool is_frame(const char *s)
{
	scan_blank(&s);
	return !*s || *s == '#' || scan_word(&s, "LID ");
}

int osm_fdbs_read(struct tables **out, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err)
{
	struct lines *l;
	struct lft_text x;
	uint64_t guid, lid, port;
	char *s;
	int rc;

	read_report_begin(report, path);
	l = lines_new(file, path, report);
	lft_text_begin(&x, f, report);
	while ((s = lines_next(l, NULL))) {
		switch (read_entry(&lid, &port, s)) {
		case FDB_ENTRY:
			lft_text_entry(&x, lid, port, lines_number(l));
			break;
		case FDB_OTHER:
			if (read_heading(&guid, s))
				lft_text_switch(&x, guid, lines_number(l));
			else if (!is_frame(s))
				read_report_skip(report, lines_number(l), "not understood: %.60s",
						 s);
			break;
		case FDB_NONE:
			break;
		}
	}
	rc = lft_text_end(out, &x, l, "opensm.fdbs", err);
	lines_free(l);
	return rc;
}

/* Inter-switch hops from every switch to one. */
static void distances_to(uint16_t *dist, uint32_t *queue, const struct fabric *f, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		dist[sw] = FAR;
	dist[to] = 0;
	queue[tail++] = to;
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

/* Hops are counted up to the LID's owner: a host is one further than its switch. */
static void write_hops(struct text_out *o, const struct fabric *f, uint32_t sw, uint8_t port,
		       const uint16_t *dist, bool host)
{
	uint32_t chan = fabric_chan(f, sw, port);
	unsigned best = dist[sw] + (host ? 1u : 0u), hops = best;

	if (chan != FAB_NONE)
		hops = dist[f->chan_dst[chan]] + (host ? 2u : 1u);
	text_out_dec(o, hops, 2);
	text_out_str(o, "   : ");
	if (hops == best) {
		text_out_str(o, "yes");
		return;
	}
	for (chan = f->chan_off[sw]; chan < f->chan_off[sw + 1]; chan++)
		if (dist[f->chan_dst[chan]] < dist[sw])
			break;
	text_out_str(o, "No ");
	text_out_dec(o, best, 1);
	text_out_str(o, " hop path possible via port ");
	text_out_dec(o, chan < f->chan_off[sw + 1] ? f->chan_port[chan] : 0, 1);
	text_out_str(o, "!");
}

static void write_entry(struct text_out *o, const struct fabric *f, uint32_t sw, uint32_t lid,
			uint8_t port, const uint16_t *all)
{
	uint8_t last;
	uint32_t to = fabric_lid_switch(f, lid, &last);
	const uint16_t *dist = all + (size_t)(to == FAB_NONE ? 0 : to) * f->nsw;

	text_out_bytes(o, "0x", 2);
	text_out_HEX(o, lid, 4);
	if (to == FAB_NONE || port == FAB_NO_PORT || dist[sw] == FAR) {
		text_out_str(o, " : UNREACHABLE\n");
		return;
	}
	text_out_bytes(o, " : ", 3);
	text_out_dec(o, port, 3);
	text_out_bytes(o, "  : ", 4);
	write_hops(o, f, sw, port, dist, f->lid_end[lid] < f->nend);
	text_out_bytes(o, "\n", 1);
}

int osm_fdbs_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct text_out *o = text_out_new(file);
	uint16_t *dist = xcalloc((size_t)f->nsw * f->nsw, sizeof(*dist));
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue));

	for (uint32_t to = 0; to < f->nsw; to++)
		distances_to(dist + (size_t)to * f->nsw, queue, f, to);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		text_out_str(o, "dump_ucast_routes: Switch 0x");
		text_out_hex(o, f->sw_guid[sw], 16);
		text_out_str(o, "\nLID    : Port : Hops : Optimal\n");
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			write_entry(o, f, sw, lid, tables_row(t, sw)[lid], dist);
	}
	free(dist);
	free(queue);
	return text_out_end(o, "opensm.fdbs", err);
}
