/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/switch_links.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define PORTS 256

struct switch_links *switch_links_new(uint32_t nsw, uint32_t nlink)
{
	struct switch_links *s = xcalloc(1, sizeof(*s));

	s->nsw = nsw;
	s->nlink = nlink;
	s->guid = xcalloc(nsw, sizeof(*s->guid));
	s->nports = xcalloc(nsw, sizeof(*s->nports));
	s->link = xcalloc(nlink, sizeof(*s->link));
	return s;
}

void switch_links_free(struct switch_links *s)
{
	if (!s)
		return;
	free(s->guid);
	free(s->nports);
	free(s->link);
	free(s);
}

struct switch_links *switch_links_of(const struct fabric *f)
{
	struct switch_links *s = switch_links_new(f->nsw, f->nchan / 2);
	uint32_t n = 0;

	memcpy(s->guid, f->sw_guid, f->nsw * sizeof(*s->guid));
	memcpy(s->nports, f->sw_nports, f->nsw * sizeof(*s->nports));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (c < f->chan_rev[c])
			s->link[n++] = (struct switch_link){ f->chan_src[c], f->chan_dst[c],
							     f->chan_port[c], f->chan_rport[c] };
	return s;
}

uint32_t *switch_links_peers(const struct switch_links *s)
{
	uint32_t *peer = xcalloc((size_t)s->nsw * PORTS, sizeof(*peer));

	memset(peer, 0xff, (size_t)s->nsw * PORTS * sizeof(*peer));
	for (uint32_t i = 0; i < s->nlink; i++) {
		const struct switch_link *l = &s->link[i];

		peer[(size_t)l->sw * PORTS + l->port] = l->to;
		peer[(size_t)l->to * PORTS + l->to_port] = l->sw;
	}
	return peer;
}
