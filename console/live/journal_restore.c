/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/journal_restore.h"

#include "fabric/model/tables/tables_diff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int journal_restore_is_open(struct live *l, const char *id, struct err *err)
{
	struct osm_status *s = &l->osm_status;

	if (!l->osm)
		return err_set(err, -ENOENT, "%s", l->osm_why);
	if (osm_link_status(l->osm, s, err))
		return -ENOENT;
	if (strcmp(s->update, id))
		return err_set(err, -ENOENT, "%s",
			       s->ended[0] ? s->ended : "OpenSM's plugin does not have it open");
	return 0;
}

/* All in one wave: the plugin goes back by the steps that it took.  SL2VL tables come back with
 * them, but cannot be compared: its tables leave open what SLs without paths have. */
static void journal_restore_from(struct journal *j, const struct live *now,
				 const struct tables *base)
{
	struct txn_head h = journal_info(j)->head;
	struct tables_diff *d = tables_diff_new(now->f, base, now->t);
	struct changes *l;

	d->nsl2vl = 0;
	l = changes_new(now->f, base, now->t, d);
	snprintf(h.fabric, sizeof(h.fabric), "%s", now->f->name);
	h.fingerprint = now->f->fingerprint;
	h.nlft = l->nlft;
	h.nsl2vl = l->nsl2vl;
	h.nwaves = l->nwaves;
	journal_adopt(j, &h, l);
	tables_diff_free(d);
}

int journal_restore(struct journal *j, struct live *l, const struct live_opts *o, struct err *err)
{
	const char *id = journal_info(j)->head.id;
	struct tables *base = NULL;
	struct live now = { 0 };
	struct err why = { "" };
	int rc = journal_restore_is_open(l, id, &why);

	if (!rc)
		rc = live_read(&now, l->w, o, l->f->name, &why);
	if (!rc)
		rc = osm_link_tables(l->osm, true, &base, now.f, &why);
	if (!rc)
		journal_restore_from(j, &now, base);
	else
		err_set(err, rc,
			"%.150s, and its plan file as well: what %s wrote is not known, and OpenSM "
			"cannot lead it back (%.120s). Only 'ibroute-top rollback %s --give-up "
			"WHY' ends it",
			journal_info(j)->broken, id, why.text, id);
	tables_put(base);
	live_close(&now);
	return rc;
}
