/* SPDX-License-Identifier: GPL-2.0-or-later */
/* P_Key tables of hosts. */
#include "fabric/base/memory/vec.h"
#include "fabric/ib/bytes.h"
#include "fabric/wire/wire_priv.h"
#include "fabric/wire/wire_trace.h"

#include <errno.h>

static int wire_pkeys_ask(struct queue_answer *a, struct wire *w, const struct fabric *f,
			  uint32_t term, uint16_t attr, uint32_t mod, struct err *err)
{
	struct mad_request r;
	int rc;

	wire_smp_get(w, &r, attr, f->term_lid[term]);
	r.mod = mod;
	rc = queue_ask(a, w->queue, &r, NULL, "partitions", err);
	return rc ? err_set(err, -EIO, "P_Keys of %s, LID %u: %s", f->term_name[term],
			    f->term_lid[term], wire_rc_text(rc))
		  : 0;
}

static int wire_pkeys_block(struct pkeys *out, struct wire *w, const struct fabric *f,
			    uint32_t term, uint32_t block, struct err *err)
{
	struct queue_answer a;
	int rc = wire_pkeys_ask(&a, w, f, term, SMP_PKEYS, block, err);

	for (uint32_t i = 0; i < PKEYS_BLOCK && !rc; i++) {
		uint16_t key = be16_get(a.data + 2 * i);

		if (key & PKEY_VALUE)
			vec_push(out, key);
	}
	return rc;
}

/* Entries may be anywhere in it. */
static int wire_pkeys_rest(struct pkeys *out, struct wire *w, const struct fabric *f, uint32_t term,
			   struct err *err)
{
	struct queue_answer a;
	struct node_info ni;
	int rc = wire_pkeys_ask(&a, w, f, term, SMP_NODE_INFO, 0, err);

	if (!rc && node_info_decode(&ni, a.data))
		rc = err_set(err, -EIO, "%s: a broken NodeInfo", f->term_name[term]);
	for (uint32_t block = 1; !rc && block * PKEYS_BLOCK < ni.pkeys; block++)
		rc = wire_pkeys_block(out, w, f, term, block, err);
	return rc;
}

int wire_read_pkeys(struct pkeys out[2], struct wire *w, const struct fabric *f,
		    const uint32_t term[2], struct err *err)
{
	uint16_t shared;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = wire_pkeys_block(&out[i], w, f, term[i], 0, err);
	if (rc || pkeys_shared(&shared, &out[0], &out[1]))
		return rc;
	for (int i = 0; i < 2 && !rc; i++)
		rc = wire_pkeys_rest(&out[i], w, f, term[i], err);
	return rc;
}
