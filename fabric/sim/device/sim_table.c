/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of path records, by source LID, and those that are wrong. */
#include "fabric/base/memory/mem.h"
#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"
#include "fabric/sim/device/sim_state.h"
#include "fabric/wire/sa.h"

#include <stdlib.h>

#define STEP	     (PATH_RECORD_BYTES / 8)
#define CUT_RECORDS  2
#define CUT_BYTES    30
#define HOLE_EVERY   4
#define OTHER_SL     1
#define OTHER_SOURCE 1

static bool sim_table_has(const struct sim *s, uint32_t lid)
{
	return fabric_lid_end(s->f, lid) != FAB_NONE &&
	       (s->o.tables != SIM_TABLES_HOLES || lid % HOLE_EVERY);
}

static void sim_table_fill(const struct sim *s, struct sm_table *out, uint16_t slid)
{
	uint32_t src = fabric_lid_end(s->f, slid);

	for (uint32_t lid = 1; lid <= s->f->max_lid; lid++) {
		struct path_record pr = { .slid = slid, .dlid = (uint16_t)lid };

		if (!sim_table_has(s, lid))
			continue;
		sm_path_record(s, &pr, src, fabric_lid_end(s->f, lid));
		if (s->o.tables == SIM_TABLES_ALIEN) {
			pr.slid ^= OTHER_SOURCE;
			pr.sl ^= OTHER_SL;
		}
		path_record_encode(out->whole + out->len, &pr);
		out->len += PATH_RECORD_BYTES;
	}
}

static void sim_table_damage(const struct sim *s, struct sm_table *t)
{
	size_t cut = SA_HEADER + CUT_RECORDS * PATH_RECORD_BYTES + CUT_BYTES;

	if (s->o.tables == SIM_TABLES_NO_STEP)
		t->step = 0;
	else if (s->o.tables == SIM_TABLES_SHORT_STEP)
		t->step = STEP - 1;
	else if (s->o.tables == SIM_TABLES_CUT && t->len > cut)
		t->len = cut;
}

bool sm_answer_table(struct sim *s, uint32_t end, const struct mad_request *r, uint16_t *status,
		     struct sm_table *out)
{
	struct path_record like;

	if (!sm_is_at(s, end))
		return false;
	path_record_decode(&like, r->data);
	*status = 0;
	if (r->attr != SA_PATH_RECORD || s->o.tables == SIM_TABLES_NONE ||
	    (s->o.tables == SIM_TABLES_FIRST_SOURCE && s->tables_given))
		*status = MAD_STATUS_ATTRIBUTE;
	else if ((r->comp_mask & (PATH_BY_SLID | PATH_BY_DLID)) != PATH_BY_SLID)
		*status = SA_INSUFFICIENT;
	else if (fabric_lid_end(s->f, like.slid) == FAB_NONE)
		*status = SA_NO_RECORDS;
	if (*status)
		return true;
	s->tables_given++;
	out->whole = xcalloc(SA_HEADER + s->f->max_lid * (size_t)PATH_RECORD_BYTES, 1);
	out->len = SA_HEADER;
	out->step = STEP;
	sim_table_fill(s, out, like.slid);
	sim_table_damage(s, out);
	return true;
}
