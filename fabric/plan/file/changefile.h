/* SPDX-License-Identifier: GPL-2.0-or-later */
/* changefile: a list of changes as bytes, the same on every machine. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/plan/change.h"

/* Caller frees *data. */
void changefile_encode(uint8_t **data, size_t *len, const struct changes *l);

/* -EBADMSG: not such bytes.  No switch is bound: changes_bind().  name: for the sentence. */
int changefile_decode(struct changes **out, const uint8_t *data, size_t len, const char *name,
		      struct err *err);
