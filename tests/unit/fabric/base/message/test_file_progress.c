/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/file_progress.h"

#include "console/io/output_file.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LARGE (40 << 20) /* bytes, a hole: it takes no room on the disk */

/* Who hears of it, and may lose patience. */
struct listener {
	struct progress p;
	const char *step;
	uint64_t done, total; /* of that step, as told last */
	unsigned heard, patience;
};

static void hear(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct listener *l = ctx;

	if (!l->step || strcmp(l->step, step)) {
		assert_true(!l->step || l->done == l->total);
		l->step = step;
		l->done = 0;
		l->total = total;
	}
	assert_true(done > l->done && done <= total);
	assert_int_equal(total, l->total);
	l->done = done;
	if (++l->heard == l->patience)
		atomic_store(&l->p.cancel, true);
}

static void listen(struct listener *l, unsigned patience)
{
	*l = (struct listener){ .p = { .report = hear }, .patience = patience };
	l->p.ctx = l;
	file_progress_set(&l->p);
}

static int write_subnet(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	(void)t;
	return osm_subnet_write(file, f, err);
}

static int (*const writers[])(FILE *file, const struct fabric *f, const struct tables *t,
			      struct err *err) = {
	osm_lfts_write, osm_sl2vl_write, osm_fdbs_write,
	path_sl_write,	write_subnet,	 ibdm_sl2vl_write,
};

static void every_dump_tells_how_much_is_written_and_can_be_ended_at_any_word(void **state)
{
	struct fabric *f = net_tree(4, 2, 2, NULL);
	struct tables *t = kit_bfs(f);

	(void)state;
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		struct err err = { "" };
		struct listener l;
		FILE *out = tmpfile();
		unsigned heard;

		listen(&l, 0);
		assert_int_equal(writers[i](out, f, t, &err), 0);
		assert_string_equal(l.step, "writing");
		assert_int_equal(l.done, l.total);
		heard = l.heard;
		assert_true(heard >= f->nsw);
		for (unsigned patience = 1; patience <= heard; patience++) {
			listen(&l, patience);
			err.text[0] = '\0';
			assert_int_equal(writers[i](out, f, t, &err), -ECANCELED);
			assert_string_equal(err.text, "cancelled");
			assert_int_equal(l.heard, patience);
		}
		file_progress_set(NULL);
		fclose(out);
	}
	tables_put(t);
	fabric_put(f);
}

static void waiting_for_the_disk_is_told_and_can_be_ended(void **state)
{
	FILE *file = tmpfile();
	struct listener l;

	(void)state;
	assert_int_equal(ftruncate(fileno(file), LARGE), 0);
	assert_int_equal(file_progress_sync(fileno(file)), 0); /* nobody listens */
	listen(&l, 0);
	assert_int_equal(file_progress_sync(fileno(file)), 0);
	assert_string_equal(l.step, "to disk");
	assert_int_equal(l.done, LARGE);
	assert_int_equal(l.total, LARGE);
	assert_true(l.heard > 1);
	listen(&l, 2);
	assert_int_equal(file_progress_sync(fileno(file)), -ECANCELED);
	assert_int_equal(l.heard, 2);
	file_progress_set(NULL);
	assert_int_equal(file_progress_sync(-1), -EBADF);
	fclose(file);
}

/* Of the folder nothing is left but the old file, as it was. */
static void a_file_nobody_waits_for_any_more_does_not_appear(void **state)
{
	char dir[] = "/tmp/test_file_progress.XXXXXX", path[64];
	struct err err = { "" };
	struct listener l;
	struct output_file o;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/dump", dir);
	assert_int_equal(output_file_open(&o, path, &err), 0);
	fputs("old\n", o.file);
	assert_int_equal(output_file_commit(&o, &err), 0);
	assert_int_equal(output_file_open(&o, path, &err), 0);
	assert_int_equal(ftruncate(fileno(o.file), LARGE), 0);
	listen(&l, 1);
	assert_int_equal(output_file_end(&o, 0, &err), -ECANCELED);
	file_progress_set(NULL);
	assert_non_null(strstr(err.text, "dump: cancelled"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dump_tells_how_much_is_written_and_can_be_ended_at_any_word),
		cmocka_unit_test(waiting_for_the_disk_is_told_and_can_be_ended),
		cmocka_unit_test(a_file_nobody_waits_for_any_more_does_not_appear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
