/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wiretool: the wire on a real port (or ibsim's), one command at a time, for wire.sh.
 *
 *   topo SPEC                     a generated fabric as ibnetdiscover text
 *   same FILE                     the sweep has the fingerprint of that ibnetdiscover text
 *   lfts FILE                     the LFTs read are those of that dump (dump_fts, OpenSM)
 *   sl2vl FILE                    likewise of opensm-sl2vl.dump
 *   vls SWITCH IN OUT [VL...]     16 VLs by SL; with 16 values: written first
 *   entry SWITCH LID [PORT]       an LFT entry; with PORT: written first
 *   counters SWITCH PORT          all counters that are known
 *   paths FILE                    the SLs of all paths from the SM, checked by sampling, against
 *                                 lines "slid dlid sl"; -: prints them in that form
 *   sm                            the master SM
 *   bench ROUNDS                  times of sweeps, tables, SL2VL, counters, block writes
 *   simbench SPEC ROUNDS          the same over the simulator in this process
 *
 * What libraries print on stderr is counted, not shown.  Exit status 0: done, or equal.
 */
#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/process/stderrlog.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/sim/topology/topo.h"
#include "fabric/wire/queue.h"
#include "fabric/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tool {
	struct wire *w;
	struct fabric *f;
	struct sweep_report report;
	struct err err;
};

static unsigned captured;

static void count_line(void *ctx, const struct log_line *line)
{
	(void)ctx;
	captured += !strcmp(line->area, "ib");
}

static int fail(const char *text)
{
	printf("wiretool: %s\n", text);
	return 1;
}

static int read_fabric(struct fabric **out, const char *path, struct err *err)
{
	FILE *in = fopen(path, "r");
	struct builder *b;
	int rc;

	if (!in)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = ibnd_read(&b, in, path, NULL, err);
	fclose(in);
	if (rc)
		return rc;
	rc = builder_freeze(out, b, NULL, err);
	builder_free(b);
	return rc;
}

static int print_topo(const char *spec)
{
	struct builder *b;
	struct fabric *f;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, NULL, &err) ||
	    ibnd_write(stdout, f, &err))
		return fail(err.text);
	builder_free(b);
	fabric_put(f);
	return 0;
}

static int same(struct tool *x, const char *path)
{
	struct fabric *other;
	bool equal;

	if (read_fabric(&other, path, &x->err))
		return fail(x->err.text);
	equal = digest_equal(&other->fingerprint, &x->f->fingerprint);
	printf("%s: %u switches %u terminals %u channels, %s: %u %u %u\n",
	       equal ? "same" : "different", x->f->nsw, x->f->nterm, x->f->nchan, path, other->nsw,
	       other->nterm, other->nchan);
	fabric_put(other);
	return !equal;
}

static int compare_tables(struct tool *x, const char *path, bool sl2vl)
{
	struct tables *live, *other = NULL;
	FILE *in = fopen(path, "r");
	struct tables_diff *d;
	int rc;

	if (!in)
		return fail(strerror(errno));
	if (wire_read_tables(&live, x->w, x->f, sl2vl, NULL, NULL, &x->err)) {
		fclose(in);
		return fail(x->err.text);
	}
	if (sl2vl) {
		other = tables_new(x->f, "file");
		rc = osm_sl2vl_read(other, in, path, x->f, NULL, &x->err);
	} else {
		rc = osm_lfts_read(&other, in, path, x->f, NULL, &x->err);
	}
	fclose(in);
	if (rc)
		return fail(x->err.text);
	d = tables_diff_new(x->f, live, other);
	printf("%" PRIu64 " of %" PRIu64 " LFT entries and %u SL2VL tables differ\n", d->entries,
	       d->entries_all, d->nsl2vl);
	rc = sl2vl ? d->nsl2vl != 0 : d->entries != 0;
	tables_diff_free(d);
	tables_put(live);
	tables_put(other);
	return rc;
}

static uint32_t find_switch(const struct tool *x, const char *name)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		if (!strcmp(x->f->sw_name[sw], name))
			return sw;
	printf("wiretool: no switch %s\n", name);
	exit(1);
}

static int entry(struct tool *x, const char *name, uint32_t lid, const char *port)
{
	struct wire_block b = { .sw = find_switch(x, name), .block = lid / LFT_BLOCK };

	if (wire_read_blocks(x->w, x->f, &b, 1, NULL, &x->err))
		return fail(x->err.text);
	if (port) {
		b.port[lid % LFT_BLOCK] = (uint8_t)atoi(port);
		if (wire_write_blocks(x->w, x->f, &b, NULL, 1, NULL, &x->err) ||
		    wire_read_blocks(x->w, x->f, &b, 1, NULL, &x->err))
			return fail(x->err.text);
	}
	printf("%u\n", b.port[lid % LFT_BLOCK]);
	return 0;
}

static int vls(struct tool *x, int argc, char **argv)
{
	struct wire_sl2vl s = { .sw = find_switch(x, argv[0]),
				.in = (uint8_t)atoi(argv[1]),
				.out = (uint8_t)atoi(argv[2]) };

	if (argc == 3 + FAB_SLS) {
		for (int sl = 0; sl < FAB_SLS; sl++)
			s.vl[sl] = (uint8_t)atoi(argv[3 + sl]);
		if (wire_write_sl2vl(x->w, x->f, &s, NULL, 1, NULL, &x->err))
			return fail(x->err.text);
	}
	if (wire_read_sl2vl(x->w, x->f, &s, 1, NULL, &x->err))
		return fail(x->err.text);
	for (int sl = 0; sl < FAB_SLS; sl++)
		printf("%u%c", s.vl[sl], sl == FAB_SLS - 1 ? '\n' : ' ');
	return 0;
}

static int counters(struct tool *x, const char *name, uint32_t port)
{
	static const char *const names[CTR_COUNT] = { "tx_bytes",	"rx_bytes",    "tx_pkts",
						      "rx_pkts",	"tx_wait",     "symbol_err",
						      "link_recovered", "link_downed", "rx_err",
						      "tx_discard" };
	struct sample *s;
	const struct port_counters *c;

	if (wire_read_sample(&s, x->w, x->f, SAMPLE_ALL, NULL, &x->err))
		return fail(x->err.text);
	c = &s->port[x->f->port_off[find_switch(x, name)] + port];
	printf("ports %u of %u\n", s->answered, s->asked);
	for (int k = 0; k < CTR_COUNT; k++)
		if (c->valid >> k & 1)
			printf("%s %" PRIu64 "%s\n", names[k], c->v[k],
			       c->wide >> k & 1 ? " wide" : "");
	sample_put(s);
	return 0;
}

static int print_paths(const struct tool *x, const struct tables *t)
{
	const struct fabric *f = x->f;

	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (fabric_lid_end(f, lid) != FAB_NONE && fabric_lid_end(f, lid) != term)
				printf("path %u %u %u\n", f->term_lid[term], lid,
				       tables_path_sl(t, term, f->term_sw[term], lid));
	return 0;
}

static int compare_paths(const struct tool *x, const struct tables *t, const char *path)
{
	unsigned slid, dlid, sl, n = 0, bad = 0;
	FILE *in = fopen(path, "r");

	if (!in)
		return fail(strerror(errno));
	while (fscanf(in, "%u %u %u", &slid, &dlid, &sl) == 3) {
		uint32_t term = fabric_lid_end(x->f, slid);

		n++;
		bad += term >= x->f->nterm ||
		       tables_path_sl(t, term, x->f->term_sw[term], dlid) != sl;
	}
	fclose(in);
	printf("%u of %u paths differ\n", bad, n);
	return !n || bad;
}

static int paths(struct tool *x, const char *path)
{
	static const char *const forms[] = { "constant", "by LID", "by switch", "by terminal" };
	struct tables *t = tables_new(x->f, "paths");
	struct path_sl_report r;
	int rc;

	if (wire_read_path_sls(t, x->w, x->f, 1000000, 200, 1, &r, NULL, &x->err))
		return fail(x->err.text);
	printf("SLs %s, %" PRIu64 " paths, %" PRIu64 " queries, %" PRIu64
	       " for tables, in %.1f ms, of 200 others %" PRIu64 " differ\n",
	       forms[t->sl_kind], r.asked, r.queries, r.tables, (double)r.took_ns / 1e6, r.differ);
	rc = r.differ != 0;
	if (!rc && !wire_check_path_sls(x->w, x->f, t, 300, 7, &r, NULL, &x->err))
		printf("checked %" PRIu64 " paths, %" PRIu64 " differ\n", r.answered, r.differ);
	if (!rc)
		rc = strcmp(path, "-") ? compare_paths(x, t, path) : print_paths(x, t);
	tables_put(t);
	return rc;
}

static int show_sm(struct tool *x)
{
	struct wire_sm sm;

	if (wire_sm_info(&sm, x->w, &x->err))
		return fail(x->err.text);
	printf("lid %u guid 0x%016" PRIx64 " priority %u state %s\n", sm.lid, sm.guid, sm.priority,
	       wire_sm_state_name(sm.state));
	return 0;
}

static void line(const char *what, uint64_t mads, uint64_t ns)
{
	printf("%-28s %8" PRIu64 " MADs %9.1f ms %9.0f /s\n", what, mads, (double)ns / 1e6,
	       (double)mads * 1e9 / (double)(ns ? ns : 1));
}

static uint64_t sent(struct tool *x)
{
	struct queue_stats s;

	s = *wire_stats(x->w);
	return s.sent;
}

static int bench_tables(struct tool *x, bool sl2vl, const char *what)
{
	struct tables_report r;
	struct tables *t;

	if (wire_read_tables(&t, x->w, x->f, sl2vl, &r, NULL, &x->err))
		return fail(x->err.text);
	line(what, r.mads, r.took_ns);
	tables_report_clear(&r);
	tables_put(t);
	return 0;
}

static int bench_samples(struct tool *x, unsigned what, const char *text)
{
	uint64_t before = sent(x);
	struct sample *s;

	if (wire_read_sample(&s, x->w, x->f, what, NULL, &x->err))
		return fail(x->err.text);
	line(text, sent(x) - before, s->took_ns);
	sample_put(s);
	return 0;
}

/* All blocks of all switches, with the values that they have. */
static int bench_writes(struct tool *x)
{
	uint32_t blocks = x->f->max_lid / LFT_BLOCK + 1u, n = x->f->nsw * blocks;
	struct wire_block *b = xcalloc(n, sizeof(*b));
	uint64_t start, before;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		b[i].sw = i / blocks;
		b[i].block = i % blocks;
	}
	rc = wire_read_blocks(x->w, x->f, b, n, NULL, &x->err);
	start = wire_now_ns(x->w);
	before = sent(x);
	if (!rc)
		rc = wire_write_blocks(x->w, x->f, b, NULL, n, NULL, &x->err);
	if (!rc)
		line("write LFTs, directed", sent(x) - before, wire_now_ns(x->w) - start);
	free(b);
	return rc ? fail(x->err.text) : 0;
}

static int bench(struct tool *x, int rounds)
{
	int rc = 0;

	line("sweep", x->report.mads, x->report.took_ns);
	for (int i = 0; i < rounds && !rc; i++) {
		fabric_put(x->f);
		sweep_report_clear(&x->report);
		if (wire_sweep(&x->f, &x->report, x->w, NULL, NULL, &x->err))
			return fail(x->err.text);
		line("sweep", x->report.mads, x->report.took_ns);
		rc = bench_tables(x, false, "read LFTs");
		if (!rc)
			rc = bench_writes(x);
		if (!rc)
			rc = bench_samples(x, SAMPLE_ALL, "counters, first (classes)");
		if (!rc)
			rc = bench_samples(x, SAMPLE_ALL, "counters, all");
		if (!rc)
			rc = bench_samples(x, SAMPLE_TRAFFIC, "counters, traffic");
		for (int k = 0; k < 3 && !rc; k++)
			rc = bench_samples(x, SAMPLE_ALL | SAMPLE_SUMS,
					   k < 2 ? "counters, learning sums"
						 : "counters, with sums");
	}
	return rc ? rc : bench_tables(x, true, "read LFTs and SL2VL");
}

static int install(struct sim *sim, const struct fabric *f, struct err *err)
{
	struct engine_params params = { 0 };
	struct tables *t;
	int rc = engine_run(engine_find("dfsssp", err), &t, f, NULL, NULL, &params, NULL, err);

	if (rc)
		return rc;
	rc = sim_install_tables(sim, t, err);
	tables_put(t);
	return rc;
}

static int simbench(const char *spec, int rounds)
{
	struct tool x = { 0 };
	struct builder *b;
	struct fabric *f;
	struct sim *sim;
	int rc;

	if (topo_build(&b, spec, &x.err) || builder_freeze(&f, b, NULL, &x.err) ||
	    sim_new(&sim, f, NULL, &x.err) || install(sim, f, &x.err) ||
	    wire_open_sim(&x.w, sim, NULL, &x.err) ||
	    wire_sweep(&x.f, &x.report, x.w, NULL, NULL, &x.err))
		return fail(x.err.text);
	printf("%s: %u switches %u terminals\n", spec, x.f->nsw, x.f->nterm);
	rc = bench(&x, rounds);
	wire_close(x.w);
	fabric_put(x.f);
	sim_free(sim);
	fabric_put(f);
	builder_free(b);
	return rc;
}

static int run(struct tool *x, int argc, char **argv)
{
	const char *cmd = argv[0];

	if (argc == 2 && !strcmp(cmd, "same"))
		return same(x, argv[1]);
	if (argc == 2 && !strcmp(cmd, "lfts"))
		return compare_tables(x, argv[1], false);
	if (argc == 2 && !strcmp(cmd, "sl2vl"))
		return compare_tables(x, argv[1], true);
	if ((argc == 4 || argc == 4 + FAB_SLS) && !strcmp(cmd, "vls"))
		return vls(x, argc - 1, argv + 1);
	if ((argc == 3 || argc == 4) && !strcmp(cmd, "entry"))
		return entry(x, argv[1], (uint32_t)atoi(argv[2]), argc == 4 ? argv[3] : NULL);
	if (argc == 3 && !strcmp(cmd, "counters"))
		return counters(x, argv[1], (uint32_t)atoi(argv[2]));
	if (argc == 2 && !strcmp(cmd, "paths"))
		return paths(x, argv[1]);
	if (argc == 1 && !strcmp(cmd, "sm"))
		return show_sm(x);
	if (argc == 2 && !strcmp(cmd, "bench"))
		return bench(x, atoi(argv[1]));
	return fail("unknown command, see the head of wiretool.c");
}

int main(int argc, char **argv)
{
	struct wire_opts opts = { 0 };
	struct stderrlog *capture;
	struct tool x = { 0 };
	int rc;

	if (argc == 3 && !strcmp(argv[1], "topo"))
		return print_topo(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "simbench"))
		return simbench(argv[2], atoi(argv[3]));
	if (argc < 2)
		return fail("which command? see the head of wiretool.c");
	if (getenv("WINDOW"))
		opts.window = (uint32_t)atoi(getenv("WINDOW"));
	log_set_sink(count_line, NULL);
	rc = stderrlog_start(&capture, "ib", &x.err);
	if (rc)
		return fail(x.err.text);
	rc = wire_open_umad(&x.w, &opts, &x.err);
	if (!rc)
		rc = wire_sweep(&x.f, &x.report, x.w, NULL, NULL, &x.err);
	if (rc)
		fail(x.err.text);
	for (uint32_t i = 0; i < x.report.ngaps; i++)
		printf("gap: %s\n", x.report.gaps[i].text);
	rc = rc ? 1 : run(&x, argc - 1, argv + 1);
	sweep_report_clear(&x.report);
	fabric_put(x.f);
	wire_close(x.w);
	stderrlog_stop(capture);
	log_set_sink(NULL, NULL);
	printf("captured %u lines of stderr\n", captured);
	return rc;
}
