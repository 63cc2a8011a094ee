/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fat trees, all of them as parallel-port generalised fat trees (Zahavi, "D-Mod-K routing
 * providing non-blocking traffic for shift permutations on real life fat trees", 2010), which
 * are extended generalised fat trees (Ohring et al., "On generalized fat trees", 1995) with
 * p_l cables between neighbours of levels l-1 and l.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>
#include <string.h>

#define TREE_LEVELS 8

/* m[l] children of a node of level l+1, w[l] parents of a node of level l, p[l] parallel. */
struct tree {
	uint32_t h;
	uint32_t m[TREE_LEVELS], w[TREE_LEVELS], p[TREE_LEVELS];
};

static const char *topo_tree_level_prefix(uint32_t h, uint32_t level)
{
	static const char *const two[] = { "leaf", "spine" };
	static const char *const three[] = { "leaf", "agg", "core" };
	static const char *const many[] = { "tier1-", "tier2-", "tier3-", "tier4-",
					    "tier5-", "tier6-", "tier7-", "tier8-" };

	if (h <= 2)
		return two[level - 1];
	return h == 3 ? three[level - 1] : many[level - 1];
}

/* A node of level l is a number of h digits: digit i counts w[i] values when i < l, else m[i].
 * Digit 0 is the least significant, so that the leaves of one subtree are neighbours. */
static uint32_t topo_tree_radix(const struct tree *t, uint32_t level, uint32_t digit)
{
	return digit < level ? t->w[digit] : t->m[digit];
}

static uint64_t topo_tree_level_count(const struct tree *t, uint32_t level)
{
	uint64_t n = 1;

	/* digit 0 of a switch counts the hosts' parents: always 1 */
	for (uint32_t i = 0; i < t->h && n <= UINT32_MAX; i++)
		n *= topo_tree_radix(t, level, i);
	return n;
}

/* Cables from every switch of a level to its parents: those that agree in all other digits. */
static void topo_tree_level_cables(struct topo_net *net, const struct tree *t, uint32_t level,
				   uint32_t first, uint32_t first_up)
{
	uint32_t low = 1, kids = t->m[level], parents = t->w[level];
	uint32_t n = (uint32_t)topo_tree_level_count(t, level);

	for (uint32_t i = 0; i < level; i++)
		low *= topo_tree_radix(t, level, i);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t below = s % low, above = s / low / kids;

		for (uint32_t v = 0; v < parents; v++)
			topo_net_cable(net, first + s,
				       first_up + (above * parents + v) * low + below, t->p[level]);
	}
}

static int topo_tree_make(struct topo_net *net, const struct tree *t, struct err *err)
{
	uint32_t first[TREE_LEVELS + 1];

	for (uint32_t l = 1; l <= t->h; l++) {
		int rc = topo_net_group(&first[l], net, topo_tree_level_prefix(t->h, l),
					topo_tree_level_count(t, l), l == 1 ? t->m[0] : 0, err);

		if (rc)
			return rc;
	}
	for (uint32_t l = 1; l < t->h; l++)
		topo_tree_level_cables(net, t, l, first[l], first[l + 1]);
	return 0;
}

static int topo_tree_fattree2_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct tree t = { .h = 2, .w = { 1 }, .p = { 1 } };
	int rc = topo_spec_u32(&t.m[1], s, "leaves", 0, 1, 254, err);

	if (!rc)
		rc = topo_spec_u32(&t.w[1], s, "spines", 0, 1, 253, err);
	if (!rc)
		rc = topo_spec_u32(&t.m[0], s, "hosts", 0, 0, 253, err);
	if (!rc)
		rc = topo_spec_u32(&t.p[1], s, "parallel", 1, 1, 253, err);
	return rc ? rc : topo_tree_make(net, &t, err);
}

static const struct topo_key fattree2_keys[] = {
	{ "leaves", NULL, "leaf switches" },
	{ "spines", NULL, "spine switches" },
	{ "hosts", NULL, "hosts on each leaf" },
	{ "parallel", "1", "cables between a leaf and a spine" },
	{ 0 },
};

const struct topo_type topo_fattree2 = {
	"fattree2",    "two-level fat tree",	"fattree2:leaves=18,spines=18,hosts=18",
	fattree2_keys, topo_tree_fattree2_make,
};

/* The tree of k-port switches that fills all ports. */
static int topo_tree_fattree3_full(struct tree *t, const struct topo_spec *s, struct err *err)
{
	static const char *const other[] = { "pods", "leaves", "aggs", "cores" };
	uint32_t k;
	int rc = topo_spec_u32(&k, s, "k", 0, 2, 254, err);

	if (rc)
		return rc;
	if (k % 2)
		return err_set(err, -EINVAL, "fattree3: k=%u must be even", k);
	for (int i = 0; i < 4; i++)
		if (topo_spec_text(s, other[i], NULL))
			return err_set(err, -EINVAL,
				       "fattree3: give either k= or pods=, leaves=, aggs=, cores=");
	t->m[1] = t->w[1] = t->w[2] = k / 2;
	t->m[2] = k;
	return topo_spec_u32(&t->m[0], s, "hosts", k / 2, 0, 253, err);
}

static int topo_tree_fattree3_uneven(struct tree *t, const struct topo_spec *s, struct err *err)
{
	int rc = 0;
	struct {
		const char *key;
		uint32_t *to;
	} want[] = { { "pods", &t->m[2] },
		     { "leaves", &t->m[1] },
		     { "aggs", &t->w[1] },
		     { "cores", &t->w[2] },
		     { "hosts", &t->m[0] } };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want) && !rc; i++) {
		if (!topo_spec_text(s, want[i].key, NULL))
			return err_set(err, -EINVAL,
				       "fattree3 needs k=, or all of pods=, leaves=, aggs=, "
				       "cores=, hosts=; %s= is missing",
				       want[i].key);
		rc = topo_spec_u32(want[i].to, s, want[i].key, 0, i < 4, 254, err);
	}
	return rc;
}

static int topo_tree_fattree3_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct tree t = { .h = 3, .w = { 1 }, .p = { 1, 1 } };
	int rc = topo_spec_text(s, "k", NULL) ? topo_tree_fattree3_full(&t, s, err)
					      : topo_tree_fattree3_uneven(&t, s, err);

	if (!rc)
		rc = topo_spec_u32(&t.p[2], s, "parallel", 1, 1, 253, err);
	return rc ? rc : topo_tree_make(net, &t, err);
}

static const struct topo_key fattree3_keys[] = {
	{ "k", "none", "ports of a switch: the full tree; instead of the keys below" },
	{ "pods", "k", "pods" },
	{ "leaves", "k/2", "leaf switches in a pod" },
	{ "aggs", "k/2", "aggregation switches in a pod" },
	{ "cores", "k/2", "core switches above each position of an aggregation switch" },
	{ "hosts", "k/2", "hosts on each leaf" },
	{ "parallel", "1", "cables between an aggregation switch and a core" },
	{ 0 },
};

const struct topo_type topo_fattree3 = {
	"fattree3",
	"three-level fat tree, full or uneven",
	"fattree3:k=36",
	fattree3_keys,
	topo_tree_fattree3_make,
};

static int topo_tree_kary_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct tree t = { 0 };
	uint32_t k;
	int rc = topo_spec_u32(&k, s, "k", 0, 1, 127, err);

	if (!rc)
		rc = topo_spec_u32(&t.h, s, "n", 0, 1, TREE_LEVELS, err);
	for (uint32_t l = 0; l < t.h && !rc; l++) {
		t.m[l] = k;
		t.w[l] = l ? k : 1;
		t.p[l] = 1;
	}
	if (!rc)
		rc = topo_spec_u32(&t.m[0], s, "hosts", k, 0, 253, err);
	return rc ? rc : topo_tree_make(net, &t, err);
}

static const struct topo_key kary_keys[] = {
	{ "k", NULL, "ports up and ports down" },
	{ "n", NULL, "levels" },
	{ "hosts", "k", "hosts on each leaf" },
	{ 0 },
};

const struct topo_type topo_kary = {
	"kary", "k-ary n-tree", "kary:k=18,n=3,hosts=15", kary_keys, topo_tree_kary_make,
};

static int topo_tree_xgft_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct topo_list m, w, p;
	struct tree t = { 0 };
	int rc = topo_spec_u32(&t.h, s, "h", 0, 1, TREE_LEVELS, err);

	if (!rc)
		rc = topo_spec_list(&m, s, "m", t.h, 1, FAB_MAX_PORT, err);
	if (!rc)
		rc = topo_spec_list(&w, s, "w", t.h, 1, FAB_MAX_PORT, err);
	if (!rc)
		rc = topo_spec_list(&p, s, "parallel", t.h, 1, FAB_MAX_PORT, err);
	if (rc)
		return rc;
	for (uint32_t l = 0; l < t.h; l++) {
		t.m[l] = m.v[l];
		t.w[l] = w.v[l];
		t.p[l] = p.n && l ? p.v[l] : 1;
	}
	if (t.w[0] != 1)
		return err_set(err, -EINVAL,
			       "xgft: the first number of w= must be 1, "
			       "since a host has one leaf");
	if (topo_spec_text(s, "parallel", NULL) && strchr(topo_spec_text(s, "parallel", ""), 'x') &&
	    p.v[0] != 1)
		return err_set(err, -EINVAL,
			       "xgft: the first number of parallel= must be 1, "
			       "since a host has one cable");
	return topo_tree_make(net, &t, err);
}

static const struct topo_key xgft_keys[] = {
	{ "h", NULL, "levels of switches" },
	{ "m", NULL, "m1x..xmh: children of a node on level 1..h (m1: hosts of a leaf)" },
	{ "w", NULL, "w1x..xwh: parents of a node on level 0..h-1 (w1 = 1)" },
	{ "parallel", "1", "cables to each parent: one number, or one per level (first 1)" },
	{ 0 },
};

const struct topo_type topo_xgft = {
	"xgft",
	"extended generalised fat tree",
	"xgft:h=3,m=18x18x36,w=1x18x18",
	xgft_keys,
	topo_tree_xgft_make,
};
