/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/fake_osm.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void hear(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static void route(struct fake_osm *k)
{
	struct table_selection_log log = { hear, k };
	struct table_selection c;
	struct err err = { "" };

	if (sm_session_choose(k->session, &c, k->f, &log, &err)) {
		sm_session_refused(k->session, err.text);
	} else {
		if (k->write)
			k->write(k->ctx, c.tables, sm_session_wants_all(k->session));
		sm_session_routed(k->session, k->f, &c);
		tables_put(c.tables);
	}
	sm_session_count(k->session, SM_SESSION_REROUTE);
	sm_session_finished(k->session, "ibroute", false);
	socket_server_kick(k->server);
}

static void *sweeper(void *arg)
{
	struct fake_osm *k = arg;

	pthread_mutex_lock(&k->lock);
	while (!k->stop) {
		if (!k->asked || k->hangs) {
			pthread_cond_wait(&k->cond, &k->lock);
			continue;
		}
		k->asked = 0;
		pthread_mutex_unlock(&k->lock);
		route(k);
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

static void facts(void *ctx, struct osm_status *s)
{
	struct fake_osm *k = ctx;

	strcpy(s->state, k->standby ? "standby" : "master");
	strcpy(s->configured, "ibroute,nue");
	s->qos = true;
	s->busy = k->at_work;
	s->sm_guid = k->sm_guid ? k->sm_guid : 0x1234567890abcdef;
}

static int reroute(void *ctx, struct err *err)
{
	struct fake_osm *k = ctx;

	if (k->standby)
		return err_set(err, -ENOTSUP, "this is a standby");
	pthread_mutex_lock(&k->lock);
	k->asked++;
	pthread_cond_signal(&k->cond);
	pthread_mutex_unlock(&k->lock);
	return 0;
}

static int take_notice(void *ctx, const uint8_t d[NOTICE_SA_DATA], struct err *err)
{
	struct fake_osm *k = ctx;

	(void)err;
	if (atomic_load(&k->busy)) {
		atomic_fetch_sub(&k->busy, 1);
		return -EAGAIN;
	}
	memcpy(k->notice, d, sizeof(k->notice));
	atomic_fetch_add(&k->notices, 1);
	return 0;
}

static int listeners(void *ctx, uint64_t **guid, uint32_t *n, struct err *err)
{
	struct fake_osm *k = ctx;

	(void)err;
	if (atomic_load(&k->busy)) {
		atomic_fetch_sub(&k->busy, 1);
		return -EAGAIN;
	}
	if (k->everybody) {
		*n = k->f->nterm;
		*guid = xcalloc(*n, sizeof(**guid));
		memcpy(*guid, k->f->term_guid, *n * sizeof(**guid));
		return 0;
	}
	*n = 2;
	*guid = xcalloc(2, sizeof(**guid));
	(*guid)[0] = k->f->term_guid[3];
	(*guid)[1] = k->f->term_guid[0];
	return 0;
}

static int settled(void *ctx, bool ask)
{
	struct fake_osm *k = ctx;

	if (ask)
		atomic_fetch_add(&k->sweeps, 1);
	if (!atomic_load(&k->unsettled))
		return 0;
	atomic_fetch_sub(&k->unsettled, 1);
	return 1;
}

const struct socket_server_ops fake_osm_ops = {
	.facts = facts,
	.reroute = reroute,
	.notice = take_notice,
	.listeners = listeners,
	.settled = settled,
	.say = hear,
};

void fake_osm_begin(struct fake_osm *k, const char *id)
{
	struct osm_update u = { .owner = "a test" };
	struct err err = { "" };

	snprintf(u.id, sizeof(u.id), "%s", id);
	if (osm_link_begin(k->l, &u, false, &err))
		fail_msg("%s", err.text);
}

void fake_osm_policy(struct fake_osm *k, const char *text)
{
	FILE *f = fopen(k->policy, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

struct fake_osm *fake_osm_new(const struct fabric *f, const char *policy,
			      void (*write)(void *ctx, const struct tables *t, bool all), void *ctx)
{
	static const struct socket_server_limits limits = {
		.message_ms = 300, .idle_ms = 50, .reroute_ms = 400, .quiet_ms = 300
	};
	struct fake_osm *k = xcalloc(1, sizeof(*k));

	k->dir = net_tmpdir();
	k->policy = xasprintf("%s/policy", k->dir);
	k->confirmed = xasprintf("%s/confirmed.ibr", k->dir);
	k->path = xasprintf("%s/run/sock", k->dir);
	fake_osm_policy(k, policy);
	k->f = fabric_get(f);
	k->write = write;
	k->ctx = ctx;
	k->session = sm_session_new(k->policy, k->confirmed);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->cond, NULL);
	assert_int_equal(socket_server_start(&k->server, k->path, k->session, &fake_osm_ops, k,
					     &limits, NULL),
			 0);
	route(k);
	pthread_create(&k->thread, NULL, sweeper, k);
	assert_int_equal(osm_link_open(&k->l, k->path, 2000, NULL), 0);
	return k;
}

void fake_osm_free(struct fake_osm *k)
{
	osm_link_close(k->l);
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->cond);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	socket_server_stop(k->server);
	sm_session_free(k->session);
	fabric_put(k->f);
	free(k->policy);
	free(k->confirmed);
	free(k->path);
	net_rmdir(k->dir);
	free(k);
}

struct osm_status fake_osm_status(struct fake_osm *k)
{
	struct osm_status s;
	struct err err = { "" };

	if (osm_link_status(k->l, &s, &err))
		fail_msg("%s", err.text);
	return s;
}
