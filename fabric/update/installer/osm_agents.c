/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_agents.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/update/protocol/site_key.h"
#include "fabric/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct osm_agents {
	struct osm_link *l;
	struct wire *reserve;	/* NULL: none */
	struct site_keys *keys;
	bool sealed;		/* by the plugin */
	struct agent_link over; /* the reserve, once another SM has taken over; ops NULL: not yet */
	bool watching;
	uint32_t opened;  /* of the link that it watches */
	bool moved;	  /* it was said */
	uint64_t sm_guid; /* of the first listen; 0: there was none yet */
};

/* What the others say to the master is not heard here any more. */
static void osm_agents_take_reserve(struct osm_agents *a)
{
	struct err err = { "" };

	if (!a->reserve)
		return;
	if (wire_listen(a->reserve, &err)) {
		log_add(LOG_WARN, "apply", "agents cannot be heard through the new SM: %s",
			err.text);
		return;
	}
	agent_link_over(&a->over, wire_notices(a->reserve));
	agent_link_keys(&a->over, a->keys);
	if (a->over.ops->listen(a->over.ctx, NULL, &err))
		log_add(LOG_WARN, "apply", "agents are not heard yet: %s", err.text);
}

/* Only one that has settled: on ibsim a listener disturbs an SM that is still discovering. */
static bool osm_agents_another_is_master(const struct osm_agents *a)
{
	struct wire_sm sm;

	return a->reserve && a->sm_guid && !wire_sm_info(&sm, a->reserve, NULL) &&
	       sm.guid != a->sm_guid && sm.state == SM_MASTER;
}

/* Said once; then until the other one is there. */
static int osm_agents_moved(struct osm_agents *a, struct err *err)
{
	bool said = a->moved;

	a->moved = true;
	if (osm_agents_another_is_master(a))
		osm_agents_take_reserve(a);
	if (!said)
		return err_set(err, -ESTALE, "the OpenSM of this machine is no longer the master");
	return a->over.ops ? 0 : err_set(err, -ETIMEDOUT, "no other SM is master yet");
}

static int osm_agents_watch_again(struct osm_agents *a, struct err *err)
{
	int rc = osm_link_fd(a->l) < 0 ? osm_link_reopen(a->l, err) : 0;

	if (!rc)
		rc = osm_link_watch(a->l, err);
	a->watching = !rc;
	a->opened = osm_link_opened(a->l);
	return rc;
}

/* What breaks is opened again: OpenSM may have been restarted. */
static int osm_agents_listen(void *ctx, struct progress *progress, struct err *err)
{
	struct osm_agents *a = ctx;
	struct osm_status s;
	int rc = progress_cancelled(progress) ? -ECANCELED : 0;

	if (rc)
		return err_set(err, rc, "cancelled");
	if (a->over.ops)
		return a->over.ops->listen(a->over.ctx, progress, err);
	/* the installer opens it again as well */
	a->watching = a->watching && a->opened == osm_link_opened(a->l);
	if (a->watching && osm_link_fd(a->l) >= 0)
		rc = osm_link_status(a->l, &s, err);
	if (!a->watching || osm_link_fd(a->l) < 0) {
		rc = osm_agents_watch_again(a, err);
		if (!rc)
			rc = osm_link_status(a->l, &s, err);
	}
	if (rc && (a->moved || osm_agents_another_is_master(a)))
		return osm_agents_moved(a, err);
	if (rc)
		return rc == -ENOTSUP ? rc : -ETIMEDOUT;
	if (s.busy && !s.state[0])
		return 0; /* it has just begun, and says later who it is */
	if (strcmp(s.state, "master") || (a->sm_guid && s.sm_guid != a->sm_guid))
		return osm_agents_moved(a, err);
	a->moved = false;
	a->sm_guid = s.sm_guid;
	a->sealed = s.key[0];
	if (a->keys && !a->sealed)
		return err_set(err, -ENOKEY,
			       "agents have a key, and OpenSM's plugin has none: it needs "
			       "ibroute_key=FILE in event_plugin_options, or " SITE_KEY_PRESET
			       ", and a restart");
	return 0;
}

static bool osm_agents_sealed(void *ctx)
{
	const struct osm_agents *a = ctx;

	return a->over.ops ? a->over.ops->sealed(a->over.ctx) : a->sealed;
}

static int osm_agents_send(void *ctx, const struct phase_notice *in, struct err *err)
{
	static const struct notice_sender nobody = { 0 }; /* OpenSM says who sends it */
	struct osm_agents *a = ctx;
	struct notice n;

	if (a->over.ops)
		return a->over.ops->send(a->over.ctx, in, err);
	if (a->moved) /* answers would go elsewhere, and who takes over is still at work */
		return err_set(err, -EAGAIN, "no other SM is master yet");
	phase_codec_encode(&n, in, false, &nobody);
	return osm_link_notice(a->l, &n, err);
}

static int osm_agents_recv(void *ctx, struct agent_answer *out, uint64_t wait_ns, struct err *err)
{
	struct osm_agents *a = ctx;
	struct notice n;
	bool answer;
	int rc;

	if (a->over.ops)
		return a->over.ops->recv(a->over.ctx, out, wait_ns, err);
	rc = osm_link_heard(a->l, &n, (uint32_t)((wait_ns + 999999) / 1000000), err);
	if (rc <= 0)
		return rc;
	if (phase_codec_decode(&out->notice, &answer, &n) || !answer)
		return 0;
	out->lid = n.issuer_lid;
	out->guid = n.issuer_guid;
	out->at_ns = clock_ns();
	return 1;
}

static int osm_agents_by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static int osm_agents_present(void *ctx, struct agent_place *at, uint32_t n,
			      struct progress *progress, struct err *err)
{
	struct osm_agents *a = ctx;
	uint64_t *guid;
	uint32_t count;
	int rc = osm_link_listeners(a->l, &guid, &count, err);

	(void)progress;
	if (rc)
		return rc;
	qsort(guid, count, sizeof(*guid), osm_agents_by_value);
	for (uint32_t i = 0; i < n; i++)
		at[i].there = bsearch(&at[i].guid, guid, count, sizeof(*guid), osm_agents_by_value)
				      ? AGENT_PRESENT
				      : AGENT_ABSENT;
	free(guid);
	return 0;
}

static uint64_t osm_agents_now_ns(void *ctx)
{
	(void)ctx;
	return clock_ns();
}

static void osm_agents_close(void *ctx)
{
	struct osm_agents *a = ctx;

	agent_link_close(&a->over);
	free(a);
}

void agent_link_osm(struct agent_link *out, struct osm_link *l, struct wire *reserve,
		    struct site_keys *keys)
{
	static const struct agent_link_ops ops = {
		.name = "notices by OpenSM itself",
		.listen = osm_agents_listen,
		.send = osm_agents_send,
		.recv = osm_agents_recv,
		.present = osm_agents_present,
		.sealed = osm_agents_sealed,
		.now_ns = osm_agents_now_ns,
		.close = osm_agents_close,
	};
	struct osm_agents *a = xcalloc(1, sizeof(*a));

	a->l = l;
	a->reserve = reserve;
	a->keys = keys;
	*out = (struct agent_link){ .ops = &ops, .ctx = a };
}
