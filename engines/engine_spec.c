/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine_spec.h"

#include "engines/param.h"
#include "engines/repair/repair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What else than VLs an engine takes: its method, or whose paths; NULL: nothing. */
static const struct param *engine_spec_word(const struct engine *e)
{
	if (!strcmp(e->name, "sar"))
		return param_of(PARAM_SAR_METHOD);
	return strcmp(e->name, "dfdn") ? NULL : param_of(PARAM_DFDN_BASE);
}

static int engine_spec_bad_how(const struct engine_spec *out, const struct param *words,
			       struct err *err)
{
	char others[100] = "";
	size_t n = 0;

	for (int i = 0; words && words->words[i]; i++)
		n += (size_t)snprintf(others + n, sizeof(others) - n, "%s%s",
				      i ? ", "
				      : words->id == PARAM_DFDN_BASE
					      ? ", or the engine of the paths: "
					      : ", or ",
				      words->words[i]);
	return err_set(err, -EINVAL,
		       "%s: the colon must be followed by a number of data VLs, 1 "
		       "to 15%s, or ignore-rates",
		       out->label, others);
}

static int engine_spec_parse_one(struct engine_spec *out, const char *how, struct err *err)
{
	const struct param *words = engine_spec_word(out->engine);
	int word = words ? param_word(words, how, NULL) : -1;
	uint64_t vls;

	if (!strcmp(how, param_of(PARAM_IGNORE_RATES)->option))
		out->ignore_rates = true;
	else if (word >= 0 && words->id == PARAM_SAR_METHOD)
		out->sar_method = word;
	else if (word >= 0)
		out->dfdn_base = word;
	else if (param_number(&vls, param_of(PARAM_VLS), how, NULL))
		return engine_spec_bad_how(out, words, err);
	else
		out->vls = (unsigned)vls;
	return 0;
}

/* What is behind the name, between colons. */
static int engine_spec_parse_how(struct engine_spec *out, const char *text, struct err *err)
{
	int rc = 0;

	while (!rc && *text == ':') {
		size_t n = strcspn(++text, ":");
		char how[24];

		snprintf(how, sizeof(how), "%.*s", (int)n, text);
		rc = engine_spec_parse_one(out, how, err);
		text += n;
	}
	return rc;
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
	return engine_spec_parse_how(out, colon, err);
}

bool engine_spec_repairs(const char *text)
{
	size_t n = strlen(engine_repair.name);

	return text && !strncmp(text, engine_repair.name, n) && (!text[n] || text[n] == ':');
}

void engine_spec_apply(const struct engine_spec *spec, struct engine_params *params)
{
	if (spec->sar_method >= 0)
		params->sar_method = (enum sar_method)spec->sar_method;
	if (spec->dfdn_base >= 0)
		params->dfdn_base = (enum dfdn_base)spec->dfdn_base;
	if (spec->vls)
		params->vls = spec->vls;
	if (spec->ignore_rates)
		params->ignore_rates = true;
}
