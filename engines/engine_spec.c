/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine_spec.h"

#include "engines/sar/sar_method.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What else than VLs an engine takes. */
static const char *engine_spec_others(const struct engine_spec *spec)
{
	if (!strcmp(spec->engine->name, "sar"))
		return ", or leafwise, paper, patch";
	return strcmp(spec->engine->name, "dfdn") ? "" : ", or whose paths: sssp, minhop";
}

static int engine_spec_parse_how(struct engine_spec *out, const char *how, struct err *err)
{
	enum sar_method method = SAR_LEAFWISE;
	char *end;
	long vls;

	if (!strcmp(out->engine->name, "sar") && !isdigit((unsigned char)*how)) {
		int rc = sar_method_parse(&method, how, err);

		out->sar_method = rc ? -1 : (int)method;
		return rc;
	}
	if (!strcmp(out->engine->name, "dfdn") &&
	    (!strcmp(how, "minhop") || !strcmp(how, "sssp"))) {
		out->dfdn_base = *how == 'm' ? DFDN_MINHOP : DFDN_SSSP;
		return 0;
	}
	vls = strtol(how, &end, 10);
	if (!isdigit((unsigned char)*how) || *end || vls < 1 || vls > 15)
		return err_set(err, -EINVAL,
			       "%s: after the colon goes a number of data VLs, 1 to 15%s",
			       out->label, engine_spec_others(out));
	out->vls = (unsigned)vls;
	return 0;
}

int engine_spec_parse(struct engine_spec *out, const char *text, struct err *err)
{
	const char *colon = strchrnul(text, ':');
	char name[24];

	*out = (struct engine_spec){ .sar_method = -1, .dfdn_base = -1 };
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	snprintf(out->label, sizeof(out->label), "%s", text);
	out->engine = engine_find(name, err);
	if (!out->engine)
		return -EINVAL;
	return *colon ? engine_spec_parse_how(out, colon + 1, err) : 0;
}

void engine_spec_apply(const struct engine_spec *spec, struct engine_params *params)
{
	if (spec->sar_method >= 0)
		params->sar_method = (enum sar_method)spec->sar_method;
	if (spec->dfdn_base >= 0)
		params->dfdn_base = (enum dfdn_base)spec->dfdn_base;
	if (spec->vls)
		params->vls = spec->vls;
}
