/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibdiagnet/db_csv.h"

#include "fabric/base/file/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define COLUMNS 16  /* that are looked for in a section */
#define FIELDS	512 /* of a row that are looked at */

enum section { SECTION_NONE, SECTION_OTHER, SECTION_NODES, SECTION_PORTS, SECTION_LINKS };

enum { NODES_DESC, NODES_PORTS, NODES_TYPE, NODES_SYSTEM, NODES_GUID };
enum {
	PORTS_NODE,
	PORTS_GUID,
	PORTS_NUM,
	PORTS_LID,
	PORTS_LMC,
	PORTS_WIDTH,
	PORTS_SPEED,
	PORTS_STATE,
	PORTS_VLS
};
enum { LINKS_A, LINKS_PORT_A, LINKS_B, LINKS_PORT_B };

/* Those behind need may be missing. */
static const struct layout {
	const char *name;
	unsigned need;
	const char *columns[COLUMNS];
} layouts[] = {
	[SECTION_NODES] = { "NODES",
			    5,
			    { "NodeDesc", "NumPorts", "NodeType", "SystemImageGUID", "NodeGUID" } },
	[SECTION_PORTS] = { "PORTS",
			    4,
			    { "NodeGuid", "PortGuid", "PortNum", "LID", "LMC", "LinkWidthActv",
			      "LinkSpeedActv", "PortState", "OpVLs" } },
	[SECTION_LINKS] = { "LINKS", 4, { "NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2" } },
};

struct reader {
	struct builder *b;
	struct lines *l;
	struct read_report *report;
	struct err *err;
	enum section in;
	char name[64]; /* of the section */
	bool titled;   /* its columns are known */
	int column[COLUMNS];
	char *field[FIELDS];
	unsigned n;
	uint64_t nodes, links;
};

bool db_csv_begins(const char *head)
{
	const char *at = strstr(head, "START_");

	if (!at || (at != head && at[-1] != '\n' && (unsigned char)at[-1] < 0x80))
		return false;
	at += strcspn(at, "\r\n");
	at += strspn(at, "\r\n");
	return memchr(at, ',', strcspn(at, "\r\n")) != NULL;
}

/* Where a field ends; a quote ends one that began with it if a comma or the end of the line
 * follows. */
static char *db_csv_cut(char **s)
{
	char *field = *s, *end;

	if (*field != '"') {
		end = field + strcspn(field, ",");
		*s = *end ? end + 1 : NULL;
		*end = '\0';
		return field;
	}
	field++;
	for (end = field; *end && !(*end == '"' && (end[1] == ',' || !end[1])); end++)
		;
	*s = *end && end[1] ? end + 2 : NULL;
	*end = '\0';
	return field;
}

static char *db_csv_trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

static void db_csv_split(struct reader *x, char *s)
{
	x->n = 0;
	while (s && x->n < FIELDS) {
		s += strspn(s, " \t");
		x->field[x->n++] = db_csv_trim(db_csv_cut(&s));
	}
}

static int db_csv_take_title(struct reader *x)
{
	const struct layout *layout = &layouts[x->in];

	for (unsigned c = 0; c < COLUMNS && layout->columns[c]; c++) {
		x->column[c] = -1;
		for (unsigned i = 0; i < x->n && x->column[c] < 0; i++)
			if (!strcasecmp(x->field[i], layout->columns[c]))
				x->column[c] = (int)i;
		if (x->column[c] < 0 && c < layout->need)
			return err_set(x->err, -EINVAL,
				       "%s:%" PRIu64 ": section %s has no column %s",
				       lines_path(x->l), lines_number(x->l), layout->name,
				       layout->columns[c]);
	}
	x->titled = true;
	return 0;
}

static const char *db_csv_text(const struct reader *x, unsigned column)
{
	int c = x->column[column];

	return c < 0 || (unsigned)c >= x->n ? NULL : x->field[c];
}

static bool db_csv_number(uint64_t *out, const struct reader *x, unsigned column)
{
	const char *s = db_csv_text(x, column);
	bool hex = s && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

	return s && (hex ? scan_hex(out, &s) : scan_dec(out, &s)) && scan_end(&s);
}

/* Of columns that may be missing or "N/A". */
static uint64_t db_csv_number_or(const struct reader *x, unsigned column, uint64_t otherwise)
{
	uint64_t v;

	return db_csv_number(&v, x, column) ? v : otherwise;
}

static void db_csv_skip(struct reader *x, const char *why)
{
	read_report_skip(x->report, lines_number(x->l), "section %s: %.150s", x->name, why);
}

static void db_csv_take_node(struct reader *x)
{
	static const enum node_kind kinds[] = { NODE_CA, NODE_SWITCH, NODE_ROUTER };
	uint64_t guid, ports, type, system;
	struct err why = { "" };
	uint32_t id;

	if (!db_csv_number(&guid, x, NODES_GUID) || !db_csv_number(&ports, x, NODES_PORTS) ||
	    !db_csv_number(&type, x, NODES_TYPE) || type < 1 || type > 3 || !ports ||
	    ports > FAB_MAX_PORT) {
		db_csv_skip(x, "not a node");
		return;
	}
	if (builder_node(&id, x->b, kinds[type - 1], guid, (uint32_t)ports,
			 db_csv_text(x, NODES_DESC), &why)) {
		db_csv_skip(x, why.text);
		return;
	}
	if (db_csv_number(&system, x, NODES_SYSTEM))
		builder_set_system(x->b, id, system);
	x->nodes++;
	x->report->records++;
}

static bool db_csv_find(uint32_t *id, const struct reader *x, uint64_t guid)
{
	*id = builder_find(x->b, guid);
	if (*id != FAB_NONE)
		return true;
	read_report_gap(x->report, lines_number(x->l),
			"section %s: node 0x%016" PRIx64 " has no row in section NODES", x->name,
			guid);
	return false;
}

/* PortInfo's codes; a speed has a byte for each of its four fields. */
static const char *db_csv_rate(char buf[16], uint64_t width, uint64_t speed)
{
	static const struct {
		uint64_t code;
		const char *name;
	} widths[] = { { 1, "1x" }, { 2, "4x" }, { 4, "8x" }, { 8, "12x" }, { 16, "2x" } },
	  speeds[] = { { 1, "SDR" },	  { 2, "DDR" },		{ 4, "QDR" },
		       { 1 << 8, "FDR" }, { 2 << 8, "EDR" },	{ 4 << 8, "HDR" },
		       { 8 << 8, "NDR" }, { 1 << 16, "FDR10" }, { 1 << 24, "XDR" } };
	const char *w = "", *s = "";

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		if (widths[i].code == width)
			w = widths[i].name;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if (speeds[i].code == speed)
			s = speeds[i].name;
	snprintf(buf, 16, "%s%s", w, s);
	return buf;
}

static int db_csv_set_port(struct reader *x, uint32_t id, uint32_t port, struct err *why)
{
	static const enum port_state states[] = { PORT_UNKNOWN, PORT_DOWN, PORT_INIT, PORT_ARMED,
						  PORT_ACTIVE };
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };
	uint64_t state = db_csv_number_or(x, PORTS_STATE, 0);
	uint64_t op_vls = db_csv_number_or(x, PORTS_VLS, 0);
	uint64_t lid = db_csv_number_or(x, PORTS_LID, 0);
	uint64_t lmc = db_csv_number_or(x, PORTS_LMC, 0), guid;
	char rate[16];
	int rc = 0;

	if (db_csv_number(&guid, x, PORTS_GUID))
		rc = builder_port_guid(x->b, id, port, guid, why);
	if (!rc && lid && lid <= FAB_MAX_LID)
		rc = builder_port_lid(x->b, id, port, (uint32_t)lid, lmc <= 7 ? (uint32_t)lmc : 0,
				      why);
	if (!rc)
		rc = builder_port_state(x->b, id, port, states[state <= 4 ? state : 0],
					vls[op_vls <= 5 ? op_vls : 0], why);
	if (!rc && port)
		rc = builder_port_link(x->b, id, port,
				       db_csv_rate(rate, db_csv_number_or(x, PORTS_WIDTH, 0),
						   db_csv_number_or(x, PORTS_SPEED, 0)),
				       why);
	return rc;
}

static void db_csv_take_port(struct reader *x)
{
	struct err why = { "" };
	uint64_t guid, port;
	uint32_t id;

	if (!db_csv_number(&guid, x, PORTS_NODE) || !db_csv_number(&port, x, PORTS_NUM) ||
	    port > FAB_MAX_PORT) {
		db_csv_skip(x, "not a port");
		return;
	}
	if (!db_csv_find(&id, x, guid))
		return;
	if (db_csv_set_port(x, id, (uint32_t)port, &why))
		db_csv_skip(x, why.text);
	else
		x->report->records++;
}

static void db_csv_take_link(struct reader *x)
{
	uint64_t a, b, pa, pb;
	struct err why = { "" };
	uint32_t ida, idb;
	int rc;

	if (!db_csv_number(&a, x, LINKS_A) || !db_csv_number(&pa, x, LINKS_PORT_A) ||
	    !db_csv_number(&b, x, LINKS_B) || !db_csv_number(&pb, x, LINKS_PORT_B) || !pa || !pb ||
	    pa > FAB_MAX_PORT || pb > FAB_MAX_PORT) {
		db_csv_skip(x, "not a link");
		return;
	}
	if (!db_csv_find(&ida, x, a) || !db_csv_find(&idb, x, b))
		return;
	rc = builder_link(x->b, ida, (uint32_t)pa, idb, (uint32_t)pb, &why);
	if (rc == -EEXIST)
		read_report_gap(x->report, lines_number(x->l), "section LINKS: %.150s", why.text);
	else if (rc)
		db_csv_skip(x, why.text);
	else
		x->report->records++;
	x->links += !rc;
}

static void db_csv_end_section(struct reader *x)
{
	if (x->in >= SECTION_NODES)
		read_report_gap(x->report, lines_number(x->l), "section %s has no end", x->name);
	x->in = SECTION_NONE;
}

static void db_csv_begin_section(struct reader *x, const char *name)
{
	db_csv_end_section(x);
	x->in = SECTION_OTHER;
	x->titled = false;
	snprintf(x->name, sizeof(x->name), "%.60s", name);
	for (unsigned i = SECTION_NODES; i <= SECTION_LINKS; i++)
		if (!strcmp(x->name, layouts[i].name))
			x->in = (enum section)i;
}

static int db_csv_take_line(struct reader *x, char *s)
{
	s = db_csv_trim(s);
	if (!strncmp(s, "START_", 6)) {
		db_csv_begin_section(x, s + 6);
		return 0;
	}
	if (!strncmp(s, "END_", 4) && !strcmp(s + 4, x->name)) {
		x->in = SECTION_NONE;
		return 0;
	}
	if (x->in < SECTION_NODES)
		return 0;
	if (lines_unended(x->l)) {
		read_report_gap(x->report, lines_number(x->l),
				"the file ends in the middle of this line: it is truncated");
		return 0;
	}
	db_csv_split(x, s);
	if (!x->titled)
		return db_csv_take_title(x);
	if (x->in == SECTION_NODES)
		db_csv_take_node(x);
	else if (x->in == SECTION_PORTS)
		db_csv_take_port(x);
	else
		db_csv_take_link(x);
	return 0;
}

int db_csv_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		struct err *err)
{
	struct read_report own;
	struct reader x = { .b = b, .report = report ? report : &own, .err = err };
	char *s;
	int rc = 0;

	x.l = lines_new(file, path, x.report);
	while (!rc && (s = lines_next_data(x.l)))
		rc = db_csv_take_line(&x, s);
	if (!rc)
		db_csv_end_section(&x);
	rc = lines_end(x.l, rc,
		       !x.nodes	  ? "not an ibdiagnet2.db_csv: no row in a section NODES"
		       : !x.links ? "an ibdiagnet2.db_csv without cables: no row in a section LINKS"
				  : NULL,
		       err);
	lines_free(x.l);
	return rc;
}
