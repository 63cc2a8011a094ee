/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/preview_options.h"

#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"

#include <errno.h>
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
	if (!rc && route_limits_exclude(&l, f, o->text[PARAM_EXCLUDE], NULL))
		o->text[PARAM_EXCLUDE][0] = '\0';
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
	if (!rc && strlen(all) >= PATH_TEXT)
		rc = err_set(err, -EINVAL,
			     "the exclude list would exceed %d characters: clear it with :exclude "
			     "none, or use a pattern such as spine[1-9]",
			     PATH_TEXT - 1);
	if (!rc)
		snprintf(o->text[PARAM_EXCLUDE], PATH_TEXT, "%s", all);
out:
	free(all);
	route_limits_free(l);
	route_limits_free(what);
	return rc;
}

int preview_options_pin(struct preview_options *o, const struct fabric *f,
			const struct jobset *jobs, const char *text, bool toggle, struct err *err)
{
	struct route_limits *l = NULL, *what = NULL;
	char *all = NULL;
	int rc = route_limits_pin(&what, f, jobs, text, err);

	if (rc || !what || !what->pin)
		goto out;
	/* what is there may be of a fabric that is no more */
	if (route_limits_pin(&l, f, jobs, o->text[PARAM_PIN], NULL) || !l || !l->pin) {
		route_limits_free(l);
		l = NULL;
		rc = route_limits_pin(&l, f, jobs, text, err);
	} else if (toggle && preview_options_has_flags(l->pin, what->pin, f->nend)) {
		preview_options_clear_flags(l->pin, what->pin, f->nend);
	} else {
		rc = route_limits_pin(&l, f, jobs, text, err);
	}
	if (rc)
		goto out;
	all = pin_text_hosts(l->pin, f);
	if (strlen(all) >= PATH_TEXT)
		rc = err_set(
			err, -EINVAL,
			"the list of pinned hosts would exceed %d characters: clear it with :pin none",
			PATH_TEXT - 1);
	else
		snprintf(o->text[PARAM_PIN], PATH_TEXT, "%s", all);
out:
	free(all);
	route_limits_free(l);
	route_limits_free(what);
	return rc;
}

static bool preview_options_default(const struct preview_options *o, const struct param *p)
{
	return p->id < PARAM_TEXTS ? !o->text[p->id][0] : param_is_default(&o->params, p);
}

static void preview_options_add(char *buf, size_t len, const struct preview_options *o,
				const struct param *p)
{
	char value[PATH_TEXT] = "";
	size_t n = strlen(buf);

	if (p->type == PARAM_LIST)
		snprintf(value, sizeof(value), "%s", o->text[p->id]);
	else if (p->id >= PARAM_TEXTS && p->type != PARAM_FLAG)
		param_text(value, sizeof(value), &o->params, p);
	snprintf(buf + n, len - n, "%s%s%s", n ? " " : "", p->brief, value);
}

const char *preview_options_text(char *buf, size_t len, const struct preview_options *o)
{
	const struct param *all;
	size_t n;

	all = param_all(&n);
	buf[0] = '\0';
	for (size_t i = 0; i < n; i++)
		if (all[i].brief && !preview_options_default(o, &all[i]))
			preview_options_add(buf, len, o, &all[i]);
	return buf;
}
