/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planfile: a plan on disk, to be looked at, signed off and applied later.
 *
 * One line of JSON (what is pinned, the jobs, the length and SHA-256 of what follows), then
 * the fabric as ibnetdiscover text, the current tables and the proposed ones, and the order of
 * the writes if there is one.  The line also says what has to be drained (version 3; version 2
 * has only the order, version 1 neither), and which files the tables came from, if any.  With the
 * state that it was made for, a stale plan can say what has changed since. The same plan gives the
 * same bytes.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/plan/plan.h"

/* Written beside it, synced, then renamed. */
int plan_save(const char *path, const struct plan *p, struct err *err);
/* The same bytes in memory, which are the caller's; path: for the sentences. */
int plan_encode(char **data, size_t *len, const struct plan *p, const char *path, struct err *err);

/* The plan on the fabric that it was made for.  -EINVAL, -EBADMSG: not a plan, damaged, or its
 * parts do not fit each other.  Reports to file_progress(); -ECANCELED when that is cancelled. */
int plan_load(struct plan **out, const char *path, struct err *err);
/* The same from memory, in this process (plan_load() and plan_decode_apart() are not); path: for the
 * sentences. */
int plan_decode(struct plan **out, const void *data, size_t len, const char *path, struct err *err);

/* The same plan on another snapshot of the same fabric (equal fingerprint, else -ESTALE with
 * what changed; where that is only hosts, see plan_graft()), which knows the present state of the
 * links.  from: the tables read there. */
int plan_rebase(struct plan **out, const struct plan *p, const struct fabric *f,
		const struct tables *from, struct err *err);
