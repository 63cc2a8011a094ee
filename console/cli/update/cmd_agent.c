/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top agent: a node's side of an update. */
#include "console/cli/commands.h"

#include "console/cli/update/agent_status.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/config/mkey.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/io/syslog_out.h"
#include "console/live/live_fabric.h"
#include "fabric/agent/agent.h"
#include "fabric/agent/agent_line.h"
#include "fabric/agent/agent_save.h"
#include "fabric/agent/ibroute-agent.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/base/time/stamp.h"
#include "fabric/update/protocol/site_key.h"

#include <argp.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define BEGIN_WAIT_MS 60000 /* as long as a hook may take */
#define RUN_DIR	      "/run/ibroute-top"
#define IDLE_WAIT_MS  200
#define BUSY_TRIES    10
#define BUSY_WAIT_US  300000

enum {
	OPT_SOCKET_MODE = 800,
	OPT_LIMIT,
	OPT_HOLD,
	OPT_ASK,
	OPT_POLL,
	OPT_READY_FD,
	OPT_WHILE_PID,
	OPT_ADD_JOB,
	OPT_END_JOB,
	OPT_STATUS,
	OPT_FORGET,
	OPT_NODE_KEY,
	OPT_AGENT_JOB,
	OPT_AGENT_USER
};

struct agent_cmd {
	struct agent_opts o;
	struct live_opts live; /* of which: the port */
	struct notice_opts port;
	VEC(const char *) jobs;
	const char *log;
	const char *verb, *job; /* to the agent that runs */
	uid_t user;		/* whose jobs they are */
	const char *new_key;
	uint64_t node_key; /* GUID; 0: not asked for */
	bool daemon, json;
	int ready_fd; /* -1: none */
	pid_t while_pid;
};

/* ---- options ---- */

static const struct argp_option rows[] = {
	{ 0, 0, 0, 0, "What to drain:", 1 },
	{ "job", OPT_AGENT_JOB, "ID", 0,
	  "a job on this node; can be repeated. The agent exits when all of them have ended. "
	  "Without this option the agent stays and serves all later jobs",
	  1 },
	{ "user", OPT_AGENT_USER, "USER", 0,
	  "the jobs of --job, or the one of --add-job, are this user's, by name or number: only his "
	  "processes, those in the job's cgroup and root's may send HELLO for them (default: "
	  "$SLURM_JOB_UID, which SLURM's prolog has)",
	  1 },
	{ "drain-cmd", CMDLINE_KEY(struct agent_cmd, o.drain), "CMD", 0,
	  "pauses a job: when it returns, the job posts nothing new and has nothing in flight", 1 },
	{ "migrate-cmd", CMDLINE_KEY(struct agent_cmd, o.migrate), "CMD", 0,
	  "moves the job's queue pairs to the escape LIDs and resumes it", 1 },
	{ "return-cmd", CMDLINE_KEY(struct agent_cmd, o.back), "CMD", 0,
	  "moves them back to the base LIDs, whatever state each is in (default: the migrate "
	  "command with IBROUTE_PHASE=return)",
	  1 },
	{ "socket", CMDLINE_KEY(struct agent_cmd, o.socket), "PATH", 0,
	  "socket for processes that drain and migrate by themselves: they send HELLO (default "
	  "for the requests below: $IBROUTE_AGENT_SOCKET, else " IBROUTE_AGENT_SOCKET
	  "; for an agent: sock in $IBROUTE_AGENT_DIR, else none)",
	  1 },
	{ "socket-mode", OPT_SOCKET_MODE, "MODE", 0,
	  "permissions of the socket, octal (default: 600; use 666 for an agent that runs as root "
	  "and serves all users' jobs)",
	  1 },
	{ 0, 0, 0, 0, "How:", 2 },
	{ "state", CMDLINE_KEY(struct agent_cmd, o.state), "FILE", 0,
	  "state from which a killed agent resumes when it is restarted (default: state in "
	  "$IBROUTE_AGENT_DIR, a folder that other users cannot learn from the list of "
	  "processes; else agent.state in " RUN_DIR ", or in $XDG_RUNTIME_DIR)",
	  2 },
	{ "limit", OPT_LIMIT, "S", 0,
	  "time limit for each step of a node, in seconds (default: "
	  "60)",
	  2 },
	{ "hold", OPT_HOLD, "S", 0,
	  "seconds on the escape LIDs without a message after which the agent returns by itself; "
	  "the console may ask for more (default: 900)",
	  2 },
	{ "ask", OPT_ASK, "S", 0,
	  "seconds without a message until the agent, on the escape LIDs, asks for the status, "
	  "and between attempts to return; a quarter more or less (default: 20)",
	  2 },
	{ "poll", OPT_POLL, "S", 0, "seconds between checks of the port and the SM (default: 10)",
	  2 },
	{ "while-pid", OPT_WHILE_PID, "PID", 0, "exit when this process exits", 2 },
	{ "daemon", CMDLINE_KEY(struct agent_cmd, daemon), NULL, 0,
	  "run in the background; the command exits with 0 when the agent is subscribed", 2 },
	{ "ready-fd", OPT_READY_FD, "N", 0,
	  "write the line \"ready lid L pid P\" to this descriptor when subscribed (default: "
	  "stdout), then close it",
	  2 },
	{ "log", CMDLINE_KEY(struct agent_cmd, log), "FILE", 0,
	  "append log messages to FILE (default: stderr; with --daemon: syslog)", 2 },
	OPTION_LIVE_AGENTS_KEY(2),
	OPTIONS_LIVE_PORT(2),
	OPTION_CONFIG(2),
	{ 0, 0, 0, 0, "Requests to the agent that listens on --socket:", 3 },
	{ "add-job", OPT_ADD_JOB, "ID", 0, "a job starts on this node", 3 },
	{ "end-job", OPT_END_JOB, "ID", 0,
	  "the job has ended; an agent started with --job exits "
	  "after its last one",
	  3 },
	{ "status", OPT_STATUS, NULL, 0,
	  "print the state of the agent and its clients, one per "
	  "line",
	  3 },
	{ "forget-transaction", OPT_FORGET, NULL, 0,
	  "forget the number of the last transaction, after a return to the base LIDs: for an agent "
	  "that refuses updates because it has seen a later one that was none of this site's",
	  3 },
	{ "json", CMDLINE_KEY(struct agent_cmd, json), NULL, 0, "with --status: as JSON", 3 },
	{ 0, 0, 0, 0, "Keys:", 4 },
	{ "new-key", CMDLINE_KEY(struct agent_cmd, new_key), "FILE", 0,
	  "make a key of the site in a new file; copy it to OpenSM's host, to where updates are "
	  "started, and to the nodes",
	  4 },
	{ "node-key", OPT_NODE_KEY, "GUID", 0,
	  "print what the node with this port GUID needs of the key of the site: with it alone "
	  "nobody can answer for another node",
	  4 },
	{ 0 },
};

static const char doc[] =
	"The part of an update that runs on a compute node: the subnet manager announces an "
	"update (notice 68); the agent drains the jobs on this node, moves them to the escape "
	"LIDs, replies (trap 144), and moves them back when the update has ended (notice 69) or "
	"was cancelled.\vOne agent serves a node's port and all jobs there, because only one "
	"process can subscribe to the notices of a port. There are two ways to drain a job, and "
	"they can be combined: site-specific commands, run by /bin/sh for each job given by --job "
	"or --add-job (once, if there is neither a job nor a socket) in a process group that is "
	"killed with the agent; and clients on the socket, one for each process, as documented in "
	"ibroute-agent.h and shown in agent_client.c. A job that was given, but has neither "
	"commands nor a client, is reported as one that cannot be drained.\n\nEnvironment of the "
	"commands: IBROUTE_JOB, IBROUTE_PHASE (drain, migrate, return), IBROUTE_TXN and "
	"IBROUTE_SEQ (the update and its request), IBROUTE_LID (base LID of this port), "
	"IBROUTE_ESCAPE_OFFSET (to be added to base LIDs; 0: the fabric has no escape LIDs), "
	"IBROUTE_SAME_ROUTES (1 when returning from a cancelled update), IBROUTE_LIMIT_S (time "
	"limit in seconds). Their output is logged; an exit code other than 0 is a failure: the "
	"node returns to the base LIDs and reports it. A command that is cancelled or takes too "
	"long gets SIGTERM, and SIGKILL 2 s later.\n\nSIGTERM and SIGINT: unsubscribe and exit. "
	"SIGKILL: clients keep their state and reconnect; the agent resumes when it is restarted "
	"with the same --state.\n\nExit codes: 0 ended as requested; 1 the running agent refused "
	"the request; 4 another agent serves this port, or the state file or the file of keys is not valid; 64 bad "
	"options; 255 the port cannot be used.";

static unsigned cmd_agent_octal(const char *arg, const char *name, unsigned most,
				struct argp_state *s)
{
	char *end;
	unsigned long v = strtoul(arg, &end, 8);

	if (end == arg || *end || *arg == '-' || v > most)
		argp_error(s, "%s: '%s' is not an octal number up to %o", name, arg, most);
	return (unsigned)v;
}

static void cmd_agent_take_job(struct agent_cmd *c, const char *arg, struct argp_state *s)
{
	struct err err;

	if (agent_job_check(arg, &err))
		argp_error(s, "'%s': %s", arg, err.text);
	vec_push(&c->jobs, arg);
}

static bool cmd_agent_uid(uid_t *out, const char *text)
{
	const struct passwd *p = getpwnam(text);
	unsigned long v;
	char *end;

	if (p) {
		*out = p->pw_uid;
		return true;
	}
	errno = 0;
	v = strtoul(text, &end, 10);
	*out = (uid_t)v;
	return *text >= '0' && *text <= '9' && !*end && !errno && v < AGENT_NO_USER;
}

/* Root's own are known as root's anyway, and in a lab everything is. */
static void cmd_agent_default_user(struct agent_cmd *c)
{
	const char *env = getenv("SLURM_JOB_UID");

	if (c->user == AGENT_NO_USER && env && !cmd_agent_uid(&c->user, env))
		c->user = AGENT_NO_USER;
	c->o.user = c->user;
}

static void cmd_agent_take_question(struct agent_cmd *c, const char *verb, const char *job,
				    struct argp_state *s)
{
	struct err err;

	if (c->verb)
		argp_error(s, "only one request at a time");
	if (job && agent_job_check(job, &err))
		argp_error(s, "'%s': %s", job, err.text);
	c->verb = verb;
	c->job = job;
}

static bool cmd_agent_relative(const char *path)
{
	return path && *path != '/';
}

#define SECONDS(key, member, name)                                                                 \
	CMDLINE_FIELD(key, struct agent_cmd, member, name, 1, 86400, .times = 1000)

static const struct cmdline_field fields[] = {
	SECONDS(OPT_LIMIT, o.limit_ms, "--limit"),
	SECONDS(OPT_HOLD, o.hold_ms, "--hold"),
	SECONDS(OPT_ASK, o.ask_ms, "--ask"),
	SECONDS(OPT_POLL, o.poll_ms, "--poll"),
	CMDLINE_FIELD(OPT_READY_FD, struct agent_cmd, ready_fd, "--ready-fd", 0, 1 << 20),
	CMDLINE_FIELD(OPT_WHILE_PID, struct agent_cmd, while_pid, "--while-pid", 1, INT32_MAX),
	{ 0 },
};

static error_t cmd_agent_take(int key, char *arg, struct argp_state *s)
{
	struct agent_cmd *c = s->input;
	char *end;

	switch (key) {
	case OPT_AGENT_JOB:
		cmd_agent_take_job(c, arg, s);
		return 0;
	case OPT_AGENT_USER:
		if (!cmd_agent_uid(&c->user, arg))
			argp_error(s, "--user: there is no user '%s'", arg);
		return 0;
	case OPT_SOCKET_MODE:
		c->o.socket_mode = cmd_agent_octal(arg, "--socket-mode", 0777, s);
		return 0;
	case OPT_ADD_JOB:
		cmd_agent_take_question(c, "ADD", arg, s);
		return 0;
	case OPT_END_JOB:
		cmd_agent_take_question(c, "END", arg, s);
		return 0;
	case OPT_STATUS:
		cmd_agent_take_question(c, "STATUS", NULL, s);
		return 0;
	case OPT_NODE_KEY:
		c->node_key = strtoull(arg, &end, 16);
		if (end == arg || *end || !c->node_key)
			argp_error(s, "--node-key: '%s' is not a GUID", arg);
		return 0;
	case OPT_FORGET:
		cmd_agent_take_question(c, "FORGET", NULL, s);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(s, "unknown argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (c->json && (!c->verb || strcmp(c->verb, "STATUS") != 0))
			argp_error(s, "--json needs --status");
		if (c->daemon && (cmd_agent_relative(c->o.state) ||
				  cmd_agent_relative(c->o.socket) || cmd_agent_relative(c->log)))
			argp_error(s, "with --daemon file names must be absolute: /...");
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, s) ? live_opts_take(&c->live, key, arg, s)
							    : 0;
	}
}

/* ---- the question to another agent ---- */

/* The answer's last line is OK or ERROR and a reason; the lines before go into status or, where
 * that is NULL, to stdout. */
static int cmd_agent_take_answer(FILE *in, json_t *status, struct err *err)
{
	char line[1024];

	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "OK"))
			return EXIT_OK;
		if (!strncmp(line, "ERROR ", 6))
			return err_set(err, EXIT_FINDINGS, "%s", line + 6);
		if (status)
			agent_status_add(status, line);
		else
			puts(line);
	}
	return err_set(err, EXIT_UNREADABLE, "the agent closed the connection before it replied");
}

static int cmd_agent_print_answer(struct ibroute_agent *a, bool json, struct err *err)
{
	json_t *status = json ? agent_status_new() : NULL;
	FILE *in;
	int rc;

	fcntl(a->fd, F_SETFL, 0);
	in = fdopen(a->fd, "r");
	rc = in ? cmd_agent_take_answer(in, status, err)
		: err_set(err, EXIT_UNREADABLE, "cannot open a stream: %s", strerror(errno));
	if (in)
		fclose(in);
	if (!rc && status && output_file_json(stdout, status, err))
		rc = EXIT_FINDINGS;
	json_decref(status);
	return rc;
}

/* what: ADD, END, STATUS with its words */
static int cmd_agent_ask_agent(struct ibroute_agent *a, const struct agent_cmd *c, const char *what,
			       struct err *err)
{
	struct timeval limit = { .tv_sec = 10 };
	char line[AGENT_LINE_MAX];
	int rc = ibroute_agent_connect(a, c->o.socket);

	snprintf(line, sizeof(line), "%s\n", what);
	if (!rc) {
		setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		rc = ibroute_agent_say(a, line);
	}
	if (rc == -EPERM)
		return err_set(err, EXIT_UNREADABLE,
			       "who listens on %s is neither root nor this user, and not asked "
			       "($IBROUTE_AGENT_UID may name another one)",
			       ibroute_agent_path(c->o.socket));
	if (rc)
		return err_set(err, EXIT_UNREADABLE, "no agent listens on %s: %s",
			       ibroute_agent_path(c->o.socket), strerror(-rc));
	return 0;
}

/* -errno: unknown. */
static int cmd_agent_at_base(const struct agent_cmd *c)
{
	struct ibroute_agent a;
	char *text = NULL;
	size_t n = 0;
	FILE *in, *out;
	int rc;

	if (cmd_agent_ask_agent(&a, c, "STATUS", NULL))
		return -ENOTCONN;
	fcntl(a.fd, F_SETFL, 0);
	in = fdopen(a.fd, "r");
	out = open_memstream(&text, &n);
	for (int ch; in && (ch = getc(in)) != EOF;)
		putc(ch, out);
	fclose(out);
	if (in)
		fclose(in);
	rc = strstr(text, "\nmode ") ? strstr(text, "\nmode base\n") != NULL : -EBADMSG;
	free(text);
	return rc;
}

/* While the node is on its escape LIDs, a command of the site would not be run for a job that
 * begins now before the next question: whoever begins it is kept back. */
static void cmd_agent_keep_back(const struct agent_cmd *c)
{
	uint64_t end = clock_ms() + BEGIN_WAIT_MS;

	while (cmd_agent_at_base(c) == 0) {
		if (clock_ms() >= end) {
			fprintf(stderr,
				"ibroute-top agent: job %s starts during an update that moved "
				"this node off its base LIDs %d s ago or more; only programs on "
				"the agent's socket start on the escape LIDs\n",
				c->job, BEGIN_WAIT_MS / 1000);
			return;
		}
		poll(NULL, 0, 100);
	}
}

static int cmd_agent_ask_and_print(const struct agent_cmd *c, uid_t user, struct err *err)
{
	char what[AGENT_LINE_MAX], number[16] = "";
	struct ibroute_agent a;
	int rc;

	if (user != AGENT_NO_USER)
		snprintf(number, sizeof(number), " %u", (unsigned)user);
	snprintf(what, sizeof(what), "%s%s%s%s", c->verb, c->job ? " " : "", c->job ? c->job : "",
		 number);
	rc = cmd_agent_ask_agent(&a, c, what, err);
	return rc ? rc : cmd_agent_print_answer(&a, c->json, err);
}

static int cmd_agent_question(const struct agent_cmd *c, struct err *err)
{
	bool add = !strcmp(c->verb, "ADD");
	int rc = cmd_agent_ask_and_print(c, add ? c->user : AGENT_NO_USER, err);

	/* an agent of before 0.2.0 that still runs knows no users */
	if (rc == EXIT_FINDINGS && add && c->user != AGENT_NO_USER &&
	    strstr(err->text, "malformed"))
		rc = cmd_agent_ask_and_print(c, AGENT_NO_USER, err);
	if (!rc && add)
		cmd_agent_keep_back(c);
	return rc;
}

/* ---- the log ---- */

static FILE *log_file;

static void cmd_agent_to_file(void *ctx, const struct log_line *l)
{
	char when[STAMP_LEN];

	(void)ctx;
	if (l->level == LOG_DEBUG)
		return;
	stamp_utc(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", (int64_t)(l->time_ns / 1000000000u));
	fprintf(log_file, "%s.%03uZ %s: %s\n", when, (unsigned)(l->time_ns / 1000000 % 1000),
		log_level_name(l->level), l->text);
	fflush(log_file);
}

static int cmd_agent_open_log(const struct agent_cmd *c, struct err *err)
{
	log_file = c->log ? fopen(c->log, "ae") : stderr;
	if (!log_file)
		return err_set(err, EXIT_BAD_USAGE, "%s cannot be written: %s", c->log,
			       strerror(errno));
	if (c->daemon && !c->log) {
		syslog_out_open("ibroute-agent");
		log_set_sink(syslog_out, NULL);
	} else {
		log_set_sink(cmd_agent_to_file, NULL);
	}
	return 0;
}

/* ---- the agent ---- */

static volatile sig_atomic_t told_to_end;

static void cmd_agent_on_signal(int sig)
{
	told_to_end = sig;
}

static void cmd_agent_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = cmd_agent_on_signal };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* The environment of a process is its user's alone to read, its command line is not. */
static int cmd_agent_default_folder(struct agent_cmd *c, struct err *err)
{
	const char *dir = getenv("IBROUTE_AGENT_DIR");

	if (!dir || c->o.state || c->o.socket)
		return 0;
	if (*dir != '/')
		return err_set(err, EXIT_BAD_USAGE,
			       "IBROUTE_AGENT_DIR must be an absolute path, not '%s'", dir);
	c->o.state = xasprintf("%s/state", dir); /* as long as the program, both */
	c->o.socket = xasprintf("%s/sock", dir);
	return 0;
}

static int cmd_agent_default_state(struct agent_cmd *c, struct err *err)
{
	const char *dir = geteuid() ? getenv("XDG_RUNTIME_DIR") : RUN_DIR;

	if (c->o.state)
		return 0;
	if (!dir)
		return err_set(err, EXIT_BAD_USAGE,
			       "no place for the state: --state FILE is "
			       "needed");
	if (!geteuid() && mkdir(dir, 0755) && errno != EEXIST)
		return err_set(err, EXIT_BAD_USAGE, "%s cannot be created: %s", dir,
			       strerror(errno));
	c->o.state = xasprintf("%s/agent.state", dir); /* as long as the program */
	return 0;
}

/* The last folder of a path is made where it is missing, for this user alone; one in which
 * everybody may replace what others have made is none to keep state in. */
static int cmd_agent_own_folder(const char *path, struct err *err)
{
	char *dir = path && strchr(path, '/') ? xstrdup(path) : xstrdup("./x");
	struct stat st;
	int rc = 0;

	*(strrchr(dir, '/') + (strrchr(dir, '/') == dir)) = 0;
	if (mkdir(dir, 0700) && errno != EEXIST && errno != EROFS && errno != EACCES)
		rc = err_set(err, EXIT_BAD_USAGE, "%s cannot be created: %s", dir, strerror(errno));
	else if (stat(dir, &st))
		rc = err_set(err, EXIT_BAD_USAGE, "%s: %s", dir, strerror(errno));
	else if (st.st_uid && st.st_uid != geteuid())
		rc = err_set(err, EXIT_REFUSED,
			     "%s belongs to user %u, who could replace what is in it", dir,
			     (unsigned)st.st_uid);
	else if (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX))
		rc = err_set(
			err, EXIT_REFUSED,
			"everybody may replace what is in %s: the agent needs a folder of its own",
			dir);
	free(dir);
	return rc;
}

static void cmd_agent_say_ready(struct agent_cmd *c, const struct agent *a)
{
	if (c->ready_fd < 0)
		return;
	dprintf(c->ready_fd, "ready lid %u pid %d\n", agent_lid(a), (int)getpid());
	if (c->ready_fd > STDERR_FILENO)
		close(c->ready_fd);
	/* whoever started it waits for the end of this, too */
	if (c->daemon)
		dup2(STDIN_FILENO, STDERR_FILENO);
	c->ready_fd = -1;
}

static bool cmd_agent_is_gone(pid_t pid, uint64_t start)
{
	return pid && agent_pid_start(pid) != start;
}

static int cmd_agent_serve(struct agent_cmd *c, struct agent *a, struct err *err)
{
	uint64_t start = c->while_pid ? agent_pid_start(c->while_pid) : 0;
	int rc = 0;

	if (c->while_pid && !start)
		return err_set(err, EXIT_BAD_USAGE, "--while-pid: no process %d",
			       (int)c->while_pid);
	while (!agent_over(a) && !rc) {
		rc = agent_turn(a, IDLE_WAIT_MS, err);
		if (agent_ready(a))
			cmd_agent_say_ready(c, a);
		if (told_to_end || cmd_agent_is_gone(c->while_pid, start))
			agent_end(a);
	}
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

static int cmd_agent_busy(struct err *err, const struct agent_cmd *c)
{
	struct err why = *err;

	return err_set(
		err, EXIT_REFUSED,
		"%.300s. One agent serves all jobs of a node: ibroute-top agent --add-job %s "
		"--socket %s",
		why.text, c->jobs.n ? c->jobs.v[0] : "ID", ibroute_agent_path(c->o.socket));
}

static int cmd_agent_run_once(struct agent_cmd *c, struct err *err)
{
	struct notice_port *np;
	struct agent *a;
	int rc = notice_port_open_umad(&np, &c->port, err);

	if (rc)
		return rc == -EBUSY ? rc : EXIT_UNREADABLE;
	c->o.held = c->daemon;
	rc = agent_open(&a, np, &c->o, err);
	if (!rc) {
		rc = cmd_agent_serve(c, a, err);
		agent_close(a);
	} else if (rc != -EBUSY) {
		rc = EXIT_REFUSED;
	}
	notice_port_close(np);
	return rc;
}

/* The agent of the job before may be about to end. */
static int cmd_agent_run(struct agent_cmd *c, struct err *err)
{
	int rc = -EBUSY;

	/* sent again by those who use it, so that nothing is held up for long */
	c->port.retries = 2;
	for (int k = 0; k < BUSY_TRIES && rc == -EBUSY && !told_to_end; k++) {
		if (k)
			usleep(BUSY_WAIT_US);
		rc = cmd_agent_run_once(c, err);
	}
	return rc == -EBUSY ? cmd_agent_busy(err, c) : rc;
}

static int cmd_agent_run_keyed(struct agent_cmd *c, struct err *err)
{
	int rc;

	if (site_keys_load(&c->o.keys, c->live.agents_key, err))
		return EXIT_REFUSED;
	rc = cmd_agent_run(c, err);
	site_keys_free(c->o.keys);
	return rc;
}

/* The command waits for the line "ready" of the agent in the background; its end without one is the
 * agent's end. */
static int cmd_agent_wait_ready(pid_t pid, int fd)
{
	char line[128];
	ssize_t n;
	int w;

	do {
		n = read(fd, line, sizeof(line));
	} while (n < 0 && errno == EINTR);
	if (n > 0) {
		fwrite(line, 1, (size_t)n, stdout);
		return EXIT_OK;
	}
	if (waitpid(pid, &w, 0) == pid && WIFEXITED(w))
		return WEXITSTATUS(w);
	return EXIT_UNREADABLE;
}

/* Returns true in the command, with its exit code, when the agent continues in another process. */
static bool cmd_agent_go_into_background(struct agent_cmd *c, int *rc, struct err *err)
{
	int fds[2], null;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		*rc = err_set(err, EXIT_UNREADABLE, "cannot create a pipe: %s", strerror(errno));
		return true;
	}
	pid = fork();
	if (pid < 0) {
		*rc = err_set(err, EXIT_UNREADABLE, "cannot start a process: %s", strerror(errno));
		return true;
	}
	if (pid) {
		close(fds[1]);
		*rc = cmd_agent_wait_ready(pid, fds[0]);
		return true;
	}
	close(fds[0]);
	setsid();
	c->ready_fd = fds[1];
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	return chdir("/") != 0;
}

static int cmd_agent_main(struct agent_cmd *c, struct err *err)
{
	int rc;

	if (c->live.ask_m_key && mkey_ask(&c->port.m_key, err))
		return EXIT_BAD_USAGE;
	rc = cmd_agent_default_folder(c, err);
	if (!rc)
		rc = cmd_agent_default_state(c, err);
	if (!rc)
		rc = cmd_agent_own_folder(c->o.state, err);
	if (!rc && c->o.socket)
		rc = cmd_agent_own_folder(c->o.socket, err);
	if (rc)
		return rc;
	if (c->daemon && cmd_agent_go_into_background(c, &rc, err))
		return rc;
	cmd_agent_catch_signals();
	rc = cmd_agent_open_log(c, err);
	if (!rc)
		rc = cmd_agent_run_keyed(c, err);
	if (rc && c->daemon && err->text[0])
		log_add(LOG_ERROR, "agent", "%s", err->text);
	log_set_sink(NULL, NULL);
	return rc;
}

/* ---- keys ---- */

static int cmd_agent_print_node_key(const struct agent_cmd *c, struct err *err)
{
	struct site_keys *keys;
	char *line = NULL;
	int rc = site_keys_load(&keys, c->live.agents_key, err);

	if (rc)
		return EXIT_UNREADABLE;
	if (!keys)
		return err_set(err, EXIT_UNREADABLE,
			       "there is no key of the site: --new-key " SITE_KEY_PRESET
			       ", or --agents-key FILE");
	rc = site_key_node(&line, keys, c->node_key, err);
	if (!rc)
		puts(line);
	if (line)
		explicit_bzero(line, strlen(line));
	free(line);
	site_keys_free(keys);
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

static int cmd_agent_make_key(const struct agent_cmd *c, struct err *err)
{
	int rc = site_key_new(c->new_key, err);

	if (!rc)
		printf("%s: a new key; copy it, as root's and with mode 0600, to OpenSM's host, to "
		       "where updates are started, and to the nodes\n",
		       c->new_key);
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

static int cmd_agent_do(struct agent_cmd *c, struct err *err)
{
	if (c->new_key)
		return cmd_agent_make_key(c, err);
	if (c->node_key)
		return cmd_agent_print_node_key(c, err);
	return c->verb ? cmd_agent_question(c, err) : cmd_agent_main(c, err);
}

int cmd_agent(int argc, char **argv)
{
	static const struct argp argp = { .options = rows, .parser = cmd_agent_take, .doc = doc };
	struct agent_cmd c = { .ready_fd = STDOUT_FILENO,
			       .o = { .socket_mode = 0600 },
			       .user = AGENT_NO_USER };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	c.port.ca = c.live.ca;
	c.port.port = c.live.port;
	c.port.timeout_ms = c.live.timeout_ms;
	c.port.m_key = c.live.m_key;
	c.port.m_keys = c.live.m_keys;
	c.o.jobs = c.jobs.v;
	c.o.njobs = (uint32_t)c.jobs.n;
	cmd_agent_default_user(&c);
	rc = cmd_agent_do(&c, &err);
	cmdline_end(argv[0], rc, &err);
	explicit_bzero(&c.port.m_key, sizeof(c.port.m_key));
	explicit_bzero(&c.live.m_key, sizeof(c.live.m_key));
	vec_free(&c.jobs);
	return rc;
}
