/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes_io: numbers and texts between two processes of one program; the taker believes no length.
 */
#pragma once

#include "fabric/base/memory/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef VEC(uint8_t) bytes_out;

void bytes_put(bytes_out *out, const void *data, size_t n);
void bytes_put_text(bytes_out *out, const char *text); /* NULL is kept as such */

struct bytes_in {
	const uint8_t *at;
	size_t left;
	bool bad; /* something was not there; all that is taken afterwards is zero */
};

void bytes_take(struct bytes_in *in, void *out, size_t n);
/* A copy for the caller to free, plain but for tabs; NULL where NULL was put. */
char *bytes_take_text(struct bytes_in *in);
bool bytes_at_end(const struct bytes_in *in); /* and nothing was missing */
