/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the canvas shown last and sends only what differs: by screen_code where the terminal has
 * the usual sequences, else through curses, which opens and closes the screen in either case.
 */
#include "console/app/terminal/terminal.h"

#include "console/app/terminal/key_reader.h"
#include "console/app/terminal/terminal_code.h"
#include "console/app/terminal/terminal_keys.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "views/canvas/theme.h"

#include <curses.h>
#include <term.h>

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The begin and the end of a text that is pasted are told. */
#define PASTES_TOLD "\033[?2004h"
#define PASTES_MUTE "\033[?2004l"
/* Presses only: what terminals do with a double click is done by whoever gets two of them. */
#define MOUSE_TOLD "\033[?1000h\033[?1006h"
#define MOUSE_MUTE "\033[?1000l\033[?1006l"

struct terminal {
	SCREEN *screen;
	bool ascii, mouse;
	int has_colours, colours; /* in use: none of them by a theme without */
	int w, h;
	struct key_reader *keys;
	struct cell *shown; /* w * h of the last frame */
	bool coded;	    /* by code, not by curses */
	struct screen_code code;
};

/* What a signal handler needs; there is one terminal per process. */
static struct {
	volatile sig_atomic_t open;
	struct termios before;
	char bytes[256]; /* leaves the alternate screen, shows the cursor */
	size_t nbytes;
} rescue;

/* Set when the process was stopped, by whomever, and goes on: a shell has had the terminal. */
static volatile sig_atomic_t continued;
static struct sigaction continue_before;

static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE,	SIGILL, SIGABRT,
			      SIGHUP,  SIGINT, SIGQUIT, SIGTERM };
#define NDEADLY (sizeof(deadly) / sizeof(deadly[0]))
static struct sigaction deadly_before[NDEADLY];

static void terminal_rescue_screen(int sig)
{
	if (rescue.open) {
		rescue.open = 0;
		if (write(STDOUT_FILENO, rescue.bytes, rescue.nbytes) < 0)
			_exit(128 + sig);
		tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
	}
	/* the disposition is back to the default: SA_RESETHAND */
	raise(sig);
}

static void terminal_on_continue(int sig)
{
	(void)sig;
	continued = 1;
}

/* The modes of before, for who has the terminal next. */
static void terminal_give_back(void)
{
	fputs(PASTES_MUTE MOUSE_MUTE, stdout);
	fflush(stdout);
	endwin();
}

static void terminal_ask_for_reports(const struct terminal *t)
{
	const char *mouse = tigetstr("kmous");

	fputs(PASTES_TOLD, stdout);
	if (mouse && mouse != (const char *)-1)
		fputs(t->mouse ? MOUSE_TOLD : MOUSE_MUTE, stdout);
	fflush(stdout);
}

static void terminal_close_at_exit(void)
{
	if (rescue.open)
		terminal_give_back();
	rescue.open = 0;
}

/* A capability without its padding, which only hardware of old needs. */
static void terminal_rescue_add(const char *name)
{
	const char *s = tigetstr(name);

	if (!s || s == (const char *)-1)
		return;
	while (*s && rescue.nbytes < sizeof(rescue.bytes)) {
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

		if (end)
			s = end + 1;
		else
			rescue.bytes[rescue.nbytes++] = *s++;
	}
}

static void terminal_rescue_text(const char *text)
{
	while (*text && rescue.nbytes < sizeof(rescue.bytes))
		rescue.bytes[rescue.nbytes++] = *text++;
}

/* Only where nobody else has a handler: the application may want to leave in good order. */
static void terminal_rescue_install(void)
{
	struct sigaction go_on = { .sa_handler = terminal_on_continue, .sa_flags = SA_RESTART };
	static bool registered;

	rescue.nbytes = 0;
	terminal_rescue_add("sgr0");
	terminal_rescue_text(MOUSE_MUTE);
	terminal_rescue_text(PASTES_MUTE);
	terminal_rescue_add("rmkx");
	terminal_rescue_add("rmcup");
	terminal_rescue_add("cnorm");
	if (!registered)
		atexit(terminal_close_at_exit);
	registered = true;
	sigaction(SIGCONT, &go_on, &continue_before);
	for (size_t i = 0; i < NDEADLY; i++) {
		struct sigaction sa = { .sa_handler = terminal_rescue_screen,
					.sa_flags = SA_RESETHAND };

		sigaction(deadly[i], NULL, &deadly_before[i]);
		if (deadly_before[i].sa_handler == SIG_DFL)
			sigaction(deadly[i], &sa, NULL);
	}
}

static void terminal_rescue_remove(void)
{
	rescue.open = 0;
	sigaction(SIGCONT, &continue_before, NULL);
	for (size_t i = 0; i < NDEADLY; i++) {
		struct sigaction now;

		sigaction(deadly[i], NULL, &now);
		if (now.sa_handler == terminal_rescue_screen)
			sigaction(deadly[i], &deadly_before[i], NULL);
	}
}

static int terminal_colours_asked(int asked)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("COLORTERM");

	if (asked >= 0)
		return asked;
	if (no && no[0])
		return 0;
	return term && (!strcmp(term, "truecolor") || !strcmp(term, "24bit")) ? COLOURS_TRUE : 256;
}

/*
 * Such terminals say so in COLORTERM, while TERM names an entry of 256 colours: the entry with
 * true colours is TERM-direct, where the terminal database has it (Debian: ncurses-term).  A
 * multiplexer's keys are those of screen, whatever TERM says within it.
 */
static SCREEN *terminal_screen_open(int asked)
{
	const char *term = getenv("TERM");
	int family = (int)strcspn(term, "-");
	SCREEN *screen = NULL;
	char direct[64];

	if (asked == COLOURS_TRUE && !strstr(term, "-direct") && family < 50) {
		bool tmux = getenv("TMUX") && !strncmp(term, "screen", (size_t)family);

		snprintf(direct, sizeof(direct), "%.*s-direct", tmux ? 4 : family,
			 tmux ? "tmux" : term);
		screen = newterm(direct, stdout, stdin);
	}
	return screen ? screen : newterm(NULL, stdout, stdin);
}

static int terminal_colours_wanted(int asked)
{
	int has;

	/* COLORS is set by start_color(), which would also paint a terminal in one colour */
	if (asked < 8 || !has_colors() || start_color() == ERR)
		return 0;
	use_default_colors();
	has = COLORS;
	/* colours are numbers of three bytes there, and never those of a palette */
	if (tigetflag("RGB") > 0 && has >= 1 << 24)
		return asked >= 256 ? COLOURS_TRUE : 0;
	if (asked >= 256 && has >= 256)
		return 256;
	return has >= 8 ? 16 : 0;
}

static void terminal_roles_init(int colours)
{
	if (!colours)
		return;
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct role_style *l = role_style((enum role)i);

		if (colours == COLOURS_TRUE)
			init_extended_pair(i + 1, role_rgb((enum role)i, false),
					   role_rgb((enum role)i, true));
		else if (colours == 256)
			init_pair((short)(i + 1), l->fg, l->bg);
		else
			init_pair((short)(i + 1), l->fg16, l->bg16);
	}
}

int terminal_check(struct err *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(
			err, -ENOTTY,
			"standard input and output are not a terminal: for scripts there are -b, "
			"--json, --jsonl and the subcommands (see --help)");
	if (!term || !term[0] || strcmp(term, "dumb") == 0)
		return err_set(
			err, -ENOTTY,
			"TERM is %s, which cannot show full screens: -b prints the same as text "
			"(see --help)",
			term && term[0] ? term : "not set");
	return 0;
}

static void terminal_size_take(struct terminal *t)
{
	size_t n;

	getmaxyx(stdscr, t->h, t->w);
	n = (size_t)t->w * (size_t)t->h;
	free(t->shown);
	t->shown = xcalloc(n, sizeof(*t->shown));
	for (size_t i = 0; i < n; i++)
		t->shown[i].ch = SCREEN_UNKNOWN;
}

static void terminal_modes_set(void)
{
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	curs_set(0);
}

void terminal_set_mouse(struct terminal *t, bool on)
{
	t->mouse = on;
	terminal_ask_for_reports(t);
}

bool terminal_has_mouse(const struct terminal *t)
{
	return t->mouse;
}

static bool terminal_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void terminal_set_ascii(struct terminal *t, bool on)
{
	t->ascii = on || !terminal_is_utf8();
}

void terminal_mouse(const struct terminal *t, int *x, int *y)
{
	key_reader_mouse(t->keys, x, y);
}

static void terminal_style(struct terminal *t)
{
	t->colours = theme_is_mono() ? 0 : t->has_colours;
	terminal_roles_init(t->colours);
	t->coded = terminal_code_learn(&t->code, t->colours);
	t->code.utf8 = terminal_is_utf8();
}

void terminal_restyle(struct terminal *t)
{
	terminal_style(t);
	terminal_redraw(t);
}

int terminal_open(struct terminal **out, const struct terminal_opts *opts, struct err *err)
{
	struct terminal *t;
	int colours, rc = terminal_check(err);

	if (rc)
		return rc;
	setlocale(LC_CTYPE, "");
	tcgetattr(STDIN_FILENO, &rescue.before);
	t = xcalloc(1, sizeof(*t));
	colours = terminal_colours_asked(opts->colours);
	t->screen = terminal_screen_open(colours);
	if (!t->screen) {
		free(t);
		return err_set(err, -ENOTTY,
			       "no terminal description for TERM=%s: set TERM to a similar known "
			       "terminal, such as xterm-256color, or use the subcommands (Debian's "
			       "package ncurses-term describes more terminals)",
			       getenv("TERM"));
	}
	terminal_modes_set();
	t->keys = key_reader_new();
	terminal_keys_learn(t->keys);
	terminal_set_mouse(t, !opts->no_mouse);
	terminal_rescue_install();
	rescue.open = 1;
	terminal_set_ascii(t, opts->ascii);
	t->has_colours = terminal_colours_wanted(colours);
	terminal_style(t);
	if (t->coded)
		refresh(); /* its last word, for now */
	terminal_size_take(t);
	*out = t;
	return 0;
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	if (rescue.open)
		terminal_give_back();
	terminal_rescue_remove();
	delscreen(t->screen);
	key_reader_free(t->keys);
	screen_code_done(&t->code);
	free(t->shown);
	free(t);
}

bool terminal_pasting(const struct terminal *t)
{
	return key_reader_pasting(t->keys);
}

int terminal_fd(const struct terminal *t)
{
	(void)t;
	return STDIN_FILENO;
}

void terminal_size(const struct terminal *t, int *w, int *h)
{
	*w = t->w;
	*h = t->h;
}

bool terminal_ascii(const struct terminal *t)
{
	return t->ascii;
}

int terminal_colours(const struct terminal *t)
{
	return t->colours;
}

/* curses' own SIGWINCH handler may not run when the application blocks the signal, so the
 * size is asked for. */
static bool terminal_size_changed(struct terminal *t)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col)
		return false;
	if (ws.ws_row == t->h && ws.ws_col == t->w)
		return false;
	resizeterm(ws.ws_row, ws.ws_col);
	terminal_size_take(t);
	clearok(stdscr, TRUE);
	return true;
}

/* After a stop: our modes again, and everything is drawn again. */
static void terminal_take_back(struct terminal *t)
{
	continued = 0;
	reset_prog_mode();
	terminal_ask_for_reports(t);
	terminal_redraw(t);
	terminal_size_changed(t);
	refresh();
}

/* Waits at most that long for bytes, and reads what is there: how many; -1: the terminal is gone.
 */
static int terminal_read(struct terminal *t, double wait_s)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	char bytes[1024];
	ssize_t n;

	if (poll(&fd, 1, wait_s > 0 ? (int)(wait_s * 1e3) + 1 : 0) <= 0)
		return 0;
	n = read(STDIN_FILENO, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return -1;
	key_reader_put(t->keys, bytes, (size_t)n, clock_s());
	return (int)n;
}

/* The next key of what was read, or of what is read now. */
static uint32_t terminal_next_key(struct terminal *t)
{
	uint32_t key;
	double wait;
	int n;

	do {
		key = key_reader_take(t->keys, clock_s());
		if (key)
			return key;
		wait = key_reader_wait_s(t->keys, clock_s());
		n = terminal_read(t, wait);
	} while (n > 0 || (!n && wait >= 0));
	return n < 0 ? K_EOF : K_NONE;
}

uint32_t terminal_key(struct terminal *t)
{
	uint32_t key;

	if (continued) {
		terminal_take_back(t);
		return K_RESIZE;
	}
	if (terminal_size_changed(t))
		return K_RESIZE;
	do {
		key = terminal_next_key(t);
	} while (!t->mouse && key >= K_CLICK && key <= K_WHEEL_DOWN);
	return key;
}

static attr_t terminal_role_attrs(const struct terminal *t, const struct cell *cell)
{
	const struct role_style *l = role_style((enum role)cell->role);
	attr_t a = A_NORMAL;

	if (l->bold)
		a |= A_BOLD;
	if (cell->reverse || (!t->colours && l->reverse))
		a |= A_REVERSE;
	return a;
}

static void terminal_cell_show(const struct terminal *t, int x, int y, const struct cell *cell)
{
	wchar_t text[2] = { (wchar_t)cell->ch, 0 };
	cchar_t cc;

	if (!cell->ch)
		return;
	setcchar(&cc, text, terminal_role_attrs(t, cell), (short)(t->colours ? cell->role + 1 : 0),
		 NULL);
	mvadd_wch(y, x, &cc);
}

/* All of it, also where somebody has made the terminal non-blocking; one that is gone is told by
 * terminal_key(). */
static void terminal_write(const char *bytes, size_t n)
{
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t done;

	fflush(stdout);
	while (n) {
		done = write(STDOUT_FILENO, bytes, n);
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		} else if (done < 0 && errno == EAGAIN) {
			poll(&fd, 1, -1);
		} else if (done >= 0 || errno != EINTR) {
			return;
		}
	}
}

static void terminal_show_coded(struct terminal *t, const struct canvas *c)
{
	const char *bytes;
	size_t n = screen_code_frame(&t->code, &bytes, t->shown, t->w, t->h, c);

	terminal_write(bytes, n);
}

static void terminal_show_by_curses(struct terminal *t, const struct canvas *c)
{
	int w = c->w < t->w ? c->w : t->w, h = c->h < t->h ? c->h : t->h;

	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++) {
			const struct cell *cell = &c->cell[y * c->w + x];
			struct cell *last = &t->shown[y * t->w + x];

			if (last->ch == cell->ch && last->role == cell->role &&
			    last->reverse == cell->reverse)
				continue;
			*last = *cell;
			terminal_cell_show(t, x, y, cell);
		}
	}
	refresh();
}

void terminal_show(struct terminal *t, const struct canvas *c)
{
	if (t->coded)
		terminal_show_coded(t, c);
	else
		terminal_show_by_curses(t, c);
}

void terminal_copy(struct terminal *t, const char *text)
{
	size_t n = strlen(text);
	unsigned char *code = xcalloc(n * 4 / 3 + 8, 1);

	(void)t;
	EVP_EncodeBlock(code, (const unsigned char *)text, (int)n);
	printf("\033]52;c;%s\a", (const char *)code);
	fflush(stdout);
	free(code);
}

void terminal_ring(struct terminal *t)
{
	(void)t;
	terminal_write("\a", 1);
}

void terminal_redraw(struct terminal *t)
{
	terminal_size_take(t);
	clearok(stdscr, TRUE);
}

void terminal_lend(struct terminal *t)
{
	(void)t;
	def_prog_mode();
	terminal_give_back();
}

void terminal_return(struct terminal *t)
{
	terminal_take_back(t);
}

void terminal_leave(struct terminal *t)
{
	terminal_lend(t);
	rescue.open = 0;
}

void terminal_enter(struct terminal *t)
{
	rescue.open = 1;
	terminal_take_back(t);
}

void terminal_suspend(struct terminal *t)
{
	def_prog_mode();
	terminal_give_back();
	rescue.open = 0;
	raise(SIGTSTP);
	rescue.open = 1;
	terminal_take_back(t);
}
