/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_bytes: a plan as its file has it, read once: what is shown, judged and carried out are these
 * bytes, whatever becomes of the file. */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/plan/plan.h"

#include <stddef.h>

struct plan_bytes {
	char *data; /* owned */
	size_t len;
	struct digest sum; /* SHA-256 of it */
};

/* The plan of a file and its bytes; errors as of plan_load(), then neither is there. */
int plan_bytes_load(struct plan_bytes *out, struct plan **p, const char *path, struct err *err);
/* As plan_save() would write it.  -EINVAL. */
int plan_bytes_of(struct plan_bytes *out, const struct plan *p, struct err *err);
/* Does the file still have them?  -ESTALE: others, -errno: it cannot be read.  0 for what is no
 * file: a pipe can be read only once. */
int plan_bytes_check(const struct plan_bytes *b, const char *path, struct err *err);
void plan_bytes_clear(struct plan_bytes *b); /* an all-zero one is fine */
