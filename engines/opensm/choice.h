/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choice: the tables that a policy wants for a fabric, judged before anybody installs them.
 *
 * The policy's own tables while they are for this very fabric, else those that its engine
 * computes.  Whatever they are, they are handed out only when the judge finds them connected,
 * free of loops and of deadlocks, and within the VLs of the links.
 */
#ifndef ENGINES_OPENSM_CHOICE_H
#define ENGINES_OPENSM_CHOICE_H

#include "engines/opensm/policy.h"
#include "fabric/base/err.h"
#include "fabric/model/fabric.h"
#include "fabric/model/tables.h"

struct choice {
	struct tables *tables; /* the caller owns one reference */
	bool from_file;
	uint32_t vls_used, sls_used, hops_max; /* as judged */
};

/* Sentences on the way: why the tables of the file are not used, jobs that could not be read. */
struct choice_log {
	void (*say)(void *ctx, const char *sentence);
	void *ctx;
};

/* 0, or -errno with the reason why there is nothing to install: the engine's refusal, or -EPROTO
 * when its tables did not pass. */
int choice_make(struct choice *out, const struct fabric *f, const struct policy *policy,
		const struct choice_log *log, struct err *err);

#endif
