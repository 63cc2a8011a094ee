/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/temp_folder.h"

#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static char *dir;

void temp_folder_begin(char *path)
{
	dir = path;
	assert_non_null(mkdtemp(dir));
}

void temp_folder_end(void)
{
	char *command = xasprintf("rm -rf %s", dir);

	assert_int_equal(system(command), 0);
	free(command);
}

char *temp_folder_file(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

FILE *temp_folder_open(const char *name, const char *mode)
{
	char *path = temp_folder_file(name);
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	free(path);
	return file;
}

void temp_folder_put(const char *name, const char *text)
{
	FILE *out = temp_folder_open(name, "w");

	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}
