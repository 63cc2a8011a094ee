/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_adaptive: signs of adaptive routing in what an OpenSM is told and writes.
 *
 * NVIDIA's OpenSM (MLNX_OFED, DOCA, UFM) routes adaptively with engines named ar_updn, ar_ftree,
 * ar_torus, ar_dor and so on, older ones with the plugin armgr; OpenSM of linux-rdma has neither.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OSM_ADAPTIVE_NAME 24

/* Copies the first engine of a list ("ar_updn,minhop") that routes adaptively, cut to len; false:
 * there is none. */
bool osm_adaptive_engine(char *out, size_t len, const char *engines);

/* What opensm.conf says; "" where it does not, or says (null). */
struct osm_adaptive_conf {
	char engines[160], plugins[160], log[256];
};
int osm_adaptive_read_conf(struct osm_adaptive_conf *out, FILE *file, const char *path,
			   struct err *err);

/* What opensm.log says of the OpenSM that wrote its end: the engine that configured the tables
 * last, "": not said; armgr: the plugin has configured switches. */
struct osm_adaptive_log {
	char engine[32];
	bool armgr;
};
int osm_adaptive_read_log(struct osm_adaptive_log *out, FILE *file, const char *path,
			  struct err *err);
