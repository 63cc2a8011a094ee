/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/batch/batch_saved.h"

#include "console/config/saved_file.h"
#include "fabric/base/memory/mem.h"
#include "views/data/chan_value.h"
#include "views/heatmap/heat_window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of links; NULL: it is no number. */
static const char *const metrics[CHAN_METRICS] = {
	[CHAN_UTIL] = "util_pct",
	[CHAN_WAIT] = "wait_pct",
	[CHAN_EFI] = "efi",
	[CHAN_JOB_EFI] = "eff_efi",
	[CHAN_ERRORS] = "errors_per_min",
	[CHAN_LANES] = "lanes",
	[CHAN_DARK] = "dark",
	[CHAN_UTIL_CHANGE] = "util_change_pct",
	[CHAN_WAIT_CHANGE] = "wait_change_pct",
};

/* Names with , between, where there may be blanks, too. */
static void batch_saved_list(char *out, const char *columns)
{
	for (const char *p = columns + strspn(columns, ", "); *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");

		out += sprintf(out, "%.*s%s", (int)n, p, p[n + strspn(p + n, ", ")] ? "," : "");
		p += n;
	}
	*out = '\0';
}

static void batch_saved_take(struct batch_saved *out, const struct saved_view *v)
{
	uint32_t m = v->choice.metric[0] ? heat_metric_named(v->choice.metric) : CHAN_METRICS;

	*out = (struct batch_saved){ .view = *v };
	batch_saved_list(out->fields, v->columns);
	memcpy(out->filter, v->filter, sizeof(out->filter));
	memcpy(out->sort, v->sort, sizeof(out->sort));
	out->metric = m < CHAN_METRICS ? metrics[m] : NULL;
}

int batch_saved_find(struct batch_saved *out, const char *name, struct err *err)
{
	struct saved_views *all = xcalloc(1, sizeof(*all));
	char *path = saved_file_path();
	int rc = path ? saved_file_read(all, path, err) : 0;
	const struct saved_view *v = rc ? NULL : saved_views_find(all, name);

	if (v)
		batch_saved_take(out, v);
	else if (!rc)
		rc = err_set(err, -ENOENT, "no view was saved as '%.40s'", name);
	free(path);
	free(all);
	return rc;
}

enum row_kind batch_saved_rows(const struct batch_saved *s)
{
	return saved_view_rows(s->view.view);
}
