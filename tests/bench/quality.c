/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quality: the time of jobs on routings of one or more nets, engine by engine.
 *
 *   quality [--json] [--shifts] [--opensm DIR] [--engines LIST] NAME=NET...
 *
 * LIST: our engines ("ftree,nue:8") instead of those that the time of jobs is about.  Each is held
 * against OpenSM's of the same name, dor against the best of torus-2QoS, lash, dfsssp and nue:8: in
 * sync, rate and ebb, to three decimals.  --shifts: these alone.
 *
 * NET is a text as "ibroute-top topo" takes it, or a file with a fabric.  Jobs fill each net in
 * four ways (quality_jobs.h).  DIR has what osm_clock left of OpenSM's engines in NAME.ENGINE.lids
 * and so on.
 *
 * time: mean over jobs in an all-to-all (job_time.h), with its standard error; the same draws for
 * all routings of a net.  sync, rate: all shifts over all hosts (shift_time.h).  ebb: effective
 * bisection bandwidth.  "sar from dfsssp" is what up to 20 updates of at most 5 % of the blocks
 * each come to; it fails where one of them changes more.  The last two of engines that know the
 * jobs are those of the first placement.
 */
#include "tests/bench/bench_kit.h"
#include "tests/bench/osm_tables.h"
#include "tests/bench/quality_jobs.h"

#include "console/input/load/load_fabric.h"
#include "engines/engine_spec.h"
#include "engines/time/job_time.h"
#include "engines/time/shift_time.h"
#include "engines/time/time_memo.h"
#include "engines/verify/verify.h"
#include "fabric/model/tables/tables_diff.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VLS	   15
#define BISECTIONS 100
#define STEPS	   20
#define BUDGET	   0.05

struct way {
	const char *label, *spec;
	bool jobs, from_dfsssp;
	bool rival;
};

#define WAYS_MAX 16

/* In the order of the table; what sar is held against comes first. */
static struct way ways[WAYS_MAX] = {
	{ "dfsssp", "dfsssp", false, false, true }, { "ftree", "ftree", false, false, true },
	{ "minhop", "minhop", false, false, true }, { "sar:paper", "sar:paper", true, false, true },
	{ "sar", "sar", true, false, false },	    { "sar from dfsssp", "sar", true, true, false },
};

static uint32_t nways = 6;
static bool about_sar = true; /* and not a list of engines */
static bool only_shifts;

static const char *const opensm_engines[] = { "minhop", "updn",	 "ftree",      "dor",
					      "dfsssp", "lash",	 "torus-2QoS", "nue:8",
					      "nue:4",	"nue:2", "nue:1" };

#define OPENSM_ENGINES (sizeof(opensm_engines) / sizeof(*opensm_engines))

struct figures {
	bool known;
	unsigned vls; /* 0: not known */
	struct phase_mean time, node_mean, worst;
	struct shift_time shift;
	double ebb;
};

struct row {
	char label[32];
	struct figures of[PLACEMENTS];
	char why[sizeof(((struct err *)0)->text)];
};

struct net {
	const char *name, *spec;
	struct fabric *f;
	struct jobset *jobs[PLACEMENTS];
	struct row rows[WAYS_MAX + OPENSM_ENGINES];
	uint32_t nrow;
};

/* --- a routing ------------------------------------------------------------------------------- */

static int judge_jobs(struct figures *out, const struct fabric *f, const struct tables *t,
		      const struct jobset *jobs, struct err *err)
{
	static const struct job_time_opts to = { .pattern = PREDICT_ALLTOALL, .seed = 1 };
	struct job_times *x;
	int rc = job_times_compute(&x, f, t, jobs, &to, NULL, err);

	if (rc)
		return rc;
	out->time = x->mean;
	out->node_mean = x->node_mean;
	out->worst = x->worst;
	job_times_free(x);
	return 0;
}

/* like: of the same tables, what does not depend on jobs; NULL: none yet. */
static int judge(struct figures *out, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, const struct figures *like, struct err *err)
{
	static const struct shift_time_opts so = { .shifts = SHIFT_TIME_ALL };
	static const struct ebb_opts eo = { .bisections = BISECTIONS, .seed = 1 };
	struct ebb ebb;
	int rc = 0;

	if (like) {
		out->shift = like->shift;
		out->ebb = like->ebb;
	} else {
		rc = shift_time_compute(&out->shift, f, t, &so, NULL, err);
		if (!rc)
			rc = predict_ebb(&ebb, f, t, &eo, NULL, err);
		out->ebb = rc ? NAN : ebb.mean;
	}
	if (!rc && !only_shifts)
		rc = judge_jobs(out, f, t, jobs, err);
	out->known = !rc;
	return rc;
}

/* Ours must be what a fabric can be run with. */
static int check(const struct fabric *f, const struct tables *t, const char *label, struct err *err)
{
	struct verify_opts opts = { .terminals_only = true };
	struct verdict *v;
	int rc = verify_tables(&v, f, t, &opts, NULL, err);

	if (!rc && !verdict_ok(v))
		rc = err_set(err, -1, "%s: its tables do not pass the verifier", label);
	verdict_free(v);
	return rc;
}

/* current and memo: of updates. */
static int route(struct tables **out, const struct net *net, const struct way *w,
		 const struct jobset *jobs, const struct tables *current, struct time_memo *memo,
		 struct err *err)
{
	struct engine_params params = {
		.vls = VLS, .current = current, .memo = memo, .sar_change = current ? BUDGET : 0
	};
	struct engine_spec spec;
	int rc = engine_spec_parse(&spec, w->spec, err);

	if (rc)
		return rc;
	engine_spec_apply(&spec, &params);
	return engine_run(spec.engine, out, net->f, jobs, NULL, &params, NULL, err);
}

/* One update; *rests: it changes nothing. */
static int update(struct tables **t, bool *rests, const struct net *net, const struct way *w,
		  const struct jobset *jobs, struct time_memo *memo, struct err *err)
{
	struct tables *next;
	struct tables_diff *d;
	int rc = route(&next, net, w, jobs, *t, memo, err);

	if (rc)
		return rc;
	d = tables_diff_new(net->f, *t, next);
	*rests = !d->nblocks;
	if (d->nblocks > BUDGET * d->blocks_all)
		rc = err_set(err, -1, "%s: an update changes %u of %u blocks", w->label, d->nblocks,
			     d->blocks_all);
	tables_diff_free(d);
	tables_put(*t);
	*t = next;
	return rc;
}

static int route_way(struct tables **out, const struct net *net, const struct way *w,
		     const struct jobset *jobs, const struct tables *dfsssp, struct err *err)
{
	struct time_memo *memo;
	bool rests = false;
	int rc = 0;

	if (!w->from_dfsssp)
		return route(out, net, w, jobs, NULL, NULL, err);
	memo = time_memo_new();
	*out = (struct tables *)tables_get(dfsssp);
	for (int i = 0; i < STEPS && !rc && !rests; i++)
		rc = update(out, &rests, net, w, jobs, memo, err);
	time_memo_put(memo);
	return rc;
}

/* An engine that does not suit has its reason in the row. */
static int measure_way(struct net *net, const struct way *w, const struct tables *dfsssp,
		       struct err *err)
{
	struct row *row = &net->rows[net->nrow++];
	struct tables *t = NULL;
	int rc = 0;

	snprintf(row->label, sizeof(row->label), "%s", w->label);
	for (int p = 0; !rc && p < PLACEMENTS; p++) {
		if (!t && route_way(&t, net, w, net->jobs[p], dfsssp, err)) {
			snprintf(row->why, sizeof(row->why), "%s", err->text);
			return 0;
		}
		row->of[p].vls = t->vls;
		rc = check(net->f, t, w->label, err);
		if (!rc)
			rc = judge(&row->of[p], net->f, t, net->jobs[p],
				   p && !w->jobs ? &row->of[0] : NULL, err);
		if (w->jobs) {
			tables_put(t);
			t = NULL;
		}
	}
	tables_put(t);
	return rc;
}

/* --- OpenSM's ----------------------------------------------------------------------------------
 */

/* The terms of both fabrics are in the order of GUIDs, so the jobs fit. */
static int judge_opensm(struct net *net, const char *engine, const char *prefix, struct err *err)
{
	struct row *row = &net->rows[net->nrow++];
	struct fabric *f = NULL;
	struct tables *t = NULL;
	struct builder *b;
	int rc = make_builder(&b, net->spec, err);

	snprintf(row->label, sizeof(row->label), "OpenSM %s", engine);
	if (rc)
		return rc;
	rc = osm_tables_read(&f, &t, b, prefix, err);
	builder_free(b);
	for (int p = 0; !rc && p < PLACEMENTS; p++) {
		struct jobset *jobs = quality_place_jobs(f, (enum placement)p, 0);

		rc = judge(&row->of[p], f, t, jobs, p ? &row->of[0] : NULL, err);
		jobset_put(jobs);
	}
	if (rc)
		snprintf(row->why, sizeof(row->why), "%s", err->text);
	tables_put(t);
	fabric_put(f);
	return 0;
}

static int measure_opensm(struct net *net, const char *dir, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < OPENSM_ENGINES; i++) {
		char prefix[4000], lft[4010];

		snprintf(prefix, sizeof(prefix), "%s/%s.%s", dir, net->name, opensm_engines[i]);
		snprintf(lft, sizeof(lft), "%s.lft", prefix);
		if (!access(lft, R_OK))
			rc = judge_opensm(net, opensm_engines[i], prefix, err);
	}
	return rc;
}

static int measure(struct net *net, const char *dir, struct err *err)
{
	static const struct way *const first = &ways[0]; /* dfsssp */
	struct tables *dfsssp = NULL;
	int rc = load_fabric_lmc(&net->f, net->spec, NULL, NULL, -1, err);

	if (rc)
		return rc;
	quality_check_names(net->name, net->f);
	for (int p = 0; p < PLACEMENTS; p++)
		net->jobs[p] = quality_place_jobs(net->f, (enum placement)p, 0);
	if (about_sar)
		rc = route(&dfsssp, net, first, NULL, NULL, NULL, err);
	for (uint32_t i = 0; !rc && i < nways; i++)
		rc = measure_way(net, &ways[i], dfsssp, err);
	if (!rc && dir)
		rc = measure_opensm(net, dir, err);
	tables_put(dfsssp);
	return rc;
}

/* --- what is shown -------------------------------------------------------------------------------
 */

static void print_row(const struct row *row)
{
	printf("  %-17s", row->label);
	if (!row->of[0].known) {
		printf(" %.70s\n", row->why);
		return;
	}
	if (row->of[0].vls)
		printf(" %3u", row->of[0].vls);
	else
		printf(" %3s", "-");
	for (int p = 0; p < PLACEMENTS && !only_shifts; p++)
		printf(" %6.2f +-%.2f", row->of[p].time.mean, row->of[p].time.error);
	printf(" ");
	for (int p = 0; p < PLACEMENTS && !only_shifts; p++)
		printf(" %5.2f", row->of[p].worst.mean);
	printf("  %.3f %.3f %.3f%s\n", row->of[0].shift.sync.mean, row->of[0].shift.rate.mean,
	       row->of[0].ebb,
	       row->of[0].shift.stranded ? "  (not all hosts reach each other)" : "");
}

/* sar against the best of those that it is held against; NAN: one of them is not known. */
static double against_best(const struct net *net, uint32_t way, int p)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < nways; i++)
		if (ways[i].rival && net->rows[i].of[p].known)
			best = fmin(best, net->rows[i].of[p].time.mean);
	return net->rows[way].of[p].known ? net->rows[way].of[p].time.mean / best : NAN;
}

static void print_against_best(const struct net *net, uint32_t way)
{
	printf("  %-21s", ways[way].from_dfsssp ? "from it / best" : "sar / best");
	for (int p = 0; p < PLACEMENTS; p++)
		printf(" %6.3f       ", against_best(net, way, p));
	putchar('\n');
}

/* --- ours and OpenSM's --------------------------------------------------------------------------
 */

#define COMPARED 3

static const char *const compared[COMPARED] = { "sync", "rate", "ebb" };

static double figure_of(const struct figures *x, int which)
{
	double v = which == 0 ? x->shift.sync.mean : which == 1 ? x->shift.rate.mean : x->ebb;

	return round(v * 1000) / 1000;
}

/* Is it what OpenSM has instead of ours?  dor has no more than the bisection to match. */
static bool is_match(const char *ours, const char *theirs, int which)
{
	static const char *const tori[] = { "OpenSM torus-2QoS", "OpenSM lash", "OpenSM dfsssp",
					    "OpenSM nue:8" };

	if (strcmp(ours, "dor"))
		return !strncmp(theirs, "OpenSM ", 7) && !strcmp(theirs + 7, ours);
	for (size_t i = 0; i < sizeof(tori) / sizeof(*tori); i++)
		if (which == 2 && !strcmp(theirs, tori[i]))
			return true;
	return false;
}

/* The best of OpenSM's that a row is held against, or NULL; hosts that do not reach each other make
 * room for the rest. */
static const struct row *match_of(const struct net *net, const struct row *ours, int which)
{
	const struct row *best = NULL;

	for (uint32_t i = 0; i < net->nrow && ours->of[0].known; i++) {
		const struct row *row = &net->rows[i];

		if (!row->of[0].known || row->of[0].shift.stranded ||
		    !is_match(ours->label, row->label, which))
			continue;
		if (!best || figure_of(&row->of[0], which) > figure_of(&best->of[0], which))
			best = row;
	}
	return best;
}

/* Figures of a net that were compared; *below: those in which ours is below. */
static uint32_t count_matches(const struct net *net, uint32_t *below)
{
	uint32_t n = 0;

	*below = 0;
	for (uint32_t i = 0; i < net->nrow; i++)
		for (int k = 0; k < COMPARED; k++) {
			const struct row *ours = &net->rows[i], *row = match_of(net, ours, k);

			n += row != NULL;
			*below += row && figure_of(&ours->of[0], k) < figure_of(&row->of[0], k);
		}
	return n;
}

static void print_below(const struct net *net)
{
	for (uint32_t i = 0; i < net->nrow; i++)
		for (int k = 0; k < COMPARED; k++) {
			const struct row *ours = &net->rows[i], *row = match_of(net, ours, k);

			if (row && figure_of(&ours->of[0], k) < figure_of(&row->of[0], k))
				printf("  below: %s %s %.3f, %s %.3f\n", ours->label, compared[k],
				       figure_of(&ours->of[0], k), row->label,
				       figure_of(&row->of[0], k));
		}
}

static void print_matches(const struct net *nets, uint32_t n)
{
	uint32_t all = 0, below = 0, more;

	for (uint32_t i = 0; i < n; i++) {
		all += count_matches(&nets[i], &more);
		below += more;
	}
	if (all)
		printf("at least OpenSM's: %u of %u figures on %u nets\n\n", all - below, all, n);
}

/* Of one of our rows: OpenSM's figures that it is held against, and whether it has as much. */
static json_t *match_json(const struct net *net, const struct row *ours)
{
	json_t *o = json_object();

	for (int k = 0; k < COMPARED; k++) {
		const struct row *row = match_of(net, ours, k);

		if (row)
			json_object_set_new(
				o, compared[k],
				json_pack("{s:s, s:f, s:b}", "engine", row->label, "value",
					  figure_of(&row->of[0], k), "reached",
					  figure_of(&ours->of[0], k) >= figure_of(&row->of[0], k)));
	}
	return o;
}

/* --------------------------------------------------------------------------------------------- */

static void print_net(const struct net *net)
{
	printf("%s (%s): %u switches, %u hosts\n", net->name, net->spec, net->f->nsw,
	       net->f->nterm);
	printf("  %-17s %3s", "", "VLs");
	for (int p = 0; p < PLACEMENTS && !only_shifts; p++)
		printf(" %13s", quality_placements[p]);
	if (!only_shifts)
		printf("  %23s", "worst of each    ");
	printf("   %5s %5s %5s\n", "sync", "rate", "ebb");
	for (uint32_t i = 0; i < net->nrow; i++)
		print_row(&net->rows[i]);
	for (uint32_t i = 0; about_sar && i < nways; i++)
		if (!ways[i].rival)
			print_against_best(net, i);
	print_below(net);
	putchar('\n');
	fflush(stdout);
}

static void print_end(const struct net *nets, uint32_t n)
{
	print_matches(nets, n);
	for (uint32_t i = 0; i < nways; i++) {
		double all = 0, worst = 0;

		if (!about_sar || ways[i].rival)
			continue;
		printf("%s / best of the others, mean over %u nets:", ways[i].label, n);
		for (int p = 0; p < PLACEMENTS; p++) {
			double sum = 0;

			for (uint32_t k = 0; k < n; k++) {
				double v = against_best(&nets[k], i, p);

				sum += v / n;
				worst = fmax(worst, v);
			}
			printf(" %s %.3f,", quality_placements[p], sum);
			all += sum / PLACEMENTS;
		}
		printf(" all %.3f, greatest %.3f\n", all, worst);
	}
}

static json_t *figures_json(const struct figures *x)
{
	return json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "vls",
			 x->vls ? json_integer(x->vls) : json_null(), "time_mean", x->time.mean,
			 "time_stderr", x->time.error, "time_node_mean", x->node_mean.mean,
			 "time_worst", x->worst.mean, "sync", x->shift.sync.mean, "rate_mean",
			 x->shift.rate.mean, "ebb", x->ebb);
}

static json_t *net_json(const struct net *net)
{
	json_t *rows = json_object();

	for (uint32_t i = 0; i < net->nrow; i++) {
		const struct row *row = &net->rows[i];
		json_t *o = json_object();

		if (row->of[0].known)
			for (int p = 0; p < PLACEMENTS; p++)
				json_object_set_new(o, quality_placements[p],
						    figures_json(&row->of[p]));
		else
			json_object_set_new(o, "reason", json_string(row->why));
		if (match_of(net, row, COMPARED - 1))
			json_object_set_new(o, "opensm", match_json(net, row));
		json_object_set_new(rows, row->label, o);
	}
	return json_pack("{s:s, s:s, s:I, s:I, s:o}", "net", net->name, "spec", net->spec,
			 "switches", (json_int_t)net->f->nsw, "hosts", (json_int_t)net->f->nterm,
			 "engines", rows);
}

static void show(const struct net *nets, uint32_t n, bool json)
{
	json_t *list = json_array();

	for (uint32_t i = 0; json && i < n; i++)
		json_array_append_new(list, net_json(&nets[i]));
	if (json)
		json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(5));
	if (json)
		putchar('\n');
	else
		print_end(nets, n);
	json_decref(list);
}

static void free_net(struct net *net)
{
	for (int p = 0; p < PLACEMENTS; p++)
		jobset_put(net->jobs[p]);
	fabric_put(net->f);
}

/* Takes the list to pieces. */
static void take_engines(char *list)
{
	char *rest = NULL;

	about_sar = false;
	nways = 0;
	for (char *e = strtok_r(list, ",", &rest); e && nways < WAYS_MAX;
	     e = strtok_r(NULL, ",", &rest))
		ways[nways++] = (struct way){ .label = e, .spec = e, .rival = true };
}

int main(int argc, char **argv)
{
	struct err err = {
		"usage: quality [--json] [--shifts] [--opensm DIR] [--engines LIST] NAME=NET..."
	};
	struct net *nets = xcalloc((size_t)argc, sizeof(*nets));
	const char *dir = NULL;
	uint32_t n = 0;
	bool json = false;
	int rc = 0;

	for (int i = 1; !rc && i < argc; i++) {
		char *is = strchr(argv[i], '=');

		if (!strcmp(argv[i], "--json")) {
			json = true;
		} else if (!strcmp(argv[i], "--shifts")) {
			only_shifts = true;
		} else if (!strcmp(argv[i], "--opensm") && i + 1 < argc) {
			dir = argv[++i];
		} else if (!strcmp(argv[i], "--engines") && i + 1 < argc) {
			take_engines(argv[++i]);
		} else if (!is) {
			rc = -1;
		} else {
			*is = '\0';
			nets[n] = (struct net){ .name = argv[i], .spec = is + 1 };
			rc = measure(&nets[n++], dir, &err);
			if (!rc && !json)
				print_net(&nets[n - 1]);
		}
	}
	if (!rc && n)
		show(nets, n, json);
	else
		fprintf(stderr, "quality: %s\n", err.text);
	for (uint32_t i = 0; i < n; i++)
		free_net(&nets[i]);
	free(nets);
	return rc || !n;
}
