/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/netloc/netloc.h"

#include "console/input/load/load_fabric.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#define NODE(guid, type, lid, desc)                                                                \
	"\"" guid "\":{\"phy_id\":\"" guid "\",\"node_type\":" type ",\"log_id\":\"" lid           \
	"\",\"desc\":\"'" desc "'\"}"
#define EDGE(id, src, sp, dst, dp)                                                                 \
	"\"" id "\":{\"euid\":" id ",\"src_node_id\":\"" src "\",\"src_port_id\":\"" sp            \
	"\",\"dest_node_id\":\"" dst "\",\"dest_port_id\":\"" dp                                   \
	"\",\"speed\":\"QDR\",\"width\":\"4x\"}"

#define S1 "0000:0000:0000:0051"
#define S2 "0000:0000:0000:0052"
#define H1 "0000:0000:0000:00a1"
#define H2 "0000:0000:0000:00a2"

static const char nodes[] =
	"{\"node_info\":{" NODE(S1, "1", "11", "sw one") "," NODE(S2, "1", "12", "sw two") "," NODE(H1, "2", "1", "h1 HCA-1") "," NODE(
		H2, "2", "2",
		"h2 HCA-1") "},\"edge_info\":{" EDGE("1", H1, "1", S1,
						     "5") "," EDGE("2", S1, "5", H1,
								   "1") "," EDGE("3", S1, "7", S2,
										 "8") "," EDGE("4",
											       S2,
											       "8",
											       S1,
											       "7") "," EDGE("5",
													     S2,
													     "6",
													     H2,
													     "2") "," EDGE("6",
															   H2,
															   "2",
															   S2,
															   "6") "}}";

static const char paths[] = "{\"path_info\":{\"" H1 "\":{\"" H2 "\":[1,3,5],\"" H1 "\":[]},\"" H2
			    "\":{\"" H1 "\":[6,4,2],\"" S1 "\":[6,4],\"" S2 "\":[6,99]}}}";

struct pair {
	char nodes[40], paths[40];
};

static void write_file(char path[40], const char *text, size_t len)
{
	int fd;

	snprintf(path, 40, "/tmp/test_netloc.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static int netloc_nodes_read(struct builder *b, const char *path, struct read_report *report,
			     struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = netloc_nodes_read_fd(b, fd, path, report, err);

	close(fd);
	return rc;
}

static int netloc_paths_read(struct tables **out, const char *path, const char *nodes_path,
			     const struct fabric *f, struct read_report *report, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC),
	    nodes_fd = open(nodes_path, O_RDONLY | O_CLOEXEC);
	int rc = netloc_paths_read_fd(out, fd, path, nodes_fd, nodes_path, f, report, err);

	close(fd);
	close(nodes_fd);
	return rc;
}

static struct fabric *read_nodes(const char *path, struct read_report *report)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = -1 };
	struct fabric *f = NULL;
	struct err err = { "" };

	if (netloc_nodes_read(b, path, report, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

static void nodes_edges_and_paths_become_a_fabric_and_tables(void **state)
{
	struct read_report report;
	struct tables *t = NULL;
	struct err err = { "" };
	struct fabric *f;
	struct pair p;

	(void)state;
	write_file(p.nodes, nodes, strlen(nodes));
	write_file(p.paths, paths, strlen(paths));
	f = read_nodes(p.nodes, &report);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nterm, 2);
	assert_true(f->lids_given);
	assert_string_equal(f->term_name[0], "h1");
	assert_string_equal(f->sw_desc[1], "sw two");
	assert_int_equal(fabric_port(f, 0, 7)->rate_Mbps, 32000);
	assert_int_equal(f->term_ca_port[1], 2);
	assert_int_equal(netloc_paths_read(&t, p.paths, p.nodes, f, &report, &err), 0);
	assert_int_equal(report.records, 3);
	assert_int_equal(report.skipped, 1);
	assert_int_equal(tables_row(t, 0)[2], 7);
	assert_int_equal(tables_row(t, 1)[2], 6);
	assert_int_equal(tables_row(t, 1)[1], 8);
	assert_int_equal(tables_row(t, 0)[1], 5);
	assert_int_equal(tables_row(t, 0)[11], 0);
	assert_int_equal(tables_row(t, 1)[11], 8);
	tables_put(t);
	fabric_put(f);
	unlink(p.nodes);
	unlink(p.paths);
}

static void files_that_are_not_there_or_not_json_are_refused_with_the_reason(void **state)
{
	struct builder *b = builder_new();
	struct fabric *f;
	struct err err;
	char path[40];

	(void)state;
	assert_int_equal(load_fabric(&f, "/nonexistent/x-nodes.ndat", NULL, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x-nodes.ndat cannot be read"));
	assert_null(f);
	write_file(path, "{\n\"a\":", 6);
	assert_int_equal(netloc_nodes_read(b, path, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not JSON"));
	unlink(path);
	write_file(path, "[]", 2);
	assert_int_equal(netloc_nodes_read(b, path, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no edge in it"));
	unlink(path);
	builder_free(b);
}

/* 64 kB that stand for 64 MB. */
static void a_file_that_unpacks_to_far_more_than_it_is_is_refused(void **state)
{
	struct builder *b = builder_new();
	char path[40], blank[1 << 16];
	struct err err = { "" };
	gzFile z;

	(void)state;
	memset(blank, ' ', sizeof(blank));
	write_file(path, nodes, 0);
	z = gzopen(path, "wb1");
	assert_int_equal(gzwrite(z, nodes, (unsigned)strlen(nodes)), strlen(nodes));
	for (int i = 0; i < 1024; i++)
		assert_int_equal(gzwrite(z, blank, sizeof(blank)), sizeof(blank));
	assert_int_equal(gzclose(z), Z_OK);
	assert_int_equal(netloc_nodes_read(b, path, NULL, &err), -EFBIG);
	assert_non_null(strstr(err.text, "bytes unpacked"));
	unlink(path);
	builder_free(b);
}

static void the_cluster_of_plafrim_loads_with_all_its_paths(void **state)
{
	char *npath = shared_file("plafrim-netloc-nodes.ndat.gz"), *ppath;
	struct read_report report;
	struct tables *t = NULL;
	struct err err = { "" };
	struct fabric *f;

	(void)state;
	if (!npath)
		skip();
	ppath = shared_file("plafrim-netloc-log-paths.ndat.gz");
	assert_non_null(ppath);
	f = read_nodes(npath, &report);
	assert_int_equal(report.skipped, 0);
	assert_int_equal(f->nsw, 9);
	assert_int_equal(f->nterm, 125);
	if (netloc_paths_read(&t, ppath, npath, f, &report, &err))
		fail_msg("%s", err.text);
	assert_int_equal(report.skipped, 0);
	assert_int_equal(report.records, 125 * 124);
	print_message("plafrim: %llu warnings%s%s\n", (unsigned long long)report.warnings,
		      report.nnotes ? ": " : "", report.nnotes ? report.notes[0].text : "");
	for (uint32_t term = 0; term < f->nterm; term++)
		assert_int_equal(tables_row(t, f->term_sw[term])[f->term_lid[term]],
				 f->term_port[term]);
	tables_put(t);
	fabric_put(f);
	free(npath);
	free(ppath);
}

static int try_nodes(FILE *in, void *ctx)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = -1 };
	struct read_report report;
	struct fabric *f = NULL;
	struct tables *t = NULL;
	struct err err = { "" };
	char text[4096], path[40];
	size_t n = fread(text, 1, sizeof(text), in);
	int rc;

	write_file(path, text, n);
	rc = netloc_nodes_read(b, path, &report, &err);
	assert_true(!rc || err.text[0]);
	if (!builder_freeze(&f, b, &opts, &err) &&
	    !netloc_paths_read(&t, ctx, path, f, &report, &err))
		tables_put(t);
	fabric_put(f);
	builder_free(b);
	unlink(path);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct survived s;
	char path[40];

	(void)state;
	write_file(path, paths, strlen(paths));
	s = damage(nodes, strlen(nodes), 71, 2500, try_nodes, path);
	assert_true(s.accepted > 20);
	assert_true(s.refused > 500);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_edges_and_paths_become_a_fabric_and_tables),
		cmocka_unit_test(files_that_are_not_there_or_not_json_are_refused_with_the_reason),
		cmocka_unit_test(a_file_that_unpacks_to_far_more_than_it_is_is_refused),
		cmocka_unit_test(the_cluster_of_plafrim_loads_with_all_its_paths),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
