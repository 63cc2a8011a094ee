/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kautz graph K(b,n): the switches are the words of n letters out of b+1 without two equal
 * neighbours; a cable leads from each word to the words that begin with its last n-1 letters.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

/* Word number = first letter * b^(n-1) + ...: every further letter counts among the b that
 * differ from the one before. */
static uint32_t topo_kautz_step(uint32_t prev, uint32_t next)
{
	return next < prev ? next : next - 1;
}

struct kautz {
	uint32_t b, n, links;
	uint32_t high; /* b^(n-1) */
};

static void topo_kautz_word_of(uint32_t *letter, const struct kautz *k, uint32_t number)
{
	uint32_t place = k->high;

	letter[0] = number / place;
	for (uint32_t i = 1; i < k->n; i++) {
		uint32_t d;

		number %= place;
		place /= k->b;
		d = number / place;
		letter[i] = d < letter[i - 1] ? d : d + 1;
	}
}

static uint32_t topo_kautz_number_of(const uint32_t *letter, const struct kautz *k)
{
	uint32_t number = letter[0];

	for (uint32_t i = 1; i < k->n; i++)
		number = number * k->b + topo_kautz_step(letter[i - 1], letter[i]);
	return number;
}

static void topo_kautz_draw(struct topo_net *net, const struct kautz *k, uint32_t count)
{
	uint32_t letter[TOPO_LIST_MAX + 1];

	for (uint32_t w = 0; w < count; w++) {
		topo_kautz_word_of(letter, k, w);
		for (uint32_t x = 0; x <= k->b; x++) {
			if (x == letter[k->n - 1])
				continue;
			letter[k->n] = x;
			topo_net_cable(net, w, topo_kautz_number_of(letter + 1, k), k->links);
		}
	}
}

static int topo_kautz_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct kautz k;
	uint32_t hosts;
	uint64_t high = 1;
	int rc = topo_spec_u32(&k.b, s, "b", 0, 1, 127, err);

	if (!rc)
		rc = topo_spec_u32(&k.n, s, "n", 0, 1, TOPO_LIST_MAX, err);
	if (!rc)
		rc = topo_spec_u32(&k.links, s, "links", 1, 1, 127, err);
	if (!rc)
		rc = topo_spec_u32(&hosts, s, "hosts", 1, 0, 252, err);
	for (uint32_t i = 1; i < k.n && !rc && high <= FAB_MAX_LID; i++)
		high *= k.b;
	if (!rc)
		rc = topo_net_group(NULL, net, "sw", (k.b + 1) * high, hosts, err);
	if (rc)
		return rc;
	k.high = (uint32_t)high;
	topo_kautz_draw(net, &k, (uint32_t)((k.b + 1) * high));
	return 0;
}

static const struct topo_key kautz_keys[] = {
	{ "b", NULL, "cables out of a switch; one less than there are letters" },
	{ "n", NULL, "letters of a word; (b+1) b^(n-1) switches" },
	{ "hosts", "1", "hosts on each switch" },
	{ "links", "1", "parallel cables" },
	{ 0 },
};

const struct topo_type topo_kautz = {
	"kautz", "Kautz graph", "kautz:b=5,n=3,hosts=7,links=2", kautz_keys, topo_kautz_make,
};
