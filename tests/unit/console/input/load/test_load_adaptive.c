/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adaptive routing as OpenSM's files, our plugin and the operator tell it. */
#include "console/input/load/load_adaptive.h"

#include "fabric/base/memory/mem.h"
#include "fabric/format/opensm/osm_adaptive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define AT  "Jun 20 14:38:48 850162 [E63ED6C0] 0x02 -> "
#define BY  AT "osm_ucast_mgr_process: "
#define ALL " tables configured on all switches\n"
#define UP  AT "SUBNET UP\n"
#define NEW "Jun 20 14:38:40 502613 [9DE21740] 0x80 -> OpenSM 5.17.0\n"

static char dir[] = "/tmp/adaptive.XXXXXX";

static char *file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* NULL: there is no such file. */
static struct adaptive of(enum adaptive_state declared, const struct osm_status *s,
			  const char *conf_text, const char *log_text)
{
	char *conf = conf_text ? file("opensm.conf", conf_text) : NULL;
	char *log = log_text ? file("opensm.log", log_text) : NULL;
	struct adaptive a;

	load_adaptive_files(&a, declared, s, conf, log);
	free(conf);
	free(log);
	return a;
}

static void logs_tell_the_engine_that_routed_last(void **state)
{
	struct adaptive a =
		of(ADAPTIVE_UNKNOWN, NULL, NULL, NEW BY "minhop" ALL UP BY "ar_updn" ALL UP);

	(void)state;
	assert_int_equal(a.state, ADAPTIVE_YES);
	assert_string_equal(a.why, "OpenSM's log: ar_updn tables");
	a = of(ADAPTIVE_UNKNOWN, NULL, NULL, NEW BY "ar_updn" ALL BY "minhop" ALL UP);
	assert_int_equal(a.state, ADAPTIVE_NO);
	assert_string_equal(a.why, "OpenSM's log: minhop tables");
	assert_int_equal(of(ADAPTIVE_UNKNOWN, NULL, NULL, NEW UP).state, ADAPTIVE_UNKNOWN);
}

static void an_ar_manager_counts_until_opensm_starts_again(void **state)
{
	static const char armgr[] =
		"AR Manager - Configuration cycle (number 1) completed successfully\n" BY
		"updn" ALL;

	(void)state;
	assert_int_equal(of(ADAPTIVE_UNKNOWN, NULL, NULL, armgr).state, ADAPTIVE_YES);
	assert_int_equal(
		of(ADAPTIVE_UNKNOWN, NULL, NULL,
		   "AR Manager - Configuration cycle (number 1) completed successfully\n" NEW BY
		   "updn" ALL)
			.state,
		ADAPTIVE_NO);
}

/* Whoever names a node writes into the log. */
static void names_of_nodes_are_no_engines(void **state)
{
	(void)state;
	assert_int_equal(of(ADAPTIVE_UNKNOWN, NULL, NULL,
			    BY "updn" ALL AT
			       "state change of 'osm_ucast_mgr_process: ar_updn tables "
			       "configured on all switches'\n")
				 .state,
			 ADAPTIVE_NO);
}

static void confs_tell_engines_and_plugins(void **state)
{
	struct adaptive a = of(ADAPTIVE_UNKNOWN, NULL,
			       "# routing_engine ar_dor\nrouting_engine ar_ftree,minhop\n", NULL);

	(void)state;
	assert_int_equal(a.state, ADAPTIVE_YES);
	assert_string_equal(a.why, "opensm.conf has routing_engine ar_ftree");
	assert_int_equal(of(ADAPTIVE_UNKNOWN, NULL, "routing_engine (null)\n", NULL).state,
			 ADAPTIVE_UNKNOWN);
	assert_int_equal(of(ADAPTIVE_UNKNOWN, NULL, "routing_engine star_x,minhop\n", NULL).state,
			 ADAPTIVE_UNKNOWN);
	/* what it did says more than what it was to do */
	assert_int_equal(
		of(ADAPTIVE_UNKNOWN, NULL, "routing_engine ar_ftree,minhop\n", BY "minhop" ALL)
			.state,
		ADAPTIVE_NO);
	a = of(ADAPTIVE_UNKNOWN, NULL, "event_plugin_name armgr\n", BY "updn" ALL);
	assert_int_equal(a.state, ADAPTIVE_YES);
	assert_string_equal(a.why, "opensm.conf loads the plugin armgr");
}

static void the_conf_names_the_log(void **state)
{
	char *log = file("other.log", BY "ar_dor" ALL), *conf = xasprintf("log_file %s\n", log);

	(void)state;
	assert_string_equal(of(ADAPTIVE_UNKNOWN, NULL, conf, BY "minhop" ALL).why,
			    "OpenSM's log: ar_dor tables");
	free(conf);
	free(log);
}

static void the_plugin_knows_best(void **state)
{
	struct osm_status s = { .routes = "ar_torus", .configured = "ibroute,ar_torus" };

	(void)state;
	assert_string_equal(of(ADAPTIVE_UNKNOWN, &s, NULL, NULL).why,
			    "OpenSM routes with ar_torus");
	s.ours = true;
	snprintf(s.routes, sizeof(s.routes), "ibroute");
	assert_int_equal(of(ADAPTIVE_UNKNOWN, &s, NULL, BY "ar_updn" ALL).state, ADAPTIVE_NO);
	assert_int_equal(of(ADAPTIVE_UNKNOWN, &s, "event_plugin_name ibroute armgr\n", NULL).state,
			 ADAPTIVE_YES);
}

static void what_is_declared_fills_what_is_not_known(void **state)
{
	struct adaptive a = of(ADAPTIVE_YES, NULL, NULL, NULL);
	char text[300];

	(void)state;
	assert_string_equal(
		adaptive_text(text, sizeof(text), &a),
		"adaptive routing (declared): metrics and checks of tables describe only "
		"part of what packets do");
	assert_int_equal(of(ADAPTIVE_NO, NULL, NULL, NULL).state, ADAPTIVE_NO);
	assert_int_equal(of(ADAPTIVE_NO, NULL, NULL, BY "ar_updn" ALL).state, ADAPTIVE_YES);
	assert_int_equal(of(ADAPTIVE_YES, NULL, NULL, BY "minhop" ALL).state, ADAPTIVE_YES);
	a = of(ADAPTIVE_UNKNOWN, NULL, NULL, NULL);
	assert_string_equal(adaptive_text(text, sizeof(text), &a), "");
}

static void words_are_three(void **state)
{
	enum adaptive_state s;

	(void)state;
	assert_true(adaptive_parse(&s, "yes") && s == ADAPTIVE_YES);
	assert_true(adaptive_parse(&s, "no") && s == ADAPTIVE_NO);
	assert_true(adaptive_parse(&s, "auto") && s == ADAPTIVE_UNKNOWN);
	assert_false(adaptive_parse(&s, "maybe"));
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	static const char *const names[] = { "opensm.conf", "opensm.log", "other.log" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		unlink(path);
		free(path);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logs_tell_the_engine_that_routed_last),
		cmocka_unit_test(an_ar_manager_counts_until_opensm_starts_again),
		cmocka_unit_test(names_of_nodes_are_no_engines),
		cmocka_unit_test(confs_tell_engines_and_plugins),
		cmocka_unit_test(the_conf_names_the_log),
		cmocka_unit_test(the_plugin_knows_best),
		cmocka_unit_test(what_is_declared_fills_what_is_not_known),
		cmocka_unit_test(words_are_three),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
