/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/param.h"

#include "engines/sar/sar_method.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct engine_params, field)

static const char *const bases[] = { [DFDN_SSSP] = "sssp", [DFDN_MINHOP] = "minhop", NULL };

static const char *const detours[] = { "auto", "0", "1", "2", NULL };

static const struct param params[] = {
	{ PARAM_VLS, PARAM_NUMBER, "vls", "K", 1, 15, .at = AT(vls), .label = "VLs", .policy = true,
	  .config = true, .brief = "VLs ", .unset = "all that the links have",
	  .gain = "more: freer paths; fewer: larger buffers each",
	  .help = "number of virtual lanes (VLs) for data, 1 to 15 (default: all that the links "
		  "have)" },
	{ PARAM_SEED, PARAM_NUMBER, "seed", "N", 0, INT64_MAX /* as in JSON */, .at = AT(seed),
	  .label = "seed", .policy = true, .config = true, .brief = "seed ", .unset = "1",
	  .gain = "another one of routings that are as good",
	  .help = "random seed (default: 1); the same seed gives the same tables" },
	{ PARAM_THREADS, PARAM_NUMBER, "threads", "T", 1, 1024, .at = AT(threads),
	  .label = "threads", .policy = true, .config = true, .unset = "one per core",
	  .gain = "more: computed sooner; the same result",
	  .help = "number of threads, 1 to 1024 (default: one per core); results do not depend on "
		  "it" },
	{ PARAM_SPREAD, PARAM_FLAG, "spread", NULL, .at = AT(spread), .label = "spread VLs",
	  .policy = true, .config = true, .brief = "spread",
	  .gain = "paths share fewer buffers; takes more VLs",
	  .help = "spread paths over all allowed VLs even if fewer are enough (paths share fewer "
		  "buffers, but each VL needs buffers)" },
	{ PARAM_IGNORE_RATES, PARAM_FLAG, "ignore-rates", NULL, .at = AT(ignore_rates),
	  .label = "ignore rate", .policy = true, .config = true, .brief = "ignore rates",
	  .gain = "equal counts of paths; slow cables fill first",
	  .help = "balance the number of paths per cable whatever its rate (default: a cable of "
		  "half the rate gets half the paths)" },
	{ PARAM_SAR_METHOD, PARAM_WORD, "sar-method", "NAME", .at = AT(sar_method),
	  .label = "method", .engine = "sar", .brief = "", .words = sar_method_names,
	  .config = true, .gain = "time: job times; the others: max EFI",
	  .help = "time (default: the predicted time of jobs) or leafwise (max EFI), both from the "
		  "installed tables on; paper (SC16, Algorithm 1) or patch (its patch)" },
	{ PARAM_SAR_CHANGE, PARAM_PERCENT, "sar-change", "PERCENT", 1, 100, .at = AT(sar_change),
	  .label = "change", .engine = "sar", .brief = "change ", .unset = "default", .unit = "%",
	  .config = true, .gain = "more: better for jobs; more blocks to write",
	  .help = "percentage of the LFT blocks that an update may change, 1 to 100 (default: 5, "
		  "or 8 blocks); further updates change more, so does repair" },
	{ PARAM_MAX_DETOUR, PARAM_WORD, "max-detour", "HOPS", .at = AT(max_detour),
	  .label = "detours", .engine = "sar", .brief = "detour ", .words = detours, .config = true,
	  .gain = "more ways around full links; longer paths",
	  .help = "hops that paths between nodes of a job may have more than the shortest ones: 0, "
		  "1, 2 or auto (default: 1 on low-diameter networks, else 0)" },
	{ PARAM_SAR_SLOWER, PARAM_FLAG, "sar-slower", NULL, .at = AT(sar_slower), .engine = "sar",
	  .config = true,
	  .help = "accept routings of sar with which a pattern takes over 2 % longer than now, or "
		  "a job over 10 %, if jobs take less time on average" },
	{ PARAM_JOB_NODES_MIN, PARAM_NUMBER, "job-nodes-min", "N", 1, UINT32_MAX,
	  .at = AT(job_nodes_min), .label = "min nodes", .engine = "sar",
	  .brief = "jobs>=", .unset = "all jobs", .unit = " nodes", .config = true,
	  .gain = "sooner computed; small jobs get no better",
	  .help = "ignore jobs with fewer nodes than N (default: none)" },
	{ PARAM_DFDN_BASE, PARAM_WORD, NULL, NULL, .at = AT(dfdn_base), .label = "base",
	  .engine = "dfdn", .brief = "dfdn:", .words = bases,
	  .gain = "whose paths dfdn puts on VLs",
	  .help = "the engine whose paths dfdn uses and puts on increasing VLs: sssp (default) or "
		  "minhop" },
	{ PARAM_ESCAPE, PARAM_FLAG, "escape", NULL, .at = AT(escape), .label = "escape LIDs",
	  .policy = true, .config = true, .brief = "escape",
	  .gain = "traffic continues in updates; half of the LIDs",
	  .help = "make the upper half of each host's LIDs escape LIDs, with up*/down* paths on "
		  "the last VL, for traffic during updates (needs LMC 1 or more)" },
	{ PARAM_PIN, PARAM_LIST, "pin", "LIST", .label = "pin", .brief = "pin ",
	  .unset = "no hosts", .config = true,
	  .gain = "their paths stay; the others have less choice",
	  .help = "hosts whose paths stay exactly as installed: n[0001-0016], or job:81234 for "
		  "those of a running job, separated by commas" },
	{ PARAM_EXCLUDE, PARAM_LIST, "exclude", "LIST", .label = "exclude", .policy = true,
	  .config = true, .brief = "exclude ", .unset = "nothing",
	  .gain = "nothing goes over them; the others carry more",
	  .help = "switches and cables to route around, for maintenance: spine[1-4], 0xGUID, "
		  "leaf7/33, separated by commas; attached hosts stay reachable" },
	{ PARAM_IO_NODES, PARAM_LIST, "io-nodes", "LIST|FILE", .policy = true, .config = true,
	  .help = "hosts for storage and I/O: io[01-16], a file of GUIDs and host lists, "
		  "opensm:FILE (with io_guid_file), or feature:NAME of SLURM" },
	{ PARAM_ROOTS, PARAM_FILE, "roots", "FILE", .label = "roots", .engine = "updn",
	  .policy = true, .config = true, .brief = "roots", .unset = "detected",
	  .gain = "where paths turn; wrong ones make them longer",
	  .help = "file with the GUIDs of the top-level (root) switches, one per line (default: "
		  "detected)" },
	{ PARAM_DEMAND, PARAM_FILE, "demand", "FILE", .label = "demand", .engine = "parx",
	  .policy = true, .config = true, .brief = "demand", .unset = "none",
	  .gain = "for the traffic it names, not for all pairs",
	  .help = "file with the demand between nodes, for parx, and whose time sar lowers: lines of "
		  "\"source: destination=bytes,...\"" },
	{ PARAM_RANKS, PARAM_FILE, "ranks", "FILE", .engine = "parx", .policy = true,
	  .config = true,
	  .help = "file with the nodes of the ranks in the demand file: lines of \"1-3: n[2-4]\" "
		  "or \"rank 12=n6 slot=0\"" },
	{ PARAM_JOBS, PARAM_FILE, "jobs", "FILE", .policy = true,
	  .help = "running jobs: lines of \"jobid nodelist\", jobid,start,end,nodelist, or "
		  "sacct -P" },
	{ PARAM_TABLES, PARAM_FILE, "tables", "FILE", .label = "tables", .engine = "file",
	  .policy = true, .unset = "none", .gain = "tables of a file instead of an engine",
	  .help = "these tables instead of computing some: tables.ibr, opensm-lfts.dump, output of "
		  "ibroute or dump_lfts, opensm.fdbs, ibdiagnet2.fdbs, a saved plan" },
	{ PARAM_TABLES_PATH_SL, PARAM_FILE, "tables-path-sl", "FILE", .label = "path SLs",
	  .engine = "file", .brief = "path SLs", .unset = "none",
	  .gain = "SLs that these tables do not have",
	  .help = "service levels for these tables if their file has none: lines of 0xsrc_guid "
		  "dlid sl, as path-sl.dump (default: SL 0 for all)" },
	{ PARAM_TABLES_SL2VL, PARAM_FILE, "tables-sl2vl", "FILE", .label = "SL2VL",
	  .engine = "file", .brief = "SL2VL", .unset = "none",
	  .gain = "SL2VL tables that go with these SLs",
	  .help = "their SL2VL tables, in addition to path SLs: opensm-sl2vl.dump or "
		  "ibdm-sl2vl.dump" },
	{ PARAM_LMC, PARAM_NUMBER, "lmc", "L", 0, 7, .label = "LMC",
	  .gain = "more LIDs: more paths to each host",
	  .help = "2^L LIDs for each terminal (host port), L from 0 to 7 (default: as in the file)" },
};

#define NPARAMS (sizeof(params) / sizeof(*params))

const struct param *param_all(size_t *n)
{
	*n = NPARAMS;
	return params;
}

const struct param *param_of(enum param_id id)
{
	for (size_t i = 0; i < NPARAMS; i++)
		if (params[i].id == id)
			return &params[i];
	return NULL;
}

const struct param *param_named(const char *option, size_t len)
{
	for (const struct param *p = params; p < params + NPARAMS; p++)
		if (p->option && strlen(p->option) == len && !memcmp(p->option, option, len))
			return p;
	return NULL;
}

void param_defaults(struct engine_params *out)
{
	*out = (struct engine_params){ .seed = 1 };
}

bool param_is_default(const struct engine_params *from, const struct param *p)
{
	struct engine_params d;

	param_defaults(&d);
	return param_value(from, p) == param_value(&d, p);
}

static int param_number_from(uint64_t *out, const struct param *p, uint64_t min, const char *text,
			     struct err *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno && *out >= min && *out <= p->max)
		return 0;
	return err_set(err, -EINVAL, "'%s' is not a whole number from %" PRIu64 " to %" PRIu64 "%s",
		       text, p->min, p->max, min < p->min ? ", or 0 for the default" : "");
}

int param_number(uint64_t *out, const struct param *p, const char *text, struct err *err)
{
	return param_number_from(out, p, p->min, text, err);
}

int param_word(const struct param *p, const char *text, struct err *err)
{
	char all[100] = "";
	size_t n = 0;

	for (int i = 0; p->words[i]; i++) {
		if (!strcmp(p->words[i], text))
			return i;
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", p->words[i]);
	}
	return err_set(err, -EINVAL, "'%s' is not one of %s", text, all);
}

static void param_put(struct engine_params *out, const struct param *p, uint64_t v)
{
	char *at = (char *)out + p->at;

	if (p->type == PARAM_PERCENT)
		*(double *)at = (double)v / 100;
	else if (p->type == PARAM_FLAG)
		*(bool *)at = v != 0;
	else if (p->id == PARAM_SEED)
		*(uint64_t *)at = v;
	else
		*(unsigned *)at = (unsigned)v;
}

uint64_t param_value(const struct engine_params *from, const struct param *p)
{
	const char *at = (const char *)from + p->at;

	if (p->type == PARAM_PERCENT)
		return (uint64_t)lround(*(const double *)at * 100);
	if (p->type == PARAM_FLAG)
		return *(const bool *)at;
	return p->id == PARAM_SEED ? *(const uint64_t *)at : *(const unsigned *)at;
}

static int param_set_from(struct engine_params *out, const struct param *p, uint64_t min,
			  const char *text, struct err *err)
{
	uint64_t v = 0;
	int rc = 0;

	if (p->type == PARAM_FLAG) {
		v = !strcmp(text, "yes");
		if (!v && strcmp(text, "no"))
			rc = err_set(err, -EINVAL, "'%s' is not yes or no", text);
	} else if (p->type == PARAM_WORD) {
		rc = param_word(p, text, err);
		v = (uint64_t)rc;
	} else {
		rc = param_number_from(&v, p, min, text, err);
	}
	if (rc < 0)
		return rc;
	param_put(out, p, v);
	return 0;
}

int param_set(struct engine_params *out, const struct param *p, const char *text, struct err *err)
{
	return param_set_from(out, p, p->min, text, err);
}

int param_set_or_unset(struct engine_params *out, const struct param *p, const char *text,
		       struct err *err)
{
	return param_set_from(out, p, 0, text, err);
}

const char *param_text(char *buf, size_t len, const struct engine_params *from,
		       const struct param *p)
{
	uint64_t v = param_value(from, p);

	if (p->type == PARAM_FLAG)
		snprintf(buf, len, "%s", v ? "yes" : "no");
	else if (p->type == PARAM_WORD)
		snprintf(buf, len, "%s", p->words[v]);
	else if (v || !p->min)
		snprintf(buf, len, "%" PRIu64 "%s", v, p->unit ? p->unit : "");
	else
		snprintf(buf, len, "%s", p->unset);
	return buf;
}
