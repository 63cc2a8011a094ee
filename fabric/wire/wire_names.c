/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hosts are called now, asked over the tables that are installed. */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/model/topology/host_names.h"
#include "fabric/wire/wire_priv.h"

#include <stdlib.h>
#include <string.h>

struct naming {
	struct wire *w;
	const struct fabric *f;
	char **desc; /* by end; NULL: as it was, or no answer */
	uint32_t at;
	uint64_t total;
};

static bool wire_names_next(void *ctx, struct queue_request *out)
{
	struct naming *s = ctx;

	if (s->at == s->f->nterm)
		return false;
	wire_smp_get(s->w, &out->mad, SMP_NODE_DESC, s->f->term_lid[s->at]);
	out->node = QUEUE_NO_NODE;
	out->tries = 2;
	out->tag = s->at++;
	return true;
}

static void wire_names_done(void *ctx, const struct queue_request *req, int rc,
			    const struct mad_answer *a)
{
	struct naming *s = ctx;
	char desc[SMP_DATA + 1];

	if (rc)
		return;
	node_desc_decode(desc, a->data);
	plain_text(desc, "\t");
	if (strcmp(desc, s->f->term_desc[req->tag]) != 0)
		s->desc[req->tag] = xstrdup(desc);
}

int wire_read_names(struct fabric **out, struct wire *w, const struct fabric *f,
		    struct progress *progress, struct err *err)
{
	struct naming s = { .w = w, .f = f, .total = f->nterm };
	struct queue_source src = {
		.next = wire_names_next, .done = wire_names_done, .ctx = &s, .total = &s.total
	};
	bool any = false;
	int rc;

	*out = NULL;
	s.desc = xcalloc(f->nend, sizeof(*s.desc));
	rc = queue_run(w->queue, &src, progress, "ask names", err);
	for (uint32_t t = 0; t < f->nend; t++)
		any = any || s.desc[t];
	if (any)
		*out = fabric_renamed(f, s.desc);
	for (uint32_t t = 0; t < f->nend; t++)
		free(s.desc[t]);
	free(s.desc);
	return rc;
}
