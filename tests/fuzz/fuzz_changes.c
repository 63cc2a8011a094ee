/* SPDX-License-Identifier: GPL-2.0-or-later */
/* changes.bin of a transaction, whose checksum (in head.json) is right. */
#include "tests/fuzz/fuzz.h"

#include "fabric/plan/file/changefile.h"
#include "tests/fuzz/tiny.h"

#include <string.h>

static void check(struct changes *l)
{
	struct changes *again;
	struct err err;
	uint8_t *bytes;
	size_t len;
	char name[80];
	uint32_t missing;

	changefile_encode(&bytes, &len, l);
	FUZZ_NEED(!changefile_decode(&again, bytes, len, "again", &err));
	FUZZ_NEED(again->n == l->n && again->nwaves == l->nwaves && again->ndata == l->ndata);
	FUZZ_NEED(!memcmp(again->data, l->data, l->ndata));
	FUZZ_NEED(l->nlft + l->nsl2vl == l->n);
	missing = changes_bind(l, tiny_fabric());
	FUZZ_NEED(missing <= l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];

		FUZZ_NEED(c->at + 2 * change_bytes(c) <= l->ndata && c->wave < l->nwaves);
		change_name(name, sizeof(name), c, tiny_fabric());
		if (c->next != FAB_NONE)
			FUZZ_NEED(l->v[c->next].prev == i && l->v[c->next].wave > c->wave);
	}
	changes_free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct changes *l;
	struct err err = { "" };

	if (changefile_decode(&l, data, size, "changes.bin", &err)) {
		FUZZ_NEED(err.text[0]);
		return 0;
	}
	check(l);
	changes_free(l);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	struct plan *p;

	if (i >= TINY_PLANS)
		return false;
	p = tiny_plan(i);
	changefile_encode(out, len, p->changes);
	plan_free(p);
	return true;
}
