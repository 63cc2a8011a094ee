/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_bench [--json] PROGRAM: what the screen costs, beside its goals.
 *
 *   frame     CPU time of one frame at 2,064 switches, the slowest view of 1 2 3 5 8: with the data
 *             of the frame before, and with a new sample
 *   key       through a pty: from a key to the first byte of its screen, at 2,064 switches while
 *             an engine computes; median and 95 % of 60 keys
 *   idle      CPU of the program at 1,400 hosts with an interval of 2 s: its own threads for screen
 *             and wire; the simulated fabric, which real ones do not need, is told apart
 *   line      bytes a second through the pty meanwhile, the largest of views 1 2 3 5
 *   history   bytes of one sample at both sizes
 */
#include "tests/unit/app_kit.h"

#include "fabric/base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGE "dragonfly:p=8"
#define USUAL "fattree2:leaves=78,spines=18,hosts=18"

static bool json;
static bool first = true;

static void row(const char *name, double value, const char *unit, double goal)
{
	if (json)
		printf("%s\n  {\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"goal\": %g}",
		       first ? "" : ",", name, value, unit, goal);
	else if (goal > 0)
		printf("%-52s %9.2f %-6s goal %g%s\n", name, value, unit, goal,
		       value <= goal ? "" : "   MISSED");
	else
		printf("%-52s %9.2f %s\n", name, value, unit);
	first = false;
	fflush(stdout);
}

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- frames ---------------------------------------------------------------------------------- */

#define FRAMES 6

/* CPU of the thread of the screen, ms, means of FRAMES. */
struct frame_cost {
	double same;  /* a frame with the data of the one before */
	double fresh; /* the first with a new sample */
	double taken; /* that sample taken in, before its frame */
	double made;  /* what was made of it before, by the thread that read it */
};

/* Takes what came in until a sample was among it; what that took. */
static double take_sample_ms(struct app *a)
{
	uint64_t was = past_newest(a->past);
	double start;

	for (;;) {
		struct pollfd fd = { .fd = mailbox_fd(a->box), .events = POLLIN };

		poll(&fd, 1, 100);
		start = thread_cpu_s();
		app_take_messages(a);
		if (past_newest(a->past) != was)
			return 1e3 * (thread_cpu_s() - start);
	}
}

static double draw_ms(struct app *a)
{
	double start = thread_cpu_s();

	app_draw(a);
	return 1e3 * (thread_cpu_s() - start);
}

static struct frame_cost frame_cost(struct app *a, const char *view)
{
	struct frame_cost sum = { 0 };

	app_kit_keys(a, view);
	app_draw(a);
	for (int i = 0; i < FRAMES; i++) {
		sum.taken += take_sample_ms(a) / FRAMES;
		sum.made += 1e3 * a->prepared_s / FRAMES;
		sum.fresh += draw_ms(a) / FRAMES;
		sum.same += draw_ms(a) / FRAMES;
	}
	return sum;
}

static int frames(void)
{
	static const char *const views[][2] = {
		{ "1", "Overview" }, { "2", "Heatmap" }, { "3", "Links" },
		{ "4", "Switches" }, { "5", "Jobs" },	 { "6", "Engines" },
		{ "8", "Events" },   { "0", "Paths" },	 { "t", "Topology" },
	};
	struct app *a = app_kit_open(LARGE, NULL, 200, 60);
	double same = 0, fresh = 0, taken = 0, made = 0;
	char name[80];

	if (!a || !app_kit_ready(a, 3))
		return 1;
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		struct frame_cost c = frame_cost(a, views[i][0]);

		snprintf(name, sizeof(name), "frame with a new sample, %s", views[i][1]);
		row(name, c.fresh, "ms", 5);
		same = fmax(same, c.same);
		fresh = fmax(fresh, c.fresh);
		taken = fmax(taken, c.taken);
		made = fmax(made, c.made);
	}
	row("frame, 2,064 switches, slowest view", same, "ms", 5);
	row("frame, 2,064 switches, with a new sample, slowest", fresh, "ms", 5);
	row("a sample taken in by the thread of the screen", taken, "ms", 5);
	row("a sample added up before, by the thread that read it", made, "ms", 0);
	row("history, 2,064 switches and 16,512 hosts, per sample",
	    (double)past_bytes(a->past) / past_count(a->past) / 1e3, "kB", 0);
	app_end(a);
	return 0;
}

/* --- a real terminal ------------------------------------------------------------------------- */

static pid_t spawn(int *fd, const char *program, const char *demo)
{
	struct winsize size = { .ws_row = 30, .ws_col = 100 };
	char arg[160];
	pid_t pid = forkpty(fd, NULL, NULL, &size);

	if (pid)
		return pid;
	snprintf(arg, sizeof(arg), "--demo=%s", demo);
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execl(program, program, arg, "-d", "2", "--record-dir", "/tmp/ibroute-bench-record",
	      "--no-mouse", (char *)NULL);
	_exit(127);
}

/* Bytes that come within that time; until_quiet: or until nothing has come for 50 ms. */
static size_t drain(int fd, double seconds, bool until_quiet)
{
	double end = clock_s() + seconds;
	size_t all = 0;
	char buf[65536];

	while (clock_s() < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (!poll(&p, 1, until_quiet ? 50 : 20)) {
			if (until_quiet)
				break;
			continue;
		}
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			break;
		all += (size_t)n;
	}
	return all;
}

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		perror("pty");
}

static int ms_cmp(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : 1;
}

#define KEYS 60

static void stop(pid_t pid, int fd)
{
	kill(pid, SIGTERM);
	for (int i = 0; i < 100 && !waitpid(pid, NULL, WNOHANG); i++)
		drain(fd, 0.1, false);
	close(fd);
}

static void keys(const char *program)
{
	double ms[KEYS];
	int fd;
	pid_t pid = spawn(&fd, program, LARGE);

	drain(fd, 40, false); /* the fabric is made, swept and polled */
	say(fd, ":engine nue\r");
	drain(fd, 2, false);
	for (int i = 0; i < KEYS; i++) {
		const char key[2] = { "123jkj58"[i % 8], 0 };
		struct pollfd p = { .fd = fd, .events = POLLIN };
		double start;

		drain(fd, 1, true);
		start = clock_s();
		say(fd, key);
		poll(&p, 1, 5000);
		ms[i] = (clock_s() - start) * 1e3;
	}
	qsort(ms, KEYS, sizeof(*ms), ms_cmp);
	row("key to screen, 2,064 switches, engine running, median", ms[KEYS / 2], "ms", 50);
	row("key to screen, the same, 95 % of the keys", ms[KEYS * 95 / 100], "ms", 0);
	stop(pid, fd);
}

/* CPU of a thread so far, in ticks; its name says what it is for. */
static double task_ticks(pid_t pid, const char *tid)
{
	char path[300], text[1024] = "", *p;
	unsigned long user = 0, sys = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fread(text, 1, sizeof(text) - 1, f))
		text[0] = '\0';
	fclose(f);
	p = strrchr(text, ')');
	if (!p ||
	    sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
		return 0;
	return (double)(user + sys);
}

static double cpu_ticks(pid_t pid, bool main_only)
{
	char path[64], tid[32];
	double sum = 0;
	struct dirent *e;
	DIR *d;

	snprintf(tid, sizeof(tid), "%d", (int)pid);
	if (main_only)
		return task_ticks(pid, tid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			sum += task_ticks(pid, e->d_name);
	if (d)
		closedir(d);
	return sum;
}

static void idle(const char *program)
{
	const double seconds = 20, hz = (double)sysconf(_SC_CLK_TCK);
	double screen, all, most = 0;
	int fd;
	pid_t pid = spawn(&fd, program, USUAL);

	drain(fd, 15, false);
	screen = cpu_ticks(pid, true);
	all = cpu_ticks(pid, false);
	drain(fd, seconds, false);
	screen = cpu_ticks(pid, true) - screen;
	all = cpu_ticks(pid, false) - all;
	row("idle, 1,404 hosts, every 2 s: thread of the screen", 100 * screen / hz / seconds, "%",
	    2);
	row("idle, the same, all threads with the simulated fabric", 100 * all / hz / seconds, "%",
	    0);
	for (const char *v = "1235"; *v; v++) {
		const char key[2] = { *v, 0 };

		say(fd, key);
		drain(fd, 3, false);
		most = fmax(most, (double)drain(fd, 10, false) / 10);
	}
	row("line, 1,404 hosts, busiest of four views", most / 1e3, "kB/s", 4);
	stop(pid, fd);
}

static bool wanted(int argc, char **argv, const char *part)
{
	bool any = false;

	for (int i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], part))
			return true;
		any |= argv[i][0] != '-';
	}
	return !any;
}

int main(int argc, char **argv)
{
	const char *program = argv[argc - 1];
	int rc = 0;

	json = argc > 2 && !strcmp(argv[1], "--json");
	if (argc < 2) {
		fprintf(stderr, "usage: screen_bench [--json] [frame] [key] [idle] PROGRAM\n");
		return 64;
	}
	if (json)
		printf("[");
	if (wanted(argc, argv, "frame"))
		rc = frames();
	if (wanted(argc, argv, "key"))
		keys(program);
	if (wanted(argc, argv, "idle"))
		idle(program);
	if (json)
		printf("\n]\n");
	return rc;
}
