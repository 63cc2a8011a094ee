/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_save.h"

#include "fabric/base/file/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD	 "ibroute-agent 2"
#define OLD_HEAD "ibroute-agent 1" /* jobs without their users */
#define FILE_MAX (1u << 20)

uint64_t agent_boottime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything. */
uint64_t agent_pid_start(pid_t pid)
{
	uint64_t start = 0;
	char path[64], text[1024], state = 'X', *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1,
			 " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			 "%*s %" SCNu64,
			 &state, &start) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : start;
}

bool agent_peer_alive(const struct agent_peer *p)
{
	return !p->pid || (p->start && agent_pid_start(p->pid) == p->start);
}

static void agent_save_boot_id(char out[64])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(out, 64, "unknown");
	if (f && fscanf(f, "%63s", out) != 1)
		snprintf(out, 64, "unknown");
	if (f)
		fclose(f);
}

static bool agent_save_take_state(struct agent_save *s, const char *line)
{
	unsigned want, mode;
	int n = 0;

	if (sscanf(line,
		   "state %" SCNu64 " %" SCNu32 " %" SCNu16 " %u %u %" SCNu16 " %" SCNu64 "%n",
		   &s->state.txn, &s->state.seq, &s->state.repeat, &want, &mode, &s->hold_s,
		   &s->heard_ms, &n) != 7 ||
	    line[n] || want > UINT8_MAX || mode > AGENT_MIXED)
		return false;
	s->state.want = (uint8_t)want;
	s->state.mode = (uint8_t)mode;
	return true;
}

static bool agent_save_take_peer(struct agent_save *s, const char *line)
{
	struct agent_peer p = { .rank = 0 };
	int n = 0;

	if (s->peers.n == AGENT_PEERS_MAX ||
	    sscanf(line, "client %63s %" SCNu32 " %d %" SCNu64 "%n", p.job, &p.rank, &p.pid,
		   &p.start, &n) != 4 ||
	    line[n] || p.pid < 0 || agent_job_check(p.job, NULL))
		return false;
	vec_push(&s->peers, p);
	return true;
}

static bool agent_save_take_job(struct agent_save *s, const char *line)
{
	struct agent_job j = { .uid = (uid_t)-1 };
	int n = 0, end = 0;

	if (s->jobs.n == AGENT_JOBS_MAX ||
	    sscanf(line, "job %63s%n user %u%n", j.name, &n, &j.uid, &end) < 1 ||
	    line[end ? end : n] || agent_job_check(j.name, NULL))
		return false;
	vec_push(&s->jobs, j);
	return true;
}

static bool agent_save_take_line(struct agent_save *s, uint32_t nr, const char *line, char boot[64])
{
	int n = 0;

	switch (nr) {
	case 1:
		return !strcmp(line, HEAD) || !strcmp(line, OLD_HEAD);
	case 2:
		return sscanf(line, "boot %63s%n", boot, &n) == 1 && !line[n];
	case 3:
		return sscanf(line, "port %" SCNx64 "%n", &s->port_guid, &n) == 1 && !line[n];
	case 4:
		return agent_save_take_state(s, line);
	default:
		return strncmp(line, "job ", 4) ? agent_save_take_peer(s, line)
						: agent_save_take_job(s, line);
	}
}

int agent_save_parse(struct agent_save *out, const char *text, size_t n, const char *boot,
		     struct err *err)
{
	char line[AGENT_LINE_MAX], of[64] = "";
	const char *end;
	bool ended = false;
	uint32_t nr = 0;

	*out = (struct agent_save){ .port_guid = 0 };
	for (; n && !ended; n -= (size_t)(end + 1 - text), text = end + 1) {
		end = memchr(text, '\n', n);
		nr++;
		if (!end || end - text >= (long)sizeof(line) ||
		    memchr(text, 0, (size_t)(end - text)))
			break;
		memcpy(line, text, (size_t)(end - text));
		line[end - text] = 0;
		ended = nr > 4 && !strcmp(line, "end");
		if (!ended && !agent_save_take_line(out, nr, line, of))
			break;
	}
	if (!ended || n) {
		agent_save_clear(out);
		return err_set(err, -EINVAL, "line %u is not one of an agent's state", nr);
	}
	if (!strcmp(of, boot))
		return 0;
	agent_save_clear(out);
	return err_set(err, -ENOENT, "it is from another boot");
}

/* What another user could have written would be believed: transactions, jobs, processes. */
static int agent_save_open(FILE **out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
		 st.st_mode & (S_IWGRP | S_IWOTH))
		rc = -EPERM;
	*out = rc ? NULL : fdopen(fd, "r");
	if (!*out)
		close(fd);
	return rc ? rc : *out ? 0 : -ENOMEM;
}

static int agent_save_read_file(char **out, size_t *n, const char *path)
{
	FILE *f = NULL;
	int rc = agent_save_open(&f, path);

	if (rc)
		return rc;
	*out = xcalloc(1, FILE_MAX);
	*n = fread(*out, 1, FILE_MAX, f);
	if (!ferror(f)) {
		fclose(f);
		return 0;
	}
	fclose(f);
	free(*out);
	return -EIO;
}

int agent_save_load(struct agent_save *out, const char *path, uint64_t port_guid, struct err *err)
{
	struct err why = { "" };
	char boot[64], *text = NULL;
	size_t n = 0;
	int rc = agent_save_read_file(&text, &n, path);

	*out = (struct agent_save){ .port_guid = 0 };
	if (rc == -ENOENT)
		return err_set(err, rc, "%s does not exist", path);
	if (rc == -EPERM || rc == -ELOOP)
		return err_set(
			err, -EINVAL,
			"%s is not a file that only root or this user may write: another user "
			"may have made it. Keep the state in a folder of the agent's own",
			path);
	if (rc)
		return err_set(err, -EINVAL, "%s cannot be read: %s", path, strerror(-rc));
	agent_save_boot_id(boot);
	rc = agent_save_parse(out, text, n, boot, &why);
	free(text);
	if (rc == -ENOENT)
		return err_set(err, rc, "%s: %s", path, why.text);
	if (rc)
		return err_set(err, rc,
			       "%s: %s. Remove it only when no job on this node has queue pairs on "
			       "its escape LIDs",
			       path, why.text);
	if (out->port_guid == port_guid)
		return 0;
	rc = err_set(err, -EINVAL,
		     "%s belongs to the agent of port 0x%016" PRIx64 ", not of 0x%016" PRIx64
		     ": the agent of each port needs its own --state",
		     path, out->port_guid, port_guid);
	agent_save_clear(out);
	return rc;
}

static void agent_save_write_job(FILE *f, const struct agent_job *j)
{
	fprintf(f, "job %s", j->name);
	if (j->uid != (uid_t)-1)
		fprintf(f, " user %u", (unsigned)j->uid);
	fputc('\n', f);
}

static void agent_save_write_to(FILE *f, const struct agent_save *s)
{
	const struct agent_saved *a = &s->state;
	char boot[64];

	agent_save_boot_id(boot);
	fprintf(f, HEAD "\nboot %s\nport 0x%016" PRIx64 "\n", boot, s->port_guid);
	fprintf(f, "state %" PRIu64 " %u %u %u %u %u %" PRIu64 "\n", a->txn, a->seq, a->repeat,
		a->want, a->mode, s->hold_s, s->heard_ms);
	for (size_t i = 0; i < s->jobs.n; i++)
		agent_save_write_job(f, &s->jobs.v[i]);
	for (size_t i = 0; i < s->peers.n; i++)
		fprintf(f, "client %s %u %d %" PRIu64 "\n", s->peers.v[i].job, s->peers.v[i].rank,
			(int)s->peers.v[i].pid, s->peers.v[i].start);
	fprintf(f, "end\n");
}

int agent_save_store(const struct agent_save *s, const char *path, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int rc;

	agent_save_write_to(f, s);
	fclose(f);
	rc = store_replace(path, text, len, 0600, err);
	free(text);
	return rc;
}

void agent_save_clear(struct agent_save *s)
{
	vec_free(&s->jobs);
	vec_free(&s->peers);
}
