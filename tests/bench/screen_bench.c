/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_bench [--json] [frame] [fabric] [whatif] [key] [bytes] [idle] PROGRAM: what the screen
 * costs, beside its goals.
 *
 *   frame     at 2,064 switches, CPU of the thread of the screen: each view's first frame with a
 *             new sample, a frame with the data of the one before, a sample taken in; and beside
 *             it what the thread that reads counters makes of each sample; then keys inside of
 *             views, and the search of everything
 *   fabric    at 2,064 switches, CPU of the same thread: the fabric with a host less, taken in
 *             with a plan and tables that follow, and the first key and frame in each view
 *   whatif    at 1,408 hosts with the demo's jobs: from ":engine sar" to the frame that shows its
 *             figures beside those of now; CPU of all threads but the simulated fabric's and the
 *             one that reads counters; the median, and that of the time it takes
 *   key       through a pty: from a key to the first byte of its screen, at 2,064 switches while
 *             an engine computes; median and 95 % of 60 keys
 *   bytes     through a pty: what a key makes it send at 200x60 and 2,064 switches: to each view,
 *             and the most of those that move in it; to and from the heatmap's layouts; kB
 *   idle      at 1,404 hosts with an interval of 2 s, four screens with a view each on a pty each:
 *             bytes a second on the line, CPU of the threads (the most of the four), the simulated
 *             fabric's apart, which real ones do not need; its switches' answers are in the
 *             thread of the wire
 */
#include "tests/unit/kit/app_kit.h"
#include "tests/unit/kit/less_host.h"

#include "fabric/base/time/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGE	 "dragonfly:p=8"
#define READY_S	 240 /* at most, until a screen has its first counters */
#define WINDOW_S 10
#define WHATIF	 "xgft:h=3,m=16x8x11,w=1x9x8" /* the tree of SC16, Sec. 5 */
#define USUAL	 "fattree2:leaves=78,spines=18,hosts=18"

static bool json;
static bool first = true;

static void row(const char *name, double value, const char *unit, double goal)
{
	if (json)
		printf("%s\n  {\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"goal\": %g}",
		       first ? "" : ",", name, value, unit, goal);
	else if (goal > 0)
		printf("%-52s %9.2f %-6s goal %g  %s\n", name, value, unit, goal,
		       value <= goal ? "holds" : "MISSED");
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
	uint64_t was = sample_history_newest(a->samples);
	double start;

	for (;;) {
		struct pollfd fd = { .fd = mailbox_fd(a->box), .events = POLLIN };

		poll(&fd, 1, 100);
		start = thread_cpu_s();
		app_take_messages(a);
		if (sample_history_newest(a->samples) != was)
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

static const char *const views[][2] = {
	{ "1", "Overview" }, { "2", "Heatmap" }, { "3", "Links" },
	{ "4", "Switches" }, { "5", "Jobs" },	 { "6", "Engines" },
	{ "8", "Events" },   { "0", "Paths" },	 { "t", "Topology" },
};

/* As the poller tells it; the longest that a key may have to wait meanwhile. */
static double other_fabric_ms(struct app *a, const struct fabric *f)
{
	struct msg *msg = msg_new(MSG_FABRIC);
	double start, most = 0, end = clock_s() + 60;

	msg->fabric = fabric_get(f);
	msg->engines = engine_list_new(f);
	msg->shape = fabric_shape_new(f, NULL, NULL);
	mailbox_send(a->box, msg);
	while (clock_s() < end && (a->state.fabric != f || !a->state.preview.n)) {
		start = thread_cpu_s();
		app_take_messages(a);
		most = fmax(most, 1e3 * (thread_cpu_s() - start));
		usleep(1000);
	}
	return most;
}

static int other_fabric(void)
{
	struct app *a = app_kit_open(LARGE, NULL, 200, 60);
	double end = clock_s() + READY_S, most = 0;
	struct fabric *f;
	char name[80];
	bool ok;

	if (!a || !app_kit_ready(a, 3))
		return 1;
	f = less_host(a->state.fabric);
	a->applied = tables_get(a->state.tables);
	a->undo = tables_get(a->state.tables);
	app_kit_keys(a, ":engine updn\r");
	while (!a->state.preview.n && clock_s() < end)
		app_kit_run(a, 0.05);
	row("a fabric with a host less taken in by that thread", other_fabric_ms(a, f), "ms", 20);
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		double ms;

		ms = 1e3 * thread_cpu_s();
		app_kit_keys(a, views[i][0]);
		app_draw(a);
		ms = 1e3 * thread_cpu_s() - ms;
		snprintf(name, sizeof(name), "its first frame, %s", views[i][1]);
		row(name, ms, "ms", 20);
		most = fmax(most, ms);
	}
	row("its first frame, slowest view", most, "ms", 20);
	fabric_put(f);
	ok = a->state.preview.n;
	app_end(a);
	return !ok;
}

/* Keys, and what their frame is of; with the data of the frame before. */
static double keys_ms(struct app *a, const char *keys, const char *name)
{
	char title[80];
	double ms = 1e3 * thread_cpu_s();

	app_kit_keys(a, keys);
	app_draw(a);
	ms = 1e3 * thread_cpu_s() - ms;
	snprintf(title, sizeof(title), "keys and their frame, %s", name);
	row(title, ms, "ms", 0);
	return ms;
}

static double search_ms(struct app *a)
{
	double most = 0;

	keys_ms(a, "a", "the search of everything opened");
	for (const char *key = "s1 12 host"; *key; key++) {
		double ms = 1e3 * thread_cpu_s();

		app_kit_keys(a, (char[]){ *key, 0 });
		app_draw(a);
		most = fmax(most, 1e3 * thread_cpu_s() - ms);
	}
	app_kit_keys(a, "\033");
	return most;
}

/* What is inside of views: panes of a switch, hops and pairs of paths, the search. */
static void frames_inside(struct app *a)
{
	const struct fabric *f = a->state.fabric;
	char ends[200];

	keys_ms(a, "4\r", "ports of a switch");
	keys_ms(a, "\t", "the second pane of a switch");
	keys_ms(a, "\t", "the third pane of a switch");
	app_kit_keys(a, "\033");
	snprintf(ends, sizeof(ends), "0e%s\r%s\r", f->term_name[0], f->term_name[f->nterm - 1]);
	keys_ms(a, ends, "the ends of a path typed, its hops");
	keys_ms(a, "\t", "the second pane of paths");
	row("search of everything, slowest key", search_ms(a), "ms", 50);
}

static int frames(void)
{
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
	    (double)sample_history_bytes(a->samples) / sample_history_count(a->samples) / 1e3, "kB",
	    0);
	frames_inside(a);
	app_end(a);
	return 0;
}

/* --- a real terminal ------------------------------------------------------------------------- */

#define USUAL_SIZE ((struct winsize){ .ws_row = 30, .ws_col = 100 })
#define LARGE_SIZE ((struct winsize){ .ws_row = 60, .ws_col = 200 })

static char records[] = "/tmp/ibroute-bench-XXXXXX";

static pid_t spawn(int *fd, const char *program, const char *demo, struct winsize size)
{
	char arg[160];
	pid_t pid = forkpty(fd, NULL, NULL, &size);

	if (pid)
		return pid;
	snprintf(arg, sizeof(arg), "--demo=%s", demo);
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execl(program, program, arg, "-d", "2", "--record-dir", records, "--no-mouse",
	      (char *)NULL);
	_exit(127);
}

/* What comes within that time; until_quiet: or until nothing has come for 50 ms; until: or that
 * text is among it, in one piece.  Returns the bytes, or with until 0 when it did not come. */
static size_t drain(int fd, double seconds, bool until_quiet, const char *until)
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
		if (until && memmem(buf, (size_t)n, until, strlen(until)))
			return all;
	}
	return until ? 0 : all;
}

/* The overview says so once counters have come. */
static bool is_ready(int fd)
{
	if (drain(fd, READY_S, false, " ports"))
		return true;
	fprintf(stderr, "no counters on the screen after %d s\n", READY_S);
	return false;
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
		drain(fd, 0.1, false, NULL);
	close(fd);
}

static int keys(const char *program)
{
	double ms[KEYS];
	int fd;
	pid_t pid = spawn(&fd, program, LARGE, USUAL_SIZE);

	if (!is_ready(fd)) {
		stop(pid, fd);
		return 1;
	}
	drain(fd, 5, false, NULL); /* and rates need them twice */
	say(fd, ":engine nue\r");
	drain(fd, 2, false, NULL);
	for (int i = 0; i < KEYS; i++) {
		const char key[2] = { "123jkj58"[i % 8], 0 };
		struct pollfd p = { .fd = fd, .events = POLLIN };
		double start;

		drain(fd, 1, true, NULL);
		start = clock_s();
		say(fd, key);
		poll(&p, 1, 5000);
		ms[i] = (clock_s() - start) * 1e3;
	}
	qsort(ms, KEYS, sizeof(*ms), ms_cmp);
	row("key to screen, 2,064 switches, engine running, median", ms[KEYS / 2], "ms", 50);
	row("key to screen, the same, 95 % of the keys", ms[KEYS * 95 / 100], "ms", 0);
	stop(pid, fd);
	return 0;
}

/* What a key makes it send, kB. */
static double key_kB(int fd, const char *key)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	drain(fd, 1, true, NULL);
	say(fd, key);
	poll(&p, 1, 2000);
	return (double)drain(fd, 5, true, NULL) / 1e3;
}

#define MOVES "jjkljhG\006g\006"

#define LAYOUTS 5 /* of the heatmap of groups */

/* To each layout of the heatmap, to its metrics, and from there to another view and back. */
static double layouts_kB(int fd)
{
	double most = key_kB(fd, "2");

	for (int i = 0; i < LAYOUTS; i++)
		for (const char *key = "vmmmmjlG32"; *key; key++)
			most = fmax(most, key_kB(fd, (char[]){ *key, 0 }));
	return most;
}

/* Frozen, so that all of it is of the key, but for the clock. */
static int key_bytes(const char *program)
{
	double most = 0, kB, moved;
	char name[80];
	int fd;
	pid_t pid = spawn(&fd, program, LARGE, LARGE_SIZE);
	bool ready = is_ready(fd);

	drain(fd, ready ? 5 : 0, false, NULL);
	key_kB(fd, "Z");
	for (size_t i = 0; ready && i < sizeof(views) / sizeof(*views); i++) {
		kB = key_kB(fd, views[i][0]);
		moved = 0;
		for (const char *m = MOVES; *m; m++)
			moved = fmax(moved, key_kB(fd, (char[]){ *m, 0 }));
		snprintf(name, sizeof(name), "a key at 200x60, to %s", views[i][1]);
		row(name, kB, "kB", 10);
		snprintf(name, sizeof(name), "a key at 200x60, moving in %s, most", views[i][1]);
		row(name, moved, "kB", 10);
		most = fmax(most, fmax(kB, moved));
	}
	moved = ready ? layouts_kB(fd) : 0;
	row("a key at 200x60, to and from layouts of Heatmap, most", moved, "kB", 10);
	most = fmax(most, moved);
	row("a key at 200x60, 2,064 switches, most", most, "kB", 10);
	stop(pid, fd);
	return !ready;
}

/* CPU so far, in seconds, of what its threads are for. */
struct usage_s {
	double screen, simulator, others;
	double poller; /* among others */
};

/* The first line of a file of that thread; "" when it has ended. */
static const char *task_text(char *buf, int len, pid_t pid, const char *tid, const char *file)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, tid, file);
	f = fopen(path, "re");
	if (!f || !fgets(buf, len, f))
		buf[0] = '\0';
	if (f)
		fclose(f);
	return buf;
}

static void add_task(struct usage_s *t, pid_t pid, const char *tid)
{
	char buf[100];
	double s = (double)strtoull(task_text(buf, sizeof(buf), pid, tid, "schedstat"), NULL, 10) /
		   1e9;

	if (strtol(tid, NULL, 10) == pid)
		t->screen += s;
	else if (!strncmp(task_text(buf, sizeof(buf), pid, tid, "comm"), "simulator", 9))
		t->simulator += s;
	else
		t->others += s;
	if (!strncmp(buf, "poller", 6))
		t->poller += s;
}

static struct usage_s cpu_of(pid_t pid)
{
	struct usage_s t = { 0 };
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_task(&t, pid, e->d_name);
	if (d)
		closedir(d);
	return t;
}

/* One screen for each view, side by side, so that one stretch of time is enough for all. */
struct screen {
	const char *key, *name;
	int fd;
	pid_t pid;
	size_t bytes;
	struct usage_s from, to;
};

#define SCREENS 4

/* What they write for so long. */
static void watch(struct screen *v, double seconds, bool count)
{
	double end = clock_s() + seconds;
	char buf[65536];

	while (clock_s() < end) {
		struct pollfd p[SCREENS];

		for (int i = 0; i < SCREENS; i++)
			p[i] = (struct pollfd){ .fd = v[i].fd, .events = POLLIN };
		if (poll(p, SCREENS, 20) <= 0)
			continue;
		for (int i = 0; i < SCREENS; i++) {
			ssize_t n = p[i].revents ? read(v[i].fd, buf, sizeof(buf)) : 0;

			if (n > 0 && count)
				v[i].bytes += (size_t)n;
		}
	}
}

static void idle_rows(const struct screen *v)
{
	const double pct = 100.0 / WINDOW_S;
	double most = 0, screen = 0, others = 0, simulator = 0;
	char name[64];

	for (int i = 0; i < SCREENS; i++) {
		double kB = (double)v[i].bytes / WINDOW_S / 1e3;

		screen = fmax(screen, pct * (v[i].to.screen - v[i].from.screen));
		others = fmax(others, pct * (v[i].to.others - v[i].from.others));
		simulator = fmax(simulator, pct * (v[i].to.simulator - v[i].from.simulator));
		snprintf(name, sizeof(name), "line, 1,404 hosts, %s", v[i].name);
		row(name, kB, "kB/s", 4);
		most = fmax(most, kB);
	}
	row("idle, 1,404 hosts, every 2 s: thread of the screen", screen, "%", 2);
	row("idle, the same, threads of wire and worker", others, "%", 0);
	row("idle, the same, whole program without the simulator", screen + others, "%", 0);
	row("idle, thread of the simulated fabric, for comparison", simulator, "%", 0);
	row("line, 1,404 hosts, busiest of four views", most, "kB/s", 4);
}

static int idle(const char *program)
{
	struct screen v[SCREENS] = {
		{ .key = "1", .name = "Overview" },
		{ .key = "2", .name = "Heatmap" },
		{ .key = "3", .name = "Links" },
		{ .key = "5", .name = "Jobs" },
	};
	int rc = 0;

	for (int i = 0; i < SCREENS; i++)
		v[i].pid = spawn(&v[i].fd, program, USUAL, USUAL_SIZE);
	for (int i = 0; i < SCREENS && !rc; i++)
		rc = !is_ready(v[i].fd);
	for (int i = 0; i < SCREENS; i++)
		say(v[i].fd, v[i].key);
	watch(v, 5, false);
	for (int i = 0; i < SCREENS; i++)
		v[i].from = cpu_of(v[i].pid);
	watch(v, WINDOW_S, true);
	for (int i = 0; i < SCREENS; i++)
		v[i].to = cpu_of(v[i].pid);
	if (!rc)
		idle_rows(v);
	for (int i = 0; i < SCREENS; i++)
		stop(v[i].pid, v[i].fd);
	return rc;
}

/* --- what if --------------------------------------------------------------------------------- */

#define TRIES 9

struct whatif_cost {
	double cpu_ms, wall_ms;
};

/* CPU of all threads so far, also of those that have ended, without the fabric's. */
static double own_cpu_s(void)
{
	struct usage_s u = cpu_of(getpid());
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9 - u.simulator - u.poller;
}

/* The worker has nothing left to do of the preview before. */
static bool is_calm(struct app *a)
{
	const struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->list[i].forecasting || p->list[i].order == ORDER_WAITS)
			return false;
	return a->state.usage != NULL;
}

static bool ask_whatif(struct app *a, struct whatif_cost *c)
{
	const struct state_preview *p = &a->state.preview;
	double cpu, wall, end = clock_s() + READY_S;

	while (!is_calm(a) && clock_s() < end)
		app_kit_run(a, 0.05);
	app_draw(a);
	cpu = own_cpu_s();
	wall = clock_s();
	app_kit_keys(a, ":engine sar\r");
	while (p->state == PREVIEW_RUNNING && clock_s() < end) {
		struct pollfd fd = { .fd = mailbox_fd(a->box), .events = POLLIN };

		poll(&fd, 1, 100);
		app_take_messages(a);
	}
	app_draw(a);
	c->wall_ms = 1e3 * (clock_s() - wall);
	c->cpu_ms = 1e3 * (own_cpu_s() - cpu);
	return p->state == PREVIEW_DONE;
}

static int whatif(void)
{
	struct app *a = app_kit_open(WHATIF, NULL, 120, 40);
	double cpu[TRIES], wall[TRIES];
	bool ok = a && app_kit_ready(a, 3);

	for (int i = 0; i < TRIES && ok; i++) {
		struct whatif_cost c;

		ok = ask_whatif(a, &c);
		cpu[i] = c.cpu_ms;
		wall[i] = c.wall_ms;
	}
	if (ok) {
		qsort(cpu, TRIES, sizeof(*cpu), ms_cmp);
		qsort(wall, TRIES, sizeof(*wall), ms_cmp);
		row("what-if, 1,408 hosts: SAR and figures shown, CPU", cpu[TRIES / 2], "ms", 100);
		row("what-if, the same, until it is on the screen", wall[TRIES / 2], "ms", 0);
	} else {
		fprintf(stderr, "no preview by sar on %s\n", WHATIF);
	}
	if (a)
		app_end(a);
	return !ok;
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

static void remove_records(void)
{
	char command[sizeof(records) + 8];

	snprintf(command, sizeof(command), "rm -rf %s", records);
	if (system(command))
		perror(records);
}

int main(int argc, char **argv)
{
	const char *program = argv[argc - 1];
	int rc = 0;

	json = argc > 2 && !strcmp(argv[1], "--json");
	if (argc < 2) {
		fprintf(stderr,
			"usage: screen_bench [--json] [frame] [fabric] [whatif] [key] [bytes] [idle] PROGRAM\n");
		return 64;
	}
	if (!mkdtemp(records)) {
		perror(records);
		return 1;
	}
	if (json)
		printf("[");
	if (wanted(argc, argv, "frame"))
		rc = frames();
	if (wanted(argc, argv, "fabric"))
		rc |= other_fabric();
	if (wanted(argc, argv, "whatif"))
		rc |= whatif();
	if (wanted(argc, argv, "key"))
		rc |= keys(program);
	if (wanted(argc, argv, "bytes"))
		rc |= key_bytes(program);
	if (wanted(argc, argv, "idle"))
		rc |= idle(program);
	if (json)
		printf("\n]\n");
	remove_records();
	return rc;
}
