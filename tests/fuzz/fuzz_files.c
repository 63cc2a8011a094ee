/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of other programs: discoveries, tables, lists.  First byte: which reader takes the bytes
 * behind it.  What is refused has a sentence; what is taken becomes a fabric, or is let go.
 */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/memory/mem.h"
#include "fabric/format/ibdiagnet/db_csv.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/ibnetdiscover/ibnd_cache.h"
#include "fabric/format/native/demand_file.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/opensm/guid2lid.h"
#include "fabric/format/opensm/mft_text.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_neighbors.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/partitions_conf.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/format/site/node_name_map.h"
#include "fabric/format/site/rank_file.h"
#include "fabric/format/slurm/jobs_file.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_yaml.h"
#include "fabric/model/multicast/mcast_judge.h"
#include "tests/fuzz/tiny.h"

#include <stdio.h>
#include <string.h>

#define NAME "file"

static void freeze(const struct builder *b)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct err err = { "" };
	struct fabric *f;

	if (builder_freeze(&f, b, &opts, &err))
		FUZZ_NEED(err.text[0]);
	else
		fabric_put(f);
}

static int take_ibnd(FILE *in, struct err *err)
{
	struct builder *b;
	int rc = ibnd_read(&b, in, NAME, NULL, err);

	if (rc)
		return rc;
	freeze(b);
	builder_free(b);
	return 0;
}

typedef int net_reader(struct builder *, FILE *, const char *, struct read_report *, struct err *);

static int take_net(net_reader *read, FILE *in, struct err *err)
{
	struct builder *b = builder_new();
	int rc = read(b, in, NAME, NULL, err);

	if (!rc)
		freeze(b);
	builder_free(b);
	return rc;
}

static int take_cache(FILE *in, struct err *err)
{
	return take_net(ibnd_cache_read, in, err);
}

static int take_subnet(FILE *in, struct err *err)
{
	return take_net(osm_subnet_read, in, err);
}

static int take_db_csv(FILE *in, struct err *err)
{
	return take_net(db_csv_read, in, err);
}

static int neighbors(struct builder *b, FILE *in, const char *path, struct read_report *report,
		     struct err *err)
{
	return osm_neighbors_read(b, in, path, NULL, 0, report, err);
}

static int take_neighbors(FILE *in, struct err *err)
{
	return take_net(neighbors, in, err);
}

typedef int slurm_reader(struct slurm_topology **, FILE *, const char *, struct read_report *,
			 struct err *);

static int take_slurm(slurm_reader *read, FILE *in, struct err *err)
{
	struct slurm_topology *topo;
	struct err why = { "" };
	struct builder *b;
	int rc = read(&topo, in, NAME, NULL, err);

	if (rc)
		return rc;
	b = builder_new();
	if (slurm_topology_build(b, topo, &why))
		FUZZ_NEED(why.text[0]);
	else
		freeze(b);
	builder_free(b);
	slurm_topology_free(topo);
	return 0;
}

static int take_conf(FILE *in, struct err *err)
{
	return take_slurm(slurm_topology_read, in, err);
}

static int take_yaml(FILE *in, struct err *err)
{
	return take_slurm(slurm_yaml_read, in, err);
}

typedef int tables_reader(struct tables **, FILE *, const char *, const struct fabric *,
			  struct read_report *, struct err *);

static int take_tables(tables_reader *read, FILE *in, struct err *err)
{
	struct tables *t = NULL;
	int rc = read(&t, in, NAME, tiny_fabric(), NULL, err);

	tables_put(t);
	return rc;
}

static int take_lfts(FILE *in, struct err *err)
{
	return take_tables(osm_lfts_read, in, err);
}

static int take_fdbs(FILE *in, struct err *err)
{
	return take_tables(osm_fdbs_read, in, err);
}

static int take_mfts(FILE *in, struct err *err)
{
	const struct fabric *f = tiny_fabric();
	struct mcast m = { 0 };
	struct mcast_verdict v;
	char text[300];
	int rc = mft_text_read(&m, in, NAME, f, NULL, err);

	if (!rc) {
		mcast_judge(&v, &m, f);
		for (uint32_t i = 0; i < v.nfault; i++)
			FUZZ_NEED(mcast_fault_text(text, sizeof(text), &v.fault[i], f)[0]);
		mcast_verdict_end(&v);
	}
	mcast_end(&m);
	return rc;
}

static int take_partitions(FILE *in, struct err *err)
{
	struct partitions p;
	int rc;

	partitions_begin(&p, tiny_fabric());
	rc = partitions_conf_read(&p, in, NAME, tiny_fabric(), NULL, err);
	partitions_end(&p);
	return rc;
}

typedef int more_reader(struct tables *, FILE *, const char *, const struct fabric *,
			struct read_report *, struct err *);

static int take_more(more_reader *read, FILE *in, struct err *err)
{
	struct tables *t = tables_new(tiny_fabric(), "fuzz");
	int rc = read(t, in, NAME, tiny_fabric(), NULL, err);

	tables_put(t);
	return rc;
}

static int take_sl2vl(FILE *in, struct err *err)
{
	return take_more(osm_sl2vl_read, in, err);
}

static int take_ibdm(FILE *in, struct err *err)
{
	return take_more(ibdm_sl2vl_read, in, err);
}

static int take_path_sl(FILE *in, struct err *err)
{
	return take_more(path_sl_read, in, err);
}

static int take_guid2lid(FILE *in, struct err *err)
{
	struct guid_lid *list = NULL;
	uint32_t n;
	int rc = guid2lid_read(&list, &n, in, NAME, NULL, err);

	free(list);
	return rc;
}

static int take_jobs(FILE *in, struct err *err)
{
	struct job_log *log = NULL;
	int rc = jobs_file_read(&log, in, NAME, NULL, err);

	job_log_free(log);
	return rc;
}

static int take_ranks(FILE *in, struct err *err)
{
	struct rank_file *ranks = NULL;
	int rc = rank_file_read(&ranks, in, NAME, NULL, err);

	rank_file_free(ranks);
	return rc;
}

static int take_demand(FILE *in, struct err *err)
{
	struct demand *d = NULL;
	int rc = demand_file_read(&d, in, NAME, NULL, tiny_fabric(), NULL, err);

	demand_put(d);
	return rc;
}

static int take_choice(FILE *in, struct err *err)
{
	struct lid_choice *c = NULL;
	int rc = lid_choice_read(&c, in, NAME, tiny_fabric(), NULL, err);

	lid_choice_free(c);
	return rc;
}

static int take_names(FILE *in, struct err *err)
{
	struct name_map *m = name_map_new();
	int rc = node_name_map_read(m, in, NAME, err);

	name_map_free(m);
	return rc;
}

#define SWITCH "0x0002000000000001"
#define HOST   "0x0001000000000001"
#define ID     "VenID:0 DevID:0 Rev:0"
#define SW                                                                                         \
	"SW Ports:24 SystemGUID:0002000000000001 NodeGUID:0002000000000001 "                       \
	"PortGUID:0002000000000001 " ID
#define CA                                                                                         \
	"CA Ports:01 SystemGUID:0001000000000001 NodeGUID:0001000000000000 "                       \
	"PortGUID:0001000000000001 " ID

static void put(uint8_t *to, int bytes, uint64_t v)
{
	for (; bytes--; v >>= 8)
		*to++ = (uint8_t)v;
}

/* A switch and a host. */
static int write_cache(FILE *to, const struct fabric *f, const struct tables *t, struct err *err)
{
	const uint64_t guid[2] = { 0x2000000000001, 0x1000000000000 };
	uint8_t head[28] = "\x2b\x83\xe7\x8f\x01", node[2][207 + 9] = { { 0 } },
		port[2][95] = { { 0 } };

	(void)f;
	(void)t;
	(void)err;
	put(head + 8, 4, 2);
	put(head + 12, 4, 2);
	for (unsigned i = 0; i < 2; i++) {
		put(node[i], 2, 1 + i);
		put(node[i] + 68, 8, guid[i]);
		node[i][76] = i ? 1 : 2; /* host, switch */
		node[i][77] = i ? 1 : 24;
		node[i][206] = 1;
		put(node[i] + 207, 8, guid[i] + i);
		node[i][215] = 1;
		put(port[i], 8, guid[i] + i);
		port[i][8] = 1;
		put(port[i] + 10, 2, 1 + i);
		put(port[i] + 77, 8, guid[i]);
		port[i][85] = 1;
		put(port[i] + 86, 8, guid[!i] + !i);
		port[i][94] = 1;
	}
	fwrite(head, sizeof(head), 1, to);
	fwrite(node, sizeof(node), 1, to);
	fwrite(port, sizeof(port), 1, to);
	return 0;
}

/* A reader and something of what it reads; that of dumps is written for the tiny fabric. */
static const struct form {
	int (*take)(FILE *in, struct err *err);
	const char *seed;
	int (*write)(FILE *, const struct fabric *, const struct tables *, struct err *);
} forms[] = {
	{ take_ibnd, NULL, NULL },
	{ take_cache, NULL, write_cache },
	{ take_subnet,
	  "{ " SW " {sw1} LID:0001 PN:01 } { " CA
	  " {n1} LID:0002 PN:01 } PHY=4x LOG=ACT SPD=25\n{ " CA " {n1} LID:0002 PN:01 } { " SW
	  " {sw1} LID:0001 PN:01 } PHY=4x LOG=ACT SPD=25\n",
	  NULL },
	{ take_neighbors, SWITCH ":0x1 " HOST ":0x1\n" SWITCH ":2 0x0002000000000002:2\n", NULL },
	{ take_conf,
	  "SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Nodes=n[5-8]\nSwitchName=t "
	  "Switches=s[1-2] LinkSpeed=1\n",
	  NULL },
	{ take_conf, "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4\n", NULL },
	{ take_yaml,
	  "- topology: t1\n  cluster_default: true\n  tree:\n    switches:\n      - "
	  "switch: s0\n        children: s[1-2]\n      - switch: s1\n        nodes: "
	  "n[1-4]\n      - {switch: s2, nodes: [a, \"b[1-2]\"]}\n",
	  NULL },
	{ take_lfts, NULL, osm_lfts_write },
	{ take_fdbs, NULL, osm_fdbs_write },
	{ take_sl2vl, NULL, osm_sl2vl_write },
	{ take_ibdm, NULL, ibdm_sl2vl_write },
	{ take_path_sl, NULL, path_sl_write },
	{ take_guid2lid, HOST " 0x0001 0x0002\n" SWITCH " 0x0005 0x0005\n", NULL },
	{ take_jobs, "1 n[0001-0002]\n2 n0001,n0002\n", NULL },
	{ take_jobs,
	  "JobId=4 UserId=a(1) Name=x StartTime=1 EndTime=2 NodeList=n[1-2] HetJobId=4 "
	  "HetJobOffset=0\n",
	  NULL },
	{ take_jobs,
	  "; UnixStartTime: 7\n; MaxProcs: 8\n1 0 1 9 4 -1 -1 4 -1 -1 1 7 1 1 1 -1 -1 -1\n", NULL },
	{ take_jobs, "jobid,start,end,nodelist\n1,0,60,\"n[0001-0002]\"\n", NULL },
	{ take_jobs, "JobID|Start|End|NodeList\n7|2026-01-01T00:00:00|2026-01-01T01:00:00|n0001\n",
	  NULL },
	{ take_ranks, "0: n0001\n1-2: n0002\nrank 3=n0001 slot=0\n", NULL },
	{ take_demand, "n0001: n0002=1024,n0001=1\nn0002: n0001=99\n", NULL },
	{ take_choice,
	  "lid-choice 1\ntopology hyperx 2x2\nlmc 1\npair 0 0 small 0,1 large 1\n"
	  "switch 0 0x0002000000000000 0 0 leaf1\nswitch 1 0x0002000000000010 0 0 leaf2\n"
	  "switch 2 0x0002000000000020 0 0 s1\nswitch 3 0x0002000000000030 0 0 s2\n"
	  "port 2 0 n0001\nexcept 0 1 small 0 large 1\n",
	  NULL },
	{ take_db_csv,
	  "START_NODES\nNodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID\n"
	  "\"s1\",36,2," SWITCH "," SWITCH "\n\"n, 1\",1,1," HOST "," HOST "\nEND_NODES\n"
	  "START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv,PortState,"
	  "OpVLs\n" SWITCH "," SWITCH ",0,1,0,0,0,1,N/A\n" HOST "," HOST
	  ",1,2,0,2,2048,4,3\nEND_PORTS\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n" HOST
	  ",1," SWITCH ",7\nEND_LINKS\n",
	  NULL },
	{ take_mfts,
	  "Switch 0x0002000000000000\nLID    : Out Port(s)\n0xC000 : 0x001  0x002 \n\n"
	  "Switch 0x0002000000000020\nLID    : Out Port(s)\n0xC000 : 0x001 \n",
	  NULL },
	{ take_mfts,
	  "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0002000000000000 (leaf1):\n"
	  "     Ports: 0 1 2 3 \n MLid\n0xc000      x   x   \n1 valid mlids dumped \n",
	  NULL },
	{ take_partitions,
	  "Default=0x7fff, ipoib : ALL=limited, SELF=full ;\nx = 3 , defmember=full : " HOST
	  "=both,\n ALL_CAS; # y\n4: mgid=ff12::1,sl=1\n NONE;",
	  NULL },
	{ take_names, HOST " \"a name\" # a comment\n", NULL },
};
#define NFORMS (sizeof(forms) / sizeof(forms[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { "" };
	void *copy;
	FILE *in;

	if (size < 2)
		return 0;
	copy = fuzz_copy(data + 1, size - 1);
	in = fmemopen(copy, size - 1, "r");
	FUZZ_NEED(in != NULL);
	if (forms[data[0] % NFORMS].take(in, &err))
		FUZZ_NEED(err.text[0]);
	fclose(in);
	free(copy);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	const struct form *form = &forms[i % NFORMS];
	struct err err = { "" };
	char *text = NULL;
	FILE *to;

	if (i >= NFORMS)
		return false;
	to = open_memstream(&text, len);
	fputc((int)i, to);
	if (form->seed)
		fputs(form->seed, to);
	else if (form->write)
		FUZZ_NEED(!form->write(to, tiny_fabric(), tiny_tables(1), &err));
	else
		FUZZ_NEED(!ibnd_write(to, tiny_fabric(), &err));
	fclose(to);
	*out = (uint8_t *)text;
	return true;
}
