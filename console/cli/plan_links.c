/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/plan_links.h"

#include "console/record/record.h"
#include "fabric/base/mem.h"

#include <stdint.h>
#include <stdlib.h>

struct load {
	uint32_t chan;
	uint64_t efi, eff; /* after the plan */
};

static int plan_links_worst_first(const void *x, const void *y)
{
	const struct load *a = x, *b = y;

	if (a->eff != b->eff)
		return a->eff > b->eff ? -1 : 1;
	if (a->efi != b->efi)
		return a->efi > b->efi ? -1 : 1;
	return (a->chan > b->chan) - (a->chan < b->chan);
}

/* All channels in order; the caller frees them. */
static struct load *plan_links_in_order(const struct plan *p, const struct metrics *after)
{
	uint32_t n = p->fabric->nchan;
	struct load *all = xcalloc(n ? n : 1, sizeof(*all));

	for (uint32_t c = 0; c < n; c++)
		all[c] = (struct load){ c, after->efi[c], after->eff_efi[c] };
	qsort(all, n, sizeof(*all), plan_links_worst_first);
	return all;
}

void plan_print_links(FILE *out, const struct plan *p, const struct route_report both[2])
{
	const struct fabric *f = p->fabric;
	struct load *all = plan_links_in_order(p, both[1].m);

	fprintf(out, "\n%-24s %5s  %-24s %5s %17s %17s\n", "from", "port", "to", "port",
		"EFI          ", p->jobs ? "job EFI        " : "");
	for (uint32_t i = 0; i < f->nchan; i++) {
		uint32_t c = all[i].chan;

		fprintf(out, "%-24s %5u  %-24s %5u %7llu > %-7llu", f->sw_name[f->chan_src[c]],
			f->chan_port[c], f->sw_name[f->chan_dst[c]], f->chan_rport[c],
			(unsigned long long)both[0].m->efi[c], (unsigned long long)all[i].efi);
		if (p->jobs)
			fprintf(out, " %7llu > %-7llu", (unsigned long long)both[0].m->eff_efi[c],
				(unsigned long long)all[i].eff);
		fputc('\n', out);
	}
	free(all);
}

static json_t *plan_links_of_jobs(const struct plan *p, uint64_t eff)
{
	return p->jobs ? json_integer((json_int_t)eff) : json_null();
}

static json_t *plan_links_link_json(const struct plan *p, const struct metrics *before,
				    const struct load *l)
{
	const struct fabric *f = p->fabric;
	uint32_t a = f->chan_src[l->chan], b = f->chan_dst[l->chan];

	return json_pack("{s:o, s:i, s:o, s:o, s:i, s:o, s:I, s:I, s:o, s:o}", "a",
			 record_str(f->sw_name[a]), "a_port", (int)f->chan_port[l->chan], "a_guid",
			 json_sprintf("0x%016lx", (unsigned long)f->sw_guid[a]), "b",
			 record_str(f->sw_name[b]), "b_port", (int)f->chan_rport[l->chan], "b_guid",
			 json_sprintf("0x%016lx", (unsigned long)f->sw_guid[b]), "efi_before",
			 (json_int_t)before->efi[l->chan], "efi_after", (json_int_t)l->efi,
			 "eff_efi_before", plan_links_of_jobs(p, before->eff_efi[l->chan]),
			 "eff_efi_after", plan_links_of_jobs(p, l->eff));
}

json_t *plan_links_json(const struct plan *p, const struct route_report both[2])
{
	struct load *all = plan_links_in_order(p, both[1].m);
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->fabric->nchan; i++)
		json_array_append_new(list, plan_links_link_json(p, both[0].m, &all[i]));
	free(all);
	return list;
}
