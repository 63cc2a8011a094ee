/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/fabrics/fabrics.h"

#include "console/fabrics/fabric_link.h"
#include "fabric/base/message/plain.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct fabric_console {
	pid_t pid;  /* 0: it has ended, or was never there */
	int fd;	    /* the link */
	int errors; /* file for what it says on stderr */
	int rc;
	bool hung_up; /* the link; its end is still to come */
};

struct fabrics {
	struct fabric_console of[FABRICS_MAX];
	struct state_fabrics tabs;
	uint32_t n, front, next; /* next: who has the terminal after the front one has left it */
	bool changed;
	bool ending;					  /* by a signal */
	char say[sizeof(((struct fabric_msg *)0)->text)]; /* to the next */
	struct termios before;
};

static volatile sig_atomic_t asked_to_end, somebody_ended;

static void fabrics_on_signal(int sig)
{
	if (sig == SIGCHLD)
		somebody_ended = 1;
	else
		asked_to_end = sig;
}

static void fabrics_tell(const struct fabrics *f, uint32_t i, enum fabric_word word,
			 const char *text)
{
	struct fabric_msg m = { .word = word };

	if (!f->of[i].pid)
		return;
	snprintf(m.text, sizeof(m.text), "%s", text);
	m.all = f->tabs;
	m.all.at = i;
	fabric_link_send(f->of[i].fd, &m);
}

static void fabrics_tell_all(const struct fabrics *f, enum fabric_word word)
{
	for (uint32_t i = 0; i < f->n; i++)
		fabrics_tell(f, i, word, "");
}

/* --- the terminal ---------------------------------------------------------------------------- */

/* The one in front leaves it first. */
static void fabrics_switch(struct fabrics *f, uint32_t to, const char *say)
{
	f->next = to;
	snprintf(f->say, sizeof(f->say), "%s", say);
	fabrics_tell(f, f->front, LINK_AWAY, "");
}

static void fabrics_give(struct fabrics *f)
{
	f->front = f->next;
	fabrics_tell(f, f->front, LINK_FRONT, f->say);
	f->say[0] = '\0';
}

/* --- what consoles say ------------------------------------------------------------------------ */

/* An update of any fabric has to be ended first: its console is shown.  Each looks once more itself
 * before it ends. */
static void fabrics_quit(struct fabrics *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->of[i].pid && i != f->front && f->tabs.tab[i].updating) {
			fabrics_switch(f, i,
				       "before you quit: confirm this update, or roll it back");
			return;
		}
	fabrics_tell_all(f, LINK_LEAVE);
}

static void fabrics_take(struct fabrics *f, uint32_t i, const struct fabric_msg *m)
{
	struct fabric_tab *t = &f->tabs.tab[i];

	switch (m->word) {
	case LINK_STATUS:
		t->level = m->tab.level;
		t->updating = m->tab.updating;
		memcpy(t->word, m->tab.word, sizeof(t->word));
		f->changed = true;
		break;
	case LINK_GO:
		if (i == f->front && m->to < f->n && m->to != i && f->of[m->to].pid)
			fabrics_switch(f, m->to, "");
		break;
	case LINK_LENT:
		if (i == f->front)
			fabrics_give(f);
		break;
	case LINK_QUIT:
		fabrics_quit(f);
		break;
	case LINK_RING: /* not from here: a sequence may be on its way to the terminal */
		if (i != f->front)
			fabrics_tell(f, f->front, LINK_RUNG, "");
		break;
	default:
		break;
	}
}

static void fabrics_hear(struct fabrics *f, uint32_t i)
{
	struct fabric_msg m;
	int rc;

	while (!(rc = fabric_link_take(f->of[i].fd, &m)))
		fabrics_take(f, i, &m);
	f->of[i].hung_up = rc != -EAGAIN;
}

/* --- who has ended --------------------------------------------------------------------------- */

/* The last line that it said. */
static void fabrics_last_words(char *buf, size_t len, const struct fabric_console *c)
{
	off_t end = lseek(c->errors, 0, SEEK_END), from = end > 400 ? end - 400 : 0;
	char text[401];
	ssize_t n = pread(c->errors, text, 400, from);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	line = strrchr(text, '\n');
	snprintf(buf, len, "%s", plain_text(line ? line + 1 : text, ""));
}

static void fabrics_ended(struct fabrics *f, uint32_t i, int status)
{
	struct fabric_console *c = &f->of[i];
	char words[120], say[sizeof(f->say)];

	fabrics_hear(f, i);
	c->pid = 0;
	close(c->fd);
	c->rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	f->tabs.tab[i].level = FABRIC_ENDED;
	f->tabs.tab[i].updating = false;
	snprintf(f->tabs.tab[i].word, sizeof(f->tabs.tab[i].word), "ended");
	f->changed = true;
	fabrics_last_words(words, sizeof(words), c);
	snprintf(say, sizeof(say), "fabric %s: its console has ended%s%s", f->tabs.tab[i].name,
		 words[0] ? ": " : "", words);
	if (i == f->front) {
		if (WIFSIGNALED(status))
			tcsetattr(STDIN_FILENO, TCSANOW, &f->before);
		if (f->next == i || !f->of[f->next].pid)
			for (f->next = 0; f->next < f->n - 1 && !f->of[f->next].pid;)
				f->next++;
		fabrics_give(f);
	} else if (f->next == i) {
		f->next = f->front;
	}
	if (c->rc && !f->ending)
		fabrics_tell(f, f->front, LINK_SAY, say);
}

/* Ctrl-Z stops the console in front; the shell waits for this process. */
static void fabrics_stopped(const struct fabrics *f, uint32_t i)
{
	if (i != f->front)
		return;
	raise(SIGTSTP);
	kill(f->of[i].pid, SIGCONT);
}

static void fabrics_reap(struct fabrics *f)
{
	int status;

	for (uint32_t i = 0; i < f->n; i++) {
		if (!f->of[i].pid ||
		    waitpid(f->of[i].pid, &status, WNOHANG | WUNTRACED) != f->of[i].pid)
			continue;
		if (WIFSTOPPED(status))
			fabrics_stopped(f, i);
		else
			fabrics_ended(f, i, status);
	}
}

/* --- begin, loop, end ------------------------------------------------------------------------- */

static void fabrics_close(struct fabrics *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->of[i].pid)
			close(f->of[i].fd);
}

/* In the new process: nothing of the others', so that each sees when this one ends. */
static void fabrics_console(struct fabrics *f, size_t i, int link, const sigset_t *mask,
			    fabrics_console_fn *console, void *arg)
{
	fabrics_close(f);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	dup2(f->of[i].errors, STDERR_FILENO);
	exit(console(arg, i, link));
}

static int fabrics_start(struct fabrics *f, const sigset_t *mask, fabrics_console_fn *console,
			 void *arg, struct err *err)
{
	uint32_t i = f->n;
	int pair[2], rc = 0;
	pid_t pid;

	f->of[i].errors = memfd_create("stderr", MFD_CLOEXEC);
	if (f->of[i].errors < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot start a console: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		fabrics_console(f, i, pair[1], mask, console, arg);
	}
	if (pid < 0)
		rc = err_set(err, -errno, "cannot start a console: %s", strerror(errno));
	close(pair[1]);
	if (rc) {
		close(pair[0]);
		return rc;
	}
	f->of[i].pid = pid;
	f->of[i].fd = pair[0];
	f->n++;
	return 0;
}

static bool fabrics_any(const struct fabrics *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->of[i].pid)
			return true;
	return false;
}

static void fabrics_pass_on_signal(struct fabrics *f)
{
	int sig = asked_to_end;

	asked_to_end = 0;
	f->ending |= sig != 0;
	for (uint32_t i = 0; sig && i < f->n; i++)
		if (f->of[i].pid)
			kill(f->of[i].pid, sig);
}

/* Until a console says something or a signal comes. */
static void fabrics_wait(struct fabrics *f, const sigset_t *mask)
{
	struct pollfd fds[FABRICS_MAX];

	for (uint32_t i = 0; i < f->n; i++) {
		bool there = f->of[i].pid && !f->of[i].hung_up;

		fds[i] = (struct pollfd){ .fd = there ? f->of[i].fd : -1, .events = POLLIN };
	}
	if (ppoll(fds, f->n, NULL, mask) <= 0)
		return;
	for (uint32_t i = 0; i < f->n; i++) {
		if (fds[i].revents & POLLIN)
			fabrics_hear(f, i);
		else if (fds[i].revents)
			f->of[i].hung_up = true;
	}
}

static void fabrics_loop(struct fabrics *f, const sigset_t *mask)
{
	while (fabrics_any(f)) {
		if (f->changed)
			fabrics_tell_all(f, LINK_TABS);
		f->changed = false;
		fabrics_wait(f, mask);
		fabrics_pass_on_signal(f);
		if (somebody_ended) {
			somebody_ended = 0;
			fabrics_reap(f);
		}
	}
}

/* What they said that nobody could see. */
static int fabrics_end(const struct fabrics *f)
{
	char bytes[1024];
	int rc = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		ssize_t n;

		lseek(f->of[i].errors, 0, SEEK_SET);
		while ((n = read(f->of[i].errors, bytes, sizeof(bytes))) > 0)
			fwrite(bytes, 1, (size_t)n, stderr);
		close(f->of[i].errors);
		rc = rc ? rc : f->of[i].rc;
	}
	return rc;
}

static void fabrics_catch_signals(sigset_t *before)
{
	static const int caught[] = { SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	struct sigaction sa = { .sa_handler = fabrics_on_signal };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		sigaddset(&block, caught[i]);
		sigaction(caught[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, before);
}

int fabrics_run(const char *const *name, size_t n, fabrics_console_fn *console, void *arg,
		struct err *err)
{
	struct fabrics f = { .tabs = { .n = (uint32_t)n }, .changed = true };
	sigset_t mask;
	int rc = 0;

	tcgetattr(STDIN_FILENO, &f.before);
	fabrics_catch_signals(&mask);
	for (size_t i = 0; i < n && !rc; i++) {
		snprintf(f.tabs.tab[i].name, FABRIC_NAME, "%s", name[i]);
		rc = fabrics_start(&f, &mask, console, arg, err);
	}
	if (rc)
		fabrics_tell_all(&f, LINK_LEAVE);
	else
		fabrics_give(&f);
	fabrics_loop(&f, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return rc ? rc : fabrics_end(&f);
}
