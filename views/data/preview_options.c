/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/preview_options.h"

#include "engines/sar/sar_method.h"
#include "fabric/format/native/limits_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool preview_options_has_flags(const bool *from, const bool *what, uint32_t n)
{
	bool all = true;

	for (uint32_t i = 0; what && i < n; i++)
		all = all && (!what[i] || (from && from[i]));
	return all;
}

static void preview_options_clear_flags(bool *from, const bool *what, uint32_t n)
{
	for (uint32_t i = 0; from && what && i < n; i++)
		from[i] = from[i] && !what[i];
}

int preview_options_exclude(struct preview_options *o, const struct fabric *f, const char *text,
			    bool toggle, struct err *err)
{
	struct route_limits *l = NULL, *what = NULL;
	char *all = NULL;
	int rc = route_limits_exclude(&what, f, text, err);

	/* what is there may be of a fabric that is no more */
	if (!rc && route_limits_exclude(&l, f, o->exclude, NULL))
		o->exclude[0] = '\0';
	if (rc)
		goto out;
	if (toggle && preview_options_has_flags(l->exclude_sw, what->exclude_sw, f->nsw) &&
	    preview_options_has_flags(l->exclude_chan, what->exclude_chan, f->nchan)) {
		preview_options_clear_flags(l->exclude_sw, what->exclude_sw, f->nsw);
		preview_options_clear_flags(l->exclude_chan, what->exclude_chan, f->nchan);
	} else {
		rc = route_limits_exclude(&l, f, text, err);
	}
	all = route_limits_exclude_text(l, f);
	if (!rc && strlen(all) >= sizeof(o->exclude))
		rc = err_set(
			err, -EINVAL,
			"the list of what is excluded gets longer than %zu characters: shorten "
			"it with :exclude none, or a pattern such as spine[1-9]",
			sizeof(o->exclude) - 1);
	if (!rc)
		snprintf(o->exclude, sizeof(o->exclude), "%s", all);
out:
	free(all);
	route_limits_free(l);
	route_limits_free(what);
	return rc;
}

static void preview_options_add(char *buf, size_t len, const char *text)
{
	size_t n = strlen(buf);

	snprintf(buf + n, len - n, "%s%s", n ? " " : "", text);
}

const char *preview_options_text(char *buf, size_t len, const struct preview_options *o)
{
	char part[sizeof(o->pin) + 16];

	buf[0] = '\0';
	if (o->vls) {
		snprintf(part, sizeof(part), "VLs %u", o->vls);
		preview_options_add(buf, len, part);
	}
	if (o->seed) {
		snprintf(part, sizeof(part), "seed %" PRIu64, o->seed);
		preview_options_add(buf, len, part);
	}
	if (o->method != SAR_LEAFWISE)
		preview_options_add(buf, len, sar_method_name(o->method));
	if (o->change_pct) {
		snprintf(part, sizeof(part), "change %u%%", o->change_pct);
		preview_options_add(buf, len, part);
	}
	if (o->job_nodes_min) {
		snprintf(part, sizeof(part), "jobs>=%u", o->job_nodes_min);
		preview_options_add(buf, len, part);
	}
	if (o->base != DFDN_SSSP)
		preview_options_add(buf, len, "dfdn:minhop");
	if (o->spread)
		preview_options_add(buf, len, "spread");
	if (o->escape)
		preview_options_add(buf, len, "escape");
	if (o->pin[0]) {
		snprintf(part, sizeof(part), "pin %s", o->pin);
		preview_options_add(buf, len, part);
	}
	if (o->exclude[0]) {
		snprintf(part, sizeof(part), "exclude %s", o->exclude);
		preview_options_add(buf, len, part);
	}
	if (o->roots[0])
		preview_options_add(buf, len, "roots");
	if (o->demand[0])
		preview_options_add(buf, len, "demand");
	if (o->path_sl[0])
		preview_options_add(buf, len, "path SLs");
	if (o->sl2vl[0])
		preview_options_add(buf, len, "SL2VL");
	return buf;
}
