/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/wire_priv.h"

void wire_local(struct wire *w, struct mad_local *out)
{
	w->port.ops->local(w->port.ctx, out);
}

uint64_t wire_now_ns(struct wire *w)
{
	return w->port.ops->now_ns(w->port.ctx);
}
