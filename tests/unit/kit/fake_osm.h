/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_osm: the plugin's session and server, with something that behaves like OpenSM behind them.
 */
#pragma once

#include "engines/opensm/socket_server.h"
#include "fabric/update/installer/osm_link.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Routes when asked to, in a thread of its own, as OpenSM's sweeper does. */
struct fake_osm {
	struct sm_session *session;
	struct socket_server *server;
	const struct fabric *f;
	/* writes what was chosen into switches; may be NULL */
	void (*write)(void *ctx, const struct tables *t, bool all);
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int asked; /* reroutes */
	bool stop, hangs;
	uint64_t sm_guid; /* 0: one of its own */
	bool everybody;	  /* all terminals subscribe, else two */
	atomic_bool standby, at_work;
	atomic_int busy;      /* notices that are refused before one is taken */
	atomic_int unsettled; /* so often it says that it is not */
	atomic_int sweeps;    /* that it was asked for, or would have been */
	atomic_int notices;
	uint8_t notice[NOTICE_SA_DATA];
	char *dir, *policy, *confirmed, *path;
	struct osm_link *l;
};

extern const struct socket_server_ops fake_osm_ops;

/* In a folder of its own, with that policy; has routed f (a reference of which it takes) once and
 * has a link of its own. */
struct fake_osm *fake_osm_new(const struct fabric *f, const char *policy,
			      void (*write)(void *ctx, const struct tables *t, bool all),
			      void *ctx);
void fake_osm_free(struct fake_osm *k);
/* Its link begins an update of that name; fails the test. */
void fake_osm_begin(struct fake_osm *k, const char *id);
void fake_osm_policy(struct fake_osm *k, const char *text);
struct osm_status fake_osm_status(struct fake_osm *k); /* over its link; fails the test */
