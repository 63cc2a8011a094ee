/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An agent and its subnet manager. */
#include "fabric/agent/agent_priv.h"

#include "fabric/base/log.h"

#include <string.h>

#define RETRY_MAX_MS 30000

/* Once for each sentence, not each try. */
static void agent_sm_trouble(struct agent *a, const struct err *err)
{
	if (strcmp(a->sm_err.text, err->text))
		log_add(LOG_WARN, "agent", "%s", err->text);
	a->sm_err = *err;
}

static void agent_sm_changed(struct agent *a, const char *what)
{
	log_add(LOG_INFO, "agent", "%s: subscribes again", what);
	agent_event(a, AGENT_EV_SM);
}

/* Restarted, an SM has forgotten us; it tells the port to register again, but only the kernel sees
 * that.  Its activity count, which starts anew, and its silence meanwhile are what we can see. */
void agent_look_at_sm(struct agent *a)
{
	struct notice_local old = a->local;
	struct err err = { "" };
	struct sm_info sm;
	int rc = notice_port_refresh(a->np, &a->local, &err);

	if (!rc)
		rc = notice_port_sm(a->np, &sm, &err);
	if (rc) {
		agent_sm_trouble(a, &err);
		a->sm_silent = a->sm_known;
		return;
	}
	if (a->sm_known && (old.lid != a->local.lid || old.sm_lid != a->local.sm_lid))
		agent_sm_changed(a, "the port has another LID or another subnet manager");
	else if (a->sm_known && sm.guid != a->sm.guid)
		agent_sm_changed(a, "another subnet manager has taken over");
	else if (a->sm_known && (a->sm_silent || sm.act_count < a->sm.act_count))
		agent_sm_changed(a, "the subnet manager is back");
	a->sm = sm;
	a->sm_known = true;
	a->sm_silent = false;
}

/* Again every now and then, whatever we believe: it does no harm, and the SM may believe otherwise.
 */
void agent_subscribe(struct agent *a)
{
	bool had = a->st.subscribed;
	struct err err = { "" };
	int rc = notice_subscribe(a->np, NOTICE_UNPATH, &err);

	if (!rc)
		rc = notice_subscribe(a->np, NOTICE_REPATH, &err);
	if (rc) {
		agent_sm_trouble(a, &err);
		a->retry_ms = a->retry_ms ? 2 * a->retry_ms : 500;
		if (a->retry_ms > RETRY_MAX_MS)
			a->retry_ms = RETRY_MAX_MS;
		a->subscribe_ms = agent_now_ms(a) + a->retry_ms;
		return;
	}
	a->sm_err.text[0] = 0;
	a->retry_ms = 0;
	a->subscribe_ms = agent_now_ms(a) + 60000;
	if (had)
		return;
	log_add(LOG_INFO, "agent", "LID %u: subscribed at the subnet manager at LID %u",
		a->local.lid, a->local.sm_lid);
	agent_event(a, AGENT_EV_SUBSCRIBED);
	/* what was said meanwhile was not heard */
	if (a->st.mode == AGENT_ESCAPE)
		agent_event(a, AGENT_EV_TIMEOUT);
	agent_greet(a);
}

void agent_unsubscribe(struct agent *a)
{
	struct err err;

	for (uint16_t trap = NOTICE_UNPATH; trap <= NOTICE_REPATH; trap++) {
		if (notice_unsubscribe(a->np, trap, &err))
			log_add(LOG_WARN, "agent", "%s", err.text);
	}
}

/* Sooner where there is no SM: it is awaited. */
void agent_next_poll(struct agent *a)
{
	bool there = a->sm_known && !a->sm_silent;

	a->poll_ms = agent_now_ms(a) + (there || a->o.poll_ms < 2000 ? a->o.poll_ms : 2000);
}
