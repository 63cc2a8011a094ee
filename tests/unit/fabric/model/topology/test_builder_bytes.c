/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are read by a process which can do nothing else, and what comes back from it. */
#include "fabric/model/topology/builder_bytes.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/process/isolate.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/sim/topology/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fabric *frozen(const struct builder *b)
{
	struct freeze_opts o = { .lmc = -1 };
	struct fabric *f;

	assert_int_equal(builder_freeze(&f, b, &o, NULL), 0);
	return f;
}

static void what_is_taken_is_what_was_put(void **state)
{
	static const char *const specs[] = { "fattree2:leaves=4,spines=2,hosts=4", "dragonfly:p=2",
					     "torus:dims=3x3x3" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct builder *b, *c;
		struct fabric *f, *g;
		bytes_out out = { 0 }, again = { 0 };
		struct bytes_in in;

		assert_int_equal(topo_build(&b, specs[i], NULL), 0);
		builder_put(&out, b);
		in = (struct bytes_in){ .at = out.v, .left = out.n };
		assert_int_equal(builder_take(&c, &in, NULL), 0);
		assert_true(bytes_at_end(&in));
		f = frozen(b);
		g = frozen(c);
		assert_memory_equal(&f->fingerprint, &g->fingerprint, sizeof(f->fingerprint));
		assert_string_equal(f->name, g->name);
		builder_put(&again, c);
		assert_int_equal(again.n, out.n);
		fabric_put(f);
		fabric_put(g);
		builder_free(b);
		builder_free(c);
		vec_free(&out);
		vec_free(&again);
	}
}

/* Whoever took over the reader may send anything. */
static void other_bytes_are_refused_or_make_a_fabric(void **state)
{
	bytes_out out = { 0 };
	struct builder *b, *c;
	struct rng rng;

	(void)state;
	assert_int_equal(topo_build(&b, "fattree2:leaves=3,spines=2,hosts=2", NULL), 0);
	builder_put(&out, b);
	rng_seed(&rng, 3);
	for (size_t n = 0; n < out.n; n += 7) {
		struct bytes_in in = { .at = out.v, .left = n };

		assert_int_equal(builder_take(&c, &in, NULL), -EPROTO);
		assert_null(c);
	}
	for (int k = 0; k < 3000; k++) {
		size_t at = rng_below(&rng, out.n);
		uint8_t was = out.v[at];
		struct bytes_in in = { .at = out.v, .left = out.n };
		struct err err;

		out.v[at] = (uint8_t)rng_u64(&rng);
		if (!builder_take(&c, &in, &err))
			builder_free(c);
		out.v[at] = was;
	}
	builder_free(b);
	vec_free(&out);
}

enum deed { READS, OPENS, SENDS, DIES, LIES };

static int reader(void *ctx, struct isolated_out *result, struct err *err)
{
	const enum deed *deed = ctx;
	static const char lie[] = "nothing of the kind";
	int got;

	switch (*deed) {
	case OPENS:
		errno = 0;
		got = open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno;
		isolated_put(result, &got, sizeof(got));
		return 0;
	case SENDS:
		errno = 0;
		got = socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : errno;
		isolated_put(result, &got, sizeof(got));
		return 0;
	case DIES:
		abort();
	case LIES:
		isolated_put(result, lie, sizeof(lie));
		return 0;
	default:
		return err_set(err, -EINVAL, "line 3:\033[31m no number");
	}
}

static int does(enum deed deed, struct isolated *r, struct err *err)
{
	FILE *in[2] = { tmpfile(), NULL };
	int rc;

	assert_non_null(in[0]);
	rc = isolated_read(r, in, reader, &deed, err);
	fclose(in[0]);
	return rc;
}

static void a_reader_opens_and_sends_nothing(void **state)
{
	static const enum deed deeds[] = { OPENS, SENDS };
	struct isolated r;
	int got;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(does(deeds[i], &r, NULL), 0);
		assert_int_equal(r.len, sizeof(got));
		memcpy(&got, r.data, sizeof(got));
		assert_int_equal(got, EPERM);
		isolated_free(&r);
	}
}

static void a_readers_end_and_its_sentence_are_told_plainly(void **state)
{
	struct isolated r;
	struct err err;

	(void)state;
	assert_int_equal(does(READS, &r, &err), -EINVAL);
	assert_null(strchr(err.text, '\033'));
	assert_int_equal(does(DIES, &r, &err), -ECHILD);
	isolated_free(&r);
}

static void jobs_come_through_as_they_are_in_the_file(void **state)
{
	static const char text[] = "77 n[0001-0003]\n78 n0009\n";
	FILE *f = tmpfile();
	struct job_log *here, *apart;
	struct read_report report;
	int rc;

	(void)state;
	fputs(text, f);
	rewind(f);
	rc = jobs_file_read(&here, f, "jobs", &report, NULL);
	rewind(f);
	assert_int_equal(jobs_apart_read(&apart, f, "jobs", &report, NULL), rc);
	assert_int_equal(rc, 0);
	assert_int_equal(apart->n, here->n);
	for (uint32_t i = 0; i < here->n; i++) {
		assert_true(apart->jobs[i].id == here->jobs[i].id);
		assert_string_equal(apart->jobs[i].nodes, here->jobs[i].nodes);
		assert_string_equal(apart->jobs[i].name, here->jobs[i].name);
	}
	job_log_free(here);
	job_log_free(apart);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_what_was_put),
		cmocka_unit_test(other_bytes_are_refused_or_make_a_fabric),
		cmocka_unit_test(a_reader_opens_and_sends_nothing),
		cmocka_unit_test(a_readers_end_and_its_sentence_are_told_plainly),
		cmocka_unit_test(jobs_come_through_as_they_are_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
