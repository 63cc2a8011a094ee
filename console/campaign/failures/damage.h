/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage: what fails in the life of a fabric, drawn once for all engines.
 *
 * By rate: the parts of each kind in an order that the seed draws; at 2 % the first 2 % of it are
 * gone, so that 1 % is part of 2 %.  By time: each part fails after times of an exponential
 * distribution; it is bypassed for good, or comes back after so many days.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/part/part.h"

#include <stdbool.h>
#include <stdint.h>

enum damage_kind { DAMAGE_CABLES, DAMAGE_SWITCHES, DAMAGE_LINECARDS, DAMAGE_KINDS };

#define DAMAGE_STEPS   200
#define LINECARD_PORTS 18 /* neighbouring ports of a switch that fail together */

struct damage_rules {
	bool kills[DAMAGE_KINDS];
	uint32_t nstep;
	double rate[DAMAGE_STEPS]; /* shares, 0..1; by time: days */
	bool by_time;
	double mtbf_h[DAMAGE_KINDS]; /* of one part; 0: does not fail */
	double repair_days;	     /* 0: bypassed for good */
};

/* "0..10%/0.5%", "1%", "0,1%,5%"; the first step is 0 always.  -EINVAL with a sentence. */
int damage_parse_rates(struct damage_rules *r, const char *text, struct err *err);
/* "cables,switches,linecards". */
int damage_parse_kinds(struct damage_rules *r, const char *text, struct err *err);
/* "cable=300000,switch=1e6,linecard=...": hours. */
int damage_parse_mtbf(struct damage_rules *r, const char *text, struct err *err);
/* Four steps a year. */
void damage_years(struct damage_rules *r, double years);

struct damage;

/* The fate of all parts; f is borrowed. */
struct damage *damage_new(const struct fabric *f, const struct damage_rules *r, uint64_t seed);
void damage_free(struct damage *d); /* NULL is fine */

struct damage_state {
	uint32_t down[DAMAGE_KINDS]; /* parts that are gone */
	struct part_report cut;	     /* with those on failed switches */
};

/* The fabric at a step; the caller owns one reference.  -EINVAL: no host is left. */
int damage_at(struct fabric **out, struct damage_state *state, const struct damage *d,
	      uint32_t step, struct err *err);
/* How many parts of a kind a fabric has. */
uint32_t damage_parts(const struct fabric *f, enum damage_kind kind);
/* "cables", ... */
const char *damage_kind_name(enum damage_kind kind);
