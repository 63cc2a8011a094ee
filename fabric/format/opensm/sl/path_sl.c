/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/path_sl.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNSET 0xff /* the file does not name this path */

/*
 * ibdmchk knows sources by the GUID of their node, so that is what lines begin with.  A node
 * with several ports whose SLs differ gets a line with the port's GUID behind the node's.
 */
struct source {
	uint64_t node_guid, port_guid;
	uint32_t term;
};

struct reader {
	const struct fabric *f;
	struct read_report *report;
	struct source *src; /* by node GUID, then terminal */
	uint32_t stride;
	uint8_t *sl;	    /* nend rows */
	uint64_t last_guid; /* the source of the line before, and its rows */
	uint32_t first, n;
	uint64_t used;
};

static int path_sl_by_node(const void *x, const void *y)
{
	const struct source *a = x, *b = y;

	if (a->node_guid != b->node_guid)
		return a->node_guid < b->node_guid ? -1 : 1;
	return (a->term > b->term) - (a->term < b->term);
}

static struct source *path_sl_sources_new(const struct fabric *f)
{
	struct source *s = xcalloc(f->nend, sizeof(*s));

	for (uint32_t i = 0; i < f->nend; i++)
		s[i] = (struct source){ f->term_node_guid[i], f->term_guid[i], i };
	qsort(s, f->nend, sizeof(*s), path_sl_by_node);
	return s;
}

/* Entries first .. first + n - 1 are those of a GUID: a node's ports or a single port. */
static void path_sl_find_source(struct reader *r, uint64_t guid)
{
	uint32_t lo = 0, hi = r->f->nend, end;

	r->last_guid = guid;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (r->src[mid].node_guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < r->f->nend && r->src[end].node_guid == guid; end++)
		;
	r->first = lo;
	r->n = end - lo;
	if (r->n)
		return;
	lo = fabric_term_by_guid(r->f, guid);
	for (uint32_t i = 0; lo != FAB_NONE && i < r->f->nend && !r->n; i++)
		if (r->src[i].term == lo) {
			r->first = i;
			r->n = 1;
		}
}

static bool path_sl_read_line(uint64_t *guid, uint64_t *dlid, uint64_t *sl, const char *s)
{
	scan_blank(&s);
	if (s[0] != '0' || s[1] != 'x' || !scan_hex(guid, &s) || !scan_blank(&s))
		return false;
	if (!(s[0] == '0' && s[1] == 'x' ? scan_hex(dlid, &s) : scan_dec(dlid, &s)))
		return false;
	scan_blank(&s);
	return scan_dec(sl, &s) && scan_end(&s);
}

static void path_sl_take(struct reader *r, uint64_t guid, uint64_t dlid, uint64_t sl, uint64_t line)
{
	if (guid != r->last_guid || !r->used)
		path_sl_find_source(r, guid);
	if (!r->n) {
		read_report_skip(r->report, line, "no terminal has the GUID 0x%016" PRIx64, guid);
		return;
	}
	if (dlid > r->f->max_lid || fabric_lid_end(r->f, (uint32_t)dlid) == FAB_NONE) {
		read_report_skip(r->report, line, "LID %" PRIu64 " belongs to no port", dlid);
		return;
	}
	if (sl >= FAB_SLS) {
		read_report_skip(r->report, line, "SL %" PRIu64 " is beyond 15", sl);
		return;
	}
	for (uint32_t i = r->first; i < r->first + r->n; i++)
		r->sl[(size_t)r->src[i].term * r->stride + dlid] = (uint8_t)sl;
	r->used++;
	if (r->report)
		r->report->records++;
}

/* Folds row from into row into; false when they contradict each other. */
static bool path_sl_merge(uint8_t *into, const uint8_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (from[i] == UNSET)
			continue;
		if (into[i] != UNSET && into[i] != from[i])
			return false;
		into[i] = from[i];
	}
	return true;
}

static bool path_sl_all_equal(uint8_t *value, const uint8_t *row, uint32_t n)
{
	*value = UNSET;
	for (uint32_t i = 0; i < n; i++) {
		if (row[i] == UNSET)
			continue;
		if (*value != UNSET && *value != row[i])
			return false;
		*value = row[i];
	}
	return true;
}

static void path_sl_store(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] == UNSET ? 0 : from[i];
}

/* The cheapest form that says what the rows of terminals say. */
static void path_sl_choose_form(struct tables *t, const struct reader *r)
{
	const struct fabric *f = r->f;
	uint32_t n = f->max_lid + 1u;
	uint8_t *row = xcalloc(n, 1), *sw = xcalloc(f->nsw, r->stride), value;
	bool same = true;

	memset(row, UNSET, n);
	memset(sw, UNSET, (size_t)f->nsw * r->stride);
	for (uint32_t e = 0; e < f->nend && same; e++)
		same = path_sl_merge(row, r->sl + (size_t)e * r->stride, n);
	if (same && path_sl_all_equal(&value, row, n)) {
		tables_sl_form(t, SL_CONST, f);
		t->sl_const = value;
		goto out;
	}
	if (same) {
		tables_sl_form(t, SL_BY_DLID, f);
		path_sl_store(t->sl, row, n);
		goto out;
	}
	same = true;
	for (uint32_t e = 0; e < f->nend && same; e++)
		same = path_sl_merge(sw + (size_t)f->term_sw[e] * r->stride,
				     r->sl + (size_t)e * r->stride, n);
	tables_sl_form(t, same ? SL_BY_SWITCH : SL_BY_TERM, f);
	if (same)
		path_sl_store(t->sl, sw, (size_t)f->nsw * r->stride);
	else
		path_sl_store(t->sl, r->sl, (size_t)f->nend * r->stride);
out:
	free(row);
	free(sw);
}

int path_sl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		 struct read_report *report, struct err *err)
{
	struct reader r = { .f = f, .report = report, .stride = t->stride };
	struct lines *l = lines_new(file, path, report);
	uint64_t guid, dlid, sl;
	char *s;
	int rc;

	r.src = path_sl_sources_new(f);
	r.sl = xcalloc(f->nend, r.stride);
	memset(r.sl, UNSET, (size_t)f->nend * r.stride);
	while ((s = lines_next_data(l))) {
		if (path_sl_read_line(&guid, &dlid, &sl, s))
			path_sl_take(&r, guid, dlid, sl, lines_number(l));
		else
			read_report_skip(report, lines_number(l), "not understood: %.60s", s);
	}
	rc = lines_end(l, 0,
		       r.used ? NULL
			      : "no line of the form \"0xsource_guid dlid sl\" for this fabric",
		       err);
	if (!rc)
		rc = lines_whole(l, err);
	if (!rc)
		path_sl_choose_form(t, &r);
	free(r.sl);
	free(r.src);
	lines_free(l);
	return rc;
}

static void path_sl_write_line(struct text_out *o, uint64_t guid, uint32_t dlid, uint8_t sl)
{
	text_out_bytes(o, "0x", 2);
	text_out_hex(o, guid, 16);
	text_out_bytes(o, " ", 1);
	text_out_dec(o, dlid, 1);
	text_out_bytes(o, " ", 1);
	text_out_dec(o, sl, 1);
	text_out_bytes(o, "\n", 1);
}

static void path_sl_write_source(struct text_out *o, const struct fabric *f, const struct tables *t,
				 const struct source *s, const struct source *node, uint32_t ports)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t end = f->lid_end[lid];
		uint8_t sl;

		if (end == FAB_NONE || (end == s->term && (s != node || ports == 1)))
			continue;
		sl = tables_path_sl(t, s->term, f->term_sw[s->term], lid);
		if (s == node)
			path_sl_write_line(o, s->node_guid, lid, sl);
		else if (sl != tables_path_sl(t, node->term, f->term_sw[node->term], lid))
			path_sl_write_line(o, s->port_guid, lid, sl);
	}
}

int path_sl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct text_out *o = text_out_new(file);
	struct source *src = path_sl_sources_new(f);

	for (uint32_t i = 0, next; i < f->nend; i = next) {
		for (next = i + 1; next < f->nend && src[next].node_guid == src[i].node_guid;
		     next++)
			;
		for (uint32_t k = i; k < next; k++)
			path_sl_write_source(o, f, t, &src[k], &src[i], next - i);
		if (!text_out_step(o, next, f->nend))
			break;
	}
	free(src);
	return text_out_end(o, "path-sl.dump", err);
}
