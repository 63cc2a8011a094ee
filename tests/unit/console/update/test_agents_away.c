/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/agents_away.h"

#include "fabric/base/memory/mem.h"
#include "fabric/ib/phase_notice.h"
#include "fabric/update/journal/journal_text.h"
#include "fabric/update/protocol/coordinator.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOW 1000000

static char base[] = "/tmp/test_agents_away.XXXXXX";

static const struct txn_agent nodes[] = {
	{ .guid = 0x11, .lid = 1, .nlids = 1, .name = "n1" },
	{ .guid = 0x22, .lid = 2, .nlids = 1, .name = "n2" },
	{ .guid = 0x33, .lid = 3, .nlids = 1, .name = "n3" },
};

static struct txn_info update(const char *id, uint64_t number, enum txn_state state, int64_t age)
{
	struct txn_info t = { .state = state, .state_s = NOW - age, .asked = true };

	snprintf(t.head.id, sizeof(t.head.id), "%s", id);
	t.head.number = number;
	return t;
}

static void put(const char *id, const char *file, uint32_t first, uint32_t n)
{
	char *dir = xasprintf("%s/%s", base, id), *path = xasprintf("%s/%s", dir, file);
	char *text = txn_agents_encode(nodes + first, n);
	FILE *f;

	mkdir(dir, 0700);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(text);
	free(path);
	free(dir);
}

static struct agent_away *merged(uint32_t *n, const struct txn_info *list, uint32_t nlist,
				 const struct osm_agent *heard, uint32_t nheard)
{
	struct agent_away *a;

	agents_away_merge(&a, n, base, list, nlist, heard, nheard, NOW);
	return a;
}

static void without_a_plugin_the_journals_name_who_may_be_away(void **state)
{
	struct txn_info t[] = { update("a", 7, TXN_CONFIRMED, 60), update("b", 8, TXN_WRITING, 5) };
	struct agent_away *a;
	uint32_t n;

	(void)state;
	put("a", "agents.json", 0, 3);
	put("b", "agents.json", 2, 1);
	a = merged(&n, t, 2, NULL, 0);
	assert_int_equal(n, 1); /* all of the first were back */
	assert_string_equal(a->name, "n3");
	assert_string_equal(a->id, "b");
	assert_int_equal(a->where, AWAY_UNKNOWN);
	free(a);
	put("a", "away.json", 1, 1);
	a = merged(&n, t, 2, NULL, 0);
	assert_int_equal(n, 2);
	assert_string_equal(a[0].name, "n2");
	assert_string_equal(a[0].id, "a");
	free(a);
	t[0].state_s = NOW - 100000; /* it has returned by itself since */
	t[1].state = TXN_CONFIRMING;
	a = merged(&n, t, 2, NULL, 0);
	assert_int_equal(n, 0);
	free(a);
}

static void what_the_plugin_has_heard_counts(void **state)
{
	const struct txn_info t[] = { update("a", 7, TXN_ROLLED_BACK, 60),
				      update("b", 8, TXN_UNPATH, 5) };
	const struct osm_agent heard[] = {
		{ .guid = 0x11,
		  .txn = 7,
		  .lid = 1,
		  .phase = PHASE_UNPATH,
		  .age_ms = 9000,
		  .flags = NOTICE_ASK },
		{ .guid = 0x22, .txn = 7, .lid = 2, .phase = PHASE_REPATH },
		{ .guid = 0x33, .txn = 7, .lid = 3, .phase = PHASE_REPATH },
		{ .guid = 0x44, .txn = 5, .lid = 4, .phase = PHASE_REPATH, .flags = NOTICE_FAILED },
		{ .guid = 0x55, .txn = 7, .lid = 5, .phase = PHASE_UNPATH, .flags = NOTICE_FAILED },
	};
	struct agent_away *a;
	uint32_t n;

	(void)state;
	put("a", "agents.json", 0, 3);
	put("a", "away.json", 0, 2);
	put("b", "agents.json", 2, 1);
	a = merged(&n, t, 2, heard, 5);
	assert_int_equal(n, 3);
	assert_string_equal(a[0].name, ""); /* of another machine */
	assert_string_equal(a[0].id, "");
	assert_int_equal(a[0].guid, 0x44);
	assert_int_equal(a[0].where, AWAY_MIXED);
	assert_string_equal(a[1].name, "n1");
	assert_string_equal(a[1].id, "a");
	assert_int_equal(a[1].where, AWAY_ESCAPE);
	assert_int_equal(a[1].since_s, NOW - 9);
	assert_string_equal(a[2].name, "n3"); /* was heard of an earlier update only */
	assert_int_equal(a[2].where, AWAY_UNKNOWN);
	free(a);
}

static void they_are_named_in_a_line_by_what_the_fabric_calls_them(void **state)
{
	struct fabric *f = net_spec("random:switches=6,links=9,hosts=2,seed=4");
	struct agent_away a[6] = { { .guid = 1 } };
	char text[260], want[260];

	(void)state;
	assert_string_equal(agents_away_text(text, sizeof(text), a, 0, f), "");
	assert_string_equal(agents_away_text(text, sizeof(text), a, 1, f),
			    "1 agent is not on its base LIDs: port 0x0000000000000001");
	for (uint32_t i = 0; i < 6; i++)
		a[i].guid = f->term_guid[i];
	snprintf(a[0].name, sizeof(a[0].name), "login1");
	snprintf(want, sizeof(want), "6 agents are not on their base LIDs: login1, %s, %s, %s, ...",
		 f->term_name[1], f->term_name[2], f->term_name[3]);
	assert_string_equal(agents_away_text(text, sizeof(text), a, 6, f), want);
	assert_int_equal(strlen(agents_away_text(text, 40, a, 6, f)), 39); /* what has room */
	fabric_put(f);
}

static int up(void **state)
{
	(void)state;
	return mkdtemp(base) ? 0 : -1;
}

static int down(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", base);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_plugin_the_journals_name_who_may_be_away),
		cmocka_unit_test(what_the_plugin_has_heard_counts),
		cmocka_unit_test(they_are_named_in_a_line_by_what_the_fabric_calls_them),
	};

	return cmocka_run_group_tests(tests, up, down);
}
