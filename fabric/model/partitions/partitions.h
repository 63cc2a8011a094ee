/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions: which P_Keys the ports of hosts have, and whether two hosts may talk.
 *
 * They may if they are members of one partition, at least one of them a full one: two limited
 * members refuse each other's packets.
 */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>

#define PARTITIONS_MAX 1024 /* more than a port has room for */

enum membership { MEMBER_NONE, MEMBER_LIMITED, MEMBER_FULL };

struct partitions {
	uint32_t n, nterm, cap;
	uint8_t *member; /* n rows of nterm: enum membership */
};

void partitions_begin(struct partitions *p, const struct fabric *f);
/* Nobody is a member of a new one, which is the last. */
void partitions_add(struct partitions *p);
uint8_t *partitions_row(const struct partitions *p, uint32_t i);
void partitions_end(struct partitions *p); /* frees what it has */

void partitions_put(bytes_out *out, const struct partitions *p);
/* Into one that partitions_begin() has made.  -EPROTO: not of that fabric. */
int partitions_take(struct partitions *p, struct bytes_in *in);

/* Two ports of a job's hosts that may not talk, by none of their hosts' ports; false: all may. */
bool partitions_split(uint32_t pair[2], const struct partitions *p, const struct fabric *f,
		      const struct job *job);
