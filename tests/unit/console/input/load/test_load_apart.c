/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every file that others may have written is read by a process that can do nothing else; what comes
 * back is what the file says, or is refused. */
#include "console/input/load/load_adaptive.h"
#include "console/input/load/load_demand.h"
#include "console/input/load/load_fabric.h"
#include "console/input/load/load_io_nodes.h"
#include "console/input/load/load_jobs.h"
#include "console/input/load/load_lid_choice.h"
#include "console/input/load/load_mfts.h"
#include "console/input/load/load_partitions.h"
#include "console/input/load/load_names.h"
#include "console/input/load/load_plan.h"
#include "console/input/load/load_racks.h"
#include "console/input/load/load_tables.h"
#include "console/input/thresholds.h"

#include "fabric/base/process/confine.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/demand_file.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/plan/file/planfile.h"
#include "tests/unit/kit/apart_spy.h"
#include "tests/unit/kit/temp_folder.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>
#include <zlib.h>

#include <jansson.h>

#include <cmocka.h>

/* ---- readers that try ---- */

/* What readers begin with: lines, JSON, YAML, what is packed, OpenSM's cache of a discovery. */
struct lines;
struct lines *__real_lines_new(FILE *f, const char *path, struct read_report *report);
struct lines *__wrap_lines_new(FILE *f, const char *path, struct read_report *report);
struct lines *__wrap_lines_new(FILE *f, const char *path, struct read_report *report)
{
	tries_all();
	return __real_lines_new(f, path, report);
}

json_t *__real_json_loadb(const char *data, size_t len, size_t flags, json_error_t *why);
json_t *__wrap_json_loadb(const char *data, size_t len, size_t flags, json_error_t *why);
json_t *__wrap_json_loadb(const char *data, size_t len, size_t flags, json_error_t *why)
{
	tries_all();
	return __real_json_loadb(data, len, flags, why);
}

int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
	tries_all();
	return __real_yaml_parser_initialize(parser);
}

int __real_inflateInit_(z_streamp z, const char *version, int size);
int __wrap_inflateInit_(z_streamp z, const char *version, int size);
int __wrap_inflateInit_(z_streamp z, const char *version, int size)
{
	tries_all();
	return __real_inflateInit_(z, version, size);
}

int __real_ibnd_cache_read(struct builder *b, FILE *file, const char *path,
			   struct read_report *report, struct err *err);
int __wrap_ibnd_cache_read(struct builder *b, FILE *file, const char *path,
			   struct read_report *report, struct err *err);
int __wrap_ibnd_cache_read(struct builder *b, FILE *file, const char *path,
			   struct read_report *report, struct err *err)
{
	tries_all();
	return __real_ibnd_cache_read(b, file, path, report, err);
}

/* ---- a file of each kind ---- */

static char dir[] = "/tmp/test_load_apart.XXXXXX";
static struct fabric *f;
static struct tables *t;

static void put_big_endian(uint8_t *to, int bytes, uint64_t v)
{
	for (; bytes--; v >>= 8)
		to[bytes] = (uint8_t)v;
}

/* A byte order that the reader takes either way: of numbers, the last byte first. */
static void put_cache(void)
{
	uint8_t head[28] = "\x2b\x83\xe7\x8f\x01";
	FILE *out = temp_folder_open("cache", "w");

	put_big_endian(head + 8, 4, 0);
	fwrite(head, sizeof(head), 1, out);
	assert_int_equal(fclose(out), 0);
}

static const char netloc_nodes[] =
	"{\"node_info\":{"
	"\"0:0:0:51\":{\"phy_id\":\"0000:0000:0000:0051\",\"node_type\":1,\"log_id\":\"11\","
	"\"desc\":\"'s1'\"},"
	"\"0:0:0:a1\":{\"phy_id\":\"0000:0000:0000:00a1\",\"node_type\":2,\"log_id\":\"1\","
	"\"desc\":\"'h1'\"}},"
	"\"edge_info\":{"
	"\"1\":{\"euid\":1,\"src_node_id\":\"0000:0000:0000:00a1\",\"src_port_id\":\"1\","
	"\"dest_node_id\":\"0000:0000:0000:0051\",\"dest_port_id\":\"5\",\"speed\":\"QDR\","
	"\"width\":\"4x\"}}}";

static void put_tables(void)
{
	static int (*const write[])(FILE *, const struct fabric *, const struct tables *,
				    struct err *) = { osm_lfts_write, osm_fdbs_write, path_sl_write,
						      osm_sl2vl_write, ibdm_sl2vl_write };
	static const char *const name[] = { "lfts", "fdbs", "path-sl", "sl2vl", "ibdm" };
	struct tables *other = net_tables(f, 1, true);
	struct sm_pin sm = { .guid = 1 };
	struct jobset *jobs = net_jobs(f, "7:0-1:4 8:2-3:6");
	struct plan *p;
	char *path;

	for (size_t i = 0; i < sizeof(write) / sizeof(*write); i++) {
		FILE *out = temp_folder_open(name[i], "w");

		assert_int_equal(write[i](out, f, t, NULL), 0);
		assert_int_equal(fclose(out), 0);
	}
	path = temp_folder_file("ibr");
	assert_int_equal(tables_ibr_save(path, t, f, NULL), 0);
	free(path);
	path = temp_folder_file("plan");
	assert_int_equal(plan_new(&p, f, t, other, jobs, &sm, 0, NULL), 0);
	assert_int_equal(plan_save(path, p, NULL), 0);
	plan_free(p);
	jobset_put(jobs);
	tables_put(other);
	free(path);
}

static void put_choice(void)
{
	struct lid_choice *c = lid_choice_new(f->nsw, 1, 0);
	FILE *out = temp_folder_open("choice", "w");

	strcpy(c->topology, "hyperx 2x2");
	c->lids[0] = (struct lid_set){ 1, 1 };
	assert_int_equal(lid_choice_write(out, f, c, NULL), 0);
	assert_int_equal(fclose(out), 0);
	lid_choice_free(c);
}

static int setup(void **state)
{
	FILE *out;

	(void)state;
	tries_begin();
	temp_folder_begin(dir);
	f = net_fabric(NULL);
	t = net_tables(f, 0, true);
	out = temp_folder_open("ibnd", "w");
	assert_int_equal(ibnd_write(out, f, NULL), 0);
	assert_int_equal(fclose(out), 0);
	out = temp_folder_open("subnet", "w");
	assert_int_equal(osm_subnet_write(out, f, NULL), 0);
	assert_int_equal(fclose(out), 0);
	put_tables();
	put_choice();
	put_cache();
	temp_folder_put("x-nodes.ndat", netloc_nodes);
	temp_folder_put("x-log-paths.ndat", "{\"path_info\":{}}");
	temp_folder_put("neighbors", "0x0002000000000001:1 0x0001000000000001:1\n"
				     "0x0002000000000001:2 0x0002000000000002:2\n");
	temp_folder_put("db_csv",
			"START_NODES\nNodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID\n"
			"\"s1\",36,2,0x51,0x51\n\"n1\",1,1,0xa1,0xa1\nEND_NODES\nSTART_LINKS\n"
			"NodeGuid1,PortNum1,NodeGuid2,PortNum2\n0xa1,1,0x51,7\nEND_LINKS\n");
	out = temp_folder_open("mfts", "w");
	fprintf(out, "Switch 0x%016llx\nLID    : Out Port(s)\n0xC000 : 0x001  0x002 \n",
		(unsigned long long)f->sw_guid[0]);
	assert_int_equal(fclose(out), 0);
	temp_folder_put("partitions", "Default=0x7fff : ALL=full ;\nx=0x2, defmember=full: 0x1;\n");
	temp_folder_put("conf",
			"SwitchName=r1 Nodes=n[1-9]\nSwitchName=r2 Nodes=n[10-18] LinkSpeed=7\n"
			"SwitchName=top Switches=r[1-2],r9\n");
	temp_folder_put("yaml",
			"- topology: t1\n  cluster_default: true\n  tree:\n    switches:\n"
			"      - switch: s0\n        children: s[1-2]\n      - switch: s1\n"
			"        nodes: n[1-4]\n      - {switch: s2, nodes: [a, \"b[1-2]\"]}\n");
	temp_folder_put("names", "0x2 \"b\"\n0x1 \"a\"\n0x2 \"c\"\n");
	temp_folder_put("guids", "0x5\n0x1 # one\n");
	temp_folder_put("thresholds", "SymbolErrorCounter=77 # so many\n");
	temp_folder_put("io", "0x1 # one\nn[0001-0003]\n");
	temp_folder_put("jobs", "77 n[0001-0003]\n78 n0009\n");
	out = temp_folder_open("ranks", "w");
	fprintf(out, "0: %s\n1: %s\n2-5: %s\n", f->term_name[0], f->term_name[1], f->term_name[2]);
	assert_int_equal(fclose(out), 0);
	temp_folder_put("opensm.conf", "routing_engine ar_updn\nevent_plugin_name (null)\n");
	temp_folder_put("opensm.log",
			"Jun 20 14:38:48 850162 [E63ED6C0] 0x02 -> osm_ucast_mgr_process: ar_updn "
			"tables configured on all switches\n");
	temp_folder_put("demand", "0: 1=1000,5=3\n1: 0=5\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_folder_end();
	free(way.data);
	tables_put(t);
	fabric_put(f);
	return 0;
}

/* ---- loads ---- */

static int loads_fabric(const char *path, struct err *err)
{
	struct fabric *g = NULL;
	int rc = load_fabric(&g, path, NULL, NULL, err);

	if (!rc && strstr(path, "/ibnd") && !way.replace)
		assert_true(digest_equal(&g->fingerprint, &f->fingerprint));
	fabric_put(g);
	return rc;
}

static int loads_tables(const char *path, struct err *err)
{
	struct tables *got = NULL;
	struct digest sum;
	int rc = load_tables(&got, path, f, err);

	if (!rc) {
		tables_hash(&sum, got, f);
		if (!way.replace && !strstr(path, "/plan"))
			assert_memory_equal(got->lft, t->lft, (size_t)t->nsw * t->stride);
	}
	tables_put(got);
	return rc;
}

static int loads_levels(const char *path, struct err *err)
{
	struct tables *got = tables_onto(f, t, t);
	struct digest sum;
	int rc = strstr(path, "path-sl") ? load_path_sl(got, path, f, err)
					 : load_sl2vl(got, path, f, err);

	if (!rc)
		tables_hash(&sum, got, f);
	if (!rc && !way.replace)
		assert_true(tables_same(got, t, f));
	tables_put(got);
	return rc;
}

static int loads_plan(const char *path, struct err *err)
{
	struct plan *p = NULL;
	int rc = load_plan(&p, path, err);

	if (!rc) {
		assert_int_equal(p->jobs->njob, 2);
		assert_true(tables_same(p->from, t, f));
	}
	plan_free(p);
	return rc;
}

static int loads_names(const char *path, struct err *err)
{
	struct name_map *m = NULL;
	int rc = load_names(&m, path, err);

	if (!rc && !way.replace) {
		assert_string_equal(name_map_find(m, 1), "a");
		assert_string_equal(name_map_find(m, 2), "c");
		assert_null(name_map_find(m, 3));
	}
	name_map_free(m);
	return rc;
}

static int loads_guids(const char *path, struct err *err)
{
	uint64_t *v = NULL;
	size_t n;
	int rc = load_guids(&v, &n, path, err);

	if (!rc && !way.replace) {
		assert_int_equal(n, 2);
		assert_true(v[0] == 5 && v[1] == 1);
	}
	free(v);
	return rc;
}

static int loads_racks(const char *path, struct err *err)
{
	struct slurm_topology *topo = NULL;
	int rc = load_racks(&topo, path, err);

	if (!rc && !way.replace && strstr(path, "/conf")) {
		assert_int_equal(slurm_topology_count(topo), 4);
		assert_string_equal(slurm_topology_switch(topo, 1)->nodes[0], "n10");
		assert_int_equal(slurm_topology_switch(topo, 1)->link_speed, 7);
		assert_int_equal(slurm_topology_switch(topo, 1)->line, 2);
		assert_int_equal(slurm_topology_switch(topo, 1)->node_line[0], 2);
		assert_false(slurm_topology_is_blocks(topo));
		assert_int_equal(slurm_topology_switch(topo, 2)->level, 1);
		assert_int_equal(slurm_topology_switch(topo, 2)->nbelow, 3);
		assert_string_equal(slurm_topology_switch(topo, 3)->name, "r9");
	}
	slurm_topology_free(topo);
	return rc;
}

static int loads_jobs(const char *path, struct err *err)
{
	struct jobset *js = NULL;
	int rc = load_jobs(&js, path, NULL, f, err);

	jobset_put(js);
	return rc;
}

static int loads_choice(const char *path, struct err *err)
{
	struct lid_choice *c = NULL;
	int rc = load_lid_choice(&c, path, f, err);

	if (!rc)
		assert_true(lid_choice_get(c, 0, 1).small > 0);
	lid_choice_free(c);
	return rc;
}

static int loads_demand(const char *path, struct err *err)
{
	struct demand *d = NULL;
	char *ranks = temp_folder_file("ranks");
	int rc = load_demand(&d, path, ranks, f, err);

	if (!rc && !way.replace)
		assert_int_equal(d->npair, 3);
	for (uint32_t i = 0; !rc && i < f->nterm; i++)
		assert_true(demand_weight(d, 0, i) <= DEMAND_MAX);
	demand_put(d);
	free(ranks);
	return rc;
}

/* OpenSM's configuration and its log tell what routes adaptively; without either nothing is known.
 */
static int loads_adaptive(struct adaptive *a, struct err *err)
{
	return a->state == ADAPTIVE_YES || way.replace ? 0 : err_set(err, -ENODATA, "unknown");
}

static int loads_opensm_conf(const char *path, struct err *err)
{
	struct adaptive a;

	load_adaptive_files(&a, ADAPTIVE_UNKNOWN, NULL, path, NULL);
	assert_true(strlen(a.why) < sizeof(a.why));
	return loads_adaptive(&a, err);
}

static int loads_opensm_log(const char *path, struct err *err)
{
	struct adaptive a;

	load_adaptive_files(&a, ADAPTIVE_UNKNOWN, NULL, NULL, path);
	assert_true(strlen(a.why) < sizeof(a.why));
	return loads_adaptive(&a, err);
}

static int loads_mfts(const char *path, struct err *err)
{
	struct mcast m;
	int rc = load_mfts(&m, path, f, err);

	if (!rc && !way.replace)
		assert_int_equal(m.n, 2);
	mcast_end(&m);
	return rc;
}

static int loads_partitions(const char *path, struct err *err)
{
	struct partitions p;
	int rc = load_partitions(&p, path, f, err);

	if (!rc && !way.replace)
		assert_int_equal(p.n, 2);
	partitions_end(&p);
	return rc;
}

static int loads_thresholds(const char *path, struct err *err)
{
	uint64_t limit[ERROR_COUNT] = { 0 };
	char *filter = NULL;
	int rc = thresholds_filter(&filter, limit, path, err);

	if (!rc && !way.replace)
		assert_non_null(strstr(filter, "symbol_errors>77 or "));
	if (!rc && !way.replace)
		assert_int_equal(limit[ERROR_SYMBOL], 77);
	free(filter);
	return rc;
}

static int loads_io_nodes(const char *path, struct err *err)
{
	struct name_map *m = NULL;
	int rc = load_io_nodes(&m, path, err);

	name_map_free(m);
	return rc;
}

static const struct kind {
	const char *name;
	int (*load)(const char *path, struct err *err);
	int rc; /* of the file as it is */
} kinds[] = {
	{ "ibnd", loads_fabric, 0 },
	{ "subnet", loads_fabric, 0 },
	{ "cache", loads_fabric, -EINVAL }, /* none in it */
	{ "neighbors", loads_fabric, 0 },
	{ "x-nodes.ndat", loads_fabric, 0 },
	{ "db_csv", loads_fabric, 0 },
	{ "conf", loads_fabric, 0 },
	{ "yaml", loads_fabric, 0 },
	{ "lfts", loads_tables, 0 },
	{ "fdbs", loads_tables, 0 },
	{ "ibr", loads_tables, 0 },
	{ "plan", loads_tables, 0 },
	{ "x-log-paths.ndat", loads_tables, -EINVAL }, /* of another fabric */
	{ "path-sl", loads_levels, 0 },
	{ "sl2vl", loads_levels, 0 },
	{ "ibdm", loads_levels, 0 },
	{ "mfts", loads_mfts, 0 },
	{ "partitions", loads_partitions, 0 },
	{ "plan", loads_plan, 0 },
	{ "names", loads_names, 0 },
	{ "guids", loads_guids, 0 },
	{ "conf", loads_racks, 0 },
	{ "yaml", loads_racks, 0 },
	{ "jobs", loads_jobs, 0 },
	{ "choice", loads_choice, 0 },
	{ "demand", loads_demand, 0 },
	{ "opensm.conf", loads_opensm_conf, 0 },
	{ "opensm.log", loads_opensm_log, 0 },
	{ "thresholds", loads_thresholds, 0 },
	{ "io", loads_io_nodes, 0 },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static int loads(const struct kind *k, struct err *err)
{
	char *path = temp_folder_file(k->name);
	int rc = k->load(path, err);

	free(path);
	return rc;
}

static void every_reader_opens_sends_and_starts_nothing(void **state)
{
	(void)state;
	if (!confine_has_seccomp())
		skip();
	for (size_t i = 0; i < KINDS; i++) {
		struct err err = { "" };
		int rc;

		*tries = (struct tries){ 0 };
		rc = loads(&kinds[i], &err);
		if (rc != kinds[i].rc)
			fail_msg("%s: %d %s", kinds[i].name, rc, err.text);
		if (tries->here || tries->able || !tries->denied)
			fail_msg("%s: read %d times here, %d times by who could do more, %d by who "
				 "could not",
				 kinds[i].name, tries->here, tries->able, tries->denied);
	}
}

static void whatever_a_reader_sends_is_taken_or_refused(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (size_t i = 0; i < KINDS; i++) {
		uint8_t *sent;
		size_t len;

		if (kinds[i].rc)
			continue;
		way.keep = true;
		assert_int_equal(loads(&kinds[i], NULL), 0);
		way.keep = false;
		sent = way.data;
		len = way.len;
		way.replace = true;
		for (unsigned round = 0; round < 150; round++) {
			struct err err = { "" };

			way_spoil(&rng, round, sent, len);
			if (loads(&kinds[i], &err) && !err.text[0])
				fail_msg("%s: refused without a sentence", kinds[i].name);
			free(way.data);
		}
		way.replace = false;
		way.data = sent;
	}
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	static const struct {
		int (*load)(const char *path, struct err *err);
		const char *text, *want;
	} bad[] = {
		{ loads_names, "0x1 \"a\"\nnothing\n", "/bad:2: a node name is a GUID and a name" },
		{ loads_guids, "0x1\n\nx\n", "/bad:3: a GUID is expected" },
		{ loads_racks, "SwitchName=a Nodes=n[1-\n", "/bad:1: " },
		{ loads_racks, "- topology: t\n  tree:\n   switches:\n   - switch: \"n[\n",
		  "/bad:" },
		{ loads_jobs, "1 n1\nnothing to be seen here, at all\n", "/bad:2: " },
		{ loads_choice, "lid-choice 1\npair x\n", "/bad:2: two numbers of classes" },
		{ loads_demand, "0: 1=7\n0: 77=1\n", "/bad:2: " },
		{ loads_levels, "nothing\n", "/bad: not a dump of SL2VL tables" },
		{ loads_tables, "nothing\n", "/bad: " },
		{ loads_fabric, "nothing\n", "/bad:1: neither a node nor a cable" },
		{ loads_plan, "{\"schema\":\"ibroute-top plan/1\"}\n",
		  "/bad: truncated or damaged" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *path = temp_folder_file("bad");
		struct err err = { "" };

		temp_folder_put("bad", bad[i].text);
		assert_true(bad[i].load(path, &err) < 0);
		if (!strstr(err.text, dir) || !strstr(err.text, bad[i].want))
			fail_msg("%s: %s", bad[i].want, err.text);
		free(path);
	}
}

/* ---- time and memory ---- */

static double user_s(void)
{
	struct rusage here, there;

	getrusage(RUSAGE_SELF, &here);
	getrusage(RUSAGE_CHILDREN, &there);
	return (double)(here.ru_utime.tv_sec + there.ru_utime.tv_sec) +
	       (double)(here.ru_utime.tv_usec + there.ru_utime.tv_usec) / 1e6;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIMES 10
#else
#define TIMES 1
#endif

/* 100,000 in the order that is worst for what is kept sorted. */
static void many_names_take_no_longer_each(void **state)
{
	char *path = temp_folder_file("many");
	FILE *out = temp_folder_open("many", "w");
	struct name_map *m;
	double began = user_s();

	(void)state;
	for (unsigned i = 100000; i; i--)
		fprintf(out, "0x%08x \"node-%u\"\n", i, i);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(load_names(&m, path, NULL), 0);
	assert_string_equal(name_map_find(m, 99999), "node-99999");
	name_map_free(m);
	assert_true(user_s() - began < 1.0 * TIMES);
	free(path);
}

static int takes_all_memory(void *ctx, struct isolated_out *result, struct err *err)
{
	(void)ctx;
	(void)result;
	(void)err;
	for (unsigned i = 0; i < 1000; i++)
		*(volatile char *)xcalloc(256u << 20, 1) = 1;
	return 0;
}

static void a_reader_gets_so_much_memory_and_no_more(void **state)
{
	FILE *in = tmpfile();
	struct isolated r;
	struct err err = { "" };

	(void)state;
	if (TIMES > 1)
		skip();
	assert_non_null(in);
	assert_int_equal(
		isolated_read(&r, (FILE *const[2]){ in, NULL }, takes_all_memory, NULL, &err),
		-ENOMEM);
	assert_non_null(strstr(err.text, "out of memory"));
	fclose(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_opens_sends_and_starts_nothing),
		cmocka_unit_test(whatever_a_reader_sends_is_taken_or_refused),
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(many_names_take_no_longer_each),
		cmocka_unit_test(a_reader_gets_so_much_memory_and_no_more),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
