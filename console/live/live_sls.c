/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/live_sls.h"

#include "console/input/route_file.h"
#include "console/io/progress_line.h"

#include <stdio.h>

#define SLS_LOOK  64
#define SLS_MAX	  200000 /* queries */
#define SLS_EXTRA 64	 /* of them that check the others */

/* The SM says otherwise than SL 0: then all are wanted. */
static bool live_sls_read(struct live *l, struct wire *w, struct err *err)
{
	struct path_sl_report r = { 0 };
	struct progress_line watch;
	int rc;

	progress_line_start(&watch);
	rc = wire_read_path_sls(l->t, w, l->f, SLS_MAX, SLS_EXTRA, 1, &r, &watch.progress, err);
	progress_line_stop(&watch);
	if (!rc && r.differ)
		rc = err_set(err, -1,
			     "the subnet manager gives different service levels each time it is "
			     "asked");
	if (!rc)
		return true;
	tables_sl_form(l->t, SL_CONST, l->f);
	l->t->sl_const = 0;
	return false;
}

static bool live_sls_from(struct live *l, struct wire *w)
{
	struct path_sl_report r = { 0 };
	struct err err = { "" };
	int rc = wire_check_path_sls(w, l->f, l->t, SLS_LOOK, 1, &r, NULL, &err);

	if (!rc && !r.differ)
		return r.answered > 0;
	if (!rc && live_sls_read(l, w, &err))
		return true;
	if (l->sm.guid)
		fprintf(stderr, "warning: %s: SL 0 is assumed\n", err.text);
	return false;
}

bool live_sls_ask(struct live *l, struct live_opts *o)
{
	struct live port = { 0 };
	struct err unused;
	bool known = false;

	if (route_file_sls_known(l->t))
		return true;
	if (l->simulated.ops || (l->osm && l->foreign[0]))
		return false;
	if (l->w)
		return live_sls_from(l, l->w);
	if (!live_port(&port, o, &unused))
		known = live_sls_from(l, port.w);
	live_close(&port);
	return known;
}
