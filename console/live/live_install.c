/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/live_install.h"

#include "fabric/base/message/log.h"
#include "fabric/ib/codec.h"
#include "fabric/update/installer/file_install.h"
#include "fabric/update/installer/osm_install.h"
#include "fabric/update/installer/smp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum osm_seen live_install_look_for_sm(void *ctx)
{
	const struct live_install *i = ctx;
	struct wire_sm sm;

	if (wire_sm_info(&sm, i->w, NULL))
		return OSM_SEEN_NOBODY;
	return sm.state == SM_MASTER && sm.guid != i->sm_guid ? OSM_SEEN_MASTER : OSM_SEEN_SOMEBODY;
}

static int live_install_by_opensm(struct live_install *i, struct live *l, const struct plan *p,
				  struct err *err)
{
	const struct osm_status *s = &l->osm_status;
	int rc;

	if (!l->osm)
		return err_set(err, -ENOTSUP, "OpenSM cannot write tables: %s", l->osm_why);
	if (p && strncmp(s->configured, "ibroute", 7))
		return err_set(err, -ENOTSUP,
			       "OpenSM would not use these tables: ibroute has to be the first in "
			       "its routing_engine (\"%s\"), for example \"routing_engine "
			       "ibroute,nue\"",
			       s->configured);
	if (!s->qos && p && p->to->vls > 1)
		return err_set(err, -ENOTSUP,
			       "OpenSM does not write SL2VL tables, which this routing needs: put "
			       "\"qos TRUE\" into its configuration");
	/* it would refuse the last wave otherwise, and all be rolled back */
	rc = p && s->exclude[0] ? osm_link_judge(l->osm, p->to, err) : 0;
	if (rc)
		return rc;
	snprintf(i->warning, sizeof(i->warning), "%s", p ? s->replaces : "");
	i->osm = osm_install_new(l->osm, smp_installer(l->w));
	i->w = l->w;
	i->sm_guid = s->sm_guid;
	osm_install_sm(i->osm, live_install_look_for_sm, i);
	if (p)
		osm_install_plan(i->osm, p->fabric, p->from, p->to);
	i->in = osm_installer(i->osm);
	return 0;
}

static int live_install_by_smp(struct live_install *i, struct live *l, struct err *err)
{
	if (l->t && l->top_min < l->f->max_lid)
		return err_set(err, -ERANGE,
			       "switch %s forwards only LIDs up to %u (LinearFDBTop), but LID %u "
			       "is in use: the SM has to sweep first",
			       l->f->sw_name[l->top_min_sw], l->top_min, l->f->max_lid);
	if (l->osm)
		snprintf(i->warning, sizeof(i->warning),
			 "OpenSM is not informed: its path records and its cache do not reflect "
			 "these writes, and it overwrites a block the next time it changes that "
			 "block. --installer opensm avoids this");
	else if (!l->simulated.ops) /* that one keeps nothing of its own */
		snprintf(i->warning, sizeof(i->warning),
			 "the subnet manager is not informed: its path records and its cache do "
			 "not reflect these writes, and it overwrites a block the next time it "
			 "changes that block (%.300s)",
			 l->osm_why);
	i->in = smp_installer(l->w);
	return 0;
}

static int live_install_by_files(struct live_install *i, const char *dir, struct live *l,
				 const struct plan *p, struct err *err)
{
	int rc;

	if (!p)
		return err_set(err, -EINVAL,
			       "a rollback cannot be written to files: use --installer opensm or "
			       "smp");
	rc = file_install_new(&i->files, dir, l->f, p->from, p->to, err);
	if (rc)
		return rc;
	i->in = file_installer(i->files);
	snprintf(i->warning, sizeof(i->warning),
		 "writing to files in %.300s: the switches do not change", dir);
	return 0;
}

/* Who takes over from a process that was killed: the OpenSM that it wrote through may live on
 * beside the new master, and is not to come back with what nobody confirmed. */
static void live_install_call_off(const struct live_opts *o, uint64_t sm_guid)
{
	struct osm_link *link;
	struct osm_status s = { 0 };
	struct osm_answer a;
	struct err err = { "" };

	if (osm_link_open(&link, o->socket, 0, NULL))
		return;
	if (!osm_link_status(link, &s, &err) && s.sm_guid == sm_guid && strcmp(s.state, "master") &&
	    osm_link_return(link, &a, &err))
		log_add(LOG_WARN, "apply", "the OpenSM that was the master SM: %s", err.text);
	osm_link_close(link);
}

int live_install_open(struct live_install *out, struct live *l, const struct live_opts *o,
		      const struct plan *p, uint64_t sm_guid, struct err *err)
{
	const char *name = o->installer ? o->installer : l->osm ? "opensm" : "smp";
	bool by_osm = !strcmp(name, "opensm");
	bool theirs = !p && sm_guid && l->sm.guid && l->sm.guid != sm_guid;
	int rc;

	*out = (struct live_install){ 0 };
	rc = p && l->t ? plan_check_weights(p, l->t, err) : 0;
	if (rc)
		return rc;
	if (theirs)
		live_install_call_off(o, sm_guid);
	/* the way back is not to fail for want of a way */
	if (!p && by_osm && (theirs || !l->osm))
		return live_install_by_smp(out, l, err);
	if (by_osm)
		return live_install_by_opensm(out, l, p, err);
	if (!strncmp(name, "file:", 5))
		return live_install_by_files(out, name + 5, l, p, err);
	return live_install_by_smp(out, l, err);
}

void live_install_close(struct live_install *i)
{
	osm_install_free(i->osm);
	file_install_free(i->files);
	*i = (struct live_install){ 0 };
}
