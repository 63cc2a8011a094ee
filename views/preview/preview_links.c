/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_links.h"

#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>

#define BUCKETS 8
#define WORST	32

static const uint64_t *preview_links_efi_of(const struct metrics *m)
{
	return m->njob ? m->eff_efi : m->efi;
}

static void preview_links_fill_buckets(uint32_t *count, const struct metrics *m, uint64_t width)
{
	const uint64_t *efi = preview_links_efi_of(m);

	for (uint32_t i = 0; i < m->nchan; i++)
		count[efi[i] / width]++;
}

/* Length of a bar: logarithmic, so that one link alone is still seen. */
static int preview_links_bar_length(uint32_t n, uint32_t all, int width)
{
	if (!n)
		return 0;
	return 1 + (int)lround((width - 1) * log2(1 + n) / log2(2 + all));
}

void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct metrics *a = s->preview.before, *b = s->preview.after;
	uint64_t max = b->njob ? b->eff_efi_max : b->efi_max, other = 0, width;
	uint32_t now[BUCKETS] = { 0 }, plan[BUCKETS] = { 0 };
	int half = (r.w - 16) / 2, n = r.h - 1 < BUCKETS ? r.h - 1 : BUCKETS;

	if (n < 1)
		return;

	if (a)
		other = a->njob ? a->eff_efi_max : a->efi_max;
	width = (max > other ? max : other) / (uint64_t)n + 1;
	if (a)
		preview_links_fill_buckets(now, a, width);
	preview_links_fill_buckets(plan, b, width);
	canvas_rule(c, r, 0,
		    b->njob ? "Links by job EFI: now, plan (log)"
			    : "Links by EFI: now, plan (log)");
	for (int i = 0; i < n; i++) {
		char range[64];
		int x = preview_links_bar_length(now[i], b->nchan, half - 8);
		int p = preview_links_bar_length(plan[i], b->nchan, half - 8);

		snprintf(range, sizeof(range), "%llu-%llu",
			 (unsigned long long)(width * (uint64_t)i),
			 (unsigned long long)(width * (uint64_t)(i + 1) - 1));
		canvas_right(c, r, 14, i + 1, ROLE_LABEL, range);
		for (int k = 0; k < x; k++)
			canvas_char(c, r, 16 + k, i + 1, ROLE_HEAT + 3, '#');
		canvas_textf(c, r, 16 + x, i + 1, ROLE_DIM, " %u", now[i]);
		for (int k = 0; k < p; k++)
			canvas_char(c, r, 16 + half + k, i + 1, ROLE_HEAT + 5, 'o');
		canvas_textf(c, r, 16 + half + p, i + 1, ROLE_DIM, " %u", plan[i]);
	}
}

void preview_worst_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct metrics *a = s->preview.before, *b = s->preview.after;
	const uint64_t *efi = preview_links_efi_of(b);
	uint32_t top[WORST], n = 0, want = r.h - 1 < WORST ? (uint32_t)(r.h - 1) : WORST;

	if (r.h < 2)
		return;
	for (uint32_t i = 0; i < b->nchan; i++) {
		uint32_t k;

		if (n == want && efi[i] <= efi[top[n - 1]])
			continue;
		k = n < want ? n++ : n - 1;
		for (; k && efi[top[k - 1]] < efi[i]; k--)
			top[k] = top[k - 1];
		top[k] = i;
	}
	canvas_rule(c, r, 0,
		    b->njob ? "Worst links after the plan: job EFI (now)"
			    : "Worst links after the plan: EFI (now)");
	for (uint32_t i = 0; i < n; i++) {
		char label[256], v[FIGURE_LEN], w[FIGURE_LEN] = "-";

		if (a)
			figure_short(w, preview_links_efi_of(a)[top[i]]);
		canvas_textf(c, r, 1, (int)i + 1, ROLE_TEXT, "%6s (%s)",
			     figure_short(v, efi[top[i]]), w);
		canvas_name(c, r, 17, (int)i + 1, r.w - 18, ROLE_TEXT,
			    chan_label(label, sizeof(label), s->fabric, top[i]));
	}
}
