/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_owner.h"

#include "fabric/agent/agent_save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_MAX 16384

/* What follows the first word of a path where that begins and ends so; NULL. */
static const char *agent_owner_word(const char *path, const char *begin, const char *end)
{
	size_t n = strcspn(path + 1, "/\n"), b = strlen(begin), e = strlen(end);

	if (*path != '/' || n < b || n < e || strncmp(path + 1, begin, b) != 0 ||
	    strncmp(path + 1 + n - e, end, e) != 0)
		return NULL;
	return path + 1 + n;
}

/* /system.slice/[NODE_]slurmstepd.scope/job_77/... (version 2), /slurm[_NODE]/uid_1000/job_77/...
 */
static const char *agent_owner_slurm(const char *path)
{
	const char *p = agent_owner_word(path, "system.slice", "system.slice");

	if (p)
		return agent_owner_word(p, "", "slurmstepd.scope");
	p = agent_owner_word(path, "slurm", "");
	return p ? agent_owner_word(p, "uid_", "") : NULL;
}

bool agent_owner_in_cgroup(const char *text, const char *job)
{
	char name[AGENT_JOB_MAX + 8];

	snprintf(name, sizeof(name), "job_%s", job);
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		const char *path = strchr(line, ':');

		end = line + strcspn(line, "\n");
		path = path && path < end ? strchr(path + 1, ':') : NULL;
		path = path && path < end ? agent_owner_slurm(path + 1) : NULL;
		if (path && agent_owner_word(path, name, name) == path + 1 + strlen(name))
			return true;
	}
	return false;
}

static bool agent_owner_is_in_job(const struct agent_caller *who, const char *job)
{
	char path[64], text[CGROUP_MAX];
	size_t n;
	FILE *f;

	if (!who->pid || !who->start)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)who->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	/* looked at after it was read: still the one that was let in */
	return agent_owner_in_cgroup(text, job) && agent_pid_start(who->pid) == who->start;
}

int agent_owner_check(const struct agent_caller *who, const char *job, uid_t owner, struct err *err)
{
	if (!who->uid || who->uid == geteuid() || (owner != AGENT_NO_USER && who->uid == owner) ||
	    agent_owner_is_in_job(who, job))
		return 0;
	if (owner != AGENT_NO_USER)
		return err_set(err, -EPERM, "HELLO for job %s, which is not of user %u", job,
			       (unsigned)who->uid);
	return err_set(
		err, -EPERM,
		"HELLO for job %s, whose user the agent does not know (--add-job %s --user UID "
		"tells it)",
		job, job);
}
