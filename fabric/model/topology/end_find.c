/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/end_find.h"

#include "fabric/base/text/short_names.h"
#include "fabric/model/topology/host_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint16_t end_lid(const struct fabric *f, uint32_t end)
{
	return end < f->nend ? f->term_lid[end] : f->sw_lid[end - f->nend];
}

/* What tells a port from the others of its name, from the shortest on. */
enum mark { MARK_NONE, MARK_PORT, MARK_DEVICE, MARK_GUID_TAIL, MARK_GUID };

static void end_find_mark(char *buf, size_t len, const struct fabric *f, uint32_t term,
			  enum mark mark)
{
	const char *device = f->term_desc[term];

	buf[0] = '\0';
	device += strspn(device, " \t");
	device += strcspn(device, " \t");
	device += strspn(device, " \t");
	if (mark == MARK_PORT)
		snprintf(buf, len, "%u", f->term_ca_port[term]);
	else if (mark == MARK_DEVICE && *device)
		snprintf(buf, len, "%.*s/%u", (int)strcspn(device, " \t"), device,
			 f->term_ca_port[term]);
	else if (mark == MARK_GUID_TAIL)
		snprintf(buf, len, "%06lx", (unsigned long)f->term_guid[term] & 0xffffff);
	else if (mark == MARK_GUID)
		snprintf(buf, len, "0x%016lx", (unsigned long)f->term_guid[term]);
}

/* Has no other port of the name the same? */
static bool end_find_marks(const struct fabric *f, uint32_t term, enum mark mark)
{
	uint32_t first, n = host_names_twins(f, term, &first);
	char own[80], other[80];

	if (mark == MARK_NONE)
		return n < 2;
	end_find_mark(own, sizeof(own), f, term, mark);
	for (uint32_t i = 0; own[0] && i < n; i++) {
		uint32_t t = f->term_by_name[first + i];

		end_find_mark(other, sizeof(other), f, t, mark);
		if (t != term && !strcmp(own, other))
			return false;
	}
	return own[0] || mark == MARK_GUID;
}

/* Of what is routed to and not counted, which the names of hosts do not lead to. */
static enum mark end_find_uncounted_mark(const struct fabric *f, uint32_t end)
{
	enum mark mark = MARK_NONE;

	for (uint32_t e = 0; e < f->nend; e++) {
		if (e == end || strcmp(f->term_name[e], f->term_name[end]) != 0)
			continue;
		if ((f->term_guid[e] & 0xffffff) == (f->term_guid[end] & 0xffffff))
			return MARK_GUID;
		mark = MARK_GUID_TAIL;
	}
	return mark;
}

const char *end_name(char *buf, size_t len, const struct fabric *f, uint32_t end)
{
	enum mark mark = MARK_NONE;
	char text[80];

	if (end >= f->nend)
		snprintf(buf, len, "%s", f->sw_short[end - f->nend]);
	while (end < f->nterm && mark < MARK_GUID && !end_find_marks(f, end, mark))
		mark++;
	if (end >= f->nend)
		return buf;
	if (end >= f->nterm)
		mark = end_find_uncounted_mark(f, end);
	end_find_mark(text, sizeof(text), f, end, mark);
	snprintf(buf, len, "%s%s%s", f->term_name[end], mark ? "/" : "", text);
	return buf;
}

/* "n031/2", "n031/mlx5_0/1", "n031/001234", "n031/0x0002c90300001234" */
static bool end_find_is_marked(const struct fabric *f, uint32_t term, const char *text)
{
	size_t word = strlen(f->term_name[term]);
	char mark[80];

	if (strncmp(f->term_name[term], text, word) != 0 || text[word] != '/')
		return false;
	for (enum mark m = MARK_PORT; m <= MARK_GUID; m++) {
		end_find_mark(mark, sizeof(mark), f, term, m);
		if (mark[0] && !strcmp(mark, text + word + 1))
			return true;
	}
	return false;
}

/* Ends of that very name: the first two in found, and how many. */
static uint32_t end_find_by_name(const struct fabric *f, const char *text, uint32_t found[2])
{
	bool slash = strchr(text, '/') != NULL;
	uint32_t n = 0;

	for (uint32_t e = 0; e < f->nend + f->nsw; e++) {
		const char *name = e < f->nend ? f->term_name[e] : f->sw_name[e - f->nend];
		bool same = !strcmp(name, text) ||
			    (e >= f->nend && !strcmp(f->sw_short[e - f->nend], text));

		if (!same && slash && e < f->nend)
			same = end_find_is_marked(f, e, text);
		if (same && n++ < 2)
			found[n - 1] = e;
	}
	return n;
}

/* Is an end shown so by its name, or a port by that and its number, or what tells it apart? */
static bool end_find_is_shown_so(const struct fabric *f, uint32_t end, const char *text, size_t len)
{
	const char *name = end < f->nend ? f->term_name[end] : f->sw_short[end - f->nend];
	char own[END_NAME_LEN], mark[80];

	if (short_name_is_of(text, len, name))
		return true;
	for (enum mark m = MARK_PORT; end < f->nend && m <= MARK_GUID; m++) {
		end_find_mark(mark, sizeof(mark), f, end, m);
		snprintf(own, sizeof(own), "%s/%s", name, mark);
		if (mark[0] && short_name_is_of(text, len, own))
			return m == MARK_PORT ||
			       short_name_is_of(text, len, end_name(own, sizeof(own), f, end));
	}
	return false;
}

/* The first counted end, in the order of names, whose name begins so or comes behind. */
static uint32_t end_find_first(const struct fabric *f, const char *text, size_t len)
{
	uint32_t lo = 0, hi = f->nterm;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strncmp(f->term_name[f->term_by_name[mid]], text, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first two in found; counts no more than most. */
static uint32_t end_find_shown(uint32_t found[2], uint32_t most, const struct fabric *f,
			       const char *text)
{
	const char *gap = strstr(text, "..");
	size_t len = strlen(text), head = gap ? (size_t)(gap - text) : 0;
	size_t name = strcspn(text, "/") < head ? strcspn(text, "/") : head;
	uint32_t n = 0;

	if (!head || !gap[2])
		return 0;
	for (uint32_t i = end_find_first(f, text, name); i < f->nterm && n < most; i++) {
		uint32_t end = f->term_by_name[i];

		if (strncmp(f->term_name[end], text, name) != 0)
			break;
		if (end_find_is_shown_so(f, end, text, len) && n++ < 2)
			found[n - 1] = end;
	}
	for (uint32_t end = f->nterm; end < f->nend + f->nsw && n < most; end++) {
		const char *own = end < f->nend ? f->term_name[end] : f->sw_short[end - f->nend];

		if (!strncmp(own, text, name) && end_find_is_shown_so(f, end, text, len) && n++ < 2)
			found[n - 1] = end;
	}
	return n;
}

uint32_t end_shown_so(const struct fabric *f, const char *text)
{
	uint32_t found[2];

	return end_find_shown(found, 2, f, text) == 1 ? found[0] : FAB_NONE;
}

static int end_find_refuse_shown(const struct fabric *f, const char *text, uint32_t n,
				 const uint32_t found[2], struct err *err)
{
	char a[END_NAME_LEN], b[END_NAME_LEN], more[32] = "";

	if (n > 2)
		snprintf(more, sizeof(more), " or %u more", n - 2);
	return err_set(err, -EINVAL, "\"%s\" may be %s%s%s%s", text,
		       end_name(a, sizeof(a), f, found[0]), n > 2 ? ", " : " or ",
		       end_name(b, sizeof(b), f, found[1]), more);
}

static uint32_t end_find_by_guid(const struct fabric *f, uint64_t guid)
{
	uint32_t i = fabric_term_by_guid(f, guid);

	if (i != FAB_NONE)
		return i;
	i = fabric_switch_by_guid(f, guid);
	if (i != FAB_NONE)
		return f->nend + i;
	for (i = 0; i < f->nend; i++)
		if (f->term_guid[i] == guid || f->term_node_guid[i] == guid)
			return i;
	return FAB_NONE;
}

static int end_find_by_number(uint32_t *end, uint16_t *lid, const struct fabric *f,
			      const char *text, struct err *err)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *rest;
	uint64_t v = strtoull(text, &rest, hex ? 16 : 10);

	if (*rest)
		return err_set(err, -ENOENT, "no host or switch has the name \"%s\"", text);
	if (hex && strlen(text) > 6) {
		*end = end_find_by_guid(f, v);
		if (*end == FAB_NONE)
			return err_set(err, -ENOENT, "no port or node has the GUID %s", text);
		*lid = end_lid(f, *end);
		return 0;
	}
	*end = v <= FAB_MAX_LID ? fabric_lid_end(f, (uint32_t)v) : FAB_NONE;
	if (*end == FAB_NONE)
		return err_set(err, -ENOENT, "no port has LID %s", text);
	*lid = (uint16_t)v;
	return 0;
}

int end_find(uint32_t *end, uint16_t *lid, const struct fabric *f, const char *text,
	     struct err *err)
{
	uint32_t found[2], n;
	char a[128], b[128];

	if (!text[0])
		return err_set(err, -ENOENT, "a name, a LID or a GUID is needed");
	n = end_find_by_name(f, text, found);
	if (n > 1 && (found[0] >= f->nend || strcmp(end_name(a, sizeof(a), f, found[0]), text)))
		return err_set(err, -EINVAL, "%u have the name \"%s\": use %s, %s or a LID or GUID",
			       n, text, end_name(a, sizeof(a), f, found[0]),
			       end_name(b, sizeof(b), f, found[1]));
	if (!n) {
		n = end_find_shown(found, UINT32_MAX, f, text);
		if (n > 1)
			return end_find_refuse_shown(f, text, n, found, err);
	}
	if (n) {
		*end = found[0];
		*lid = end_lid(f, *end);
		return 0;
	}
	if (isdigit((unsigned char)text[0]))
		return end_find_by_number(end, lid, f, text, err);
	return err_set(err, -ENOENT, "no host or switch has the name \"%s\"", text);
}

/* Behind a port of an end; FAB_NONE: no cable, or no such port. */
static uint32_t end_find_behind(const struct fabric *f, uint32_t end, unsigned long port)
{
	uint32_t sw = end - f->nend;
	const struct port *p;

	if (end < f->nend)
		return port == f->term_ca_port[end] ? f->nend + f->term_sw[end] : FAB_NONE;
	if (!port || port > f->sw_nports[sw])
		return FAB_NONE;
	p = fabric_port(f, sw, (uint8_t)port);
	if (p->chan != FAB_NONE)
		return f->nend + f->chan_dst[p->chan];
	return p->term;
}

static int end_find_by_route(uint32_t *end, const struct fabric *f, const char *text, uint32_t here,
			     struct err *err)
{
	const char *at = text;
	char name[128];

	if (here == FAB_NONE)
		return err_set(
			err, -ENOTSUP,
			"%s: a directed route starts at the port of this machine: it needs a live "
			"fabric, not files",
			text);
	for (*end = here; *at; at += *at == ',') {
		char *rest;
		unsigned long port = strtoul(at, &rest, 10);
		uint32_t next = at == text && !port ? here : end_find_behind(f, *end, port);

		if (rest == at || !isdigit((unsigned char)*at) || (*rest && *rest != ','))
			return err_set(
				err, -EINVAL,
				"%s: not a directed route: give output ports separated by commas, "
				"such as 0,1,17",
				text);
		if (next == FAB_NONE)
			return err_set(err, -EINVAL, "%s: nothing is behind port %lu of %s", text,
				       port, end_name(name, sizeof(name), f, *end));
		*end = next;
		at = rest;
	}
	return 0;
}

int end_find_as(uint32_t *end, uint16_t *lid, const struct fabric *f, enum end_as as,
		const char *text, uint32_t here, struct err *err)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t v;
	char *rest;
	int rc;

	if (as == END_ANY)
		return end_find(end, lid, f, text, err);
	if (as == END_ROUTE) {
		rc = end_find_by_route(end, f, text, here, err);
		*lid = rc ? 0 : end_lid(f, *end);
		return rc;
	}
	v = strtoull(text, &rest, as == END_GUID || hex ? 16 : 10);
	if (!isxdigit((unsigned char)text[0]) || *rest || (as == END_LID && v > FAB_MAX_LID))
		return err_set(err, -EINVAL, "%s is not a %s", text,
			       as == END_LID ? "LID" : "GUID");
	if (as == END_LID)
		return end_find_by_number(end, lid, f, text, err);
	*end = end_find_by_guid(f, v);
	if (*end == FAB_NONE)
		return err_set(err, -ENOENT, "no port or node has the GUID %s", text);
	*lid = end_lid(f, *end);
	return 0;
}

/* 0 begins with the text, 1 has it inside, 2 neither */
static int end_find_fits(const struct fabric *f, uint32_t end, const char *text, size_t len)
{
	const char *name = end < f->nend ? f->term_name[end] : f->sw_short[end - f->nend];
	char with_port[128];

	if (!strncasecmp(name, text, len))
		return 0;
	if (strcasestr(name, text) ||
	    (end >= f->nend && strcasestr(f->sw_name[end - f->nend], text)))
		return 1;
	if (end >= f->nend || !strchr(text, '/'))
		return 2;
	return strncasecmp(end_name(with_port, sizeof(with_port), f, end), text, len) ? 2 : 0;
}

uint32_t end_complete(uint32_t *out, uint32_t max, const struct fabric *f, const char *text)
{
	uint32_t n = 0;
	size_t len = strlen(text);

	for (int how = 0; how < 2; how++)
		for (uint32_t i = 0; i < f->nend + f->nsw; i++) {
			uint32_t end = i < f->nterm ? f->term_by_name[i] : i;

			if (end_find_fits(f, end, text, len) == how && n++ < max)
				out[n - 1] = end;
		}
	return n;
}
