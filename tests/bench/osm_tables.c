/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/osm_tables.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *osm_tables_open_part(const char *prefix, const char *suffix)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s.%s", prefix, suffix);
	return fopen(name, "rb");
}

static int osm_tables_take_lids(struct builder *b, const char *prefix, struct err *err)
{
	FILE *in = osm_tables_open_part(prefix, "lids");
	uint64_t guid;
	unsigned lid, lmc;
	char kind;
	int rc = 0;

	if (!in)
		return err_set(err, -ENOENT, "%s.lids is missing", prefix);
	while (!rc && fscanf(in, " %c %" SCNx64 " %u %u", &kind, &guid, &lid, &lmc) == 4) {
		uint32_t id = builder_find(b, guid);

		if (id == FAB_NONE)
			rc = err_set(err, -EINVAL, "%s.lids: no node 0x%" PRIx64, prefix, guid);
		else
			rc = builder_port_lid(b, id, kind == 'H', lid, lmc, err);
	}
	fclose(in);
	return rc;
}

/* Rows of a GUID and row_len bytes; which row of the tables they are is for where() to say. */
static int osm_tables_take_rows(FILE *in, size_t row_len,
				uint8_t *(*where)(void *ctx, uint64_t guid), void *ctx,
				struct err *err)
{
	uint64_t guid;

	while (fread(&guid, sizeof(guid), 1, in) == 1) {
		uint8_t *row = where(ctx, guid);

		if (!row || fread(row, 1, row_len, in) != row_len)
			return err_set(err, -EINVAL, "the rows of 0x%" PRIx64 " are bad", guid);
	}
	return 0;
}

struct found {
	const struct fabric *f;
	struct tables *t;
	uint8_t *none; /* for rows that the tables do not have */
};

static uint8_t *osm_tables_lft_row(void *ctx, uint64_t guid)
{
	struct found *x = ctx;
	uint32_t sw = fabric_switch_by_guid(x->f, guid);

	return sw == FAB_NONE ? NULL : tables_row(x->t, sw);
}

/* Of its first port. */
static uint8_t *osm_tables_sl_row(void *ctx, uint64_t guid)
{
	struct found *x = ctx;

	for (uint32_t end = 0; end < x->f->nend; end++)
		if (x->f->term_node_guid[end] == guid)
			return end < x->f->nterm ? x->t->sl + (size_t)end * x->t->stride : x->none;
	return NULL;
}

static int osm_tables_take_tables(struct found *x, const char *prefix, struct err *err)
{
	FILE *lft = osm_tables_open_part(prefix, "lft"), *sl = osm_tables_open_part(prefix, "sl");
	unsigned max_lid = 0;
	int rc = 0;

	if (!lft || fread(&max_lid, sizeof(max_lid), 1, lft) != 1 || max_lid != x->f->max_lid)
		rc = err_set(err, -EINVAL, "%s.lft does not fit the fabric", prefix);
	if (!rc)
		rc = osm_tables_take_rows(lft, max_lid + 1, osm_tables_lft_row, x, err);
	if (!rc && sl) {
		tables_sl_form(x->t, SL_BY_TERM, x->f);
		rc = osm_tables_take_rows(sl, max_lid + 1, osm_tables_sl_row, x, err);
	}
	if (lft)
		fclose(lft);
	if (sl)
		fclose(sl);
	return rc;
}

bool osm_tables_know_sls(const char *prefix)
{
	FILE *in = osm_tables_open_part(prefix, "json");
	json_t *j = in ? json_loadf(in, 0, NULL) : NULL;
	bool known = json_is_true(json_object_get(j, "sls_known"));

	json_decref(j);
	if (in)
		fclose(in);
	return known;
}

static int osm_tables_freeze(struct fabric **out, const struct builder *b, struct err *err)
{
	struct freeze_opts opts = { .lmc = -1 };

	return builder_freeze(out, b, &opts, err);
}

int osm_tables_read(struct fabric **f, struct tables **t, struct builder *b, const char *prefix,
		    struct err *err)
{
	struct found x = { .f = NULL };
	int rc = osm_tables_take_lids(b, prefix, err);

	if (!rc)
		rc = osm_tables_freeze(f, b, err);
	if (rc)
		return rc;
	x = (struct found){ *f, tables_new(*f, TABLES_FILE), xcalloc((*f)->max_lid + 1u, 1) };
	*t = x.t;
	rc = osm_tables_take_tables(&x, prefix, err);
	free(x.none);
	return rc;
}
