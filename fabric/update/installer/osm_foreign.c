/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_foreign.h"

#include "fabric/model/tables/tables_diff.h"

#include <errno.h>

int osm_foreign(struct tables **known, struct osm_link *l, const struct fabric *f,
		const struct tables *read, struct err *err)
{
	struct tables *said, *onto;
	struct tables_diff *d;
	int rc = osm_link_tables(l, false, &said, f, err);

	*known = NULL;
	if (rc)
		return rc;
	onto = tables_onto(f, read, said);
	d = tables_diff_new(f, read, onto);
	if (d->nblocks || d->nsl2vl)
		rc = err_set(err, -EUCLEAN,
			     "%u LFT blocks and %u SL2VL tables on %u switches (%s%s) differ from "
			     "what OpenSM has written: another writer is active",
			     d->nblocks, d->nsl2vl, d->switches,
			     f->sw_name[d->nblocks ? d->blocks[0].sw : d->sl2vl[0].sw],
			     d->switches > 1 ? ", ..." : "");
	if (rc)
		tables_put(onto);
	else
		*known = onto;
	tables_diff_free(d);
	tables_put(said);
	return rc;
}
