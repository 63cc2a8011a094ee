/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of switches: figures of all their ports together. */
#include "views/table/fields/fields_priv.h"

GETTER(fields_switches_get_name, c->text = switch_label(c->buf, NAME_LEN, r->s->fabric, row))
GETTER(fields_switches_get_guid, c->guid = r->s->fabric->sw_guid[row])
GETTER(fields_switches_get_lid, c->num = r->s->fabric->sw_lid[row])
GETTER(fields_switches_get_desc, c->text = r->s->fabric->sw_desc[row])

static void fields_switches_get_level(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct topology_kind *s = r->v->topology;

	if (s && s->kind == TOPOLOGY_TREE)
		c->text = topology_kind_level_name(c->buf, s, s->tree->row[sw]);
}

GETTER(fields_switches_get_ports, c->num = r->s->fabric->sw_nports[row])
GETTER(fields_switches_get_hosts, c->num = r->s->fabric->sw_nterm[row])
GETTER(fields_switches_get_links,
       c->num = r->s->fabric->chan_off[row + 1] - r->s->fabric->chan_off[row])

/* Ports with that problem, or with any. */
static void fields_switches_get_problems(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct fabric *f = r->s->fabric;

	if (c->of == PROBLEM_NO_REPLY && !r->s->sample)
		return;
	c->num = 0;
	for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
		uint8_t kind = r->v->problem[f->port_off[sw] + p];

		c->num += c->of == PROBLEM_NONE ? kind != PROBLEM_NONE : kind == c->of;
	}
}

/* Sum, or largest, of what is known; unknown when nothing is. */
static double fields_switches_over_ports(const struct value *c, const struct rows *r, uint32_t sw,
					 const struct rates *of, bool largest)
{
	const struct fabric *f = r->s->fabric;
	double sum = NAN;

	for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
		double v = field_rate(c, state_rate_of(r->s, of, f->port_off[sw] + p));

		if (!isnan(v))
			sum = isnan(sum) ? v : largest ? fmax(sum, v) : sum + v;
	}
	return sum;
}

GETTER(fields_switches_get_sum, c->num = fields_switches_over_ports(c, r, row, r->s->rates, false))
GETTER(fields_switches_get_max, c->num = fields_switches_over_ports(c, r, row, r->s->rates, true))
GETTER(fields_switches_get_then,
       c->num = fields_switches_over_ports(c, r, row, r->s->against, true))
GETTER(fields_switches_get_change,
       c->num = fields_switches_over_ports(c, r, row, r->s->rates, true) -
		fields_switches_over_ports(c, r, row, r->s->against, true))

static void fields_switches_largest_of(struct value *c, const struct rows *r, uint32_t sw,
				       bool effective)
{
	const struct metrics *m = state_metrics(r->s);
	const struct fabric *f = r->s->fabric;
	uint64_t most = 0;

	if (!m || (effective && !m->njob))
		return;
	for (uint32_t ch = f->chan_off[sw]; ch < f->chan_off[sw + 1]; ch++) {
		uint64_t v = (effective ? m->eff_efi : m->efi)[ch];

		most = v > most ? v : most;
	}
	c->num = (double)most;
}

GETTER(fields_switches_get_efi, fields_switches_largest_of(c, r, row, false))
GETTER(fields_switches_get_eff, fields_switches_largest_of(c, r, row, true))

static void fields_switches_get_dark(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct metrics *m = state_metrics(r->s);
	const struct fabric *f = r->s->fabric;

	if (!m || !m->njob)
		return;
	c->num = 0;
	for (uint32_t ch = f->chan_off[sw]; ch < f->chan_off[sw + 1]; ch++)
		c->num += !m->eff_efi[ch];
}

static void fields_switches_get_up(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct fabric *f = r->s->fabric;

	c->num = 0;
	for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
		c->num += port_cabled(fabric_port(f, sw, (uint8_t)p)) &&
			  r->v->problem[f->port_off[sw] + p] != PROBLEM_DOWN;
	}
}

/* Of a full row: a loop that compilers make vectors of. */
static uint32_t fields_switches_entries_of_block(const struct tables *t, uint32_t sw,
						 uint32_t block)
{
	const uint8_t *port = tables_row(t, sw) + (size_t)block * LFT_BLOCK;
	uint8_t n = 0;

	for (int i = 0; i < LFT_BLOCK; i++)
		n += port[i] != FAB_NO_PORT;
	return n;
}

static void fields_switches_get_entries(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct tables *t = state_tables(r->s);

	if (!t)
		return;
	c->num = -(double)(tables_row(t, sw)[0] != FAB_NO_PORT); /* LID 0 is no one's */
	for (uint32_t b = 0; b < tables_blocks(t); b++)
		c->num += fields_switches_entries_of_block(t, sw, b);
}

static void fields_switches_get_blocks(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct tables *t = state_tables(r->s);

	if (!t)
		return;
	c->num = 0;
	for (uint32_t b = 0; b < tables_blocks(t); b++)
		c->num += fields_switches_entries_of_block(t, sw, b) > 0;
}

static void fields_switches_get_sl2vl(struct value *c, const struct rows *r, uint32_t sw)
{
	static const char *const kinds[] = { "identity", "by input", "by port", "not read" };

	(void)sw;
	if (state_tables(r->s))
		c->text = kinds[r->s->tables->sl2vl_kind];
}

static void fields_switches_get_changed(struct value *c, const struct rows *r, uint32_t sw)
{
	const struct tables_diff *d = state_plan(r->s)->diff;
	uint32_t lo = 0, hi = d ? d->nblocks : 0;

	if (!d)
		return;
	c->num = 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (d->blocks[mid].sw < sw)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < d->nblocks && d->blocks[lo].sw == sw; lo++)
		c->num += d->blocks[lo].entries;
}

GETTER(fields_switches_get_note,
       field_note(c, row_notes_switch(r->s->row_notes, r->s->fabric, row)))

/* clang-format off */
const struct field fields_switches[] = {
	{ "name", "switch", "switch", "", VALUE_TEXT, 0, true, "its name", fields_switches_get_name, 0, NEED_ALL },
	{ "guid", NULL, "GUID", "", VALUE_GUID, 0, true, "node GUID", fields_switches_get_guid, 0, NEED_ALL },
	{ "lid", NULL, "LID", "", VALUE_COUNT, 0, true, "LID of port 0", fields_switches_get_lid, 0, NEED_ALL },
	{ "description", "desc", "description", "", VALUE_TEXT, 0, false, "NodeDescription", fields_switches_get_desc, 0, NEED_ALL },
	{ "level", NULL, "level", "", VALUE_TEXT, 0, true, "leaf, spine, ... of a tree", fields_switches_get_level, 0, NEED_ALL },
	{ "ports", NULL, "ports", "", VALUE_COUNT, 0, true, "number of ports", fields_switches_get_ports, 0, NEED_ALL },
	{ "hosts", NULL, "hosts", "", VALUE_COUNT, 0, true, "attached hosts", fields_switches_get_hosts, 0, NEED_ALL },
	{ "links", NULL, "links", "", VALUE_COUNT, 0, true, "cables to other switches", fields_switches_get_links, 0, NEED_ALL },
	{ "problems", NULL, "problems", "", VALUE_COUNT, 0, true, "ports with a problem", fields_switches_get_problems, 0, NEED_ALL },
	{ "down", NULL, "down", "", VALUE_COUNT, 0, false, "cabled ports that are not active", fields_switches_get_problems, PROBLEM_DOWN, NEED_ALL },
	{ "no_reply", "silent", "no reply", "", VALUE_COUNT, 0, false, "ports that did not respond", fields_switches_get_problems, PROBLEM_NO_REPLY, NEED_ALL },
	{ "tx_Bps", "tx", "tx", "B/s", VALUE_NUMBER, 0, true, "sent by all ports", fields_switches_get_sum, RATE(tx_Bps), NEED_ALL },
	{ "rx_Bps", "rx", "rx", "B/s", VALUE_NUMBER, 0, true, "received by all ports", fields_switches_get_sum, RATE(rx_Bps), NEED_ALL },
	{ "util_pct", "util", "util%", "%", VALUE_NUMBER, 2, true, "utilisation of its busiest port", fields_switches_get_max, RATE(util_pct), NEED_ALL },
	{ "wait_pct", "wait", "wait%", "%", VALUE_NUMBER, 2, true, "highest wait of its ports", fields_switches_get_max, RATE(wait_pct), NEED_ALL },
	{ "util_then_pct", "utilthen", "then%", "%", VALUE_NUMBER, 2, false, "utilisation of its busiest port at the other moment", fields_switches_get_then, RATE(util_pct), NEED_ALL },
	{ "util_change_pct", "utilchange", "change", "%", VALUE_NUMBER, 2, false, "utilisation of its busiest port less that of the busiest at the other moment", fields_switches_get_change, RATE(util_pct), NEED_ALL },
	{ "wait_then_pct", "waitthen", "wait then%", "%", VALUE_NUMBER, 2, false, "highest wait of its ports at the other moment", fields_switches_get_then, RATE(wait_pct), NEED_ALL },
	{ "wait_change_pct", "waitchange", "wait change", "%", VALUE_NUMBER, 2, false, "highest wait of its ports less that of the other moment", fields_switches_get_change, RATE(wait_pct), NEED_ALL },
	{ "errors_per_min", "errors", "errors", "/min", VALUE_NUMBER, 2, true, "sum over all ports", fields_switches_get_sum, RATE(errors_per_min), NEED_ALL },
	{ "efi", NULL, "EFI", "", VALUE_COUNT, 0, true, "highest EFI of its channels", fields_switches_get_efi, 0, NEED_ALL },
	{ "eff_efi", "eff", "job EFI", "", VALUE_COUNT, 0, true, "highest job EFI of its channels", fields_switches_get_eff, 0, NEED_ALL },
	{ "dark", NULL, "unused", "", VALUE_COUNT, 0, false, "unused channels: no path of a job crosses them", fields_switches_get_dark, 0, NEED_ALL },
	{ "up", NULL, "up", "", VALUE_COUNT, 0, false, "cabled ports that are not down", fields_switches_get_up, 0, NEED_ALL },
	{ "lft_entries", "entries", "entries", "", VALUE_COUNT, 0, false, "LIDs with an entry in its LFT", fields_switches_get_entries, 0, NEED_ALL },
	{ "lft_blocks", "blocks", "blocks", "", VALUE_COUNT, 0, false, "LFT blocks that hold an entry", fields_switches_get_blocks, 0, NEED_ALL },
	{ "sl2vl", NULL, "SL2VL", "", VALUE_TEXT, 0, false, "identity, by input or by port", fields_switches_get_sl2vl, 0, NEED_ALL },
	{ "changed", NULL, "changed", "", VALUE_COUNT, 0, false, "LFT entries that the plan changes", fields_switches_get_changed, 0, NEED_ALL },
	{ "note", NULL, "note", "", VALUE_TEXT, 0, true, "what was noted on it (:note)", fields_switches_get_note, 0, NEED_ALL },
};
FIELDS_END(fields_switches);
/* clang-format on */
