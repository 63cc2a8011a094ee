/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top show: what is in a plan, without the fabric. */
#include "console/cli/commands.h"

#include "console/cli/text/message_summary.h"
#include "console/cli/text/plan_jobs.h"
#include "console/cli/text/plan_text.h"
#include "console/cli/text/summary.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/load/load_plan.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/plan/command_inputs.h"
#include "console/plan/gate_json.h"
#include "console/plan/route_report.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/plan/drain_names.h"
#include "views/canvas/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct show_cmd {
	struct options o;
	const char *file;
	bool diff, links;
};

static const struct argp_option table[] = {
	{ "diff", CMDLINE_KEY(struct show_cmd, diff), NULL, 0,
	  "list every LFT entry and SL2VL table that changes", 0 },
	{ "links", CMDLINE_KEY(struct show_cmd, links), NULL, 0,
	  "list each link between switches with its EFI (number of paths) before and after, "
	  "highest after first",
	  0 },
	OPTION_SAYING(OPT_TOPOLOGY,
		      "what of the plan's tables still stands on this fabric, a later "
		      "state of the plan's: ibnetdiscover output or another topology "
		      "file; what has gone since is named"),
	OPTION(OPT_STRICT),
	OPTION(OPT_ADAPTIVE),
	OPTION_SAYING(OPT_JSON, "print JSON"),
	OPTIONS_METRICS,
	OPTION_PARAM(PARAM_SEED),
	OPTION_PARAM(PARAM_THREADS),
	{ 0 },
};

static error_t cmd_show_take(int key, char *arg, struct argp_state *state)
{
	struct show_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		cmdline_only(state, "plan", &c->file, arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->file)
			argp_error(state, "a plan is needed");
		if (c->o.topology && (c->diff || c->links))
			argp_error(state,
				   "--diff and --links are of the plan's own fabric: without "
				   "--topology");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state) ? options_take(&c->o, key, arg, state)
							      : 0;
	}
}

/* --- the links, those that most routes within jobs take after the plan first ------------------ */

struct load {
	uint32_t chan;
	uint64_t efi, eff; /* after the plan */
};

static int cmd_show_worst_first(const void *x, const void *y)
{
	const struct load *a = x, *b = y;

	if (a->eff != b->eff)
		return a->eff > b->eff ? -1 : 1;
	if (a->efi != b->efi)
		return a->efi > b->efi ? -1 : 1;
	return (a->chan > b->chan) - (a->chan < b->chan);
}

/* All channels in order; the caller frees them. */
static struct load *cmd_show_links_in_order(const struct plan *p, const struct metrics *after)
{
	uint32_t n = p->fabric->nchan;
	struct load *all = xcalloc(n ? n : 1, sizeof(*all));

	for (uint32_t c = 0; c < n; c++)
		all[c] = (struct load){ c, after->efi[c], after->eff_efi[c] };
	qsort(all, n, sizeof(*all), cmd_show_worst_first);
	return all;
}

static void cmd_show_print_links(FILE *out, const struct plan *p, const struct route_report both[2])
{
	const struct fabric *f = p->fabric;
	struct load *all = cmd_show_links_in_order(p, both[1].m);

	fprintf(out, "\n%-24s %5s  %-24s %5s %17s %17s\n", "from", "port", "to", "port",
		"EFI          ", p->jobs ? "job EFI        " : "");
	for (uint32_t i = 0; i < f->nchan; i++) {
		uint32_t c = all[i].chan;

		fprintf(out, "%-24s %5u  %-24s %5u %7llu > %-7llu", f->sw_short[f->chan_src[c]],
			f->chan_port[c], f->sw_short[f->chan_dst[c]], f->chan_rport[c],
			(unsigned long long)both[0].m->efi[c], (unsigned long long)all[i].efi);
		if (p->jobs)
			fprintf(out, " %7llu > %-7llu", (unsigned long long)both[0].m->eff_efi[c],
				(unsigned long long)all[i].eff);
		fputc('\n', out);
	}
	free(all);
}

static json_t *cmd_show_efi_of_jobs(const struct plan *p, uint64_t eff)
{
	return p->jobs ? json_integer((json_int_t)eff) : json_null();
}

static json_t *cmd_show_link_json(const struct plan *p, const struct metrics *before,
				  const struct load *l)
{
	const struct fabric *f = p->fabric;
	uint32_t a = f->chan_src[l->chan], b = f->chan_dst[l->chan];

	return json_pack("{s:o, s:i, s:o, s:o, s:i, s:o, s:I, s:I, s:o, s:o}", "a",
			 json_text(f->sw_name[a]), "a_port", (int)f->chan_port[l->chan], "a_guid",
			 json_sprintf("0x%016lx", (unsigned long)f->sw_guid[a]), "b",
			 json_text(f->sw_name[b]), "b_port", (int)f->chan_rport[l->chan], "b_guid",
			 json_sprintf("0x%016lx", (unsigned long)f->sw_guid[b]), "efi_before",
			 (json_int_t)before->efi[l->chan], "efi_after", (json_int_t)l->efi,
			 "eff_efi_before", cmd_show_efi_of_jobs(p, before->eff_efi[l->chan]),
			 "eff_efi_after", cmd_show_efi_of_jobs(p, l->eff));
}

static json_t *cmd_show_links_json(const struct plan *p, const struct route_report both[2])
{
	struct load *all = cmd_show_links_in_order(p, both[1].m);
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->fabric->nchan; i++)
		json_array_append_new(list, cmd_show_link_json(p, both[0].m, &all[i]));
	free(all);
	return list;
}

/* --- the plan ------------------------------------------------------------------------------ */

static json_t *cmd_show_digest_json(const struct digest *d)
{
	char hex[DIGEST_HEX];

	return json_string(digest_hex(hex, d));
}

static void cmd_show_add_pins(json_t *j, const struct plan *p)
{
	char when[FIGURE_LEN];

	json_object_set_new(j, "plan", json_string(p->id));
	json_object_set_new(j, "fabric", json_text(p->fabric->name));
	json_object_set_new(j, "made", json_string(figure_utc(when, p->time_s)));
	json_object_set_new(j, "engine", json_text(p->to->engine));
	json_object_set_new(j, "params", json_text(p->to->params));
	json_object_set_new(j, "seed", json_integer((json_int_t)p->to->seed));
	if (p->files.n)
		json_object_set_new(j, "files", plan_files_encode(&p->files));
	json_object_set_new(j, "topology", cmd_show_digest_json(&p->fabric->fingerprint));
	json_object_set_new(j, "tables_from", cmd_show_digest_json(&p->from_hash));
	json_object_set_new(j, "tables_to", cmd_show_digest_json(&p->to_hash));
	json_object_set_new(j, "sm_guid",
			    p->sm.guid ? json_sprintf("0x%016lx", (unsigned long)p->sm.guid)
				       : json_null());
	json_object_set_new(j, "sm_priority",
			    p->sm.guid ? json_integer(p->sm.priority) : json_null());
	json_object_set_new(j, "jobs", p->jobs ? json_integer(p->jobs->njob) : json_null());
}

static void cmd_show_add_cost(json_t *j, const struct plan *p)
{

	plan_add_cost(j, p);
	json_object_set_new(j, "waves", json_integer(p->changes->nwaves));
	json_object_set_new(j, "order_known", json_boolean(p->order.n || plan_empty(p)));
	json_object_set_new(j, "drain_known", json_boolean(p->drain.known));
	json_object_set_new(j, "drain_lids", json_integer(p->drain.nlid));
	json_object_set_new(j, "escape", json_boolean(p->drain.escape));
	json_object_set_new(j, "drain_jobs", plan_drain_jobs_json(p));
	json_object_set_new(j, "ambiguous_names", drain_names_json(&p->drain, p->fabric, p->jobs));
}

static int cmd_show_print_json(const struct show_cmd *c, const struct plan *p,
			       const struct route_report *both, struct err *err)
{
	json_t *j = json_object(), *after = summary_json(&both[1]);
	struct progress_line watch;

	summary_add_verdict(after, &both[1]);
	summary_add_adaptive(j, c->o.adaptive);
	json_object_set_new(j, "schema", json_string("ibroute-top/1"));
	cmd_show_add_pins(j, p);
	cmd_show_add_cost(j, p);
	json_object_set_new(j, "time_gate", gate_json(&both[1].gate));
	if (both[1].messages)
		gate_json_add_messages(json_object_get(j, "time_gate"), both[1].message_gate);
	json_object_set_new(j, "before", summary_json(&both[0]));
	json_object_set_new(j, "after", after);
	if (c->o.per_job)
		json_object_set_new(j, "per_job", plan_jobs_json(p, both));
	if (c->links)
		json_object_set_new(j, "links", cmd_show_links_json(p, both));
	if (c->diff) {
		progress_line_files(&watch);
		json_object_set_new(j, "diff", plan_diff_json(p));
		progress_line_files_end(&watch);
	}
	return output_file_print_json(j, err);
}

static void cmd_show_print_text(const struct show_cmd *c, const struct plan *p,
				const struct route_report *both)
{
	char when[FIGURE_LEN], drain[600];

	printf("made %s by %s %s, %s%s\n", figure_utc(when, p->time_s), p->to->engine,
	       p->to->params, p->jobs ? "for the jobs running then" : "for no jobs",
	       p->sm.guid ? "" : ", without an SM");
	if (p->pattern[0] || p->demand)
		printf("measured with pattern %s%s\n", p->pattern[0] ? p->pattern : "alltoall",
		       p->demand ? " and a demand" : "");
	plan_print_files(stdout, p);
	summary_print_table(stdout, both, 2);
	message_summary_print(stdout, &both[1]);
	summary_print_notes(stdout, &both[1]);
	summary_print_verdict(stdout, &both[1]);
	summary_print_adaptive(stdout, c->o.adaptive);
	summary_print_gate(stdout, &both[1]);
	plan_print(stdout, p);
	printf("order of writes: %u wave%s\n", p->changes->nwaves, plural(p->changes->nwaves));
	drain_text(drain, sizeof(drain), &p->drain, p->fabric, p->jobs);
	printf("drain: %s\n", p->drain.known ? drain : "unknown");
	plan_print_strangers(stdout, p);
	plan_print_names(stdout, p);
	if (c->o.per_job)
		plan_print_jobs(stdout, p, both);
	if (c->links)
		cmd_show_print_links(stdout, p, both);
}

static int cmd_show_show(const struct show_cmd *c, const struct plan *p, struct err *err)
{
	struct route_report both[2] = { 0 };
	struct route_inputs in;
	struct progress_line watch;
	enum predict_pattern pattern;
	int rc = EXIT_FINDINGS;

	if (c->diff && !c->o.json) {
		progress_line_output(&watch);
		plan_print_diff(stdout, p);
		progress_line_files_end(&watch);
		return output_file_flush_stdout(err) ? EXIT_FINDINGS : EXIT_OK;
	}
	if (route_inputs_of_plan(&in, p, err))
		goto out;
	pattern = in.opts.pattern;
	in.installed = NULL;
	options_eval(&in.opts, &c->o);
	if (!c->o.pattern_said)
		in.opts.pattern = pattern;
	in.opts.seek_choice = true;
	if (route_report_run(&both[1], &in, ROUTE_JUDGE, err))
		goto out;
	in.tables = p->from;
	in.opts.terminals_only = true;
	in.opts.seek_choice = both[1].messages != NULL;
	if (route_report_run(&both[0], &in, ROUTE_JUDGE, err))
		goto out;
	both[1].diff = tables_diff_copy(p->diff);
	route_report_compare_times(&both[1], &both[0]);
	if (c->o.json && cmd_show_print_json(c, p, both, err))
		goto out;
	if (!c->o.json)
		cmd_show_print_text(c, p, both);
	if (output_file_flush_stdout(err))
		goto out;
	rc = verdict_ok(both[1].v) ? EXIT_OK : EXIT_FINDINGS;
	if (rc)
		err_set(err, rc, "this routing must not be installed: see the verdict");
out:
	route_report_free(&both[0]);
	route_report_free(&both[1]);
	return rc;
}

/* --- on a later state of its fabric ----------------------------------------------------------- */

static int cmd_show_judge_now(const struct show_cmd *c, const struct command_inputs *s,
			      struct err *err)
{
	struct route_report e = { 0 };
	struct route_inputs in = command_inputs_route(s, NULL);
	json_t *summary;
	int rc;

	in.tables = s->installed;
	rc = route_report_run(&e, &in, ROUTE_JUDGE, err);
	if (!rc && c->o.json) {
		summary = summary_json_all(&e, c->o.per_job);
		summary_add_adaptive(summary, c->o.adaptive);
		rc = output_file_print_json(summary, err);
	} else if (!rc) {
		summary_print_all(stdout, &e, c->o.per_job);
		summary_print_adaptive(stdout, c->o.adaptive);
	}
	if (!rc)
		rc = output_file_flush_stdout(err);
	if (!rc && !route_report_ok(&e))
		rc = err_set(err, EXIT_FINDINGS, "on this fabric the plan's routing is faulty");
	route_report_free(&e);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}

/* The log says what has gone, come or moved since. */
static int cmd_show_now(struct show_cmd *c, struct err *err)
{
	struct command_inputs s;
	int rc;

	c->o.lfts = c->file;
	rc = command_inputs_load(&s, &c->o, err);
	if (!rc)
		rc = cmd_show_judge_now(c, &s, err);
	command_inputs_free(&s);
	return rc;
}

/* A plan does not hold when it was made: equal inputs are equal bytes.  Its file knows. */
static int cmd_show_load(struct plan **p, const char *file, struct err *err)
{
	struct stat st;
	int rc = load_plan(p, file, err);

	if (!rc && !(*p)->time_s && !stat(file, &st))
		(*p)->time_s = st.st_mtime;
	return rc;
}

int cmd_show(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = cmd_show_take,
		.args_doc = "PLAN",
		.doc = "Shows what a plan changes, what it was made for, and the metrics of both "
		       "routings. Needs no fabric: the plan contains everything; with --topology it "
		       "shows what of its tables still stands on a later state of its fabric.\vExit codes: 0 "
		       "shown; 1 the plan's routing is faulty, or output could not be written; 64 "
		       "bad options; 255 not a plan, or a damaged one.",
	};
	struct show_cmd c = { 0 };
	struct plan *p = NULL;
	struct err err = { "" };
	int rc;

	options_init(&c.o);
	options_parse(&argp, argc, argv, &c);
	if (c.o.topology)
		rc = cmd_show_now(&c, &err);
	else
		rc = cmd_show_load(&p, c.file, &err) ? EXIT_UNREADABLE : cmd_show_show(&c, p, &err);
	cmdline_end(argv[0], rc, &err);
	plan_free(p);
	return rc;
}
