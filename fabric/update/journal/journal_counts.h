/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_counts: how many updates there were and what became of them, by fabric and engine, as
 * their journals tell; and the same as a file, for journals that are removed.
 */
#pragma once

#include "fabric/update/journal/journal.h"

#include <stddef.h>

struct journal_count {
	char fabric[64], engine[16];
	uint64_t ended[TXN_STATES]; /* by how; 0 for states that are no end */
	uint64_t why[COORD_WHYS];   /* of those that were rolled back */
	/* of those that asked jobs to drain: how many, and the jobs and ports of hosts asked */
	uint64_t drains, jobs, ports;
	/* of those that were confirmed and whose times are known: by how many jobs were to get
	 * faster and slower, and by what share of their time in sum */
	uint64_t gains, losses;
	double gain, loss;
};

struct journal_counts {
	struct journal_count *v;
	size_t n, cap;
};

void journal_counts_free(struct journal_counts *l);

/* One that is over: agents, who were asked to drain, may be NULL. */
void journal_counts_add(struct journal_counts *l, const struct txn_info *t,
			const struct txn_agent *agents, uint32_t nagents);
/* The same with what its journal says of agents. */
void journal_counts_add_of(struct journal_counts *l, const struct txn_info *t, const char *base);
/* Adds the numbers of another one. */
void journal_count_sum(struct journal_count *to, const struct journal_count *from);
void journal_counts_join(struct journal_counts *l, const struct journal_count *c);

struct journal_gone {
	char **v;
	size_t n, cap;
};

void journal_gone_free(struct journal_gone *l);
bool journal_gone_has(const struct journal_gone *l, const char *id);

/* JSON, for the caller to free: gone are the journals that are counted and may be there still. */
char *journal_counts_encode(const struct journal_counts *l, const struct journal_gone *gone);
/* -EBADMSG: not such bytes.  Adds to both, which may be empty. */
int journal_counts_decode(struct journal_counts *l, struct journal_gone *gone, const char *data,
			  size_t len);
