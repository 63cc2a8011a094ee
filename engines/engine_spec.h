/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine_spec: an engine as named by people, "NAME" or "NAME:HOW": for sar the method
 * ("sar:paper"), for dfdn whose paths ("dfdn:minhop", "dfdn:sssp"), for all the data VLs they may
 * use ("nue:2"), and whether rates count ("minhop:ignore-rates", "nue:2:ignore-rates").
 */
#pragma once

#include "engines/engine.h"

struct engine_spec {
	const struct engine *engine;
	char label[40]; /* as it was named */
	int sar_method; /* enum sar_method; -1: not said */
	int dfdn_base;	/* enum dfdn_base; -1: not said */
	unsigned vls;	/* 0: not said */
	bool ignore_rates;
};

/* -EINVAL with a sentence that lists what is allowed. */
int engine_spec_parse(struct engine_spec *out, const char *text, struct err *err);
/* Does that name the engine that starts from tables of an older state of the fabric?  NULL: no. */
bool engine_spec_repairs(const char *text);
/* Puts what the spec says into the parameters. */
void engine_spec_apply(const struct engine_spec *spec, struct engine_params *params);
