/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each view in each mood of the fabric and each size, with its colours and in ASCII, against
 * tests/screens/matrix: one file for a view in a mood.  Colours are what cells mean (their roles);
 * of the screen in ASCII only the lines that differ are kept.  UPDATE_GOLDEN=1 writes them again.
 */
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static const struct {
	const char *keys, *name;
} views[] = { { "1", "overview" }, { "2", "heatmap" }, { "3", "links" },   { "4", "switches" },
	      { "5", "jobs" },	   { "6", "preview" }, { "7", "apply" },   { "8", "events" },
	      { "9", "sessions" }, { "0", "paths" },   { "t", "picture" }, { "?", "help" } };

/* A letter for what a cell means; heat, delta and fills by their step. */
static char role_letter(const struct cell *cell)
{
	static const char names[] = "TDLRKS!tOCgwbe";
	unsigned r = cell->role;

	if (cell->reverse)
		return '*';
	if (r < ROLE_HEAT)
		return r < sizeof(names) - 1 ? names[r] : '?';
	return "hijklmn"[(r - ROLE_HEAT) % HEAT_COLOURS];
}

/* "12: C80" and so on: runs of equal roles of a line, text left out. */
static void put_roles(FILE *f, const struct canvas *c)
{
	for (int y = 0; y < c->h; y++) {
		const struct cell *row = &c->cell[y * c->w];
		bool any = false;

		for (int x = 0, end; x < c->w; x = end) {
			char letter = role_letter(&row[x]);

			for (end = x + 1; end < c->w && role_letter(&row[end]) == letter;)
				end++;
			if (letter == 'T')
				continue;
			if (!any)
				fprintf(f, "%d:", y);
			any = true;
			fprintf(f, " %d%c%d", x, letter, end - x);
		}
		if (any)
			fputc('\n', f);
	}
}

static void put_different_lines(FILE *f, const char *text, const char *than)
{
	for (int y = 0; *text; y++) {
		size_t n = strcspn(text, "\n"), m = strcspn(than, "\n");

		if (n != m || memcmp(text, than, n) != 0)
			fprintf(f, "%d: %.*s\n", y, (int)n, text);
		text += n + (text[n] == '\n');
		than += m + (than[m] == '\n');
	}
}

static void draw(struct console_kit *k, int w, int h, bool ascii)
{
	canvas_free(k->c);
	k->c = canvas_new(w, h, ascii);
	shell_draw(k->shell, k->c, &k->s);
}

static void put_screens(FILE *f, struct console_kit *k)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int w = sizes[i][0], h = sizes[i][1];
		char *wide, *plain;

		draw(k, w, h, false);
		wide = canvas_dump(k->c);
		fprintf(f, "==== %dx%d\n%s---- roles\n", w, h, wide);
		put_roles(f, k->c);
		draw(k, w, h, true);
		plain = canvas_dump(k->c);
		for (const char *p = plain; *p; p++)
			if ((unsigned char)*p > 126)
				fail_msg("not ASCII at %dx%d:\n%s", w, h, plain);
		fputs("---- ascii\n", f);
		put_different_lines(f, plain, wide);
		free(wide);
		free(plain);
	}
}

static char *read_whole(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "r");
	char *text;
	size_t n;

	if (!f || fstat(fileno(f), &st)) {
		if (f)
			fclose(f);
		return xcalloc(1, 1);
	}
	text = xcalloc(1, (size_t)st.st_size + 1);
	n = fread(text, 1, (size_t)st.st_size, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* Where they part, for people. */
static void compare(const char *path, const char *is, const char *want)
{
	int line = 1;

	for (; *is == *want && *is; is++, want++)
		line += *is == '\n';
	if (*is != *want)
		fail_msg("%s differs from line %d on; UPDATE_GOLDEN=1 writes it again", path, line);
}

static void check_view(struct console_kit *k, const char *mood, const char *keys, const char *name)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[128], *text = NULL, *want;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	draw(k, 80, 24, false);
	console_keys(k, keys);
	put_screens(f, k);
	fclose(f);
	snprintf(path, sizeof(path), "tests/screens/matrix/%s-%s.txt", mood, name);
	if (update && update[0] == '1') {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
	}
	want = read_whole(path);
	compare(path, text, want);
	free(want);
	free(text);
}

/* but: keys of views that the mood shows in a way of its own. */
static void check_views(struct console_kit *k, const char *mood, const char *but)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strchr(but, views[i].keys[0]))
			check_view(k, mood, views[i].keys, views[i].name);
}

static void views_without_anything_known(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	check_views(&k, "empty", "");
	console_close(&k);
}

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };
#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static void views_of_a_fabric_in_order(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, TREE, jobs);
	console_preview(&k, "sar");
	console_plan(&k);
	k.s.rw = k.s.recording = true;
	k.s.rec_s = 761;
	console_event(&k, LOG_INFO, "sweep", "27 switches and 162 hosts found in 0.4 s");
	k.s.sessions = console_records();
	check_views(&k, "normal", "0");
	check_view(&k, "normal", "0en0001\rn0096\r", "paths");
	console_running(&k);
	check_view(&k, "normal", "7", "apply-running");
	console_waiting(&k);
	check_view(&k, "normal", "7", "apply-waiting");
	console_close(&k);
}

/* What was proposed is stale, and its update could not be taken back in full. */
static void go_wrong(struct console_kit *k)
{
	struct state_apply *a = &k->s.apply;

	console_preview(k, "sar");
	console_plan(k);
	console_running(k);
	snprintf(k->s.preview.list[0].stale, sizeof(k->s.preview.list[0].stale),
		 "the fabric changed: 2 cables are gone");
	k->s.rw = true;
	a->state = APPLY_INCOMPLETE;
	a->took_s = 41;
	console_step(a, 2, STEP_FAILED, 1.2, "leaf17: LFT block 7 was not read back as written");
	console_step(a, 5, STEP_SKIPPED, NAN, "not confirmed");
	snprintf(a->result, sizeof(a->result),
		 "leaf17: LFT block 7 does not take its old contents: Timeout of 3 tries");
}

/* No subnet manager, SLURM does not answer, every other port is silent, names of other alphabets.
 */
static void views_of_a_fabric_in_trouble(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, TREE, NULL);
	k.s.sm.lost = true;
	k.s.jobs_source.state = JOBS_UNREACHABLE;
	snprintf(k.s.jobs_source.source, sizeof(k.s.jobs_source.source), "slurm");
	snprintf(k.s.jobs_source.sentence, sizeof(k.s.jobs_source.sentence),
		 "slurmctld does not answer: Connection refused");
	for (uint32_t c = 0; c < k.fabric->nchan; c += 2)
		console_no_reply(&k, c);
	k.s.poll.partial = k.s.poll.stale = true;
	console_event(&k, LOG_ERROR, "sm", "the subnet manager at LID 1 does not answer");
	console_event(&k, LOG_WARN, "pma", "half of the ports gave no reply to 3 polls");
	k.s.sessions = console_records();
	check_views(&k, "broken", "0967");
	check_view(&k, "broken", "0en0001\rn0096\r", "paths"); /* over ports that say nothing */
	check_view(&k, "broken", "9j", "sessions");	       /* a record that was changed */
	go_wrong(&k);
	check_view(&k, "broken", "6", "preview");
	check_view(&k, "broken", "7", "apply");
	console_close(&k);
}

static void views_of_2064_switches(void **state)
{
	static const uint32_t big[] = { 2048, 1024, 1000, 512, 512, 300, 128, 64, 0 };
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "dragonfly:p=8", big);
	assert_int_equal(k.fabric->nsw, 2064);
	console_plans(&k);
	k.s.sessions = console_records();
	check_views(&k, "huge", "07");
	check_view(&k, "huge", "0en00001\rn16000\r", "paths");
	k.s.rw = true;
	console_plan(&k);
	console_running(&k);
	check_view(&k, "huge", "7", "apply");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_without_anything_known),
		cmocka_unit_test(views_of_a_fabric_in_order),
		cmocka_unit_test(views_of_a_fabric_in_trouble),
		cmocka_unit_test(views_of_2064_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
