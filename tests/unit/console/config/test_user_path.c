/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files as people type them. */
#include "console/config/user_path.h"

#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_user_path.XXXXXX";

static void touch(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fclose(f);
	free(path);
}

static int setup(void **state)
{
	char *sub, *link;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	touch("beta");
	touch("alpha");
	touch(".hidden");
	sub = xasprintf("%s/also", dir);
	link = xasprintf("%s/away", dir);
	if (mkdir(sub, 0700) || symlink("also", link))
		return -1;
	touch("also/in it");
	free(sub);
	free(link);
	return setenv("HOME", dir, 1);
}

static int teardown(void **state)
{
	char *cmd = xasprintf("rm -r %s", dir);
	int rc = system(cmd);

	(void)state;
	free(cmd);
	return rc;
}

static void collect(void *to, const char *name)
{
	char *text = to;

	strcat(text, name);
	strcat(text, "|");
}

static void names(const char *path, const char *want)
{
	char text[512] = "", *whole = xasprintf("%s%s", path[0] == '~' ? "" : dir, path);

	user_path_names(whole, collect, text);
	assert_string_equal(text, want);
	free(whole);
}

static void names_that_go_on_are_told_in_order(void **state)
{
	(void)state;
	names("/", "alpha|also/|away/|beta|");
	names("/a", "alpha|also/|away/|");
	names("/al", "alpha|also/|");
	names("/also/", "in it|");
	names("/away/in", "in it|");
	names("/.h", ".hidden|");
	names("/.", ".hidden|");
	names("/no such/", "");
	names("/alpha/", "");
	names("~/b", "beta|");
	names("~nobody of that name/", "");
}

static void a_tilde_is_a_users_folder(void **state)
{
	char path[256] = "~/x/y", tight[12] = "~/x", other[64] = "a~b", root[64] = "~root/z";

	(void)state;
	user_path_expand(path, sizeof(path));
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_string_equal(path + strlen(dir), "/x/y");
	user_path_expand(tight, sizeof(tight)); /* does not fit: as it was */
	assert_string_equal(tight, "~/x");
	user_path_expand(other, sizeof(other));
	assert_string_equal(other, "a~b");
	user_path_expand(root, sizeof(root));
	assert_string_equal(root + strlen(root) - 2, "/z");
	assert_int_equal(root[0], '/');
	snprintf(path, sizeof(path), "~");
	user_path_expand(path, sizeof(path));
	assert_string_equal(path, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_go_on_are_told_in_order),
		cmocka_unit_test(a_tilde_is_a_users_folder),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
