/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_net: a small tree, two routings of it, and switches that fail on demand. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/update/installer/installer.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_LEAVES 6
#define NET_SPINES 2
#define NET_HOSTS  12 /* on each leaf */

struct update_net_opts {
	bool no_cable; /* without the one between the first leaf and the first spine */
	bool no_last_leaf;
	bool no_host;	    /* without one in the middle, whose LID nobody has */
	uint8_t op_vls;	    /* 0: 4 */
	bool no_lids;	    /* LIDs are left to be assigned */
	uint16_t lid_shift; /* added to every LID */
};

struct fabric *net_fabric(const struct update_net_opts *o); /* o may be NULL */
/* Shortest paths; the spine is chosen by LID + variant.  sl2vl: other tables per variant. */
struct tables *net_tables(const struct fabric *f, unsigned variant, bool sl2vl);
/* Jobs of the first n hosts of each named leaf pair; spec "id:leaf-leaf:n id:..." */
struct jobset *net_jobs(const struct fabric *f, const char *spec);

enum fault {
	FAULT_NONE,
	FAULT_LOST,    /* not done, no answer */
	FAULT_UNHEARD, /* done, but no answer */
	FAULT_REFUSED,
	FAULT_GARBLED,	 /* writes: something else is stored; reads: an error */
	FAULT_DEAD,	 /* the switch never answers again */
	FAULT_DEAD_BACK, /* as dead, until net_revive() */
	FAULT_FOREIGN,	 /* done, then somebody else writes over it */
	FAULTS
};

/* Switches in memory behind the installer seam. */
struct net_sim {
	const struct fabric *f;
	uint32_t stride;
	uint8_t *lft;
	uint8_t (*sl2vl)[CHANGE_SL2VL_BYTES]; /* by (switch, in, out), 32 ports each */
	bool *dead;
	enum fault fault;
	uint64_t at;	/* operation (write or read of one item) that it hits */
	uint64_t again; /* and so many more in a row */
	uint64_t ops, writes;
	void (*hook)(void *ctx, struct net_sim *s, bool write); /* before each operation */
	void *hook_ctx;
};

struct net_sim *net_sim_new(const struct fabric *f, const struct tables *t);
void net_sim_free(struct net_sim *s);
void net_revive(struct net_sim *s);
struct installer net_installer(struct net_sim *s);
/* Everything as in the tables? */
bool net_holds(const struct net_sim *s, const struct tables *t, bool sl2vl);

/* A new directory below $TMPDIR; removed with its contents by net_rmdir(). */
char *net_tmpdir(void);
void net_rmdir(char *dir); /* frees it */
