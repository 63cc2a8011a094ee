/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_sample: what reading ports one by one and reading their sums share. */
#ifndef FABRIC_WIRE_WIRE_SAMPLE_H
#define FABRIC_WIRE_WIRE_SAMPLE_H

#include "fabric/wire/wire_priv.h"

#include <stdbool.h>
#include <stdint.h>

/* What a switch counts, as far as it is known. */
enum {
	PMA_KNOWN = 1,
	PMA_WIDE = 2,	     /* traffic in 64 bits */
	PMA_WIDE_ERRORS = 4, /* errors and wait too */
	PMA_WAIT = 8,	     /* wait in 32 bits */
	PMA_SUMS = 16,	     /* all ports at once, added up */
};

enum { ASK_CLASS, ASK_WIDE, ASK_NARROW, ASK_COUNT };

struct sampler {
	struct wire *w;
	const struct fabric *f;
	struct sample *s;
	unsigned what;
	uint32_t sw, port, kind, ports;
	uint32_t known, silent; /* switches that told what they count, that did not answer */
	uint64_t total;
};

/* Has that port something behind it whose counters are worth a question? */
bool sampler_has_link(const struct fabric *f, uint32_t sw, uint32_t port);
/* Whether this kind of question is needed for the ports of the switch. */
bool sampler_needs(const struct sampler *x, uint32_t sw, uint32_t kind);
/* x->kind, for that port of x->sw; port 255: all added up. */
void sampler_ask(struct sampler *x, uint32_t port, struct queue_request *out);
/* Takes over what the answer to a question of that kind tells, data of an answer of the switch. */
void sampler_take(const struct sampler *x, struct port_counters *c, uint32_t sw, uint32_t kind,
		  const uint8_t *data);

/* Asks switches where nothing moved last for the sums of their ports; where these stand still, the
 * ports keep what they have told last, see wire_read_sample().  0 or what the port failed with. */
int sums_read(struct sampler *x, struct progress *progress, struct err *err);
/* Does the switch's sum spare this kind of question to its ports? */
bool sums_hold(const struct sampler *x, uint32_t sw, uint32_t kind);
/* After the ports were read: remembers the sample. */
void sums_learn(struct sampler *x);

#endif
