/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/slurm_topology_bytes.h"

#include "fabric/format/slurm/slurm_draft.h"

#include <errno.h>

struct switch_head {
	uint64_t link_speed, line;
	uint32_t nnodes, nbelow;
};

void slurm_topology_put(bytes_out *out, const struct slurm_topology *topo)
{
	uint32_t n = slurm_topology_count(topo);
	uint8_t blocks = slurm_topology_is_blocks(topo);

	bytes_put(out, &blocks, sizeof(blocks));
	bytes_put(out, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++)
		bytes_put_text(out, slurm_topology_switch(topo, i)->name);
	for (uint32_t i = 0; i < n; i++) {
		const struct slurm_switch *sw = slurm_topology_switch(topo, i);
		struct switch_head h = { sw->link_speed, sw->line, sw->nnodes, sw->nbelow };

		bytes_put(out, &h, sizeof(h));
		for (uint32_t k = 0; k < sw->nnodes; k++)
			bytes_put_text(out, sw->nodes[k]);
		bytes_put(out, sw->node_line, sw->nnodes * sizeof(*sw->node_line));
		bytes_put(out, sw->below, sw->nbelow * sizeof(*sw->below));
	}
}

/* NULL: there is none.  The draft's. */
static const char *slurm_topology_bytes_name(struct slurm_draft *d, struct bytes_in *in)
{
	char *text = bytes_take_text(in);
	const char *name = text && !in->bad ? arena_strdup(d->topo->arena, text) : NULL;

	free(text);
	return name;
}

static int slurm_topology_bytes_describe(struct slurm_draft *d, struct bytes_in *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *name = slurm_topology_bytes_name(d, in);

		if (!name)
			return -EPROTO;
		slurm_draft_describe(d, name, 0);
		if (d->list.n != i + 1u) /* that was there before */
			return -EPROTO;
	}
	return 0;
}

static int slurm_topology_bytes_fill(struct slurm_draft *d, struct bytes_in *in, uint32_t self)
{
	struct slurm_draft_switch *sw = &d->list.v[self];
	struct switch_head h;
	uint32_t below;

	bytes_take(in, &h, sizeof(h));
	sw->link_speed = h.link_speed;
	sw->line = h.line;
	for (uint32_t k = 0; k < h.nnodes; k++) {
		const char *name = slurm_topology_bytes_name(d, in);

		if (!name)
			return -EPROTO;
		vec_push(&sw->nodes, ((struct slurm_draft_node){ name, 0 }));
	}
	for (uint32_t k = 0; k < h.nnodes; k++)
		bytes_take(in, &sw->nodes.v[k].line, sizeof(sw->nodes.v[k].line));
	for (uint32_t k = 0; k < h.nbelow; k++) {
		bytes_take(in, &below, sizeof(below));
		if (in->bad || below >= d->list.n)
			return -EPROTO;
		vec_push(&sw->below, d->list.v[below].name);
	}
	return in->bad ? -EPROTO : 0;
}

int slurm_topology_take(struct slurm_topology **out, struct bytes_in *in)
{
	struct slurm_draft d;
	uint8_t blocks;
	uint32_t n;
	int rc;

	*out = NULL;
	slurm_draft_begin(&d, "", NULL, NULL);
	bytes_take(in, &blocks, sizeof(blocks));
	bytes_take(in, &n, sizeof(n));
	d.topo->blocks = blocks == 1;
	rc = slurm_topology_bytes_describe(&d, in, n);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = slurm_topology_bytes_fill(&d, in, i);
	return slurm_draft_end(out, &d, rc);
}
