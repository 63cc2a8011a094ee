/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top weak: what the failure of each cable and switch would cost after a repair. */
#include "console/cli/commands.h"

#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/plan/tables_source.h"
#include "engines/weak/weak.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { OPT_LIMIT = 700, OPT_SHIFTS, OPT_ONLY };

#define LIMIT 40 /* rows of text */

struct weak_cmd {
	struct tables_source_opts s;
	struct weak_opts weak;
	uint64_t limit; /* 0: all */
	bool limited;	/* --limit was given */
};

static const struct argp_option table[] = {
	{ "plan", CMDLINE_KEY(struct weak_cmd, s.plan), "FILE", 0,
	  "the tables that this plan would install", 0 },
	{ "only", OPT_ONLY, "cables|switches", 0, "fail these alone (default: both)", 0 },
	{ "limit", OPT_LIMIT, "N", 0,
	  "list the N worst only, 0: all (default: 40 as text, all as JSON)", 0 },
	{ "shifts", OPT_SHIFTS, "N", 0,
	  "measure with N shifts over all hosts (default: all of up to 1,400 hosts, fewer of more)",
	  0 },
	OPTION_PARAM(PARAM_VLS),
	OPTION_PARAM(PARAM_THREADS),
	OPTION_PARAM(PARAM_IGNORE_RATES),
	OPTION_SAYING(OPT_JSON, "print JSON"),
	{ 0 },
};

static error_t cmd_weak_take(int key, char *arg, struct argp_state *state)
{
	struct weak_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->s;
		return 0;
	case OPT_LIMIT:
		c->limit = cmdline_count(state, "--limit", arg, 0, UINT32_MAX);
		c->limited = true;
		return 0;
	case OPT_SHIFTS:
		c->weak.shifts = (uint32_t)cmdline_count(state, "--shifts", arg, 1, UINT16_MAX);
		return 0;
	case OPT_ONLY:
		if (strcmp(arg, "cables") != 0 && strcmp(arg, "switches") != 0)
			argp_error(state, "--only: '%s' is not one of cables, switches", arg);
		c->weak.cables = arg[0] == 'c';
		c->weak.switches = arg[0] == 's';
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state)
			       ? options_take(&c->s.o, key, arg, state)
			       : 0;
	}
}

/* --- what it tells ---------------------------------------------------------------------------- */

static const char *cmd_weak_end_name(enum weak_end end)
{
	static const char *const names[] = {
		[WEAK_REPAIRED] = "repaired", [WEAK_REROUTED] = "rerouted", [WEAK_CUT] = "cut off"
	};

	return names[end];
}

static void cmd_weak_name(char *buf, size_t size, const struct fabric *f, const struct weak_part *p)
{
	uint32_t c = p->chan;

	if (c == FAB_NONE)
		snprintf(buf, size, "%s", f->sw_short[p->sw]);
	else
		snprintf(buf, size, "%s/%u-%s/%u", f->sw_short[f->chan_src[c]], f->chan_port[c],
			 f->sw_short[f->chan_dst[c]], f->chan_rport[c]);
}

static double cmd_weak_rise(const struct weak_report *w, const struct weak_part *p)
{
	return 100 * (p->time / w->time - 1);
}

static int cmd_weak_name_width(const struct weak_report *w, const struct fabric *f, uint32_t n)
{
	char name[200];
	size_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		cmd_weak_name(name, sizeof(name), f, &w->part[i]);
		most = strlen(name) > most ? strlen(name) : most;
	}
	return (int)most;
}

static void cmd_weak_print_part(const struct weak_report *w, const struct fabric *f,
				const struct weak_part *p, int width)
{
	char name[200];

	cmd_weak_name(name, sizeof(name), f, p);
	printf("%-6s %-*s %6u ", p->chan == FAB_NONE ? "switch" : "cable", width, name, p->hosts);
	if (p->end == WEAK_REPAIRED)
		printf("%8.3f %+7.1f %4u %6u %8" PRIu64 "\n", p->time, cmd_weak_rise(w, p), p->vls,
		       p->lids, p->changed);
	else
		printf("%8s %7s %4s %6s %8s  %s\n", "-", "-", "-", "-", "-",
		       p->end == WEAK_CUT ? "hosts are cut off"
					  : "no repair on these VLs: all is routed again");
}

static void cmd_weak_print(const struct weak_report *w, const struct fabric *f, uint32_t n)
{
	int width = cmd_weak_name_width(w, f, n);

	printf("%s: time of shifts over all hosts %.3f (1 is without contention), %u VL%s\n\n",
	       f->name, w->time, w->vls, plural(w->vls));
	printf("%-6s %-*s %6s %8s %7s %4s %6s %8s\n", "fails", width, "", "hosts", "time", "+%",
	       "VLs", "LIDs", "entries");
	for (uint32_t i = 0; i < n; i++)
		cmd_weak_print_part(w, f, &w->part[i], width);
	if (n < w->n)
		printf("... and %u more, none of them worse (--limit 0 lists all)\n", w->n - n);
}

static json_t *cmd_weak_guid(uint64_t guid)
{
	return json_sprintf("0x%016" PRIx64, guid);
}

static json_t *cmd_weak_part_json(const struct weak_report *w, const struct fabric *f,
				  const struct weak_part *p)
{
	uint32_t c = p->chan;
	json_t *j = json_object();

	json_object_set_new(j, "kind", json_string(c == FAB_NONE ? "switch" : "cable"));
	if (c == FAB_NONE) {
		json_object_set_new(j, "switch", json_text(f->sw_name[p->sw]));
		json_object_set_new(j, "guid", cmd_weak_guid(f->sw_guid[p->sw]));
	} else {
		json_object_set_new(j, "a", json_text(f->sw_name[f->chan_src[c]]));
		json_object_set_new(j, "a_guid", cmd_weak_guid(f->sw_guid[f->chan_src[c]]));
		json_object_set_new(j, "a_port", json_integer(f->chan_port[c]));
		json_object_set_new(j, "b", json_text(f->sw_name[f->chan_dst[c]]));
		json_object_set_new(j, "b_guid", cmd_weak_guid(f->sw_guid[f->chan_dst[c]]));
		json_object_set_new(j, "b_port", json_integer(f->chan_rport[c]));
	}
	json_object_set_new(j, "end", json_string(cmd_weak_end_name(p->end)));
	json_object_set_new(j, "hosts", json_integer(p->hosts));
	if (p->end != WEAK_REPAIRED)
		return j;
	json_object_set_new(j, "time", json_real(p->time));
	json_object_set_new(j, "rise_pct", json_real(cmd_weak_rise(w, p)));
	json_object_set_new(j, "vls", json_integer(p->vls));
	json_object_set_new(j, "lids", json_integer(p->lids));
	json_object_set_new(j, "entries_needed", json_integer((json_int_t)p->needed));
	json_object_set_new(j, "entries_changed", json_integer((json_int_t)p->changed));
	return j;
}

static int cmd_weak_print_json(const struct weak_report *w, const struct fabric *f, uint32_t n,
			       struct err *err)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, cmd_weak_part_json(w, f, &w->part[i]));
	return output_file_print_json(json_pack("{s:s, s:o, s:f, s:i, s:I, s:o}", "schema",
						"ibroute-top/1", "fabric", json_text(f->name),
						"time", w->time, "vls", (int)w->vls, "failures",
						(json_int_t)w->n, "worst", list),
				      err);
}

/* --- the search ------------------------------------------------------------------------------- */

/* What the handler reaches. */
static struct progress *volatile searching;

static void cmd_weak_on_interrupt(int sig)
{
	struct progress *p = searching;

	(void)sig;
	if (p)
		atomic_store(&p->cancel, true);
}

static int cmd_weak_find(struct weak_report **w, const struct weak_cmd *c, const struct fabric *f,
			 const struct tables *t, struct err *err)
{
	struct sigaction sa = { .sa_handler = cmd_weak_on_interrupt,
				.sa_flags = (int)SA_RESETHAND },
			 old;
	struct engine_params params = c->s.o.params;
	struct progress_line watch;
	bool guard = !sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN;
	int rc;

	params.current = t;
	progress_line_start(&watch);
	searching = &watch.progress;
	if (guard)
		sigaction(SIGINT, &sa, NULL);
	rc = weak_find(w, f, &params, &c->weak, &watch.progress, err);
	if (guard)
		sigaction(SIGINT, &old, NULL);
	searching = NULL;
	progress_line_stop(&watch);
	return rc;
}

static int cmd_weak_run(const struct weak_cmd *c, const struct tables_source *s, struct err *err)
{
	struct weak_report *w;
	uint32_t n;
	int rc = cmd_weak_find(&w, c, s->f, s->planned ? s->planned : s->t, err);

	if (rc)
		return EXIT_FINDINGS;
	n = w->n;
	if (c->limited && c->limit && c->limit < n)
		n = (uint32_t)c->limit;
	else if (!c->limited && !c->s.o.json && n > LIMIT)
		n = LIMIT;
	if (c->s.o.json)
		rc = cmd_weak_print_json(w, s->f, n, err);
	else
		cmd_weak_print(w, s->f, n);
	if (!rc)
		rc = output_file_flush_stdout(err);
	weak_report_free(w);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}

int cmd_weak(int argc, char **argv)
{
	static const struct argp_child children[] = { { &tables_source_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = table,
		.parser = cmd_weak_take,
		.children = children,
		.doc = "Lists what the failure of each cable and each switch would cost after a "
		       "repair (engine repair), worst first: hosts that would be cut off, the time "
		       "of shifts over all hosts, VLs, LIDs that lose paths, and LFT entries that "
		       "change. Nothing is written.\vThe tables have to be complete and free of "
		       "deadlocks. Exit codes: 0 listed; 1 these tables cannot be repaired, or it "
		       "was interrupted; 64 bad options; 255 the fabric or a file could not be "
		       "read.",
	};
	struct weak_cmd c = { .weak = { .cables = true, .switches = true } };
	struct tables_source s = { .f = NULL };
	struct err err = { "" };
	int rc;

	tables_source_opts_init(&c.s);
	options_parse(&argp, argc, argv, &c);
	c.s.live.collected = collected_open;
	rc = tables_source_open(&s, &c.s, &err);
	if (!rc)
		rc = cmd_weak_run(&c, &s, &err);
	cmdline_end(argv[0], rc, &err);
	tables_source_close(&s);
	return rc;
}
