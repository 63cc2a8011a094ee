/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/replay.h"

#include "console/io/progress_line.h"
#include "console/record/record_read.h"
#include "console/record/recording/cast_read.h"
#include "console/record/recording/cast_screen.h"
#include "console/record/recording/play_keys.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Events up to a time of the session. */
static uint32_t replay_up_to(const struct cast_events *e, double at_s)
{
	uint32_t n = 0;

	while (n < e->n && e->v[n].at_s <= at_s)
		n++;
	return n;
}

static bool replay_take_clock(double *at_s, const char *where)
{
	unsigned h = 0, m = 0;
	double s = 0;
	int end = 0;

	if (sscanf(where, "%u:%u:%lf%n", &h, &m, &s, &end) == 3 && !where[end]) {
		*at_s = h * 3600.0 + m * 60.0 + s;
		return true;
	}
	end = 0;
	if (sscanf(where, "%u:%lf%n", &m, &s, &end) == 2 && end && !where[end]) {
		*at_s = m * 60.0 + s;
		return true;
	}
	end = 0;
	if (sscanf(where, "%lfs%n", &s, &end) == 1 && end && !where[end]) {
		*at_s = s;
		return true;
	}
	return false;
}

static bool replay_take_date(double *at_s, const struct cast_events *e, const char *where)
{
	struct tm tm = { 0 };
	char *end = strptime(where, "%Y-%m-%dT%H:%M:%S", &tm);
	double fraction = 0;

	if (!end)
		return false;
	if (*end == '.')
		fraction = strtod(end, &end);
	if (*end && strcmp(end, "Z"))
		return false;
	*at_s = (double)timegm(&tm) - (double)e->file[0].timestamp + fraction + e->file[0].at_s;
	return true;
}

struct seq_place {
	int64_t seq;
	uint64_t off; /* bytes of the cast when the line with that seq was written */
	bool found;
};

static bool replay_find_seq(void *ctx, json_t *line)
{
	struct seq_place *p = ctx;
	const json_t *cast = json_object_get(line, "cast");

	if (json_integer_at(line, "seq") != p->seq || !cast)
		return true;
	p->off = (uint64_t)json_integer_at(cast, "off");
	p->found = true;
	return false;
}

static bool replay_take_seq(uint32_t *n, const struct cast_events *e, const char *where)
{
	char *end;
	struct seq_place p = { .seq = strtoll(where, &end, 10) };

	if (*end || end == where)
		return false;
	for (uint32_t i = 0; i < e->nfiles && !p.found; i++) {
		const char *cast = e->file[i].path, *dot = strrchr(cast, '.');
		char *record = xasprintf("%.*s.jsonl", (int)(dot ? dot - cast : 0), cast);

		record_lines(record, replay_find_seq, &p, NULL);
		if (p.found)
			*n = cast_events_find(e, i, p.off);
		free(record);
	}
	return p.found;
}

static bool replay_take_mark(uint32_t *n, const struct cast_events *e, const char *where)
{
	for (uint32_t i = 0; i < e->n; i++) {
		if (e->v[i].code != 'm' || !strcasestr(e->v[i].text, where))
			continue;
		/* the screen of a marker is the next frame */
		*n = i + 1;
		return true;
	}
	return false;
}

int replay_place(uint32_t *n, const struct cast_events *e, const char *path, const char *where,
		 struct err *err)
{
	double at_s;

	if (replay_take_clock(&at_s, where) || replay_take_date(&at_s, e, where)) {
		*n = replay_up_to(e, at_s);
		return 0;
	}
	if (replay_take_seq(n, e, where) || replay_take_mark(n, e, where))
		return 0;
	return err_set(
		err, -EINVAL,
		"%s: no place '%s' in this session: give a phase or action marked in it, the seq "
		"of a line, 1:30, 90s, or 2026-11-20T23:19:51Z",
		path, where);
}

#define JUMP_S		 10.0
#define STATUS_S	 0.5 /* between two updates of the status line */
#define PROGRESS_AFTER_S 0.3 /* a seek shows no progress before that */
#define PROGRESS_S	 0.1
#define PROGRESS_EVENTS	 256u /* between two checks of the clock */
#define SPEED_STEP	 2.0

#define KEEP_EVENTS 10000u

struct player {
	const struct cast_events *e;
	uint32_t n; /* events shown */
	struct cast_screen now, shown;
	struct cast_screen *kept; /* checkpoints, every KEEP_EVENTS events played */
	bool painted;		  /* the terminal shows `shown` */
	double at_s, speed, end_s;
	bool paused, quit;
	int w, h;
};

static volatile sig_atomic_t resized, ended;

struct seeking {
	uint32_t from, to;
	double start, shown;
};

static void replay_on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else
		ended = 1;
}

/* --- places ------------------------------------------------------------------------------ */

static void replay_copy(struct cast_screen *to, const struct cast_screen *from)
{
	size_t n = (size_t)from->w * (size_t)from->h;
	struct cast_cell *cell = xrealloc(to->cell, n, sizeof(*cell));

	memcpy(cell, from->cell, n * sizeof(*cell));
	*to = *from;
	to->cell = cell;
}

/* Checkpoints, so that a seek does not have to play everything from the start. */
static void replay_save_checkpoint(struct player *p, uint32_t n)
{
	uint32_t slot = n / KEEP_EVENTS;

	if (n % KEEP_EVENTS)
		return;
	if (!p->kept)
		p->kept = xcalloc(p->e->n / KEEP_EVENTS + 1u, sizeof(*p->kept));
	if (!p->kept[slot].cell)
		replay_copy(&p->kept[slot], &p->now);
}

/* The best checkpoint of a file for its first n events; returns how many it has. */
static uint32_t replay_load_checkpoint(struct player *p, uint32_t n, uint32_t file)
{
	const struct cast_event *v = p->e->v;
	bool here = p->now.cell && p->n && p->n <= n && v[p->n - 1].file == file;
	uint32_t slot = n / KEEP_EVENTS, from = here ? p->n : 0;

	for (; p->kept && slot && slot * KEEP_EVENTS > from; slot--) {
		uint32_t at = slot * KEEP_EVENTS;

		if (!p->kept[slot].cell || v[at - 1].file != file)
			continue;
		replay_copy(&p->now, &p->kept[slot]);
		return at;
	}
	if (here)
		return from;
	cast_screen_free(&p->now);
	cast_screen_init(&p->now, p->e->file[file].w, p->e->file[file].h);
	return 0;
}

static void replay_put_line(FILE *f, const struct player *p, const char *text)
{
	char *cut = xasprintf("%-*.*s", p->w, p->w, text);

	fprintf(f, "\x1b[%d;1H\x1b[0;7m%s\x1b[0m", p->h, plain_text(cut, ""));
	free(cut);
}

static void replay_quits(void *ctx, enum play_key key)
{
	bool *quit = ctx;

	*quit |= key == PLAY_QUIT;
}

static bool replay_escape_waits(void)
{
	bool quit = false;

	return !play_keys_read(STDIN_FILENO, 0, replay_quits, &quit) || quit;
}

/* Shows the progress of a seek; true: it is to stop here. */
static bool replay_seek_progress(const struct player *p, struct seeking *s, uint32_t i)
{
	double now = clock_s();
	char words[80], line[128];

	if (now - s->start < PROGRESS_AFTER_S || now - s->shown < PROGRESS_S)
		return false;
	s->shown = now;
	progress_words(words, sizeof(words), "seeking", i - s->from, s->to - s->from,
		       now - s->start);
	snprintf(line, sizeof(line), " REPLAY %s  Esc: stop here", words);
	replay_put_line(stdout, p, line);
	fflush(stdout);
	return replay_escape_waits() || ended;
}

static void replay_seek(struct player *p, uint32_t n)
{
	const struct cast_event *v = p->e->v;
	uint32_t file = n ? v[n - 1].file : 0, i = replay_load_checkpoint(p, n, file);
	struct seeking s = { .from = i, .to = n, .start = clock_s() };

	for (; i < n; i++) {
		if (v[i].file != file)
			continue; /* each begins with a full repaint */
		cast_screen_event(&p->now, &v[i]);
		replay_save_checkpoint(p, i + 1);
		if (i % PROGRESS_EVENTS == 0 && replay_seek_progress(p, &s, i)) {
			p->paused = true;
			n = i + 1;
		}
	}
	p->n = n;
	p->at_s = n ? v[n - 1].at_s : 0;
}

static void replay_forget(struct player *p)
{
	for (uint32_t i = 0; p->kept && i <= p->e->n / KEEP_EVENTS; i++)
		cast_screen_free(&p->kept[i]);
	free(p->kept);
}

static void replay_seek_time(struct player *p, double at_s)
{
	uint32_t n;

	at_s = at_s < 0 ? 0 : at_s > p->end_s ? p->end_s : at_s;
	n = replay_up_to(p->e, at_s);
	replay_seek(p, n);
	if (p->n == n)
		p->at_s = at_s;
}

/* The frame that belongs to a mark is the one after it. */
static void replay_seek_mark(struct player *p, bool forward)
{
	const struct cast_event *v = p->e->v;

	if (forward) {
		for (uint32_t i = p->n; i < p->e->n; i++)
			if (v[i].code == 'm') {
				replay_seek(p, i + 1);
				return;
			}
		replay_seek(p, p->e->n);
		return;
	}
	/* not the current one, nor one just passed while playing */
	for (uint32_t i = p->n ? p->n - 1 : 0; i--;)
		if (v[i].code == 'm' && (p->paused || v[i].at_s < p->at_s - p->speed)) {
			replay_seek(p, i + 1);
			return;
		}
	replay_seek(p, 0);
}

static const char *replay_last_mark(const struct player *p)
{
	for (uint32_t i = p->n; i--;)
		if (p->e->v[i].code == 'm')
			return p->e->v[i].text;
	return "";
}

/* Applies the events up to at_s. */
static void replay_advance(struct player *p)
{
	while (p->n < p->e->n && p->e->v[p->n].at_s <= p->at_s) {
		const struct cast_event *ev = &p->e->v[p->n];

		if (p->n && ev->file != ev[-1].file) {
			replay_seek(p, p->n + 1);
			continue;
		}
		cast_screen_event(&p->now, ev);
		replay_save_checkpoint(p, ++p->n);
	}
}

/* --- the terminal ------------------------------------------------------------------------ */

static void replay_take_size(struct player *p)
{
	struct winsize ws;

	p->w = 80;
	p->h = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col && ws.ws_row) {
		p->w = ws.ws_col;
		p->h = ws.ws_row;
	}
	p->painted = false;
}

static void replay_clock_text(char *buf, size_t len, double s)
{
	unsigned t = (unsigned)s;

	snprintf(buf, len, "%u:%02u:%02u", t / 3600, t / 60 % 60, t % 60);
}

static void replay_put_status(FILE *f, const struct player *p)
{
	char at[24], end[24], line[256];

	replay_clock_text(at, sizeof(at), p->at_s);
	replay_clock_text(end, sizeof(end), p->end_s);
	snprintf(line, sizeof(line), " REPLAY %s of %s  x%g%s  %.60s", at, end, p->speed,
		 p->paused ? "  PAUSED" : "", replay_last_mark(p));
	replay_put_line(f, p, line);
	if (p->w >= 80)
		fprintf(f, "\x1b[%d;%dH\x1b[0;7m%s\x1b[0m", p->h, p->w - 45,
			"Space pause  arrows 10 s  [ ] marks  + -  q ");
}

static void replay_show(struct player *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	cast_screen_paint(f, &p->now, p->painted ? &p->shown : NULL, p->w, p->h - 1);
	replay_put_status(f, p);
	fclose(f);
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout))
		p->quit = true;
	free(text);
	replay_copy(&p->shown, &p->now);
	p->painted = true;
}

static void replay_step(struct player *p)
{
	uint32_t i = p->n;

	while (i < p->e->n && p->e->v[i].code != 'o')
		i++;
	p->paused = true;
	replay_seek(p, i < p->e->n ? i + 1 : p->e->n);
}

static void replay_act(void *ctx, enum play_key key)
{
	struct player *p = ctx;

	switch (key) {
	case PLAY_QUIT:
		p->quit = true;
		break;
	case PLAY_PAUSE:
		p->paused = !p->paused;
		break;
	case PLAY_BACK:
		replay_seek_time(p, p->at_s - JUMP_S);
		break;
	case PLAY_ON:
		replay_seek_time(p, p->at_s + JUMP_S);
		break;
	case PLAY_PREV:
		replay_seek_mark(p, false);
		break;
	case PLAY_NEXT:
		replay_seek_mark(p, true);
		break;
	case PLAY_FASTER:
		p->speed *= p->speed < 512 ? SPEED_STEP : 1;
		break;
	case PLAY_SLOWER:
		p->speed /= p->speed > 0.02 ? SPEED_STEP : 1;
		break;
	case PLAY_START:
		replay_seek(p, 0);
		break;
	case PLAY_END:
		replay_seek(p, p->e->n);
		break;
	case PLAY_STEP:
		replay_step(p);
		break;
	case PLAY_NONE:
		break;
	}
}

/* Until a key, the next event or the next update of the status line. */
static void replay_wait_for_key(struct player *p)
{
	double left = STATUS_S, before = clock_s();

	if (!p->paused && p->n < p->e->n) {
		double due = (p->e->v[p->n].at_s - p->at_s) / p->speed;

		left = due < left ? due : left;
	}
	if (!play_keys_read(STDIN_FILENO, left > 0 ? (int)(left * 1e3) + 1 : 0, replay_act, p))
		p->quit = true;
	if (!p->paused && p->at_s < p->end_s)
		p->at_s += (clock_s() - before) * p->speed;
	if (p->at_s > p->end_s)
		p->at_s = p->end_s;
}

static void replay_do_play(struct player *p, uint32_t from)
{
	const struct progress *watch = file_progress();

	replay_take_size(p);
	replay_seek(p, from);
	while (!p->quit && !ended && !progress_cancelled(watch)) {
		if (resized) {
			resized = 0;
			replay_take_size(p);
		}
		replay_advance(p);
		replay_show(p);
		replay_wait_for_key(p);
	}
}

/* Plays with the terminal in raw mode, and restores it. */
static int replay_on_terminal(struct player *p, uint32_t from, struct err *err)
{
	struct sigaction sa = { .sa_handler = replay_on_signal }, before[3];
	static const int sigs[3] = { SIGWINCH, SIGTERM, SIGHUP };
	struct termios was, raw;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &was))
		return err_set(
			err, -ENOTTY,
			"no terminal to replay on: --dump WHERE prints the screen at a place");
	resized = ended = 0;
	for (int i = 0; i < 3; i++)
		sigaction(sigs[i], &sa, &before[i]);
	raw = was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\x1b[?1049h\x1b[?25l\x1b[?7l", stdout);
	replay_do_play(p, from);
	fputs("\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	for (int i = 0; i < 3; i++)
		sigaction(sigs[i], &before[i], NULL);
	return 0;
}

int replay_play(const struct cast_events *e, uint32_t from, double speed, struct err *err)
{
	struct player p = { .e = e, .speed = speed, .end_s = cast_events_end(e) };
	int rc = replay_on_terminal(&p, from, err);

	cast_screen_free(&p.now);
	cast_screen_free(&p.shown);
	replay_forget(&p);
	return rc;
}

int replay_run(const char *path, double speed, const char *at, struct err *err)
{
	struct cast_events e = { 0 };
	uint32_t n = 0;
	int rc = cast_read_session(&e, path, err);

	if (!rc && at)
		rc = replay_place(&n, &e, path, at, err);
	if (!rc)
		rc = replay_play(&e, n, speed, err);
	cast_events_free(&e);
	return rc;
}
