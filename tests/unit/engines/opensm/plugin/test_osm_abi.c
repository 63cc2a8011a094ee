/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An OpenSM of another build is told by its structures, before anything in them is used. */
#include "engines/opensm/plugin/osm_abi.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 4096 /* how much larger the other build's may be */

/* As OpenSM has it when it loads its plugins; the caller frees. */
static osm_opensm_t *osm_new(void)
{
	static char name[] = "ibroute";
	osm_opensm_t *osm = calloc(1, sizeof(*osm) + ROOM);

	osm->subn.p_osm = osm;
	osm->subn.last_sm_port_state = 1;
	osm->subn.opt.packet_life_time = 18;
	osm->subn.opt.qos = TRUE;
	osm->subn.opt.event_plugin_name = name;
	osm->subn.max_ucast_lid_ho = IB_LID_UCAST_END_HO;
	osm->subn.max_mcast_lid_ho = IB_LID_MCAST_END_HO;
	osm->subn.min_data_vls = IB_MAX_NUM_VLS - 1;
	osm->subn.sweeping_enabled = TRUE;
	osm->sm.p_subn = osm->sa.p_subn = osm->vl15.p_subn = &osm->subn;
	osm->sm.p_db = &osm->db;
	osm->sm.p_vendor = osm->p_vendor = (osm_vendor_t *)name;
	osm->sm.p_log = osm->sa.p_log = osm->db.p_log = &osm->log;
	osm->sm.p_mad_pool = osm->sa.p_mad_pool = &osm->mad_pool;
	osm->sm.p_vl15 = &osm->vl15;
	osm->sm.p_disp = &osm->disp;
	osm->sm.p_lock = osm->sa.p_lock = &osm->lock;
	osm->sa.sm = &osm->sm;
	osm->vl15.p_stats = &osm->stats;
	return osm;
}

/* What points into the structure behind that place, does so by as much further. */
static void osm_moves_pointers(osm_opensm_t *osm, size_t at, ptrdiff_t by)
{
	char **p = (char **)osm, *from = (char *)osm;

	for (size_t i = 0; i < (sizeof(*osm) + ROOM) / sizeof(*p); i++)
		if (p[i] >= from + at && p[i] < from + sizeof(*osm))
			p[i] += by;
}

/* A build that has a member of so many bytes more there. */
static osm_opensm_t *osm_with(size_t at, size_t more)
{
	osm_opensm_t *osm = osm_new();
	char *bytes = (char *)osm;

	osm_moves_pointers(osm, at, (ptrdiff_t)more);
	memmove(bytes + at + more, bytes + at, sizeof(*osm) - at);
	memset(bytes + at, 0, more);
	return osm;
}

/* A build that has none of the members from at to end. */
static osm_opensm_t *osm_without(size_t at, size_t end)
{
	osm_opensm_t *osm = osm_new();
	char *bytes = (char *)osm;

	osm_moves_pointers(osm, end, (ptrdiff_t)at - (ptrdiff_t)end);
	memmove(bytes + at, bytes + end, sizeof(*osm) - end);
	return osm;
}

/* Refused, with that in the sentence; and its log is found so many bytes from where ours has it. */
static void refused(osm_opensm_t *osm, const char *what, ptrdiff_t log_moved)
{
	struct err err = { "" };

	assert_int_equal(osm_abi_check(osm, &err), -ENOEXEC);
	if (!strstr(err.text, what))
		fail_msg("not told of %s: %s", what, err.text);
	assert_non_null(strstr(err.text, "build the plugin with this OpenSM's headers"));
	assert_ptr_equal(osm_abi_log(osm), (char *)&osm->log + log_moved);
	free(osm);
}

static void test_the_build_of_its_headers_is_taken(void **state)
{
	osm_opensm_t *osm = osm_new();
	struct err err = { "" };

	(void)state;
	assert_int_equal(osm_abi_check(osm, &err), 0);
	assert_string_equal(err.text, "");
	assert_ptr_equal(osm_abi_log(osm), &osm->log);
	free(osm);
}

static void test_an_option_more_is_told_and_the_log_found(void **state)
{
	(void)state;
	refused(osm_with(offsetof(osm_opensm_t, subn.opt.qos_options), 8), "\"event_plugin_name\"",
		8);
	refused(osm_with(offsetof(osm_opensm_t, subn.opt.per_module_logging_file), 8),
		"what follows the options", 8);
}

static void test_a_member_more_of_a_part_is_told(void **state)
{
	(void)state;
	refused(osm_with(offsetof(osm_opensm_t, sm.p_subn), 64), "the subnet manager", 64);
	refused(osm_with(offsetof(osm_opensm_t, mad_pool), 16), "the log of the database", 16);
	refused(osm_with(offsetof(osm_opensm_t, stats), 8), "the statistics", 0);
}

#ifdef ENABLE_OSM_PERF_MGR
static void test_a_build_without_the_performance_manager_is_told(void **state)
{
	size_t at = offsetof(osm_opensm_t, perfmgr);
	size_t end = offsetof(osm_opensm_t, cc);

	(void)state;
	refused(osm_without(at, end), "the database", -(ptrdiff_t)(end - at));
}
#endif

static void test_no_log_is_made_up_where_nothing_is_as_expected(void **state)
{
	osm_opensm_t *osm = calloc(1, sizeof(*osm) + ROOM);
	struct err err = { "" };

	(void)state;
	assert_int_equal(osm_abi_check(osm, &err), -ENOEXEC);
	assert_null(osm_abi_log(osm));
	memset(osm, 0xa5, sizeof(*osm) + ROOM);
	assert_int_equal(osm_abi_check(osm, &err), -ENOEXEC);
	assert_null(osm_abi_log(osm));
	free(osm);
}

/* ---- a switch ---- */

#define PORTS 4

struct a_switch {
	osm_switch_t sw;
	osm_node_t *node;
	uint8_t lft[64];
};

static void switch_init(struct a_switch *s)
{
	memset(s, 0, sizeof(*s));
	s->node = calloc(1, sizeof(*s->node) + PORTS * sizeof(osm_physp_t));
	s->node->sw = &s->sw;
	s->node->node_info.node_guid = cl_hton64(0x100);
	s->node->node_info.num_ports = PORTS;
	s->node->physp_tbl_size = s->sw.num_ports = PORTS + 1;
	for (uint8_t p = 0; p <= PORTS; p++) {
		s->node->physp_table[p].p_node = s->node;
		s->node->physp_table[p].port_num = p;
	}
	s->sw.p_node = s->node;
	s->sw.map_item.key = cl_hton64(0x100);
	s->sw.lft = s->lft;
	s->sw.lft_size = sizeof(s->lft);
}

static void switch_refused(const struct a_switch *s, const char *what)
{
	struct err err = { "" };

	assert_int_equal(osm_abi_check_switch(&s->sw, &err), -ENOEXEC);
	if (!strstr(err.text, what))
		fail_msg("not told of %s: %s", what, err.text);
	free(s->node);
}

static void test_a_switch_that_knows_its_node_and_ports_is_taken(void **state)
{
	struct a_switch s;

	(void)state;
	switch_init(&s);
	assert_int_equal(osm_abi_check_switch(&s.sw, NULL), 0);
	free(s.node);
}

static void test_a_switch_of_another_layout_is_told(void **state)
{
	struct a_switch s;
	char *ports;

	(void)state;
	switch_init(&s);
	s.sw.p_node = NULL;
	switch_refused(&s, "the node of a switch");

	switch_init(&s);
	s.node->node_info.num_ports = 0;
	switch_refused(&s, "the number of ports of a switch");

	switch_init(&s); /* ports that are 8 bytes larger */
	ports = (char *)&s.node->physp_table[1];
	memmove(ports + 8, ports, (PORTS - 1) * sizeof(osm_physp_t));
	switch_refused(&s, "a port of a switch");

	switch_init(&s);
	s.sw.lft = NULL;
	switch_refused(&s, "the LFT of a switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_build_of_its_headers_is_taken),
		cmocka_unit_test(test_an_option_more_is_told_and_the_log_found),
		cmocka_unit_test(test_a_member_more_of_a_part_is_told),
#ifdef ENABLE_OSM_PERF_MGR
		cmocka_unit_test(test_a_build_without_the_performance_manager_is_told),
#endif
		cmocka_unit_test(test_no_log_is_made_up_where_nothing_is_as_expected),
		cmocka_unit_test(test_a_switch_that_knows_its_node_and_ports_is_taken),
		cmocka_unit_test(test_a_switch_of_another_layout_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
