/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/multicast/mcast.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdlib.h>

void mcast_add(struct mcast *m, uint16_t mlid, uint32_t sw, uint8_t port)
{
	vec_push(m, ((struct mcast_entry){ .mlid = mlid, .port = port, .sw = sw }));
}

static int mcast_compare(const void *x, const void *y)
{
	const struct mcast_entry *a = x, *b = y;

	if (a->mlid != b->mlid)
		return (a->mlid > b->mlid) - (a->mlid < b->mlid);
	if (a->sw != b->sw)
		return (a->sw > b->sw) - (a->sw < b->sw);
	return (a->port > b->port) - (a->port < b->port);
}

void mcast_sort(struct mcast *m)
{
	size_t n = 0;

	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), mcast_compare);
	for (size_t i = 0; i < m->n; i++)
		if (!n || mcast_compare(&m->v[n - 1], &m->v[i]))
			m->v[n++] = m->v[i];
	m->n = n;
}

void mcast_end(struct mcast *m)
{
	vec_free(m);
}

void mcast_put(bytes_out *out, const struct mcast *m)
{
	uint64_t n = m->n;

	bytes_put(out, &n, sizeof(n));
	bytes_put(out, m->v, m->n * sizeof(*m->v));
}

int mcast_take(struct mcast *m, struct bytes_in *in, const struct fabric *f)
{
	uint64_t n;

	bytes_take(in, &n, sizeof(n));
	if (in->bad || n > in->left / sizeof(*m->v))
		return -EPROTO;
	vec_reserve(m, n);
	if (n)
		bytes_take(in, m->v, n * sizeof(*m->v));
	m->n = n;
	for (size_t i = 0; i < m->n; i++) {
		const struct mcast_entry *e = &m->v[i];

		if (e->mlid < MCAST_LID_MIN || e->mlid > MCAST_LID_MAX || e->sw >= f->nsw ||
		    e->port > f->sw_nports[e->sw] || (i && mcast_compare(e - 1, e) >= 0))
			return -EPROTO;
	}
	return 0;
}
