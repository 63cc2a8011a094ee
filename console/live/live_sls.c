/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/live_sls.h"

#include "console/io/progress_line.h"

#include <errno.h>
#include <stdio.h>

#define SLS_MAX 200000 /* queries */

static void live_sls_from(struct live *l, struct wire *w)
{
	struct err err = { "" };
	struct progress_line watch;
	int rc;

	progress_line_start(&watch);
	rc = wire_learn_path_sls(l->t, w, l->f, SLS_MAX, &watch.progress, &err);
	progress_line_stop(&watch);
	if (rc && l->sm.guid)
		fprintf(stderr, "warning: %s: SL 0 is assumed\n", err.text);
}

void live_sls_ask(struct live *l, struct live_opts *o)
{
	struct live port = { 0 };
	struct err unused;

	if (tables_know_sls(l->t) || l->simulated.ops || (l->osm && l->foreign[0]))
		return;
	if (l->w) {
		live_sls_from(l, l->w);
		return;
	}
	if (!live_port(&port, o, &unused))
		live_sls_from(l, port.w);
	live_close(&port);
}
