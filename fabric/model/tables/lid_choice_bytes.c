/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/lid_choice_bytes.h"

#include "fabric/base/message/plain.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MAX_QUADRANT 65536u /* as in the file */

struct choice_head {
	char topology[sizeof(((struct lid_choice *)0)->topology)];
	uint32_t nsw, nclass, nexcept, lmc;
};

void lid_choice_put(bytes_out *out, const struct lid_choice *c)
{
	struct choice_head h = {
		.nsw = c->nsw, .nclass = c->nclass, .nexcept = c->nexcept, .lmc = c->lmc
	};

	memcpy(h.topology, c->topology, sizeof(h.topology));
	bytes_put(out, &h, sizeof(h));
	bytes_put(out, c->class, c->nsw * sizeof(*c->class));
	bytes_put(out, c->quadrant, c->nclass * sizeof(*c->quadrant));
	bytes_put(out, c->lids, (size_t)c->nclass * c->nclass * sizeof(*c->lids));
	bytes_put(out, c->except, c->nexcept * sizeof(*c->except));
}

/* Offsets below 2^lmc, and at least one for small messages, as the file must have it. */
static bool lid_choice_bytes_set_fits(struct lid_set s, uint8_t lmc)
{
	uint32_t all = lmc < 5 ? (1u << (1u << lmc)) - 1 : UINT32_MAX;

	return s.small && s.large && !(s.small & ~all) && !(s.large & ~all);
}

static bool lid_choice_bytes_fit(const struct lid_choice *c)
{
	for (uint32_t i = 0; i < c->nsw; i++)
		if (c->class[i] >= c->nclass)
			return false;
	for (uint32_t i = 0; i < c->nclass; i++)
		if (c->quadrant[i] >= MAX_QUADRANT)
			return false;
	for (size_t i = 0; i < (size_t)c->nclass * c->nclass; i++)
		if (!lid_choice_bytes_set_fits(c->lids[i], c->lmc))
			return false;
	for (uint32_t i = 0; i < c->nexcept; i++)
		if (c->except[i].src >= c->nsw || c->except[i].dst >= c->nsw ||
		    !lid_choice_bytes_set_fits(c->except[i].lids, c->lmc))
			return false;
	return true;
}

int lid_choice_take(struct lid_choice **out, struct bytes_in *in, const struct fabric *f)
{
	struct choice_head h;
	struct lid_choice *c;

	*out = NULL;
	bytes_take(in, &h, sizeof(h));
	if (in->bad || h.nsw != f->nsw || h.nclass > h.nsw || h.nexcept > in->left || h.lmc > 7 ||
	    (size_t)h.nclass * h.nclass > in->left)
		return -EPROTO;
	c = lid_choice_new(h.nsw, h.nclass, h.nexcept);
	h.topology[sizeof(h.topology) - 1] = '\0';
	memcpy(c->topology, plain_text(h.topology, ""), sizeof(c->topology));
	c->lmc = (uint8_t)h.lmc;
	bytes_take(in, c->class, c->nsw * sizeof(*c->class));
	bytes_take(in, c->quadrant, c->nclass * sizeof(*c->quadrant));
	bytes_take(in, c->lids, (size_t)c->nclass * c->nclass * sizeof(*c->lids));
	bytes_take(in, c->except, c->nexcept * sizeof(*c->except));
	if (in->bad || !lid_choice_bytes_fit(c)) {
		lid_choice_free(c);
		return -EPROTO;
	}
	*out = c;
	return 0;
}
