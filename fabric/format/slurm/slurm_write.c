/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/slurm_write.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"

#include <stdlib.h>

/* The caller frees them; NULL: there are none. */
static char *slurm_write_nodes(const struct slurm_switch *s)
{
	return s->nnodes ? hostlist_compress(s->nodes, s->nnodes) : NULL;
}

static char *slurm_write_below(const struct slurm_topology *topo, const struct slurm_switch *s)
{
	const char **names;
	char *text;

	if (!s->nbelow)
		return NULL;
	names = xcalloc(s->nbelow, sizeof(*names));
	for (uint32_t i = 0; i < s->nbelow; i++)
		names[i] = slurm_topology_switch(topo, s->below[i])->name;
	text = hostlist_compress(names, s->nbelow);
	free(names);
	return text;
}

/* Each block has at least as many nodes as SLURM plans with. */
static uint32_t slurm_write_block_size(const struct slurm_topology *topo)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < slurm_topology_count(topo); i++) {
		uint32_t n = slurm_topology_switch(topo, i)->nnodes;

		least = n && n < least ? n : least;
	}
	return least == UINT32_MAX ? 1 : least;
}

/* That size, and those of blocks that belong together. */
static void slurm_write_block_sizes(FILE *out, const struct slurm_topology *topo, const char *begin,
				    const char *between, const char *end)
{
	uint32_t size = slurm_write_block_size(topo), n;
	const uint32_t *together = slurm_topology_together(topo, &n);

	fprintf(out, "%s%u", begin, size);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%u", between, size * together[i]);
	fputs(end, out);
}

void slurm_topology_write(FILE *out, const struct slurm_topology *topo)
{
	bool blocks = slurm_topology_is_blocks(topo);

	for (uint32_t i = 0; i < slurm_topology_count(topo); i++) {
		const struct slurm_switch *s = slurm_topology_switch(topo, i);
		char *nodes = slurm_write_nodes(s), *below = slurm_write_below(topo, s);

		fprintf(out, "%s=%s", blocks ? "BlockName" : "SwitchName", s->name);
		if (s->link_speed)
			fprintf(out, " LinkSpeed=%llu", (unsigned long long)s->link_speed);
		if (nodes)
			fprintf(out, " Nodes=%s", nodes);
		if (below)
			fprintf(out, " Switches=%s", below);
		fputc('\n', out);
		free(nodes);
		free(below);
	}
	if (blocks)
		slurm_write_block_sizes(out, topo, "BlockSizes=", ",", "\n");
}

/* In double quotes: "1" and "true" are names, too. */
static void slurm_write_quoted(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s: \"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputs("\"\n", out);
}

void slurm_yaml_write(FILE *out, const struct slurm_topology *topo, const char *name)
{
	bool blocks = slurm_topology_is_blocks(topo);

	slurm_write_quoted(out, "- topology", name);
	fprintf(out, "  cluster_default: true\n  %s:\n", blocks ? "block" : "tree");
	if (blocks)
		slurm_write_block_sizes(out, topo, "    block_sizes:\n      - ", "\n      - ",
					"\n");
	fprintf(out, "    %s:\n", blocks ? "blocks" : "switches");
	for (uint32_t i = 0; i < slurm_topology_count(topo); i++) {
		const struct slurm_switch *s = slurm_topology_switch(topo, i);
		char *nodes = slurm_write_nodes(s), *below = slurm_write_below(topo, s);

		slurm_write_quoted(out, blocks ? "      - block" : "      - switch", s->name);
		if (nodes)
			slurm_write_quoted(out, "        nodes", nodes);
		if (below)
			slurm_write_quoted(out, "        children", below);
		free(nodes);
		free(below);
	}
}
