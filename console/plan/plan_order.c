/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_order.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

_Static_assert((int)TRANSITION_OLD_LOOP == (int)DRAIN_OLD_LOOP &&
		       (int)TRANSITION_OLD_SL == (int)DRAIN_OLD_SL &&
		       (int)TRANSITION_OTHERS == (int)DRAIN_OTHERS &&
		       (int)TRANSITION_NO_ORDER == (int)DRAIN_NO_ORDER,
	       "a plan keeps the reasons as numbers");

static int plan_order_set_order(struct plan *p, const struct transition *t, struct err *err)
{
	struct change_order o = { .n = t->nwrites, .nwaves = t->nwaves };
	int rc;

	if (!o.nwaves) /* VLs of SLs that no path uses may change at any time */
		o.nwaves = 1;
	o.sl2vl_wave = t->sl2vl_wave;
	o.v = xcalloc(t->nwrites, sizeof(*o.v));
	for (uint32_t i = 0; i < t->nwrites; i++)
		o.v[i] = (struct change_write){ t->writes[i].wave, t->writes[i].sw,
						t->writes[i].block, t->writes[i].now };
	rc = plan_in_order(p, &o, err);
	free(o.v);
	return rc;
}

static int plan_order_find_drain(struct drain *d, const struct plan *p, const struct transition *t,
				 struct progress *progress, struct err *err)
{
	*d = (struct drain){ .nlid = t->ndrain };
	d->lid = xcalloc(t->ndrain, sizeof(*d->lid));
	for (uint32_t i = 0; i < t->ndrain; i++)
		d->lid[i] = (struct drain_lid){ t->drain[i].lid, t->drain[i].why };
	return drain_find(d, p->fabric, p->from, p->to, p->jobs, p->diff, progress, err);
}

int plan_order_find(struct plan *p, struct transition **out, struct progress *progress,
		    struct err *err)
{
	struct transition *t = NULL;
	struct drain d = { 0 };
	int rc = transition_plan(&t, p->fabric, p->from, p->to, NULL, progress, err);

	if (!rc)
		rc = plan_order_find_drain(&d, p, t, progress, err);
	if (!rc)
		rc = plan_order_set_order(p, t, err);
	if (!rc)
		plan_with_drain(p, &d);
	drain_clear(&d);
	if (!rc && out)
		*out = t;
	else
		transition_free(t);
	return rc;
}
