/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beside: what is found out of installed tables beside OpenSM, in a thread and a process of its
 * own.
 *
 * Where several are asked for, only the newest is answered.
 */
#pragma once

#include "engines/opensm/policy.h"
#include "fabric/base/message/err.h"
#include "fabric/base/process/isolate.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

struct beside;

/* Tables of a fabric, for which the policy chose them. */
struct beside_question {
	const struct fabric *f;
	const struct tables *t;
	struct policy *policy;
};

struct beside_ops {
	/* Seconds that it waits for another question before it answers this one; NULL: none. */
	unsigned (*patience)(const struct beside_question *q);
	/* In the process, which has one thread and makes way for all others. */
	int (*work)(const struct beside_question *q, struct isolated_out *result, struct err *err);
	/* In the thread, with what that has put. */
	void (*done)(void *ctx, const struct beside_question *q, const struct isolated *result);
	void (*failed)(void *ctx, const struct err *why);
};

/* ops is borrowed.  NULL: no memory. */
struct beside *beside_new(const struct beside_ops *ops, void *ctx);
void beside_free(struct beside *b); /* ends what runs; NULL is fine */

/* A NULL b is fine.  The same tables again, while they wait, wait no longer for that. */
void beside_ask(struct beside *b, const struct fabric *f, const struct tables *t,
		struct policy *policy);
/* What waits is not to be answered any more. */
void beside_forget(struct beside *b);
