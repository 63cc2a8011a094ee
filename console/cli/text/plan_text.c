/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/plan_text.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/text/json_text.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/plan/drain_names.h"

#include <inttypes.h>
#include <stdlib.h>

void plan_print(FILE *out, const struct plan *p)
{
	const struct tables_diff *d = p->diff;

	fprintf(out,
		"\nplan %s for fabric %s: %u of %u LFT blocks (%" PRIu64 " entries) and %u SL2VL "
		"tables on %u of %u switches",
		p->id, p->fabric->name, d->nblocks, d->blocks_all, d->entries, d->nsl2vl,
		d->switches, p->fabric->nsw);
	if (d->sl_pairs)
		fprintf(out, "; service levels change for %" PRIu64 " paths", d->sl_pairs);
	fputc('\n', out);
}

void plan_print_strangers(FILE *out, const struct plan *p)
{
	size_t size = 64 + 340 * (size_t)p->drain.nlid;
	char *who;

	if (!p->drain.known || !p->drain.unassigned_lids)
		return;
	who = xcalloc(size, 1);
	drain_unassigned_text(who, size, &p->drain, p->fabric, p->jobs);
	fprintf(out, "pause what sends to LIDs of no job: %s (apply --accept-strangers)\n", who);
	free(who);
}

void plan_print_names(FILE *out, const struct plan *p)
{
	char who[600];

	drain_names_text(who, sizeof(who), &p->drain, p->fabric, p->jobs);
	if (who[0])
		fprintf(out,
			"names that several hosts may have: %s: say which is meant "
			"(--node-name-map, or apply --accept-names)\n",
			who);
}

void plan_print_files(FILE *out, const struct plan *p)
{
	char hex[DIGEST_HEX];

	for (uint32_t i = 0; i < p->files.n; i++)
		fprintf(out, "%s read from %s, SHA-256 %s\n", p->files.file[i].kind,
			p->files.file[i].path, digest_hex(hex, &p->files.file[i].sha256));
}

bool plan_sls_assumed(const struct plan *p)
{
	return p->diff->sl_pairs && !tables_know_sls(p->from);
}

void plan_add_cost(json_t *j, const struct plan *p)
{
	const struct tables_diff *d = p->diff;

	json_object_set_new(j, "lft_blocks", json_integer(d->nblocks));
	json_object_set_new(j, "lft_entries", json_integer((json_int_t)d->entries));
	json_object_set_new(j, "sl2vl_tables", json_integer(d->nsl2vl));
	json_object_set_new(j, "switches", json_integer(d->switches));
	json_object_set_new(j, "sl_paths", json_integer((json_int_t)d->sl_pairs));
	json_object_set_new(j, "vls_needed", json_integer(p->vls_needed));
}

json_t *plan_drain_jobs_json(const struct plan *p)
{
	const struct drain *d = &p->drain;
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->njob; i++) {
		const struct job *job = &p->jobs->jobs[d->job[i].job];

		json_array_append_new(list, json_pack("{s:I, s:I, s:b}", "id", (json_int_t)job->id,
						      "ports", (json_int_t)job->nterm, "needed",
						      d->job[i].needed));
	}
	return list;
}

/* --- entry by entry ---------------------------------------------------------------------- */

typedef void entry_fn(const struct plan *p, uint32_t sw, uint32_t lid, uint8_t from, uint8_t to,
		      void *arg);

#define SAY_BLOCKS 1024

/* tables_diff names the blocks in order of switches and LIDs.  Tells file_progress(). */
static void plan_text_each_entry(const struct plan *p, entry_fn *fn, void *arg)
{
	for (uint32_t b = 0; b < p->diff->nblocks; b++) {
		uint32_t sw = p->diff->blocks[b].sw, lid = p->diff->blocks[b].block * LFT_BLOCK;

		if (b % SAY_BLOCKS == 0)
			progress_step(file_progress(), "writing", b, p->diff->nblocks);
		for (uint32_t end = lid + LFT_BLOCK; lid < end && lid <= p->to->max_lid; lid++) {
			uint8_t from = tables_row(p->from, sw)[lid];
			uint8_t to = tables_row(p->to, sw)[lid];

			if (from != to)
				fn(p, sw, lid, from, to, arg);
		}
	}
}

static const char *plan_text_owner(char *buf, size_t len, const struct plan *p, uint32_t lid)
{
	uint32_t end = fabric_lid_end(p->fabric, lid);

	return end == FAB_NONE ? NULL : end_name(buf, len, p->fabric, end);
}

static const char *plan_text_port_text(char buf[8], uint8_t port)
{
	snprintf(buf, 8, port == FAB_NO_PORT ? "none" : "%u", port);
	return buf;
}

static void plan_text_print_entry(const struct plan *p, uint32_t sw, uint32_t lid, uint8_t from,
				  uint8_t to, void *arg)
{
	char name[300], a[8], b[8];
	const char *who = plan_text_owner(name, sizeof(name), p, lid);

	fprintf(arg, "%s LID %u (%s): port %s -> %s\n", p->fabric->sw_short[sw], lid,
		who ? who : "unassigned", plan_text_port_text(a, from), plan_text_port_text(b, to));
}

void plan_print_diff(FILE *out, const struct plan *p)
{
	plan_text_each_entry(p, plan_text_print_entry, out);
	for (uint32_t i = 0; i < p->diff->nsl2vl; i++)
		fprintf(out, "%s SL2VL table of input port %u and output port %u\n",
			p->fabric->sw_short[p->diff->sl2vl[i].sw], p->diff->sl2vl[i].in,
			p->diff->sl2vl[i].out);
}

static json_t *plan_text_port_json(uint8_t port)
{
	return port == FAB_NO_PORT ? json_null() : json_integer(port);
}

static json_t *plan_text_switch_json(const struct plan *p, uint32_t sw)
{
	json_t *j = json_object();

	json_object_set_new(j, "switch", json_text(p->fabric->sw_name[sw]));
	json_object_set_new(j, "guid",
			    json_sprintf("0x%016lx", (unsigned long)p->fabric->sw_guid[sw]));
	return j;
}

static void plan_text_add_entry(const struct plan *p, uint32_t sw, uint32_t lid, uint8_t from,
				uint8_t to, void *arg)
{
	char name[300];
	const char *who = plan_text_owner(name, sizeof(name), p, lid);
	json_t *j = plan_text_switch_json(p, sw);

	json_object_set_new(j, "lid", json_integer(lid));
	json_object_set_new(j, "owner", who ? json_text(who) : json_null());
	json_object_set_new(j, "from_port", plan_text_port_json(from));
	json_object_set_new(j, "to_port", plan_text_port_json(to));
	json_array_append_new(arg, j);
}

json_t *plan_diff_json(const struct plan *p)
{
	json_t *entries = json_array(), *sl2vl = json_array();

	plan_text_each_entry(p, plan_text_add_entry, entries);
	for (uint32_t i = 0; i < p->diff->nsl2vl; i++) {
		json_t *j = plan_text_switch_json(p, p->diff->sl2vl[i].sw);

		json_object_set_new(j, "in_port", json_integer(p->diff->sl2vl[i].in));
		json_object_set_new(j, "out_port", json_integer(p->diff->sl2vl[i].out));
		json_array_append_new(sl2vl, j);
	}
	return json_pack("{s:o, s:o}", "lft", entries, "sl2vl", sl2vl);
}
