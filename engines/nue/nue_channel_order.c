/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_channel_order.h"

#include "fabric/base/memory/mem.h"

#include <string.h>

void nue_channel_order_init(struct nue_channel_order *o, const struct fabric *f, struct arena *mem)
{
	o->chan = arena_alloc(mem, f->nchan, sizeof(*o->chan));
	o->in = arena_alloc(mem, f->nchan, sizeof(*o->in));
	o->out = arena_alloc(mem, f->nchan, sizeof(*o->out));
	o->fill = arena_alloc(mem, f->nsw, sizeof(*o->fill));
}

void nue_channel_order_sort(struct nue_channel_order *o, const struct fabric *f,
			    const uint32_t *place)
{
	for (uint32_t c = 0; c < f->nchan; c++)
		o->chan[place[c]] = c;
	memcpy(o->fill, f->chan_off, f->nsw * sizeof(*o->fill));
	for (uint32_t i = 0; i < f->nchan; i++) {
		uint32_t c = o->chan[i];

		o->in[o->fill[f->chan_dst[c]]++] =
			(struct nue_ordered_channel){ i, f->chan_src[c] };
	}
	memcpy(o->fill, f->chan_off, f->nsw * sizeof(*o->fill));
	for (uint32_t i = f->nchan; i-- > 0;) {
		uint32_t c = o->chan[i];

		o->out[o->fill[f->chan_src[c]]++] =
			(struct nue_ordered_channel){ i, f->chan_dst[c] };
	}
}
