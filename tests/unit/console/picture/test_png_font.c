/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which font is taken.  Linked with --wrap=stat: a machine may have none. */
#include "console/picture/png_font.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_png_font.XXXXXX";
static bool bare; /* without fonts */

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	if (bare && !strncmp(path, "/usr/share/fonts/", 17)) {
		errno = ENOENT;
		return -1;
	}
	return __real_stat(path, st);
}

static void a_font_of_the_system_is_found(void **state)
{
	struct png_font f;
	struct err err;

	(void)state;
	assert_int_equal(png_font_open(&f, NULL, &err), 0);
	assert_non_null(strstr(f.path, "Mono"));
	assert_non_null(f.regular);
	assert_non_null(f.bold);
	png_font_close(&f);
	assert_int_equal(png_font_open(&f, "", &err), 0);
	png_font_close(&f);
}

static void without_one_the_package_is_named(void **state)
{
	struct png_font f;
	struct err err;

	(void)state;
	bare = true;
	assert_int_equal(png_font_open(&f, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "install fonts-dejavu-core"));
	assert_non_null(strstr(err.text, "--png-font FILE"));
	png_font_close(&f);
	bare = false;
}

static void a_font_by_name_is_a_file(void **state)
{
	char *path = temp_folder_file("pipe"), *file = temp_folder_file("font");
	struct png_font f;
	struct err err;

	(void)state;
	assert_int_equal(png_font_open(&f, "/nonexistent/x.ttf", &err), -ENOENT);
	assert_non_null(strstr(err.text, "font /nonexistent/x.ttf cannot be read"));
	assert_int_equal(png_font_open(&f, dir, &err), -EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(png_font_open(&f, path, &err), -EINVAL); /* and does not wait */
	temp_folder_put("font", "x");
	assert_int_equal(png_font_open(&f, file, &err), 0);
	assert_string_equal(f.path, file);
	assert_null(f.bold);
	png_font_close(&f);
	free(path);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_font_of_the_system_is_found),
		cmocka_unit_test(without_one_the_package_is_named),
		cmocka_unit_test(a_font_by_name_is_a_file),
	};
	int rc;

	temp_folder_begin(dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	temp_folder_end();
	return rc;
}
