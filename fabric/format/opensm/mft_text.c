/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/mft_text.h"

#include "fabric/base/file/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MARKS_AT 12 /* columns before the first port's in dump_fts: "0xc000      x   x " */

struct reader {
	struct mcast *m;
	const struct fabric *f;
	const struct lines *l;
	struct read_report *report;
	uint32_t sw;	/* FAB_NONE: not of the fabric, or before the first */
	bool open;	/* a table of dump_fts has begun, and not ended */
	bool heading;	/* there was one */
	uint64_t known; /* switches of the fabric */
};

static void mft_text_switch(struct reader *x, uint64_t guid)
{
	x->heading = true;
	x->sw = fabric_switch_by_guid(x->f, guid);
	if (x->sw == FAB_NONE)
		read_report_skip(
			x->report, lines_number(x->l),
			"switch 0x%016" PRIx64 " is not in the fabric; its table is ignored", guid);
	else
		x->known++;
}

/* "Switch 0x...", or "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x... (name):" */
static bool mft_text_heading(struct reader *x, const char *s)
{
	const char *at;
	uint64_t guid;
	bool dump;

	if (scan_word(&s, "Multicast mlids ")) {
		at = strstr(s, " guid 0x");
		s = at ? at + strlen(" guid ") : "";
		dump = true;
	} else {
		scan_word(&s, "dump_mcast_routes: ");
		if (!scan_word(&s, "Switch "))
			return false;
		dump = false;
	}
	if (s[0] != '0' || s[1] != 'x' || !scan_hex(&guid, &s))
		return false;
	x->open = dump;
	mft_text_switch(x, guid);
	return true;
}

static void mft_text_add(struct reader *x, uint64_t mlid, uint64_t port)
{
	if (x->sw == FAB_NONE)
		return;
	if (port > x->f->sw_nports[x->sw]) {
		read_report_skip(x->report, lines_number(x->l), "switch %s has no port %" PRIu64,
				 x->f->sw_name[x->sw], port);
		return;
	}
	mcast_add(x->m, (uint16_t)mlid, x->sw, (uint8_t)port);
}

/* "0xC000 : 0x003  0x00A ", each a port */
static bool mft_text_ports(struct reader *x, uint64_t mlid, const char *s)
{
	const char *at = s;
	uint64_t port;

	while (!scan_end(&at))
		if (!scan_hex(&port, &at) || (*at && *at != ' ' && *at != '\t'))
			return false;
	while (!scan_end(&s) && scan_hex(&port, &s))
		mft_text_add(x, mlid, port);
	return true;
}

/* Two columns a port: "x " or "  " */
static bool mft_text_marks(struct reader *x, uint64_t mlid, const char *marks)
{
	size_t n = strlen(marks);

	if (strspn(marks, " x") != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (marks[i] == 'x' && i % 2)
			return false;
		if (marks[i] == 'x')
			mft_text_add(x, mlid, i / 2);
	}
	return true;
}

static bool mft_text_row(struct reader *x, const char *line)
{
	const char *s = line;
	uint64_t mlid;

	scan_blank(&s);
	if (!x->heading || s[0] != '0' || s[1] != 'x' || !scan_hex(&mlid, &s) ||
	    mlid < MCAST_LID_MIN || mlid > MCAST_LID_MAX)
		return false;
	if (x->open)
		return strlen(line) > MARKS_AT && mft_text_marks(x, mlid, line + MARKS_AT);
	scan_blank(&s);
	return scan_word(&s, ":") && mft_text_ports(x, mlid, s);
}

/* Lines that hold nothing. */
static bool mft_text_frame(struct reader *x, const char *s)
{
	uint64_t n;

	scan_blank(&s);
	if (scan_word(&s, "LID ") || scan_word(&s, "Ports: ") || scan_word(&s, "MLid") ||
	    scan_word(&s, "***") || s[strspn(s, "0123456789 ")] == '\0')
		return true;
	if (!scan_dec(&n, &s) ||
	    !(scan_word(&s, " mlids dumped") || scan_word(&s, " valid mlids dumped")))
		return false;
	x->open = false;
	x->sw = FAB_NONE;
	return true;
}

static int mft_text_whole(const struct reader *x, const char *path, struct err *err)
{
	if (x->open)
		return err_set(err, -ENODATA,
			       "%s:%" PRIu64 ": the file ends in the middle of a switch's table: "
			       "it is truncated",
			       path, lines_number(x->l));
	if (x->heading && !x->known)
		return err_set(err, -EINVAL, "%s: none of its switches is in the fabric", path);
	return lines_whole(x->l, err);
}

int mft_text_read(struct mcast *m, FILE *file, const char *path, const struct fabric *f,
		  struct read_report *report, struct err *err)
{
	struct lines *l = lines_new(file, path, report);
	struct reader x = { .m = m, .f = f, .l = l, .report = report, .sw = FAB_NONE };
	char *s;
	int rc;

	while ((s = lines_next_data(l)))
		if (!mft_text_heading(&x, s) && !mft_text_row(&x, s) && !mft_text_frame(&x, s))
			read_report_skip(report, lines_number(l), "not understood: %.60s", s);
	rc = lines_end(l, 0,
		       x.heading ? NULL
				 : "not a dump of multicast tables (opensm.mcfdbs, dump_fts -M)",
		       err);
	if (!rc)
		rc = mft_text_whole(&x, path, err);
	mcast_sort(m);
	if (report)
		report->records = m->n;
	lines_free(l);
	return rc;
}
