/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/slurm_yaml.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/format/slurm/slurm_draft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

/* What a topology may be made of: "tree: { switches: [ { switch: s1, nodes: ... } ] }". */
static const struct kind {
	const char *type, *list, *name;
} kinds[] = { { "tree", "switches", "switch" },
	      { "block", "blocks", "block" },
	      { "ring", "rings", "ring" } };

/* More than any topology has.  The parser compares each anchor with all others, and each token with
 * all lists that it is in; an alias of a few bytes is a list of any length. */
#define MAX_ANCHORS 1000
#define MAX_DEPTH   50
#define MAX_ITEMS   SLURM_DRAFT_NAMES /* of host lists, empty ones, too */
#define MAX_KEYS    50000000u	      /* looked at; keys of an alias are looked at every time */

struct reader {
	struct slurm_draft draft;
	VEC(unsigned char) text;
	yaml_parser_t parser;
	yaml_document_t doc;
	bool *seen;	/* nodes of doc that were read as a switch */
	uint64_t items; /* of lists of host lists */
	uint64_t keys;
};

bool slurm_yaml_is(const char *head)
{
	static const char bom[] = "\xef\xbb\xbf", key[] = "topology";

	if (!strncmp(head, bom, strlen(bom)))
		head += strlen(bom);
	for (; *head; head += strcspn(head, "\n"), head += *head == '\n') {
		const char *s = head + strspn(head, " \t-[{\"'\r");

		if (!*s || *s == '\n' || *s == '#' || *s == '%')
			continue;
		if (strncmp(s, key, strlen(key)))
			return false;
		s += strlen(key);
		s += strspn(s, "\"' \t");
		return *s == ':';
	}
	return false;
}

static uint64_t slurm_yaml_line_of(const yaml_node_t *n)
{
	return (uint64_t)n->start_mark.line + 1;
}

/* NULL for lists and mappings. */
static const char *slurm_yaml_text_of(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* The value of a key in a mapping, NULL where there is none. */
static const yaml_node_t *slurm_yaml_value_of(struct reader *x, const yaml_node_t *map,
					      const char *key)
{
	const yaml_node_pair_t *p;

	if (!map || map->type != YAML_MAPPING_NODE || x->keys > MAX_KEYS)
		return NULL;
	x->keys += (uint64_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *name = slurm_yaml_text_of(yaml_document_get_node(&x->doc, p->key));

		if (name && !strcasecmp(name, key))
			return yaml_document_get_node(&x->doc, p->value);
	}
	return NULL;
}

static size_t slurm_yaml_count_of(const yaml_node_t *seq)
{
	if (!seq || seq->type != YAML_SEQUENCE_NODE)
		return 0;
	return (size_t)(seq->data.sequence.items.top - seq->data.sequence.items.start);
}

static const yaml_node_t *slurm_yaml_item_of(struct reader *x, const yaml_node_t *seq, size_t i)
{
	return yaml_document_get_node(&x->doc, seq->data.sequence.items.start[i]);
}

/* A host list, or a list of them. */
static int slurm_yaml_read_names(struct reader *x, struct slurm_draft_switch *sw, bool nodes,
				 const yaml_node_t *list)
{
	const char *text = slurm_yaml_text_of(list);
	int rc = 0;

	if (text)
		return *text ? slurm_draft_names(&x->draft, sw, nodes, text,
						 slurm_yaml_line_of(list))
			     : 0;
	for (size_t i = 0; i < slurm_yaml_count_of(list) && !rc; i++) {
		const yaml_node_t *item = slurm_yaml_item_of(x, list, i);

		text = slurm_yaml_text_of(item);
		if (++x->items > MAX_ITEMS)
			rc = err_set(x->draft.err, -E2BIG,
				     "%s:%llu: the lists up to here have more than %d entries",
				     x->draft.path, (unsigned long long)slurm_yaml_line_of(list),
				     MAX_ITEMS);
		else if (text && *text)
			rc = slurm_draft_names(&x->draft, sw, nodes, text,
					       slurm_yaml_line_of(item));
	}
	return rc;
}

/* An alias of one that was read: all of its names again. */
static int slurm_yaml_read_first_time(struct reader *x, const yaml_node_t *item,
				      const struct kind *kind)
{
	bool *seen = &x->seen[item ? item - x->doc.nodes.start : 0];

	if (item && *seen)
		return err_set(x->draft.err, -EINVAL,
			       "%s:%llu: an entry of %s is used a second time by an alias",
			       x->draft.path, (unsigned long long)slurm_yaml_line_of(item),
			       kind->list);
	*seen = item;
	return 0;
}

static int slurm_yaml_read_switch(struct reader *x, const yaml_node_t *item,
				  const struct kind *kind)
{
	struct slurm_draft_switch *sw;
	const char *name;
	int rc = slurm_yaml_read_first_time(x, item, kind);

	if (rc)
		return rc;
	name = slurm_yaml_text_of(slurm_yaml_value_of(x, item, kind->name));
	if (!name || !*name)
		return err_set(x->draft.err, -EINVAL,
			       "%s:%llu: an entry of %s without a name: '%s: NAME' is missing",
			       x->draft.path, (unsigned long long)slurm_yaml_line_of(item),
			       kind->list, kind->name);
	sw = slurm_draft_describe(&x->draft, name, slurm_yaml_line_of(item));
	rc = slurm_yaml_read_names(x, sw, true, slurm_yaml_value_of(x, item, "nodes"));
	if (!rc)
		rc = slurm_yaml_read_names(x, sw, false, slurm_yaml_value_of(x, item, "children"));
	if (!rc && x->draft.report)
		x->draft.report->records++;
	return rc;
}

/* Its list of switches, blocks or rings; NULL for a flat one. */
static const yaml_node_t *slurm_yaml_parts_of(struct reader *x, const yaml_node_t *topology,
					      const struct kind **kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const yaml_node_t *list = slurm_yaml_value_of(
			x, slurm_yaml_value_of(x, topology, kinds[i].type), kinds[i].list);

		*kind = &kinds[i];
		if (slurm_yaml_count_of(list))
			return list;
	}
	return NULL;
}

static bool slurm_yaml_is_default(struct reader *x, const yaml_node_t *topology)
{
	const char *word = slurm_yaml_text_of(slurm_yaml_value_of(x, topology, "cluster_default"));

	return word && (!strcasecmp(word, "true") || !strcasecmp(word, "yes"));
}

/* The one that SLURM uses where a partition names none; a flat one has no switches. */
static const yaml_node_t *slurm_yaml_choose(struct reader *x, const yaml_node_t *root,
					    const struct kind **kind)
{
	const yaml_node_t *first = NULL, *list;
	size_t n = slurm_yaml_count_of(root);

	for (size_t i = 0; i < n && !first; i++)
		if (slurm_yaml_is_default(x, slurm_yaml_item_of(x, root, i)))
			first = slurm_yaml_item_of(x, root, i);
	if (!first && n)
		first = slurm_yaml_item_of(x, root, 0);
	list = slurm_yaml_parts_of(x, first, kind);
	for (size_t i = 0; i < n && !list; i++) {
		const yaml_node_t *other = slurm_yaml_item_of(x, root, i);
		const char *name = slurm_yaml_text_of(slurm_yaml_value_of(x, other, "topology"));

		list = slurm_yaml_parts_of(x, other, kind);
		if (list)
			read_report_warn(x->draft.report, slurm_yaml_line_of(first),
					 "the default topology has no switches: %.60s is used",
					 name ? name : "another one");
	}
	return list;
}

static int slurm_yaml_read_document(struct reader *x)
{
	const struct kind *kind = NULL;
	const yaml_node_t *list = slurm_yaml_choose(x, yaml_document_get_root_node(&x->doc), &kind);
	size_t n = slurm_yaml_count_of(list);
	int rc = 0;

	if (!n)
		return err_set(x->draft.err, -EINVAL,
			       "%s: not a topology.yaml: no topology with switches, blocks or "
			       "rings in it",
			       x->draft.path);
	x->draft.topo->blocks = !strcmp(kind->type, "block");
	x->seen = xcalloc((size_t)(x->doc.nodes.top - x->doc.nodes.start), sizeof(*x->seen));
	for (size_t i = 0; i < n && !rc; i++)
		rc = slurm_yaml_read_switch(x, slurm_yaml_item_of(x, list, i), kind);
	free(x->seen);
	return rc;
}

static int slurm_yaml_slurp(struct reader *x, FILE *file, struct err *err)
{
	unsigned char some[4096];
	size_t n;

	while ((n = fread(some, 1, sizeof(some), file)))
		for (size_t i = 0; i < n; i++)
			vec_push(&x->text, some[i]);
	vec_push(&x->text, '\0'); /* the parser wants an address, also of nothing */
	x->text.n--;
	return ferror(file) ? err_set(err, -EIO, "%s: cannot be read", x->draft.path) : 0;
}

static int slurm_yaml_not_yaml(const struct reader *x)
{
	const yaml_mark_t *at = &x->parser.problem_mark;

	return err_set(x->draft.err, -EINVAL, "%s:%llu: not YAML: %s", x->draft.path,
		       (unsigned long long)at->line + 1,
		       x->parser.problem ? x->parser.problem : "it cannot be read");
}

static bool slurm_yaml_open(struct reader *x)
{
	if (!yaml_parser_initialize(&x->parser))
		return false;
	yaml_parser_set_input_string(&x->parser, x->text.v, x->text.n);
	return true;
}

/* What an event adds: levels below others, and anchors. */
static void slurm_yaml_count(int *depth, uint32_t *anchors, const yaml_event_t *e)
{
	const yaml_char_t *anchor = NULL;

	if (e->type == YAML_SEQUENCE_START_EVENT)
		anchor = e->data.sequence_start.anchor;
	else if (e->type == YAML_MAPPING_START_EVENT)
		anchor = e->data.mapping_start.anchor;
	else if (e->type == YAML_SCALAR_EVENT)
		anchor = e->data.scalar.anchor;
	*anchors += anchor != NULL;
	*depth += e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT;
	*depth -= e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT;
}

/* The first document takes time in proportion to its text. */
static int slurm_yaml_check_form(struct reader *x)
{
	uint32_t anchors = 0;
	bool end = false;
	int depth = 0, rc = 0;

	while (!rc && !end) {
		yaml_event_t e;

		if (!yaml_parser_parse(&x->parser, &e)) {
			rc = slurm_yaml_not_yaml(x);
			break;
		}
		slurm_yaml_count(&depth, &anchors, &e);
		end = e.type == YAML_DOCUMENT_END_EVENT || e.type == YAML_STREAM_END_EVENT;
		if (depth > MAX_DEPTH || anchors > MAX_ANCHORS)
			rc = err_set(
				x->draft.err, -E2BIG,
				"%s:%llu: more than %d levels or %d anchors, as no topology has",
				x->draft.path, (unsigned long long)e.start_mark.line + 1, MAX_DEPTH,
				MAX_ANCHORS);
		yaml_event_delete(&e);
	}
	return rc;
}

static int slurm_yaml_load(struct reader *x)
{
	int rc;

	if (!yaml_parser_load(&x->parser, &x->doc))
		return slurm_yaml_not_yaml(x);
	rc = slurm_yaml_read_document(x);
	yaml_document_delete(&x->doc);
	return rc;
}

static int slurm_yaml_run(struct reader *x, int (*read)(struct reader *x))
{
	int rc;

	if (!slurm_yaml_open(x))
		return err_set(x->draft.err, -ENOMEM, "%s: out of memory while reading it",
			       x->draft.path);
	rc = read(x);
	yaml_parser_delete(&x->parser);
	return rc;
}

int slurm_yaml_read(struct slurm_topology **out, FILE *file, const char *path,
		    struct read_report *report, struct err *err)
{
	struct reader x = { 0 };
	int rc;

	read_report_begin(report, path);
	slurm_draft_begin(&x.draft, path, report, err);
	rc = slurm_yaml_slurp(&x, file, err);
	if (!rc)
		rc = slurm_yaml_run(&x, slurm_yaml_check_form);
	if (!rc)
		rc = slurm_yaml_run(&x, slurm_yaml_load);
	vec_free(&x.text);
	return slurm_draft_end(out, &x.draft, rc);
}
