/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/lid_policy.h"

#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define THOUSAND 1000u

struct count {
	uint32_t ports, switches;
};

static uint32_t lid_policy_quadrant_of(const struct lid_choice *c, uint32_t sw)
{
	return c->quadrant[c->class[sw]];
}

static uint32_t lid_policy_thousands(uint32_t n)
{
	return n > THOUSAND ? (n + THOUSAND - 1) / THOUSAND * THOUSAND : THOUSAND;
}

static int lid_policy_plan(struct lid_policy *p, const struct fabric *f, const struct count *count,
			   uint32_t nquadrant, struct err *err)
{
	uint32_t each = 1u << f->lmc, ports = 0, switches = 0;
	uint64_t end;

	for (uint32_t q = 0; q < nquadrant; q++) {
		uint32_t n = (count[q].ports + 1) * each; /* aligned; no LID 0 */

		ports = n > ports ? n : ports;
		switches = count[q].switches > switches ? count[q].switches : switches;
	}
	p->block = lid_policy_thousands(ports);
	p->sw_block = lid_policy_thousands(switches);
	p->switches = (nquadrant > 10 ? nquadrant : 10) * p->block;
	end = p->switches + (uint64_t)nquadrant * p->sw_block;
	if (end > FAB_MAX_LID) /* without spare LIDs except within the block */
		p->switches = nquadrant * p->block;
	end = p->switches + (uint64_t)(nquadrant - 1) * p->sw_block + count[nquadrant - 1].switches;
	if (end > FAB_MAX_LID)
		return err_set(err, -ENOSPC,
			       "LIDs by quadrant do not fit: %u quadrants of %u LIDs for "
			       "terminals and %u for switches exceed %u; lower the LMC or keep "
			       "the LIDs as they are",
			       nquadrant, p->block, p->sw_block, (unsigned)FAB_MAX_LID);
	return 0;
}

static void lid_policy_put(struct text_out *o, uint64_t guid, uint32_t lid, uint32_t n)
{
	text_out_fmt(o, "0x%016" PRIx64 " 0x%04x 0x%04x\n\n", guid, lid, lid + n - 1);
}

static int lid_policy_write_all(FILE *file, const struct fabric *f, const struct lid_choice *c,
				const struct lid_policy *p, struct count *used, struct err *err)
{
	struct text_out *o = text_out_new(file);
	uint32_t each = 1u << f->lmc;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t q = lid_policy_quadrant_of(c, u),
			 begin = (q * p->block + each - 1) / each * each;

		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			lid_policy_put(o, f->term_guid[f->term_list[k]],
				       begin + (used[q].ports++ + (q == 0)) * each, each);
	}
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t q = lid_policy_quadrant_of(c, u);

		lid_policy_put(o, f->sw_guid[u], p->switches + q * p->sw_block + used[q].switches++,
			       1);
	}
	return text_out_end(o, "the LIDs by quadrant", err);
}

int lid_policy_write(FILE *file, const struct fabric *f, const struct lid_choice *c,
		     struct lid_policy *out, struct err *err)
{
	struct lid_policy p;
	struct count *count;
	uint32_t nquadrant = 0;
	int rc;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (lid_policy_quadrant_of(c, u) >= nquadrant)
			nquadrant = lid_policy_quadrant_of(c, u) + 1;
	count = xcalloc(2 * (size_t)nquadrant, sizeof(*count));
	for (uint32_t u = 0; u < f->nsw; u++) {
		count[lid_policy_quadrant_of(c, u)].ports += f->term_off[u + 1] - f->term_off[u];
		count[lid_policy_quadrant_of(c, u)].switches++;
	}
	rc = lid_policy_plan(&p, f, count, nquadrant, err);
	if (!rc)
		rc = lid_policy_write_all(file, f, c, &p, count + nquadrant, err);
	if (!rc && out)
		*out = p;
	free(count);
	return rc;
}
