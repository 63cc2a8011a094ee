/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top sm: the master subnet manager, what it really routes by, and who else writes. */
#include "console/cli/commands.h"

#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/live/live_fabric.h"
#include "fabric/base/file/store.h"
#include "fabric/base/text/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sm_cmd {
	struct live_opts live;
	bool json, reroute, forget, save, back;
	const char *policy;
};

static const struct argp_option table[] = {
	{ "json", CMDLINE_KEY(struct sm_cmd, json), NULL, 0, "as JSON", 0 },
	{ "reroute", CMDLINE_KEY(struct sm_cmd, reroute), NULL, 0,
	  "make OpenSM route again and write all tables, including those it believes to be "
	  "installed",
	  0 },
	{ "policy", CMDLINE_KEY(struct sm_cmd, policy), "FILE", 0,
	  "use another policy in OpenSM's plugin until it restarts (\"\": the previous one), and "
	  "reroute",
	  0 },
	{ "save", CMDLINE_KEY(struct sm_cmd, save), NULL, 0,
	  "make --policy permanent: save it to the plugin's own file", 0 },
	{ "forget", CMDLINE_KEY(struct sm_cmd, forget), NULL, 0,
	  "discard the confirmed tables, so that the policy applies, and reroute", 0 },
	OPTION_COLLECTOR(CMDLINE_KEY(struct sm_cmd, live.collector), 0),
	{ "return", CMDLINE_KEY(struct sm_cmd, back), NULL, 0,
	  "return to the tables from before an unfinished update, and reroute", 0 },
	{ 0 },
};

static error_t cmd_sm_take(int key, char *arg, struct argp_state *state)
{
	struct sm_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case ARGP_KEY_END:
		if (c->save && (!c->policy || !*c->policy))
			argp_error(state, "--save needs --policy FILE");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

/* ---- orders ---- */

static int cmd_sm_give_policy(struct osm_link *l, const struct sm_cmd *c, struct err *err)
{
	unsigned flags = (c->forget ? OSM_POLICY_FORGET : 0) | (c->save ? OSM_POLICY_SAVE : 0);
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (c->policy && *c->policy)
		rc = store_read(&text, &len, c->policy, err);
	if (!rc)
		rc = osm_link_policy(l, text ? text : "", flags, NULL, err);
	free(text);
	return rc;
}

static bool cmd_sm_has_orders(const struct sm_cmd *c)
{
	return c->policy || c->forget || c->reroute || c->back;
}

static int cmd_sm_orders(struct live *l, const struct sm_cmd *c, struct err *err)
{
	struct osm_answer a = { 0 };
	int rc = 0;

	if (!cmd_sm_has_orders(c))
		return 0;
	if (!l->osm)
		return err_set(err, -1, "no requests can be made: %s", l->osm_why);
	if (c->back)
		rc = osm_link_return(l->osm, &a, err);
	if (!rc && (c->policy || c->forget))
		rc = cmd_sm_give_policy(l->osm, c, err);
	if (!rc)
		rc = osm_link_reroute(l->osm, c->reroute, 0, &a, err);
	if (!rc)
		rc = osm_link_status(l->osm, &l->osm_status, err);
	return rc;
}

/* ---- the report ---- */

static const char *cmd_sm_host_of(const struct fabric *f, uint64_t port_guid)
{
	uint32_t t = fabric_term_by_guid(f, port_guid), sw;

	if (t != FAB_NONE)
		return f->term_name[t];
	sw = fabric_switch_by_guid(f, port_guid);
	return sw != FAB_NONE ? f->sw_name[sw] : "?";
}

static void cmd_sm_routes_text(char *buf, size_t size, const struct osm_status *s)
{
	if (!s->ours) {
		snprintf(buf, size, "%s%s", s->routes[0] ? s->routes : "nothing yet",
			 s->routes[0] ? ", one of OpenSM's own engines" : "");
		return;
	}
	snprintf(buf, size, "%s, %s: %u VLs, %u SLs, at most %u hops, tables %.8s", s->engine,
		 !strcmp(s->source, OSM_SOURCE_ENGINE)	    ? "computed as the policy says"
		 : !strcmp(s->source, OSM_SOURCE_FILE)	    ? "the policy's tables"
		 : !strcmp(s->source, OSM_SOURCE_CONFIRMED) ? "confirmed tables"
		 : !strcmp(s->source, OSM_SOURCE_REPAIRED)  ? "repaired after a change"
		 : s->step				    ? "update in progress"
							    : "not confirmed yet",
		 s->vls, s->sls, s->hops_max, s->tables);
}

static void cmd_sm_print_plugin(const struct live *l)
{
	const struct osm_status *s = &l->osm_status;
	char routes[300];

	cmd_sm_routes_text(routes, sizeof(routes), s);
	printf("OpenSM      %s, plugin %s; engines: %s; QoS %s\n", s->opensm, s->plugin,
	       s->configured, s->qos ? "on" : "off: no SL2VL tables are set");
	printf("routing     %s\n", routes);
	if (s->why[0])
		printf("            %s\n", s->why);
	if (s->ours && s->replaces[0])
		printf("site's QoS  %s\n", s->replaces);
	printf("policy      %s: %s%s\n", s->policy, s->policy_engine,
	       s->policy_unsaved ? " (set by sm --policy, until OpenSM restarts)" : "");
	if (s->exclude[0])
		printf("            excluded: %s\n", s->exclude);
	printf("confirmed   %s%s\n", s->confirmed, s->confirmed_there ? "" : ": none");
	if (s->away[0])
		printf("            not used: %s\n", s->away);
	if (s->update[0])
		printf("update      %s of %s: running, or unfinished%s%.8s\n", s->update, s->owner,
		       s->base[0] ? "; the previous tables are " : "", s->base);
	if (s->ended[0])
		printf("            the last one was ended here: %s\n", s->ended);
	printf("since start %" PRIu64 " routings by the plugin, %" PRIu64 " refused; %" PRIu64
	       " sweeps, %" PRIu64 " reroutes, %" PRIu64 " link events\n",
	       s->routings, s->refused, s->heavy_sweeps, s->reroutes, s->link_events);
}

static void cmd_sm_print_adaptive(const struct adaptive *a)
{
	char text[300];

	if (adaptive_text(text, sizeof(text), a)[0])
		printf("adaptive    yes: %s\n", text);
	else if (a->state == ADAPTIVE_NO)
		printf("adaptive    no sign of adaptive routing: %s\n", a->why);
	else
		printf("adaptive    unknown: %s; --adaptive-routing yes or no declares it\n",
		       a->why);
}

static void cmd_sm_print_all(const struct live *l, const struct wire_sm *sm)
{
	printf("master SM   %s, port 0x%016" PRIx64 ", LID %u, priority %u, %s\n",
	       cmd_sm_host_of(l->f, sm->guid), sm->guid, sm->lid, sm->priority,
	       wire_sm_state_name(sm->state));
	if (l->osm)
		cmd_sm_print_plugin(l);
	else
		printf("plugin      %s\n", l->osm_why);
	cmd_sm_print_adaptive(&l->adaptive);
	printf("others      %s\n",
	       l->foreign[0] ? l->foreign
	       : l->osm && l->osm_status.ours
		       ? "no other writer: the switches hold what OpenSM has written"
		       : "unknown: OpenSM does not report what it has written");
}

static void cmd_sm_print_json(const struct live *l, const struct wire_sm *sm)
{
	char guid[24], *body = osm_status_encode(&l->osm_status);
	json_t *j, *plugin = l->osm ? json_loads(body, 0, NULL) : json_null();

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, sm->guid);
	j = json_pack("{s:s, s:{s:s, s:o, s:i, s:i, s:s}, s:o, s:o, s:o, s:o}", "schema",
		      "ibroute-top/1", "master", "guid", guid, "host",
		      json_text(cmd_sm_host_of(l->f, sm->guid)), "lid", (int)sm->lid, "priority",
		      (int)sm->priority, "state", wire_sm_state_name(sm->state), "plugin", plugin,
		      "no_plugin", l->osm ? json_null() : json_text(l->osm_why), "foreign",
		      l->foreign[0] ? json_text(l->foreign) : json_null(), "adaptive_routing",
		      adaptive_json(&l->adaptive));
	free(body);
	output_file_print_json(j, NULL); /* main() tells what went wrong with stdout */
}

/* Something that an operator should look at? */
static bool cmd_sm_findings(const struct live *l)
{
	const struct osm_status *s = &l->osm_status;

	return l->foreign[0] || !l->osm || !s->ours || s->why[0];
}

/* False: what a collector has read is out of date, as OpenSM has routed since, or the subnet
 * manager does not answer it. */
static bool cmd_sm_told(struct live *l, struct wire_sm *info)
{
	struct err err;

	*info = l->told_sm;
	return info->guid && !(l->osm && live_tables(l, &err)) && !l->foreign[0];
}

static int cmd_sm_read(struct live *l, struct sm_cmd *c, struct wire_sm *info, struct err *err)
{
	c->live.collected = cmd_sm_has_orders(c) ? NULL : collected_open;
	if (live_discover(l, &c->live, NULL, err))
		return EXIT_UNREADABLE;
	if (l->collected && cmd_sm_told(l, info))
		return EXIT_OK;
	if (l->collected) {
		c->live.collected = NULL;
		live_close(l);
		if (live_discover(l, &c->live, NULL, err))
			return EXIT_UNREADABLE;
	}
	if (cmd_sm_orders(l, c, err))
		return EXIT_REFUSED;
	if ((l->osm && live_tables(l, err)) || wire_sm_info(info, l->w, err))
		return EXIT_UNREADABLE;
	return EXIT_OK;
}

static int cmd_sm_sm(struct sm_cmd *c, struct err *err)
{
	struct wire_sm info;
	struct live l = { 0 };
	int rc = cmd_sm_read(&l, c, &info, err);

	if (!rc) {
		c->json ? cmd_sm_print_json(&l, &info) : cmd_sm_print_all(&l, &info);
		rc = cmd_sm_findings(&l) ? EXIT_FINDINGS : EXIT_OK;
	}
	live_close(&l);
	return rc;
}

int cmd_sm(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = cmd_sm_take,
		.children = live_children,
		.doc = "Shows the master subnet manager; if it is OpenSM with our plugin, its policy "
		       "and routing; and, by reading the tables, whether another program writes "
		       "them.\vExit codes: 0 ok; 1 OpenSM does not use the routing that it should, "
		       "its plugin is not loaded or cannot be reached, or there is another writer; 4 a request was refused; 64 bad options; 255 "
		       "the fabric could not be read.",
	};
	struct sm_cmd c = { 0 };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_sm_sm(&c, &err);
	return cmdline_end(argv[0], rc, &err);
}
