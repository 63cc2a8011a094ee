/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/multicast_text.h"

#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"

#define FAULTS_SHOWN 16

void multicast_text_print(FILE *out, const struct mcast_verdict *v, const struct fabric *f)
{
	char text[600];

	fprintf(out, "multicast: %u group%s on %u switch%s, to %u port%s of hosts; ", v->groups,
		plural(v->groups), v->switches, plural_es(v->switches), v->host_ports,
		plural(v->host_ports));
	if (v->nfault)
		fprintf(out, "%u faulty:\n", v->nfault);
	else
		fprintf(out, "%s\n", v->groups ? "each is a tree" : "nothing to judge");
	for (uint32_t i = 0; i < v->nfault && i < FAULTS_SHOWN; i++)
		fprintf(out, "  %s\n", mcast_fault_text(text, sizeof(text), &v->fault[i], f));
	if (v->nfault > FAULTS_SHOWN)
		fprintf(out, "  and %u more (--json has all)\n", v->nfault - FAULTS_SHOWN);
}

json_t *multicast_text_json(const struct mcast_verdict *v, const struct fabric *f)
{
	static const char *const kinds[] = { "cycle", "nowhere", "one_way", "parts" };
	json_t *faults = json_array();
	char text[600], group[8];

	for (uint32_t i = 0; i < v->nfault; i++) {
		const struct mcast_fault *x = &v->fault[i];

		snprintf(group, sizeof(group), "0x%04x", x->mlid);
		mcast_fault_text(text, sizeof(text), x, f);
		json_array_append_new(faults,
				      json_pack("{s:s, s:s, s:o, s:i, s:o, s:o}", "group", group,
						"kind", kinds[x->kind], "switch",
						json_text(f->sw_name[x->sw]), "port", (int)x->port,
						"other", json_text(f->sw_name[x->other]), "text",
						json_text(text)));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "groups", (json_int_t)v->groups, "switches",
			 (json_int_t)v->switches, "host_ports", (json_int_t)v->host_ports,
			 "uncabled_entries", (json_int_t)v->uncabled, "faults", faults);
}
