/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_lfts.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/opensm/lft_text.h"
#include "fabric/format/opensm/osm_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lines of the two dumps that hold nothing; anything else unknown is worth a warning. */
static bool osm_lfts_is_frame(const char *s)
{
	scan_blank(&s);
	return scan_word(&s, "Lid  Out") || scan_word(&s, "Port     Info");
}

static bool osm_lfts_is_trailer(const char *s)
{
	uint64_t n;

	scan_blank(&s);
	return scan_dec(&n, &s) &&
	       (scan_word(&s, " lids dumped") || scan_word(&s, " valid lids dumped"));
}

/* "Unicast lids [..] of switch Lid 4 guid 0x... ('name'):" */
static bool osm_lfts_read_heading(uint64_t *guid, const char *s)
{
	const char *at;

	if (!scan_word(&s, "Unicast lids "))
		return false;
	at = strstr(s, " guid 0x");
	if (!at)
		return false;
	at += strlen(" guid ");
	return scan_hex(guid, &at);
}

/* "0x0001 003 # ..." or "0x0001 003 : (Switch portguid 0x...: 'name')"; guid 0: not told. */
static bool osm_lfts_read_entry(uint64_t *lid, uint64_t *port, uint64_t *guid, const char *s)
{
	scan_blank(&s);
	if (s[0] != '0' || s[1] != 'x' || !scan_hex(lid, &s) || *s != ' ')
		return false;
	scan_blank(&s);
	if (!scan_dec(port, &s) || (*s && *s != ' ' && *s != '\t'))
		return false;
	s = strstr(s, "portguid 0x");
	*guid = 0;
	if (s) {
		s += strlen("portguid ");
		scan_hex(guid, &s);
	}
	return true;
}

static int osm_lfts_do_read(struct tables **out, FILE *file, const char *path,
			    const struct fabric *f, bool partial, struct read_report *report,
			    struct err *err)
{
	struct lines *l = lines_new(file, path, report);
	struct lft_text x;
	uint64_t guid, lid, port;
	char *s;
	int rc;

	lft_text_begin(&x, f, report);
	x.partial = partial;
	while ((s = lines_next_data(l))) {
		if (osm_lfts_read_entry(&lid, &port, &guid, s))
			lft_text_entry(&x, lft_text_lid(&x, lid, guid, lines_number(l)), port,
				       lines_number(l));
		else if (osm_lfts_read_heading(&guid, s))
			lft_text_switch(&x, guid, lines_number(l));
		else if (osm_lfts_is_trailer(s))
			lft_text_close(&x);
		else if (!osm_lfts_is_frame(s))
			read_report_skip(report, lines_number(l), "not understood: %.60s", s);
	}
	rc = lft_text_end(out, &x, l, "opensm-lfts.dump or dump_fts", err);
	lines_free(l);
	return rc;
}

int osm_lfts_read(struct tables **out, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err)
{
	return osm_lfts_do_read(out, file, path, f, false, report, err);
}

int osm_lfts_read_before(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err)
{
	return osm_lfts_do_read(out, file, path, f, true, report, err);
}

static const char *osm_lfts_node_word(const struct fabric *f, uint32_t end)
{
	if (end >= f->nend)
		return "Switch";
	return f->term_kind[end] == TERM_ROUTER ? "Router" : "Channel Adapter";
}

/* The line of a LID, which is the same at every switch but for the digits of the port. */
struct line {
	char *text;
	size_t len;
};

#define PORT_AT strlen("0x0000 ")

static struct line *osm_lfts_make_lines(const struct fabric *f)
{
	struct line *line = xcalloc(f->max_lid + 1u, sizeof(*line));

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t end = f->lid_end[lid];
		struct line *l = &line[lid];

		if (end == FAB_NONE)
			l->text = xasprintf("0x%04" PRIx32 " 000 # \n", lid);
		else
			l->text = xasprintf(
				"0x%04" PRIx32 " 000 # %s portguid 0x%016" PRIx64 ": '%s'\n", lid,
				osm_lfts_node_word(f, end),
				end < f->nend ? f->term_guid[end] : f->sw_guid[end - f->nend],
				end < f->nend ? f->term_desc[end] : f->sw_desc[end - f->nend]);
		l->len = strlen(l->text);
	}
	return line;
}

static void osm_lfts_write_entry(struct text_out *o, struct line *l, uint8_t port)
{
	l->text[PORT_AT] = (char)('0' + port / 100);
	l->text[PORT_AT + 1] = (char)('0' + port / 10 % 10);
	l->text[PORT_AT + 2] = (char)('0' + port % 10);
	text_out_bytes(o, l->text, l->len);
}

static void osm_lfts_write_switch(struct text_out *o, const struct fabric *f,
				  const struct tables *t, uint32_t sw, struct line *line)
{
	const uint8_t *row = tables_row(t, sw);

	text_out_fmt(o, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
		     f->max_lid, f->sw_lid[sw], f->sw_guid[sw], f->sw_desc[sw]);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (row[lid] != FAB_NO_PORT)
			osm_lfts_write_entry(o, &line[lid], row[lid]);
	text_out_fmt(o, "%u lids dumped\n", f->max_lid);
}

int osm_lfts_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct text_out *o = text_out_new(file);
	uint32_t *order = osm_order_new(f->sw_guid, f->nsw);
	struct line *line = osm_lfts_make_lines(f);

	for (uint32_t i = 0; i < f->nsw; i++) {
		osm_lfts_write_switch(o, f, t, order[i], line);
		if (!text_out_step(o, i + 1, f->nsw))
			break;
	}
	free(order);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		free(line[lid].text);
	free(line);
	return text_out_end(o, "The dump of forwarding tables", err);
}
