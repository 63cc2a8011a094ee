/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/thresholds.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/process/apart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names as in PortCounters, limits as ibqueryerrors has them, fields as ports have them; NULL: not
 * among the counters that are read. */
static const struct limit {
	const char *name;
	uint64_t default_value;
	const char *field;
	int error; /* enum error_counter; ERROR_COUNT: none */
} limits[] = {
	{ "SymbolErrorCounter", 10, "symbol_errors", ERROR_SYMBOL },
	{ "LinkErrorRecoveryCounter", 10, "link_recovered", ERROR_LINK_RECOVERED },
	{ "LinkDownedCounter", 10, "link_downed", ERROR_LINK_DOWNED },
	{ "PortRcvErrors", 10, "rx_errors", ERROR_RX },
	{ "PortRcvRemotePhysicalErrors", 100, NULL, ERROR_RX_REMOTE },
	{ "PortRcvSwitchRelayErrors", 100, NULL, ERROR_RX_RELAY },
	{ "PortXmitDiscards", 100, "tx_discards", ERROR_TX_DISCARD },
	{ "PortXmitConstraintErrors", 100, NULL, ERROR_TX_CONSTRAINT },
	{ "PortRcvConstraintErrors", 100, NULL, ERROR_RX_CONSTRAINT },
	{ "LocalLinkIntegrityErrors", 10, NULL, ERROR_INTEGRITY },
	{ "ExcessiveBufferOverrunErrors", 10, NULL, ERROR_OVERRUN },
	{ "QP1Dropped", 100, NULL, ERROR_QP1_DROPPED },
	{ "VL15Dropped", 100, NULL, ERROR_VL15_DROPPED },
	{ "PortXmitWait", 1000, "tx_wait_ticks", ERROR_COUNT },
};
#define NLIMITS (sizeof(limits) / sizeof(limits[0]))

struct thresholds {
	FILE *in;
	const char *path;
	uint64_t limit[NLIMITS];
};

/* The limit of that line. */
static int thresholds_read_line(size_t *which, uint64_t *value, const char *s)
{
	size_t n;

	*which = NLIMITS;
	scan_blank(&s);
	n = strcspn(s, "= \t");
	for (size_t i = 0; i < NLIMITS; i++)
		if (strlen(limits[i].name) == n && !strncmp(limits[i].name, s, n))
			*which = i;
	s += n;
	scan_blank(&s);
	if (*which == NLIMITS || !scan_word(&s, "="))
		return -EINVAL;
	scan_blank(&s);
	return scan_dec(value, &s) && (scan_end(&s) || *s == '#') ? 0 : -EINVAL;
}

/* In a process that can do nothing else: number of the limit, value, line. */
static int thresholds_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	const struct thresholds *t = ctx;
	struct lines *l = lines_new(t->in, t->path, report);
	char *s;
	int rc = 0;

	while (!rc && (s = lines_next_data(l))) {
		size_t which;
		uint64_t value;

		rc = thresholds_read_line(&which, &value, s);
		if (rc)
			err_set(err, rc, "%s:%" PRIu64 ": not COUNTER=NUMBER: %.60s", t->path,
				lines_number(l), s);
		else
			bytes_put(out, (uint64_t[]){ which, value, lines_number(l) },
				  3 * sizeof(uint64_t));
	}
	rc = lines_end(l, rc, NULL, err);
	lines_free(l);
	return rc;
}

static int thresholds_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct thresholds *t = ctx;
	uint64_t v[3];

	(void)err;
	while (in->left > sizeof(struct read_report)) {
		bytes_take(in, v, sizeof(v));
		if (in->bad || v[0] >= NLIMITS)
			return -EPROTO;
		t->limit[v[0]] = v[1];
	}
	return 0;
}

int thresholds_filter(char **out, uint64_t limit[ERROR_COUNT], const char *path, struct err *err)
{
	struct thresholds t = { .in = fopen(path, "re"), .path = path };
	struct apart a = { .path = path,
			   .file = t.in,
			   .read = thresholds_read,
			   .take = thresholds_take,
			   .ctx = &t };
	FILE *text;
	size_t len;
	const char *with = "";
	int rc;

	*out = NULL;
	if (!t.in)
		return err_set(err, -errno, "%s cannot be read: %s", path, strerror(errno));
	for (size_t i = 0; i < NLIMITS; i++)
		t.limit[i] = limits[i].default_value;
	rc = apart_read(&a, NULL, err);
	fclose(t.in);
	if (rc)
		return rc;
	text = open_memstream(out, &len);
	for (size_t i = 0; i < NLIMITS; i++)
		if (limits[i].field) {
			fprintf(text, "%s%s>%" PRIu64, with, limits[i].field, t.limit[i]);
			with = " or ";
		}
	fclose(text);
	for (size_t i = 0; i < NLIMITS; i++)
		if (limits[i].error != ERROR_COUNT)
			limit[limits[i].error] = t.limit[i];
	return 0;
}
