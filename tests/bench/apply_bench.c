/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply_bench: what a transaction costs beside writing and reading the same blocks and nothing
 * else.
 *
 *   apply_bench [PERCENT [ROUNDS [WAVES]]]
 *
 * On the fabric behind the first port (tests/bench/apply_rate.sh puts ibsim there): PERCENT of all
 * LFT blocks get one other entry for some host.  Bare: all are written, then all are read, with
 * the window of the wire always full; and the same in as many groups as there are waves, each
 * written, then read.  Switches are known by then, and not asked who they are.  Transaction: the
 * same with journal and record, both on disk ($TMPDIR), in one wave and in WAVES; counted from the
 * beginning of the first wave, before anything of it is synced, to the end of the last, after it
 * was read back and compared.  The three by turns, ROUNDS times, in another order each time; the
 * medians count, of times as of the ratios of each round, which other programs on the machine
 * disturb less.  How far the ratios of four fifths of the rounds lie apart is printed with them:
 * where that is wide, the machine is busy.  Exit code 1: less than 80 % of the rate of the bare
 * loop over all blocks, or something failed.
 *
 * With BENCH_SOCKET, the socket of our plugin in an OpenSM that has routed by itself so far, and
 * BENCH_SETS, the file of its UMAD_COUNT (tests/lab/umad_timeouts.c): the same update through
 * OpenSM, in one wave and in WAVES, and how many Set() it takes, which are to be the planned ones.
 * Only entries towards the top of the tree change: the plugin is to find no loop and no deadlock.
 *
 * The goal is 80 % of what can be had: of the bare loop's rate through the same window,
 * BENCH_WINDOW (32), which OpenSM's max_wire_smps is to be as well, or, where that is slower, of
 * what an OpenSM without our plugin writes by itself, BENCH_STOCK blocks a second
 * (tests/bench/set_rate.c), with the time that it takes to read them back.  All of it counts, also
 * what does not depend on how many blocks there are: a wave of one block, which is measured first,
 * may take FIXED_MS.
 */
#include "console/record/record.h"
#include "console/update/update_record.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/osm_foreign.h"
#include "fabric/update/installer/osm_grant.h"
#include "fabric/update/installer/osm_install.h"
#include "fabric/update/installer/smp.h"
#include "fabric/update/journal/journal.h"
#include "fabric/wire/wire.h"
#include "tests/bench/bench_kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS_MAX 499
#define QUIET	   0.2 /* share of the rounds that is faster */
#define FIXED_MS   10  /* of a wave through OpenSM, at most, unless BENCH_FIXED says otherwise */
#define ATTRIBUTES 256
#define ATTR_LFT   0x19

struct bench {
	struct wire *w;
	struct fabric *f;
	struct tables *from, *to;
	struct record *record;
	const char *dir;
	char journals[300], settled[300];
	uint64_t begin_ns, end_ns, granted_ns;
	uint64_t record_ns, gate_ns; /* of it: lines of the record, waiting for the disk */
	uint64_t read_ns;	     /* of the bare loop */
	struct osm_link *osm;	     /* NULL: SMPs */
	const uint64_t *sets;	     /* of OpenSM, by attribute */
	uint64_t sets_before[ATTRIBUTES], sets_of[ATTRIBUTES]; /* of a transaction */
};

static void need(int rc, const struct err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "apply_bench: %s\n", err->text);
	exit(1);
}

/* From a leaf to another one: every way up leads there. */
static bool goes_up(const struct fabric *f, uint32_t sw, uint32_t end)
{
	return f->sw_nterm[sw] && f->term_sw[end] != sw;
}

/* One entry of the block for a host that is not here, towards another switch. */
static bool change_block(struct bench *b, uint32_t sw, uint32_t block, uint32_t self, struct rng *r)
{
	const struct fabric *f = b->f;
	uint32_t first = block * LFT_BLOCK, nchan = f->chan_off[sw + 1] - f->chan_off[sw];

	for (uint32_t k = 0; k < 4 * LFT_BLOCK; k++) {
		uint32_t lid = first + (uint32_t)rng_below(r, LFT_BLOCK);
		uint32_t end = fabric_lid_end(f, lid);
		uint8_t port = f->chan_port[f->chan_off[sw] + rng_below(r, nchan)];

		if (end == FAB_NONE || end >= f->nterm || end == self ||
		    tables_row(b->to, sw)[lid] == port)
			continue;
		if (b->osm && !goes_up(f, sw, end))
			continue;
		tables_row(b->to, sw)[lid] = port;
		return true;
	}
	return false;
}

static void change(struct bench *b, uint32_t wanted)
{
	uint32_t blocks = tables_blocks(b->from), cells = b->f->nsw * blocks;
	uint32_t *order = xcalloc(cells, sizeof(*order)), done = 0;
	struct mad_local local;
	struct rng r;

	rng_seed(&r, 1);
	wire_local(b->w, &local);
	tables_put(b->to);
	b->to = b->osm ? tables_onto(b->f, b->from, b->from) : tables_new(b->f, "bench");
	memcpy(b->to->lft, b->from->lft, (size_t)b->f->nsw * b->from->stride);
	for (uint32_t i = 0; i < cells; i++)
		order[i] = i;
	rng_shuffle_u32(&r, order, cells);
	for (uint32_t i = 0; i < cells && done < wanted; i++)
		done += change_block(b, order[i] / blocks, order[i] % blocks,
				     fabric_term_by_guid(b->f, local.port_guid), &r);
	free(order);
}

static struct wire_block *blocks_of(const struct plan *p, bool back)
{
	struct wire_block *v = xcalloc(p->changes->n, sizeof(*v));

	for (uint32_t i = 0; i < p->changes->n; i++) {
		const struct change *c = &p->changes->v[i];

		v[i].sw = c->sw;
		v[i].block = c->block;
		memcpy(v[i].port, back ? change_old(p->changes, c) : change_new(p->changes, c),
		       LFT_BLOCK);
	}
	return v;
}

/* A transaction begins to write after its journal was made and the disk waited for; so does the
 * bare loop, as the simulator, too, is slower after a pause, and all caches are cold. */
static void settle(const struct bench *b, const struct plan *p)
{
	struct txn_head h = { .fingerprint = p->fabric->fingerprint,
			      .from_hash = p->from_hash,
			      .to_hash = p->to_hash };
	struct err err = { "" };
	struct journal *j;

	snprintf(h.fabric, sizeof(h.fabric), "%s", p->fabric->name);
	snprintf(h.plan, sizeof(h.plan), "%s", p->id);
	need(journal_begin(&j, b->settled, p->fabric, &h, p->changes, &err), &err);
	changes_hash(journal_changes(j));
	need(journal_mark(j, TXN_ABANDONED, 0, NULL, &err), &err);
	journal_close(j);
}

/* Changes are sorted by wave: those of one, or all. */
static double bare(struct bench *b, const struct plan *p, bool groups)
{
	struct wire_block *new = blocks_of(p, false), *old = blocks_of(p, true);
	uint32_t n = p->changes->n;
	struct err err = { "" };
	uint64_t start, took, wrote;

	b->read_ns = 0;
	need(wire_write_blocks(b->w, b->f, old, NULL, n, NULL, &err), &err);
	settle(b, p);
	start = clock_ns();
	for (uint32_t i = 0, k; i < n; i = k) {
		k = i;
		while (k < n && (!groups || p->changes->v[k].wave == p->changes->v[i].wave))
			k++;
		need(wire_write_blocks(b->w, b->f, new + i, NULL, k - i, NULL, &err), &err);
		wrote = clock_ns();
		need(wire_read_blocks(b->w, b->f, new + i, k - i, NULL, &err), &err);
		b->read_ns += clock_ns() - wrote;
	}
	took = clock_ns() - start;
	need(wire_write_blocks(b->w, b->f, old, NULL, n, NULL, &err), &err);
	free(new);
	free(old);
	return (double)took / 1e9;
}

static void event(void *ctx, const struct executor_event *ev)
{
	struct bench *b = ctx;
	uint64_t start = clock_ns(), end;

	if (ev->kind == APPLY_PHASE_BEGIN && ev->phase == PHASE_WRITE && !ev->wave) {
		b->begin_ns = start;
		b->record_ns = b->gate_ns = 0;
	}
	update_record_event(b->record, ev, b->f);
	end = clock_ns();
	if (ev->phase == PHASE_WRITE)
		b->record_ns += end - start;
	if (ev->kind == APPLY_PHASE_END && ev->phase == PHASE_WRITE)
		b->end_ns = end;
}

static void through_opensm(void *ctx, const struct executor_event *ev)
{
	struct bench *b = ctx;
	bool begin = ev->kind == APPLY_PHASE_BEGIN && ev->phase == PHASE_WRITE && !ev->wave;

	if (begin)
		memcpy(b->sets_before, b->sets, sizeof(b->sets_before));
	event(ctx, ev);
	for (unsigned i = 0; ev->phase == PHASE_WRITE && i < ATTRIBUTES; i++)
		b->sets_of[i] = b->sets[i] - b->sets_before[i];
}

static int grant(void *ctx, const struct executor_grant *g, struct err *err)
{
	struct bench *b = ctx;
	int rc = osm_grant(b->osm, g, err);

	if (g->step == GRANT_BEGIN)
		b->granted_ns = clock_ns();
	return rc;
}

static int gate(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct bench *b = ctx;
	uint64_t start = clock_ns();
	int rc = update_record_gate(b->record, ev, err);

	if (ev->phase == PHASE_WRITE)
		b->gate_ns += clock_ns() - start;
	return rc;
}

static double transaction(struct bench *b, const struct plan *p)
{
	struct executor_opts o = { .base = b->journals,
				   .gate = gate,
				   .event = event,
				   .ctx = b,
				   .accept_sl_change = true };
	struct installer in = smp_installer(b->w);
	struct osm_install *by = b->osm ? osm_install_new(b->osm, in) : NULL;
	struct err err = { "" };
	struct executor *a;

	if (by) {
		osm_install_plan(by, p->fabric, p->from, p->to);
		in = osm_installer(by);
		o.event = through_opensm;
		o.grant = grant;
	}
	a = executor_new(p, &in, &o);
	need(executor_run(a, &err), &err);
	need(executor_rollback(a, &err), &err);
	executor_free(a);
	osm_install_free(by);
	return (double)(b->end_ns - b->begin_ns) / 1e9;
}

static int by_size(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* That of n values (sorted here) which a share of them does not reach. */
static double quantile(double *v, unsigned n, double share)
{
	qsort(v, n, sizeof(*v), by_size);
	return v[(unsigned)(share * n)];
}

static double median(double *v, unsigned n)
{
	return quantile(v, n, 0.5);
}

/* The same blocks, every one in a wave of its switch. */
static void in_waves(struct plan *p, uint32_t waves)
{
	const struct tables_diff *d = p->diff;
	struct change_order o = { .nwaves = waves };
	struct err err = { "" };

	o.v = xcalloc(d->nblocks, sizeof(*o.v));
	for (uint32_t w = 0; w < waves; w++)
		for (uint32_t i = 0; i < d->nblocks; i++)
			if (d->blocks[i].sw % waves == w)
				o.v[o.n++] = (struct change_write){ w, d->blocks[i].sw,
								    d->blocks[i].block, ~0ull };
	need(plan_in_order(p, &o, &err), &err);
	free(o.v);
}

struct series {
	double bare_s[ROUNDS_MAX], group_s[ROUNDS_MAX], txn_s[ROUNDS_MAX];
	double record_s[ROUNDS_MAX], gate_s[ROUNDS_MAX], ahead_s[ROUNDS_MAX];
	double read_s[ROUNDS_MAX];			 /* in groups */
	double rate[ROUNDS_MAX], group_rate[ROUNDS_MAX]; /* within a round */
};

static void measure(struct series *s, struct bench *b, struct plan *p, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		/* whoever comes after a transaction finds the machine as that has left it */
		for (unsigned k = 0; k < 3; k++) {
			if ((i + k) % 3 == 0)
				s->bare_s[i] = bare(b, p, false);
			else if ((i + k) % 3 == 1) {
				s->group_s[i] = bare(b, p, true);
				s->read_s[i] = (double)b->read_ns / 1e9;
			} else
				s->txn_s[i] = transaction(b, p);
		}
		s->record_s[i] = (double)b->record_ns / 1e9;
		s->gate_s[i] = (double)b->gate_ns / 1e9;
		s->ahead_s[i] = (double)(b->begin_ns - b->granted_ns) / 1e9;
		s->rate[i] = s->bare_s[i] / s->txn_s[i];
		s->group_rate[i] = s->group_s[i] / s->txn_s[i];
	}
}

static bool compare(struct bench *b, struct plan *p, unsigned rounds)
{
	static struct series s;
	double n = p->changes->n, x, g, y, quiet;

	measure(&s, b, p, rounds);
	x = median(s.bare_s, rounds);
	g = median(s.group_s, rounds);
	y = median(s.txn_s, rounds);
	quiet = quantile(s.bare_s, rounds, QUIET) / quantile(s.txn_s, rounds, QUIET);
	printf("%.0f blocks written and read, medians of %u rounds: bare %.1f ms, in %u groups %.1f ms; "
	       "transaction in %u waves %.1f ms (%.0f blocks/s): %.0f %%, of the groups %.0f %%\n",
	       n, rounds, 1e3 * x, p->changes->nwaves, 1e3 * g, p->changes->nwaves, 1e3 * y, n / y,
	       100 * median(s.rate, rounds), 100 * median(s.group_rate, rounds));
	printf("  the fastest fifth: bare %.1f ms, transaction %.1f ms: %.0f %%; lines of "
	       "the record %.1f ms, its sync %.1f ms\n",
	       1e3 * quantile(s.bare_s, rounds, QUIET), 1e3 * quantile(s.txn_s, rounds, QUIET),
	       100 * quiet, 1e3 * quantile(s.record_s, rounds, QUIET),
	       1e3 * median(s.gate_s, rounds));
	return median(s.rate, rounds) >= 0.8;
}

/* Counters are those of one transaction, the last; all of them write the same. */
static bool only_the_planned_sets(const struct bench *b, const struct plan *p)
{
	uint64_t others = 0;

	for (unsigned i = 0; i < ATTRIBUTES; i++)
		others += i == ATTR_LFT ? 0 : b->sets_of[i];
	printf("  through OpenSM: %u LFT blocks and %u SL2VL tables planned, %lu LFT blocks and %lu "
	       "others set\n",
	       p->changes->nlft, p->changes->nsl2vl, (unsigned long)b->sets_of[ATTR_LFT],
	       (unsigned long)others);
	return b->sets_of[ATTR_LFT] == p->changes->nlft && !others && !p->changes->nsl2vl;
}

static void open_opensm(struct bench *b, const char *path)
{
	const char *sets = getenv("BENCH_SETS");
	int fd = sets ? open(sets, O_RDONLY | O_CLOEXEC) : -1;
	struct tables *known;
	struct err err = { "BENCH_SETS cannot be read" };
	void *map = MAP_FAILED;

	if (fd >= 0)
		map = mmap(NULL, ATTRIBUTES * sizeof(*b->sets), PROT_READ, MAP_SHARED, fd, 0);
	need(map == MAP_FAILED, &err);
	close(fd);
	b->sets = map;
	need(osm_link_open(&b->osm, path, 60000, &err), &err);
	need(osm_foreign(&known, b->osm, b->f, b->from, &err), &err);
	tables_put(b->from);
	b->from = known;
}

/* ms of a wave of one block; least: where others left the machine alone. */
static double fixed_part(struct bench *b, unsigned rounds, double *least)
{
	double s[ROUNDS_MAX], mid;
	struct err err = { "" };
	struct plan *p;

	change(b, 1);
	need(plan_new(&p, b->f, b->from, b->to, NULL, NULL, 0, &err), &err);
	for (unsigned i = 0; i < rounds; i++)
		s[i] = transaction(b, p);
	plan_free(p);
	mid = median(s, rounds);
	*least = 1e3 * s[0];
	return 1e3 * mid;
}

/* Returns the median of ms through OpenSM. */
static double print_road(const struct series *s, const struct plan *p, unsigned rounds)
{
	static struct series sorted; /* medians sort */
	double n = p->changes->n, all, plain;

	sorted = *s;
	all = 1e3 * median(sorted.txn_s, rounds);
	plain = 1e3 * median(sorted.group_s, rounds);
	printf("%.0f blocks in %u wave%s, written and read, medians of %u rounds: bare %.1f ms (%.0f "
	       "blocks/s), through OpenSM %.1f ms: %.0f %%\n",
	       n, p->changes->nwaves, p->changes->nwaves == 1 ? "" : "s", rounds, plain,
	       1e3 * n / plain, all, 100 * median(sorted.group_rate, rounds));
	printf("  before the first wave, while no job waits: %.0f ms to hand over the tables, which "
	       "are verified then\n",
	       1e3 * median(sorted.ahead_s, rounds));
	return all;
}

/* Within each round, by what is slower: the bare loop, or OpenSM alone.  Returns the median. */
static double of_what_can_be_had(const struct series *s, const struct plan *p, unsigned rounds)
{
	const char *given = getenv("BENCH_STOCK");
	double stock = given ? atof(given) : 0, n = p->changes->n, alone, share[ROUNDS_MAX],
	       alone_s[ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++) {
		alone = stock > 0 ? n / stock + s->read_s[i] : 0;
		alone_s[i] = alone;
		share[i] = (alone > s->group_s[i] ? alone : s->group_s[i]) / s->txn_s[i];
	}
	if (stock > 0)
		printf("  OpenSM without our plugin: %.0f blocks/s written, with reading back "
		       "%.1f ms\n",
		       stock, 1e3 * median(alone_s, rounds));
	printf("  of what can be had: %.0f %%, four fifths of the rounds from %.0f to %.0f %%\n",
	       100 * median(share, rounds), 100 * quantile(share, rounds, 0.1),
	       100 * quantile(share, rounds, 0.9));
	return median(share, rounds);
}

static bool by_opensm(struct bench *b, struct plan *p, unsigned rounds, unsigned waves)
{
	static struct series s;
	const char *most = getenv("BENCH_FIXED");
	double least, fixed = fixed_part(b, rounds, &least), rate, waves_rate, one, further;
	int fixed_ms = most ? atoi(most) : FIXED_MS;
	bool exact;

	measure(&s, b, p, rounds);
	one = print_road(&s, p, rounds);
	rate = of_what_can_be_had(&s, p, rounds);
	exact = only_the_planned_sets(b, p);
	printf("  a wave of one block takes %.1f ms, at least %.1f; beyond that %.0f blocks/s\n",
	       fixed, least, 1e3 * p->changes->n / (one - fixed));
	in_waves(p, waves);
	measure(&s, b, p, rounds);
	further = (print_road(&s, p, rounds) - one) / (waves > 1 ? waves - 1 : 1);
	printf("  each further wave takes %.1f ms more\n", further);
	waves_rate = of_what_can_be_had(&s, p, rounds);
	printf("goal: at most %d ms for a wave of one block, or one more: %s\n", fixed_ms,
	       fixed <= fixed_ms && further <= fixed_ms ? "holds" : "MISSED");
	return only_the_planned_sets(b, p) && exact && fixed <= fixed_ms && further <= fixed_ms &&
	       rate >= 0.8 && waves_rate >= 0.8;
}

static bool both(struct bench *b, struct plan *p, unsigned rounds, unsigned waves)
{
	bool ok = compare(b, p, rounds);

	in_waves(p, waves);
	return compare(b, p, rounds) && ok;
}

static uint32_t blocks_of_percent(const struct bench *b, unsigned percent)
{
	return b->f->nsw * tables_blocks(b->from) * percent / 100;
}

int main(int argc, char **argv)
{
	const char *socket = getenv("BENCH_SOCKET");
	unsigned percent = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 101;
	unsigned waves = argc > 3 ? (unsigned)atoi(argv[3]) : 8;
	const char *tmp = getenv("TMPDIR"), *window = getenv("BENCH_WINDOW");
	struct wire_opts wo = { .window = window ? (uint32_t)atoi(window) : 0 };
	struct record_opts ro = { .mode = "rw" };
	struct bench b = { .dir = tmp };
	struct plan *p;
	struct err err = { "" };
	bool ok;

	if (!tmp) {
		fprintf(stderr, "TMPDIR: a folder for the journal and the record is needed\n");
		return 64;
	}
	waves = waves ? waves : 1;
	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	snprintf(b.journals, sizeof(b.journals), "%s/apply_bench.state", b.dir);
	snprintf(b.settled, sizeof(b.settled), "%s/apply_bench.settled", b.dir);
	ro.dir = b.dir;
	need(wire_open_umad(&b.w, &wo, &err), &err);
	need(wire_sweep(&b.f, NULL, b.w, NULL, NULL, &err), &err);
	need(wire_read_tables(&b.from, b.w, b.f, socket != NULL, NULL, NULL, &err), &err);
	if (socket)
		open_opensm(&b, socket);
	else
		tables_sl2vl_form(b.from, SL2VL_IDENTITY, b.f); /* nothing of it is written */
	need(record_open(&b.record, &ro, &err), &err);
	change(&b, blocks_of_percent(&b, percent));
	need(plan_new(&p, b.f, b.from, b.to, NULL, NULL, 0, &err), &err);
	printf("%u switches, %u hosts, %u of %u blocks change\n", b.f->nsw, b.f->nterm,
	       p->diff->nblocks, p->diff->blocks_all);
	ok = socket ? by_opensm(&b, p, rounds, waves) : both(&b, p, rounds, waves);
	osm_link_close(b.osm);
	plan_free(p);
	need(record_close(b.record, &err), &err);
	tables_put(b.from);
	tables_put(b.to);
	fabric_put(b.f);
	wire_close(b.w);
	printf("goal: at least 80 %% of %s: %s\n", socket ? "what can be had" : "the bare rate",
	       ok ? "holds" : "MISSED");
	return !ok;
}
