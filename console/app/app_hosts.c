/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that this session knows follow the hosts. */
#include "console/app/app_priv.h"

int app_hosts_graft(const struct tables **out, const struct fabric *f, const struct tables *t,
		    const struct fabric *was, struct graft_report *r, struct err *err)
{
	struct endports *ends = endports_of(was);
	struct tables *on = NULL;
	int rc = tables_graft(&on, f, t, ends, r, err);

	*out = on;
	endports_put(ends);
	return rc;
}

static void app_hosts_known(const struct tables **t, const struct fabric *was,
			    const struct fabric *is)
{
	const struct tables *on;

	if (!*t || !digest_equal(&(*t)->fingerprint, &was->fingerprint) ||
	    app_hosts_graft(&on, is, *t, was, NULL, NULL))
		return;
	tables_put(*t);
	*t = on;
}

void app_hosts_changed(struct app *a, const struct fabric *was, const struct fabric *is)
{
	if (!digest_equal(&was->switch_graph, &is->switch_graph))
		return;
	app_hosts_known(&a->applied, was, is);
	app_hosts_known(&a->undo, was, is);
	app_hosts_known(&a->first, was, is);
}
