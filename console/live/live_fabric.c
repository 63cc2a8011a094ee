/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/live_fabric.h"

#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/mkey.h"
#include "console/config/sweep_pace.h"
#include "console/input/load/load_io_nodes.h"
#include "console/input/load/load_jobs.h"
#include "console/input/load/load_names.h"
#include "console/io/progress_line.h"
#include "console/live/unfinished.h"
#include "fabric/base/message/plural.h"
#include "fabric/jobs/slurm_here.h"
#include "fabric/jobs/source.h"
#include "fabric/sim/device/sim_remote.h"
#include "fabric/update/installer/osm_foreign.h"
#include "fabric/wire/wire_trace.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLURM_WAIT_S 20 /* a busy controller answers within seconds, rarely later */

static const struct argp_option rows[] = {
	OPTIONS_LIVE_PORT(10),
	{ "outstanding_smps", OPT_LIVE_WINDOW, "N", 0,
	  "maximum number of outstanding MADs "
	  "(default: 32)",
	  10 },
	OPTION_CONFIG(10),
	{ "fabric", OPT_LIVE_FABRIC, "NAME", 0,
	  "name of the fabric; its section of the configuration file applies, if there is one",
	  10 },
	{ "name", 0, NULL, OPTION_ALIAS, NULL, 10 },
	OPTION_LIVE_NODE_NAMES(10),
	{ "jobs", OPT_LIVE_JOBS, "slurm|FILE|none", 0,
	  "where running jobs are read from (slurm by default, where there is one, for plan, compare, and apply of a plan for its jobs); none: "
	  "jobs do not matter",
	  10 },
	OPTION_LIVE_ADAPTIVE(10),
	OPTIONS_LIVE_DIRS(10),
	OPTIONS_LIVE_INSTALLER(10),
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('C', struct live_opts, ca),
	CMDLINE_FIELD('P', struct live_opts, port, "--Port"),
	CMDLINE_FIELD('t', struct live_opts, timeout_ms, "--timeout"),
	CMDLINE_FIELD(OPT_LIVE_WINDOW, struct live_opts, window, "--outstanding_smps"),
	CMDLINE_FIELD(OPT_LIVE_FABRIC, struct live_opts, name),
	CMDLINE_FIELD(OPT_LIVE_NODE_NAMES, struct live_opts, node_names),
	CMDLINE_FIELD(OPT_LIVE_RECORD_DIR, struct live_opts, record_dir),
	CMDLINE_FIELD(OPT_LIVE_STATE_DIR, struct live_opts, state_dir),
	CMDLINE_FIELD(OPT_LIVE_SOCKET, struct live_opts, socket),
	CMDLINE_FIELD(OPT_LIVE_AGENTS_KEY, struct live_opts, agents_key),
	{ 0 },
};

error_t live_opts_take(struct live_opts *o, int key, char *arg, struct argp_state *s)
{
	switch (key) {
	case 'y':
		o->ask_m_key = mkey_take(&o->m_key, arg);
		return 0;
	case OPT_LIVE_JOBS:
		o->no_jobs = !strcmp(arg, "none");
		o->jobs = o->no_jobs ? NULL : arg;
		return 0;
	case OPT_LIVE_ADAPTIVE:
		if (!adaptive_parse(&o->adaptive, arg))
			argp_error(s, "--adaptive-routing: '%s' is not one of auto, yes, no", arg);
		return 0;
	case OPT_LIVE_M_KEY_FILE:
		mkey_need_file(&o->m_key, &o->m_keys, arg, s);
		return 0;
	case OPT_LIVE_INSTALLER:
		if (strcmp(arg, "opensm") && strcmp(arg, "smp") &&
		    (strncmp(arg, "file:", 5) || !arg[5]))
			argp_error(s, "--installer: '%s' is not one of opensm, smp, file:DIR", arg);
		o->installer = arg;
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

static error_t live_parse(int key, char *arg, struct argp_state *s)
{
	return live_opts_take(s->input, key, arg, s);
}

static const struct argp argp = { .options = rows, .parser = live_parse };

const struct argp_child live_children[] = { { &argp, 0, "The fabric:", 9 }, { 0 } };

/* Where somebody looks on. */
struct watched {
	struct progress_line watch;
	struct progress progress;
	struct sweep_pace pace;
	const struct sweep_report *report;
};

static void live_sweep_step(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watched *w = ctx;
	char pace[80], text[160];

	(void)step;
	sweep_pace_words(pace, sizeof(pace), &w->pace, done, total);
	snprintf(text, sizeof(text), "discovering: %u switch%s, %u host%s: %s", w->report->switches,
		 plural_es(w->report->switches), w->report->cas, plural(w->report->cas), pace);
	progress_line_tell(&w->watch, text);
}

static int live_watched_sweep(struct live *l, struct sweep_report *report,
			      const struct sweep_opts *so, struct err *err)
{
	struct watched w = { .progress.report = live_sweep_step, .report = report };
	struct mad_local local;
	int rc;

	w.progress.ctx = &w;
	atomic_init(&w.progress.cancel, false);
	progress_line_start(&w.watch);
	wire_local(l->w, &local);
	sweep_pace_begin(&w.pace, l->simulated.ops ? 0 : local.port_guid);
	rc = wire_sweep(&l->f, report, l->w, so, &w.progress, err);
	if (!rc)
		sweep_pace_end(&w.pace);
	progress_line_stop(&w.watch);
	return rc;
}

static int live_names(struct name_map **names, const struct live_opts *o, struct err *err)
{
	*names = NULL;
	return o->node_names ? load_names(names, o->node_names, err) : 0;
}

int live_trace(struct live *l, const struct live_opts *o, uint16_t slid, uint16_t dlid,
	       struct err *err)
{
	struct sweep_opts so = { .name = o->name, .lmc = -1 };
	struct name_map *names;
	int rc = live_names(&names, o, err);

	so.names = names ? names : o->names;
	if (!rc)
		rc = wire_trace(&l->f, &l->t, l->w, slid, dlid, &so, err);
	name_map_free(names);
	return rc;
}

static int live_sweep(struct live *l, const struct live_opts *o, const char *name, struct err *err)
{
	struct name_map *names;
	struct sweep_report report = { 0 };
	struct sweep_opts so = { .name = o->name ? o->name : name, .lmc = -1 };
	struct err none;
	int rc = live_names(&names, o, err);

	if (!rc && o->io_nodes)
		rc = load_io_nodes(&names, o->io_nodes, err);
	so.names = names ? names : o->names;
	if (!rc)
		rc = live_watched_sweep(l, &report, &so, err);
	if (!rc && o->io_nodes && load_io_nodes_found(l->f, o->io_nodes, &none))
		fprintf(stderr, "warning: %s\n", none.text);
	for (uint32_t i = 0; !rc && i < report.ngaps; i++)
		fprintf(stderr, "warning: %s\n", report.gaps[i].text);
	sweep_report_clear(&report);
	name_map_free(names);
	return rc;
}

struct sm_pin live_sm(struct wire *w)
{
	struct wire_sm sm;

	if (wire_sm_info(&sm, w, NULL))
		return (struct sm_pin){ 0 };
	return (struct sm_pin){ .guid = sm.guid, .priority = sm.priority };
}

/* Another node's OpenSM may be the master: then this one cannot install anything. */
static int live_usable(struct live *l, struct err *err)
{
	const struct osm_status *s = &l->osm_status;
	int rc = osm_link_status(l->osm, &l->osm_status, err);

	if (rc)
		return rc;
	if (strcmp(s->state, "master"))
		return err_set(err, -ENOTSUP, "OpenSM on this machine is not the master SM (%s)",
			       s->state[0] ? s->state : "starting");
	if (s->sm_guid != l->sm.guid)
		return err_set(err, -ENOTSUP,
			       "OpenSM on this machine is the master SM of another fabric: its "
			       "port is 0x%016lx, the master SM here is 0x%016lx",
			       (unsigned long)s->sm_guid, (unsigned long)l->sm.guid);
	return 0;
}

void live_link(struct live *l, const char *socket)
{
	struct err err = { "" };

	osm_link_close(l->osm);
	l->osm = NULL;
	l->osm_why[0] = '\0';
	memset(&l->osm_status, 0, sizeof(l->osm_status));
	if (!osm_link_open(&l->osm, socket, 0, &err) && !live_usable(l, &err))
		return;
	osm_link_close(l->osm);
	l->osm = NULL;
	snprintf(l->osm_why, sizeof(l->osm_why), "%.299s", err.text);
}

/* Another program may listen already: then nobody can be asked, but all else goes on. */
static int live_open_wire(struct wire **w, struct wire_opts *wo, bool notices, struct err *err)
{
	int rc;

	wo->notices = notices;
	rc = wire_open_umad(w, wo, err);
	if (rc != -EBUSY || !notices)
		return rc;
	fprintf(stderr, "warning: %s\n", err->text);
	wo->notices = false;
	return wire_open_umad(w, wo, err);
}

/* Then nobody has to listen on a port, see agents_open().  On ibsim nobody may: OpenSM waits for
 * ever for a port that poses as an SM but whose process waits for OpenSM. */
static bool live_osm_asks_agents(const struct live_opts *o)
{
	struct osm_link *link;
	struct osm_status s = { 0 };
	struct err err;
	bool master;

	if (osm_link_open(&link, o->socket, 0, &err))
		return false;
	master = !osm_link_status(link, &s, &err) && !strcmp(s.state, "master");
	osm_link_close(link);
	return master;
}

static int live_open_port(struct live *l, struct live_opts *o, bool notices, struct err *err)
{
	struct wire_opts wo = {
		.ca = o->ca,
		.port = o->port,
		.timeout_ms = o->timeout_ms,
		.window = o->window,
	};
	int rc = o->ask_m_key ? mkey_ask(&o->m_key, err) : 0;

	o->ask_m_key = false;
	wo.m_key = o->m_key;
	wo.m_keys = o->m_keys;
	if (rc || !o->simulator)
		return rc ? rc : live_open_wire(&l->w, &wo, notices, err);
	rc = sim_remote_open(&l->simulated, o->simulator, err);
	if (!rc)
		wire_open_port(&l->w, &l->simulated, &wo);
	return rc;
}

static void live_ask_adaptive(struct live *l, const struct live_opts *o)
{
	struct mad_local local = { 0 };

	if (!l->simulated.ops)
		wire_local(l->w, &local);
	load_adaptive(&l->adaptive, o->adaptive, l->osm ? &l->osm_status : NULL,
		      l->sm.guid && local.port_guid == l->sm.guid);
}

static void live_ask_sm(struct live *l, const struct live_opts *o)
{
	l->sm = live_sm(l->w);
	if (!o->simulator)
		live_link(l, o->socket);
	live_ask_adaptive(l, o);
}

int live_port(struct live *l, struct live_opts *o, struct err *err)
{
	int rc;

	*l = (struct live){ 0 };
	rc = live_open_port(l, o, false, err);
	if (!rc)
		live_ask_sm(l, o);
	return rc;
}

/* -EAGAIN: from here. */
static int live_collected(struct live *l, const struct live_opts *o, struct err *err)
{
	struct live told;
	int rc = o->collected ? o->collected(&told, o, err) : -EAGAIN;

	if (rc == -EAGAIN)
		return rc;
	live_close(l);
	if (rc)
		return rc;
	*l = told;
	live_link(l, o->socket);
	return 0;
}

static int live_again_here(struct live *l, struct live_opts *o, const char *name, struct err *err)
{
	struct wire *w = l->w;
	struct mad_port simulated = l->simulated;
	bool osm_asks = !w && o->notices && !o->simulator && live_osm_asks_agents(o);
	int rc;

	l->w = NULL;
	live_close(l);
	l->w = w;
	l->simulated = simulated;
	rc = w ? 0 : live_open_port(l, o, o->notices && !osm_asks, err);
	if (!rc)
		rc = live_sweep(l, o, name, err);
	if (rc)
		live_close(l);
	else
		live_ask_sm(l, o);
	if (!rc && osm_asks && !l->osm) { /* it is another fabric's */
		wire_close(l->w);
		l->w = NULL;
		rc = live_open_port(l, o, true, err);
		if (rc)
			live_close(l);
	}
	return rc;
}

int live_again(struct live *l, struct live_opts *o, const char *name, struct err *err)
{
	int rc = live_collected(l, o, err);

	return rc == -EAGAIN ? live_again_here(l, o, name, err) : rc;
}

int live_discover(struct live *l, struct live_opts *o, const char *name, struct err *err)
{
	*l = (struct live){ 0 };
	return live_again(l, o, name, err);
}

static int live_read_tables(struct live *l, struct err *err)
{
	struct tables_report report = { 0 };
	struct progress_line watch;
	int rc;

	progress_line_start(&watch);
	rc = wire_read_tables(&l->t, l->w, l->f, !l->lfts_only, &report, &watch.progress, err);
	progress_line_stop(&watch);
	if (!rc && report.nmissing)
		rc = err_set(err, -EIO,
			     "%u LFT blocks and %u SL2VL tables of %u switches (%s%s) could not be "
			     "read",
			     report.blocks_missing, report.sl2vl_missing, report.nmissing,
			     l->f->sw_name[report.missing_sw[0]],
			     report.nmissing > 1 ? ", ..." : "");
	if (!rc && report.cap_min < l->f->max_lid)
		rc = err_set(err, -ERANGE,
			     "switch %s supports LIDs up to %u (LinearFDBCap), but LID %u is in "
			     "use: have the SM assign lower LIDs, or use a smaller LMC",
			     l->f->sw_name[report.cap_min_sw], report.cap_min, l->f->max_lid);
	l->top_min = report.top_min;
	l->top_min_sw = report.top_min_sw;
	tables_report_clear(&report);
	return rc;
}

static int live_ask_slurm(struct jobset **out, const struct fabric *f, struct err *err)
{
	const struct job_list *list = NULL;
	struct source_opts so = { 0 };
	struct job_source *s;
	time_t until = time(NULL) + SLURM_WAIT_S;
	int rc = source_open(&s, &job_source_slurm, &so, err);

	if (rc)
		return rc;
	while (!list && time(NULL) < until) {
		struct pollfd p = { .fd = source_fd(s), .events = POLLIN };

		poll(&p, 1, 500);
		source_poll(s);
		list = source_take(s);
	}
	if (list)
		rc = jobset_from_list(out, list, f, err);
	else
		rc = err_set(err, -ETIMEDOUT,
			     "SLURM: %s; --jobs FILE takes the jobs from a file, --jobs none does "
			     "without",
			     source_status(s)->text[0] ? source_status(s)->text : "no response");
	if (!rc)
		load_jobs_tell_names(*out, f);
	job_list_put(list);
	source_close(s);
	return rc;
}

/* Takes over what OpenSM says of service levels, if the switches hold what it says at all. */
static void live_ask_plugin(struct live *l)
{
	struct tables *known;
	struct err err;

	if (!l->osm || !l->osm_status.ours || l->lfts_only)
		return;
	if (osm_foreign(&known, l->osm, l->f, l->t, &err)) {
		snprintf(l->foreign, sizeof(l->foreign), "%.299s", err.text);
		return;
	}
	tables_weighted_take(known, l->t, l->f);
	tables_put(l->t);
	l->t = known;
}

int live_read(struct live *now, struct wire *w, const struct live_opts *o, const char *name,
	      struct err *err)
{
	int rc = 0;

	if (!now->f) {
		now->w = w;
		rc = live_sweep(now, o, name, err);
	}
	now->w = w;
	tables_put(now->t);
	now->t = NULL;
	if (!rc)
		rc = live_read_tables(now, err);
	now->w = NULL; /* stays open */
	return rc;
}

int live_tables(struct live *l, struct err *err)
{
	int rc = l->collected ? 0 : live_read_tables(l, err);

	if (!rc)
		live_ask_plugin(l);
	return rc;
}

void live_jobs_default(struct live_opts *o)
{
	if (o->jobs || o->no_jobs || !slurm_here())
		return;
	o->jobs = "slurm";
	o->jobs_tried = true;
}

static int live_jobs(struct live *l, const struct live_opts *o, struct err *err)
{
	int rc;

	if (strcmp(o->jobs, "slurm") || (o->moment && o->moment->since))
		return load_jobs(&l->jobs, o->jobs, o->moment, l->f, err);
	rc = live_ask_slurm(&l->jobs, l->f, err);
	if (!rc || !o->jobs_tried)
		return rc;
	fprintf(stderr, "warning: no jobs are known: %s\n", err->text);
	err->text[0] = '\0';
	return 0;
}

int live_open(struct live *l, struct live_opts *o, const char *name, struct err *err)
{
	int rc = live_discover(l, o, name, err);

	if (!rc && o->jobs && !l->jobs)
		rc = live_jobs(l, o, err);
	l->lfts_only = o->lfts_only;
	if (!rc)
		rc = live_tables(l, err);
	if (!rc && l->foreign[0])
		fprintf(stderr, "warning: %s\n", l->foreign);
	if (!rc) {
		unfinished_warn_of(o->state_dir);
		unfinished_warn_open(&l->osm_status);
	} else {
		live_close(l);
	}
	return rc;
}

bool live_gone(const struct live *l)
{
	return l->simulated.ops && sim_remote_gone(&l->simulated);
}

void live_close(struct live *l)
{
	osm_link_close(l->osm);
	rates_put(l->rates);
	tables_put(l->t);
	jobset_put(l->jobs);
	fabric_put(l->f);
	wire_close(l->w);
	*l = (struct live){ 0 };
}
