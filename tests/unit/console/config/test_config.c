/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration files: what overrides what, and how mistakes are told. */
#include "console/config/config.h"
#include "console/config/config_keep.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ibroute-test-config-XXXXXX";

static void file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void refused(const char *text, const char *profile, const char *why)
{
	struct config *c;
	struct err err;

	file(text);
	assert_true(config_read(&c, path, profile, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	char at[80];

	(void)state;
	snprintf(at, sizeof(at), "%s:3: port: '300' is not a number from 1 to 254", path);
	refused("interval = 1\n\nport = 300\n", NULL, at);
	refused("# a\nintervall = 1\n", NULL, ":2: unknown setting 'intervall'");
	refused("nonsense\n", NULL, ":1: not NAME = VALUE or");
	refused("[lab]\nport = 1\n", NULL, ":2: [lab]: a section must be [fabric NAME]");
	refused("palette = blue\n", NULL, "not one of: viridis cividis glyphs");
	refused("ascii = perhaps\n", NULL, "not yes or no");
	refused("name =\n", NULL, "no value after the =");
	refused("port = 1\n", "hpc1", "no section [fabric hpc1]");
	/* a profile that is not used is judged all the same */
	refused("[fabric other]\ninterval = often\n", NULL, ":2: interval:");
}

static void a_long_line_is_not_cut(void **state)
{
	char text[400] = "name = ";

	(void)state;
	memset(text + 7, 'x', 300);
	refused(text, NULL, ":1: the line is longer");
}

static char *shown(const char *text, const char *profile)
{
	struct config *c;
	struct err err = { "" };
	char *out;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	file(text);
	if (config_read(&c, path, profile, &err))
		fail_msg("%s", err.text);
	config_show(c, f);
	fclose(f);
	config_free(c);
	return out;
}

static void secrets_are_not_shown(void **state)
{
	char *out = shown("m-key = 0xfeed\n", NULL);

	(void)state;
	assert_null(strstr(out, "feed"));
	assert_non_null(strstr(out, "m-key              = ........"));
	free(out);
}

static void a_profile_overrides_what_is_for_all(void **state)
{
	static const char text[] = "interval = 1\n[fabric a]\ninterval = 5\n[fabric b]\n"
				   "  interval = 7\nca = mlx5_1\n";
	struct config *c;
	struct err err;
	const char *f, *p;
	char *typed[] = { (char *)"ibroute-top", (char *)"--config", path,
			  (char *)"--fabric=b",	 (char *)"-d",	     (char *)"9" };
	char **argv = typed;
	int argc = 6;

	(void)state;
	file(text);
	f = config_asked(argc, argv, "--config", 0);
	p = config_asked(argc, argv, "--fabric", 0);
	assert_string_equal(f, path);
	assert_string_equal(p, "b");
	assert_null(config_asked(argc, argv, "--profile", 0));
	assert_int_equal(config_read(&c, f, p, &err), 0);
	config_argv(c, NULL, NULL, &argc, &argv);
	assert_int_equal(argc, 9);
	assert_string_equal(argv[1], "--Ca=mlx5_1");
	assert_string_equal(argv[2], "--interval=7");
	assert_string_equal(argv[3], "--name=b");
	assert_string_equal(argv[8], "9"); /* what was typed comes last, and wins */
	config_free(c);
}

static bool as_the_collector(const char *option, void *arg)
{
	(void)arg;
	return strstr("--keep-days --keep-size --socket --outstanding_smps", option) != NULL;
}

static void the_socket_of_opensm_is_for_the_collector_too(void **state)
{
	char *typed[] = { (char *)"ibroute-top", NULL };
	char **argv = typed;
	struct config *c;
	struct err err;
	int argc = 1;

	(void)state;
	file("socket = /run/osm.sock\n");
	assert_int_equal(config_read(&c, path, NULL, &err), 0);
	config_argv(c, as_the_collector, NULL, &argc, &argv);
	assert_int_equal(argc, 2);
	assert_string_equal(argv[1], "--socket=/run/osm.sock");
	config_free(c);
}

/* A limit of records would throw away the collector's history. */
static void limits_of_records_are_none_of_the_history(void **state)
{
	char *typed[] = { (char *)"ibroute-top", NULL };
	char **argv = typed;
	struct config *c;
	struct err err;
	int argc = 1;

	(void)state;
	file("record-keep-days = 7\nrecord-keep-size = 10\nrecord-keep-sessions = 5\n");
	assert_int_equal(config_read(&c, path, NULL, &err), 0);
	config_argv(c, as_the_collector, NULL, &argc, &argv);
	assert_int_equal(argc, 1);
	config_argv(c, NULL, NULL, &argc, &argv);
	assert_int_equal(argc, 4);
	config_free(c);
}

static void names_cut_short_count_and_the_last_wins(void **state)
{
	char *typed[] = { (char *)"ibroute-top", (char *)"--prom", (char *)"--prof=a",
			  (char *)"--profil",	 (char *)"b",	   (char *)"--",
			  (char *)"--profile=c" };

	(void)state;
	assert_string_equal(config_asked(7, typed, "--profile", 0), "b");
	assert_null(config_asked(3, typed + 4, "--profile", 0));
	assert_null(config_asked(2, typed, "--profile", 0));
}

static void the_letter_of_the_diags_names_the_file(void **state)
{
	char *typed[] = { (char *)"ibroute-top", (char *)"-e",	  (char *)"ez",	   (char *)"-z",
			  (char *)"a",		 (char *)"-bMzb", (char *)"--no-z" };

	(void)state;
	assert_null(config_asked(3, typed, "--config", 'z'));
	assert_string_equal(config_asked(5, typed, "--config", 'z'), "a");
	assert_string_equal(config_asked(7, typed, "--config", 'z'), "b");
	assert_null(config_asked(7, typed, "--config", 0));
}

static void a_file_of_the_diags_kind_is_fine(void **state)
{
	char *out = shown("CA=mlx4_0\nm_key=0x12ab\nMLX_EPI=false\nsa_key=0x00\n"
			  "outstanding_smps = 7\n",
			  NULL);

	(void)state;
	assert_non_null(strstr(out, "mlx4_0"));
	assert_non_null(strstr(out, "outstanding-smps   = 7"));
	assert_null(strstr(out, "12ab"));
	free(out);
}

static bool no_interval(const char *option, void *arg)
{
	return strcmp(option, "--interval") != 0 && strcmp(option, (const char *)arg) != 0;
}

static void a_command_gets_what_it_has_options_for(void **state)
{
	char *typed[] = { (char *)"ibroute-top agent", (char *)"-P", (char *)"2" };
	char **argv = typed;
	int argc = 3;
	struct config *c;
	struct err err;

	(void)state;
	file("interval = 5\nca = mlx5_1\nsocket = /run/osm\nwarn-util = 80\n");
	assert_int_equal(config_read(&c, path, NULL, &err), 0);
	config_argv(c, no_interval, (void *)(uintptr_t) "--outstanding_smps", &argc, &argv);
	assert_int_equal(argc, 5); /* the plugin's socket is not that of agents */
	assert_string_equal(argv[1], "--Ca=mlx5_1");
	assert_string_equal(argv[2], "--set=warn-util=80");
	assert_string_equal(argv[3], "-P");
	config_free(c);
}

static void without_files_all_is_default(void **state)
{
	struct config *c;
	struct err err;

	(void)state;
	assert_int_equal(config_read(&c, "/nonexistent/config", NULL, &err), -ENOENT);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	assert_int_equal(config_read(&c, NULL, NULL, &err), 0);
	config_free(c);
}

static void kept(const char *before, const char *profile, const struct config_pair *pair, size_t n,
		 const char *after)
{
	char out[1000] = "", where[300];
	struct config *c;
	struct err err = { "" };
	FILE *f;

	file(before);
	if (config_keep(path, profile, pair, n, where, sizeof(where), &err))
		fail_msg("%s", err.text);
	assert_string_equal(where, path);
	f = fopen(path, "r");
	assert_non_null(f);
	out[fread(out, 1, sizeof(out) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(out, after);
	if (config_read(&c, path, profile, &err)) /* and it is what is read at the next start */
		fail_msg("%s", err.text);
	config_free(c);
}

static void keeping_leaves_all_else_as_it_was(void **state)
{
	static const struct config_pair pair[] = { { "interval", "0.5" }, { "sort", "-wait_pct" } };

	(void)state;
	kept("", NULL, pair, 2, "interval = 0.5\nsort = -wait_pct\n");
	kept("# mine\n\ninterval=2 ; slow line\nport = 2\n", NULL, pair, 2,
	     "# mine\n\ninterval = 0.5 ; slow line\nport = 2\nsort = -wait_pct\n");
	/* twice in the file: once afterwards; the last line has no end */
	kept("interval = 3\nname = a\nInterval : 4", NULL, pair, 1, "interval = 0.5\nname = a\n");
	/* what is for every fabric comes before the profiles, and what is said of those stays there
	 */
	kept("name = a\n\n# the big one\n[fabric big]\ninterval = 9\n", NULL, pair, 1,
	     "name = a\ninterval = 0.5\n\n# the big one\n[fabric big]\ninterval = 9\n");
}

static void keeping_for_a_profile_stays_within_it(void **state)
{
	static const struct config_pair pair[] = { { "interval", "0.5" }, { "units", "bits" } };

	(void)state;
	kept("interval = 3\n[fabric a]\ninterval = 4\n[fabric b]\ninterval = 5\n", "a", pair, 2,
	     "interval = 3\n[fabric a]\ninterval = 0.5\nunits = bits\n[fabric b]\ninterval = 5\n");
	kept("interval = 3\n", "new", pair, 2,
	     "interval = 3\n\n[fabric new]\ninterval = 0.5\nunits = bits\n");
}

static void what_is_as_usual_again_needs_no_line(void **state)
{
	static const struct config_pair pair[] = { { "columns", "" } };

	(void)state;
	kept("columns = util,link\nport = 1\n", NULL, pair, 1, "port = 1\n");
	kept("port = 1\n", NULL, pair, 1, "port = 1\n");
}

static void a_file_that_cannot_be_written_is_told(void **state)
{
	static const struct config_pair pair[] = { { "units", "bits" } };
	char where[300];
	struct err err = { "" };

	(void)state;
	assert_true(config_keep("/proc/nothing/config", NULL, pair, 1, where, sizeof(where), &err) <
		    0);
	assert_non_null(strstr(err.text, "/proc/nothing"));
}

/* A link stays one; a folder that is not there is made. */
static void the_file_is_where_it_was(void **state)
{
	static const struct config_pair pair[] = { { "units", "bits" } };
	char dir[] = "/tmp/ibroute-test-keep-XXXXXX", link[80], deep[80], where[300];
	struct err err = { "" };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/link", dir);
	file("units = bytes\n");
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(config_keep(link, NULL, pair, 1, where, sizeof(where), &err), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	setenv("XDG_CONFIG_HOME", dir, 1);
	assert_int_equal(config_keep(NULL, NULL, pair, 1, where, sizeof(where), &err), 0);
	snprintf(deep, sizeof(deep), "%s/ibroute-top/config", dir);
	assert_string_equal(where, deep);
	assert_int_equal(unlink(deep), 0);
	*strrchr(deep, '/') = '\0';
	assert_int_equal(rmdir(deep), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

static int reads_the_usual_one(char said[500])
{
	struct config *c = NULL;
	struct err err = { "" };
	int rc = config_read(&c, NULL, NULL, &err);

	snprintf(said, 500, "%.499s", err.text);
	config_free(c);
	return rc;
}

/* Settings stand for options: nobody else may write them. */
static void the_usual_file_is_the_operators_or_roots(void **state)
{
	char dir[] = "/tmp/ibroute-test-config-XXXXXX", folder[80], usual[100], said[500];
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(folder, sizeof(folder), "%s/ibroute-top", dir);
	snprintf(usual, sizeof(usual), "%s/config", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	f = fopen(usual, "w");
	assert_non_null(f);
	fputs("interval = 3\n", f);
	fclose(f);
	setenv("XDG_CONFIG_HOME", dir, 1);
	unsetenv("SUDO_UID");
	assert_int_equal(chmod(usual, 0664), 0);
	assert_int_equal(reads_the_usual_one(said), 0);
	assert_int_equal(chmod(usual, 0666), 0);
	assert_int_equal(reads_the_usual_one(said), -EPERM);
	assert_non_null(strstr(said, "can be changed by any user: chmod o-w"));
	if (!geteuid()) {
		assert_int_equal(chmod(usual, 0600), 0);
		assert_int_equal(chown(usual, 65533, 65533), 0);
		assert_int_equal(reads_the_usual_one(said), -EPERM);
		assert_non_null(strstr(said, "belongs to user 65533, neither to root nor to you"));
		setenv("SUDO_UID", "65533", 1);
		assert_int_equal(reads_the_usual_one(said), 0);
		unsetenv("SUDO_UID");
	}
	unsetenv("XDG_CONFIG_HOME");
	unlink(usual);
	rmdir(folder);
	rmdir(dir);
}

static void keys_are_settings_with_conflicts_told(void **state)
{
	char at[120], *typed[] = { (char *)"ibroute-top" }, **argv = typed, *out;
	struct config *c;
	struct err err;
	int argc = 1;

	(void)state;
	snprintf(at, sizeof(at), "%s:2: key.sort: Z is the key of freeze", path);
	refused("palette = glyphs\nkey.sort = Z\n", NULL, at);
	snprintf(at, sizeof(at), "F7 is also the key of sort (%s:1)", path);
	refused("key.sort = F7\nkey.poll = F7\n", NULL, at);
	refused("key.sort = Ctrl-I\n", NULL, ":1: key.sort: Ctrl-I cannot be told from Tab");
	refused("key.sort = Esc\n", NULL, ":1: key.sort: Esc keeps its meaning");
	refused("key.nothing = x\n", NULL, ":1: unknown setting 'key.nothing'");
	/* a conflict only within a profile, when that is used */
	out = shown("key.sort = F7\n[fabric a]\nkey.poll = F7\n", NULL);
	assert_non_null(strstr(out, "key.sort           = F7 "));
	assert_non_null(strstr(out, "key.freeze         = Z "));
	free(out);
	refused("key.sort = F7\n[fabric a]\nkey.poll = F7\n", "a", ":3: key.poll: F7");
	/* who gives his own key away may have it taken */
	file("key.sort = Z\nkey.freeze = none\n");
	assert_int_equal(config_read(&c, path, NULL, &err), 0);
	config_argv(c, NULL, NULL, &argc, &argv);
	assert_int_equal(argc, 3);
	assert_string_equal(argv[1], "--set=key.sort=Z");
	assert_string_equal(argv[2], "--set=key.freeze=none");
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(a_long_line_is_not_cut),
		cmocka_unit_test(secrets_are_not_shown),
		cmocka_unit_test(a_profile_overrides_what_is_for_all),
		cmocka_unit_test(the_socket_of_opensm_is_for_the_collector_too),
		cmocka_unit_test(limits_of_records_are_none_of_the_history),
		cmocka_unit_test(names_cut_short_count_and_the_last_wins),
		cmocka_unit_test(the_letter_of_the_diags_names_the_file),
		cmocka_unit_test(a_file_of_the_diags_kind_is_fine),
		cmocka_unit_test(a_command_gets_what_it_has_options_for),
		cmocka_unit_test(without_files_all_is_default),
		cmocka_unit_test(keeping_leaves_all_else_as_it_was),
		cmocka_unit_test(keeping_for_a_profile_stays_within_it),
		cmocka_unit_test(what_is_as_usual_again_needs_no_line),
		cmocka_unit_test(a_file_that_cannot_be_written_is_told),
		cmocka_unit_test(keys_are_settings_with_conflicts_told),
		cmocka_unit_test(the_file_is_where_it_was),
		cmocka_unit_test(the_usual_file_is_the_operators_or_roots),
	};
	int rc, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
