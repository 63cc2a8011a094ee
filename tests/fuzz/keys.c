/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys N [SEED]: a million keys, clicks and resizes into the real console over the demo, with its
 * threads, while samples arrive; with sanitizers by make fuzz-keys.
 *
 * After each: the canvas is drawn and every cell of it is one that a terminal can show, the cursor
 * of the table in view is on a row that there is.  What ends the program, or would stop it, is
 * left out.  The same seed gives the same keys; what they meet depends on the clock.
 */
#include "tests/unit/kit/app_kit.h"

#include "console/config/config.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/time/clock.h"
#include "views/finder/finder.h"
#include "views/prompt/command.h"
#include "views/prompt/prompt.h"
#include "views/shell/shell.h"
#include "views/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const lines[] = {
	":sort util",
	":sort ",
	":filter util>10 or leaf",
	":filter",
	":goto leaf1",
	":job 1021",
	":job",
	":path n0001 n0002",
	":view ",
	":columns a,b,tx_Bps",
	":columns",
	":find leaf",
	":engine minhop",
	":interval 0.1",
	":interval x",
	":palette civ",
	":units bits",
	":bookmark a",
	":bookmarks a",
	":back 7",
	":forward 3",
	":live",
	":set",
	":set columns=link,",
	":set sort=-util",
	":set view=lin",
	":settings",
	":choose",
	":keep",
	":copy",
	":links util>",
	":search leaf",
	":range",
	":compare",
	":view save x",
	":note x",
	":play 60",
	":event previous",
	":at -3s",
	":note",
	":view x",
	":view delete x",
	"a1021",
	"aspine 2",
	"/leaf[12]|spine*",
	":help",
	":yes",
	":start",
	":confirm",
	":reroute",
	":pin",
	":pin n0001 job:1021",
	":pin none",
	":rollback",
	":prepare",
	":metric",
	":layout",
	":zoom",
	":tagged",
	":untag",
	":poll",
	":stop",
	":tables",
	":sweep",
	":tour",
	":set theme=light",
	":set theme=mono",
	":set theme=/dev/null",
	":set key.freeze=Q",
	":set key.freeze=Z F9",
	":set key.tag=none",
	":set bell=yes",
	":export /nonexistent/x.svg",
	":export! /nonexistent/x.csv",
	":export! /nonexistent/x.png",
	":set png-size=48",
	":set png-font=/dev/zero",
	"/util>5 and (",
	"/a=leaf1 not efi<3",
	"/~[",
	"/\xc3\xa4\xe6\xbc\xa2",
};

static void fail(const struct app *a, const char *what, uint64_t i, uint32_t key)
{
	fprintf(stderr, "keys: %s after key %lu (%u) in view %d, %dx%d\n", what, (unsigned long)i,
		key, (int)shell_view(a->shell), a->canvas->w, a->canvas->h);
	abort();
}

static void check(struct app *a, uint64_t i, uint32_t key)
{
	const struct canvas *c = a->canvas;
	const struct table_ops *ops;
	struct table *t = shell_table(a->shell, &ops);

	for (int k = 0; k < c->w * c->h; k++) {
		const struct cell *cell = &c->cell[k];

		if (cell->role >= ROLE_COUNT)
			fail(a, "a cell with no role", i, key);
		if (c->ascii ? cell->ch < ' ' || cell->ch > '~'
			     : cell->ch && (cell->ch < ' ' || cell->ch > 0x10ffff))
			fail(a, "a cell that no terminal can show", i, key);
	}
	if (t && t->nrow && t->list.cursor >= t->nrow)
		fail(a, "the cursor is below the last row", i, key);
	if (t && table_cursor(t) != FAB_NONE && table_cursor(t) >= t->all)
		fail(a, "the cursor is on no row", i, key);
}

/* A key that means something: two times of three in the view that is on the screen. */
static uint32_t bound_key(const struct app *a, struct rng *rng)
{
	size_t n;
	const struct binding *all = keymap_all(&n), *b = NULL;
	bool here = rng_below(rng, 3);
	int k = 0;

	for (int tries = 0; tries < 100; tries++) {
		b = &all[rng_below(rng, n)];
		if (!here || !b->views || b->views & VIEW_BIT(shell_view(a->shell)))
			break;
	}
	while (k < BINDING_KEYS && b->keys[k])
		k++;
	return k ? b->keys[rng_below(rng, (uint64_t)k)] : K_ESC; /* it was taken from it */
}

static uint32_t random_key(const struct app *a, struct rng *rng)
{
	if (!rng_below(rng, 3))
		return bound_key(a, rng);
	switch (rng_below(rng, 10)) {
	case 0:
		return (uint32_t)(K_UP + rng_below(rng, K_RESIZE - K_UP));
	case 1:
		return (uint32_t)rng_below(rng, 32);
	case 2:
		return (uint32_t)rng_below(rng, 0x300) + 0x80;
	case 3:
		return "\r\t\033\033\x7f:/fnN"[rng_below(rng, 10)];
	case 4:
		return '0' + (uint32_t)rng_below(rng, 10);
	default:
		return ' ' + (uint32_t)rng_below(rng, 95);
	}
}

static void random_size(struct app *a, struct rng *rng)
{
	static const int usual[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
	int w = 1 + (int)rng_below(rng, 220), h = 1 + (int)rng_below(rng, 70);

	if (rng_below(rng, 4)) {
		const int *s = usual[rng_below(rng, 3)];

		w = s[0];
		h = s[1];
	}
	canvas_free(a->canvas);
	a->canvas = canvas_new(w, h, rng_below(rng, 2));
}

/* Enter or a click would run a command of the list that writes a file. */
static bool runs_a_writer(const struct app *a, uint32_t key)
{
	const struct finder *m = shell_finder(a->shell);

	for (uint32_t i = 0; (key == K_ENTER || key == '\n' || key == K_CLICK) && i < m->menu.n;
	     i++) {
		const struct finder_name *name = &m->names.name.v[m->found[i].name];
		const struct command *c = NULL;
		const char *word = finder_names_text(&m->names, m->found[i].name);

		if (name->kind == FINDER_COMMAND)
			c = command_find(word, strlen(word));
		if (c &&
		    (c->req == REQ_SNAPSHOT || c->req == REQ_PLAN_SAVE || c->req == REQ_EXPORT))
			return true;
	}
	return false;
}

/* Anything but the end, and files in whatever folder this runs in. */
static bool forbidden(const struct app *a, uint32_t key)
{
	const struct binding *b;
	size_t n;

	if (shell_finder(a->shell)->menu.open)
		return runs_a_writer(a, key);
	if (shell_typing(a->shell, &a->state)) {
		const char *text = shell_prompt(a->shell)->text;
		const struct command *c;

		if (key != K_ENTER && key != '\n')
			return false;
		text += strspn(text, " :");
		c = command_find(text, strcspn(text, " "));
		return (shell_prompt(a->shell)->kind == PROMPT_COMMAND && c &&
			(c->req == REQ_SNAPSHOT || c->req == REQ_PLAN_SAVE ||
			 c->req == REQ_EXPORT)) ||
		       shell_view(a->shell) == VIEW_PREVIEW; /* a file's name may be asked for */
	}
	b = keymap_all(&n);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < BINDING_KEYS && b[i].keys[k]; k++)
			if (b[i].keys[k] == key &&
			    (b[i].req == REQ_SNAPSHOT || b[i].req == REQ_PLAN_SAVE))
				return true;
	return false;
}

static void press(struct app *a, uint32_t key, uint64_t i)
{
	if (forbidden(a, key))
		return;
	a->mouse_x = (int)(i * 31 % (unsigned)a->canvas->w);
	a->mouse_y = (int)(i * 17 % (unsigned)a->canvas->h);
	app_key(a, key);
	a->quit = false;
	app_draw(a);
	check(a, i, key);
}

/* What :keep, :view and :note write is nobody's. */
static void own_config(char *dir)
{
	if (!mkdtemp(dir)) {
		perror("keys: a folder for the configuration");
		exit(1);
	}
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("XDG_STATE_HOME", dir, 1);
}

static void config_away(const char *dir)
{
	static const char *const names[] = { "views", "views.lock", "notes", "notes.lock" };
	char *path = config_user_file(), file[PATH_TEXT];

	unlink(path);
	*strrchr(path, '/') = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		unlink(file);
	}
	rmdir(path);
	rmdir(dir);
	free(path);
}

int main(int argc, char **argv)
{
	char config[] = "/tmp/ibroute-fuzz-config-XXXXXX", records[4096];
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct app *a;
	struct rng rng;
	double start = clock_s();

	own_config(config);
	a = app_kit_open("fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3", NULL, 80, 24);
	if (!a || !app_kit_ready(a, 3))
		return 1;
	a->opts.rw = a->state.rw = seed % 2; /* half of the seeds may change the fabric */
	a->state.colours = seed % 4 < 2 ? 256 : 0;
	snprintf(records, sizeof(records), "%s/records", a->opts.live.state_dir);
	a->dog.live.record_dir = records; /* goes with the demo */
	rng_seed(&rng, seed);
	for (uint64_t i = 0; i < n; i++) {
		alarm(120); /* one key that hangs */
		if (!rng_below(&rng, 500)) {
			random_size(a, &rng);
		} else if (!rng_below(&rng, 100)) {
			const char *line = lines[rng_below(&rng, sizeof(lines) / sizeof(*lines))];

			press(a, K_ESC, i);
			for (; *line; line++)
				press(a, (uint32_t)(unsigned char)*line, i);
			press(a, K_TAB, i);
			press(a, K_ENTER, i);
		} else {
			press(a, random_key(a, &rng), i);
		}
		if (!rng_below(&rng, 200))
			app_kit_run(a, 0);
	}
	alarm(0);
	config_away(config);
	printf("%lu keys, seed %lu, %.0f s: %u samples of history, %lu events\n", (unsigned long)n,
	       (unsigned long)seed, clock_s() - start, sample_history_count(a->samples),
	       (unsigned long)a->events.total);
	app_end(a);
	return 0;
}
