/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/name_map.h"

#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct named {
	uint64_t guid;
	char *name;
};

/* A balanced tree: whoever writes the file chooses the GUIDs and their order. */
struct name_map {
	void *root;
	void *io_names, *io_guids; /* the same trees, of what is for I/O */
};

struct name_map *name_map_new(void)
{
	return xcalloc(1, sizeof(struct name_map));
}

static void name_map_free_entry(void *node)
{
	struct named *e = node;

	free(e->name);
	free(e);
}

void name_map_free(struct name_map *m)
{
	if (!m)
		return;
	tdestroy(m->root, name_map_free_entry);
	tdestroy(m->io_names, free);
	tdestroy(m->io_guids, free);
	free(m);
}

static int name_map_by_guid(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

void name_map_add(struct name_map *m, uint64_t node_guid, const char *name)
{
	struct named *e = xcalloc(1, sizeof(*e)), **at;

	e->guid = node_guid;
	at = tsearch(e, &m->root, name_map_by_guid);
	if (!at)
		guard_give_up(-ENOMEM, "out of memory for a name");
	if (*at != e)
		free(e);
	free((*at)->name);
	(*at)->name = plain_text(xstrdup(name), "");
}

struct name_map_visitor {
	void (*fn)(void *ctx, uint64_t node_guid, const char *name);
	void *ctx;
};

static void name_map_visit(const void *node, VISIT when, void *visitor)
{
	const struct named *e = *(const struct named *const *)node;
	const struct name_map_visitor *v = visitor;

	if (when == postorder || when == leaf)
		v->fn(v->ctx, e->guid, e->name);
}

void name_map_each(const struct name_map *m,
		   void (*fn)(void *ctx, uint64_t node_guid, const char *name), void *ctx)
{
	struct name_map_visitor v = { fn, ctx };

	twalk_r(m->root, name_map_visit, &v);
}

static int name_map_by_name(const void *x, const void *y)
{
	return strcmp(x, y);
}

static int name_map_by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Takes the key. */
static void name_map_put(void **root, void *key, int (*order)(const void *, const void *))
{
	void **at = tsearch(key, root, order);

	if (!at)
		guard_give_up(-ENOMEM, "out of memory for a name");
	if (*at != key)
		free(key);
}

void name_map_add_io(struct name_map *m, const char *name)
{
	name_map_put(&m->io_names, xstrdup(name), name_map_by_name);
}

void name_map_add_io_guid(struct name_map *m, uint64_t guid)
{
	uint64_t *key = xcalloc(1, sizeof(*key));

	*key = guid;
	name_map_put(&m->io_guids, key, name_map_by_value);
}

bool name_map_is_io(const struct name_map *m, const char *name, uint64_t port_guid,
		    uint64_t node_guid)
{
	return m && (tfind(name, &m->io_names, name_map_by_name) ||
		     tfind(&port_guid, &m->io_guids, name_map_by_value) ||
		     tfind(&node_guid, &m->io_guids, name_map_by_value));
}

const char *name_map_find(const struct name_map *m, uint64_t node_guid)
{
	const struct named key = { .guid = node_guid };
	struct named *const *at = m ? tfind(&key, &m->root, name_map_by_guid) : NULL;

	return at ? (*at)->name : NULL;
}
