/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_forge IN OUT HOW: a plan that says what it should not, with a right hash.
 *
 *   circle     its new tables lead LIDs round between two switches; nobody drains
 *   merged     all of its writes in one wave, who drains as before
 *   reversed   its waves in reverse order
 *   nobody     nobody drains
 *   job        the jobs that have to drain do not have to
 *   lanes      all paths on an SL whose VL the links do not have, and says that it takes one VL
 *   installed  its old tables are others than those it was made for
 *   sls        both tables have all paths on another SL than they are on
 */
#include "fabric/base/memory/mem.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tables *copy(const struct plan *p, const struct tables *t)
{
	struct tables *to = tables_onto(p->fabric, t, t);

	to->vls = t->vls;
	return to;
}

static void circle(const struct plan *p, struct tables *to)
{
	const struct fabric *f = p->fabric;
	uint32_t c = 0, a = f->chan_src[c], b = f->chan_dst[c], n = 0;

	for (uint32_t t = 0; t < f->nterm && n < 4; t++) {
		uint16_t lid = f->term_lid[t];

		if (f->term_sw[t] == a || f->term_sw[t] == b)
			continue;
		tables_row(to, a)[lid] = f->chan_port[c];
		tables_row(to, b)[lid] = f->chan_rport[c];
		n++;
	}
}

static void lanes(const struct plan *p, struct tables *to)
{
	tables_sl_form(to, SL_CONST, p->fabric);
	to->sl_const = 13;
	to->vls = 1;
}

static int by_place(const void *a, const void *b)
{
	const struct change_write *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

static int reverse(struct plan *to, const struct plan *p, struct err *err)
{
	struct change_order o = p->order;
	struct change_write *v = xcalloc(o.n, sizeof(*v));
	int rc;

	for (uint32_t i = 0; i < o.n; i++) {
		v[i] = o.v[i];
		v[i].wave = o.nwaves - 1 - v[i].wave;
	}
	if (o.n)
		qsort(v, o.n, sizeof(*v), by_place);
	o.v = v;
	o.sl2vl_wave = o.nwaves ? o.nwaves - 1 - o.sl2vl_wave : 0;
	rc = plan_in_order(to, &o, err);
	free(v);
	return rc;
}

static int order(struct plan *to, const struct plan *p, const char *how, struct err *err)
{
	if (!strcmp(how, "reversed"))
		return reverse(to, p, err);
	if (!strcmp(how, "nobody") || !strcmp(how, "job") || !strcmp(how, "sls"))
		return plan_in_order(to, &p->order, err);
	return 0;
}

static void drain(struct plan *to, const struct plan *p, const char *how)
{
	struct drain d = { 0 };

	drain_copy(&d, &p->drain);
	if (!strcmp(how, "circle") || !strcmp(how, "nobody")) {
		drain_clear(&d);
		d.known = d.jobs = true;
	} else if (!strcmp(how, "job")) {
		d.njob = d.nneeded = 0;
	}
	plan_with_drain(to, &d);
	drain_clear(&d);
}

static int forge(struct plan **out, const struct plan *p, const char *how, struct err *err)
{
	struct tables *from = copy(p, p->from), *to = copy(p, p->to);
	int rc;

	if (!strcmp(how, "circle"))
		circle(p, to);
	else if (!strcmp(how, "lanes"))
		lanes(p, to);
	else if (!strcmp(how, "installed"))
		tables_row(from, 0)[p->fabric->term_lid[p->fabric->nterm - 1]] ^= 1;
	else if (!strcmp(how, "sls"))
		from->sl_const = to->sl_const = (uint8_t)(to->sl_const + 3) % 8;
	rc = plan_new(out, p->fabric, from, to, p->jobs, &p->sm, p->time_s, err);
	if (!rc)
		rc = order(*out, p, how, err);
	if (!rc)
		drain(*out, p, how);
	tables_put(from);
	tables_put(to);
	return rc;
}

int main(int argc, char **argv)
{
	struct plan *p = NULL, *forged = NULL;
	struct err err = { "plan_forge IN OUT HOW" };

	if (argc < 4 || plan_load(&p, argv[1], &err) || forge(&forged, p, argv[3], &err) ||
	    plan_save(argv[2], forged, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s: %u waves, %u LIDs to drain, %u jobs of %u\n", forged->id,
	       forged->changes->nwaves, forged->drain.nlid, forged->drain.njob, p->drain.njob);
	plan_free(forged);
	plan_free(p);
	return 0;
}
