/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/slurm_here.h"

#include "fabric/base/file/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void there_is_one_where_its_configuration_is(void **state)
{
	char root[] = "/tmp/slurm_here.XXXXXX", dir[64], path[80];

	(void)state;
	unsetenv("SLURM_CONF");
	assert_non_null(mkdtemp(root));
	assert_false(slurm_here_below(root));
	snprintf(dir, sizeof(dir), "%s/etc/slurm", root);
	snprintf(path, sizeof(path), "%s/slurm.conf", dir);
	assert_int_equal(store_mkdir(dir, NULL), 0);
	assert_false(slurm_here_below(root));
	assert_int_equal(store_write(path, "", 0, NULL), 0);
	assert_true(slurm_here_below(root));
	unlink(path);
	rmdir(dir);
	*strrchr(dir, '/') = '\0';
	rmdir(dir);
	setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1);
	assert_true(slurm_here_below(root));
	setenv("SLURM_CONF", "", 1);
	assert_false(slurm_here_below(root));
	rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_is_one_where_its_configuration_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
