/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_spec: the keys and values of a fabric's text, checked against what its type knows. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/sim/topology/topo.h"

#include <stdint.h>

#define TOPO_LIST_MAX 16

struct topo_list {
	uint32_t n;
	uint32_t v[TOPO_LIST_MAX];
};

/* What a text can say: the types, and the keys that every type takes, ended by a NULL name. */
struct topo_grammar {
	const struct topo_type *const *types;
	size_t ntypes;
	const struct topo_key *common_keys;
};

/* Splits the text and finds its type.  -EINVAL: no such type, a key that neither the type nor
 * all types take, a key twice, or a key that must be there and is not. */
int topo_spec_parse(struct topo_spec **out, const char *text, const struct topo_grammar *g,
		    struct err *err);
void topo_spec_free(struct topo_spec *s); /* NULL is fine */
const struct topo_type *topo_spec_type(const struct topo_spec *s);

/* Text of a key, or fallback when it was left out. */
const char *topo_spec_text(const struct topo_spec *s, const char *key, const char *fallback);

/* A whole number min..max; fallback when the key was left out. */
int topo_spec_u32(uint32_t *out, const struct topo_spec *s, const char *key, uint32_t fallback,
		  uint32_t min, uint32_t max, struct err *err);
int topo_spec_u64(uint64_t *out, const struct topo_spec *s, const char *key, uint64_t fallback,
		  struct err *err);

/* Numbers joined by 'x', each min..max.  Left out: n == 0 and no error.
 * want > 0: a list of another length is refused, but a single number stands for all. */
int topo_spec_list(struct topo_list *out, const struct topo_spec *s, const char *key, uint32_t want,
		   uint32_t min, uint32_t max, struct err *err);
