/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collect/acts.h"

#include "console/collect/baseline.h"
#include "console/record/record_files.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/update/journal/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TAIL_LEN    4096 /* the last line of a record that was closed is shorter */
#define RECORDS_MAX 1000 /* the newest */

static void acts_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
	plain_text(to, "");
}

/* Most are the same one's, and to ask who that is may take long. */
static void acts_owner(char *to, size_t size, uid_t uid)
{
	static _Thread_local struct {
		uid_t uid;
		char name[40];
	} last;
	struct passwd pw, *found = NULL;
	char buf[2048];

	if (last.name[0] && last.uid == uid) {
		snprintf(to, size, "%s", last.name);
		return;
	}
	if (!getpwuid_r(uid, &pw, buf, sizeof(buf), &found) && found)
		acts_text(to, size, pw.pw_name);
	else
		snprintf(to, size, "uid %u", uid);
	last.uid = uid;
	snprintf(last.name, sizeof(last.name), "%s", to);
}

static int64_t acts_mtime_ms(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

/* --- baselines ------------------------------------------------------------------------------- */

/* Its first line alone: whoever writes it again has made another one. */
static void acts_scan_baseline(struct acts *out, int dir, const char *file, const char *name)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct act a = { .kind = ACT_BASELINE };
	char line[80] = "";
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, line, sizeof(line) - 1) > 0) {
		line[strcspn(line, "\n")] = '\0';
		acts_text(a.fabric, sizeof(a.fabric), name);
		acts_owner(a.user, sizeof(a.user), st.st_uid);
		snprintf(a.state, sizeof(a.state), "%s",
			 strstr(line, "accepted") ? "accepted" : "learnt");
		a.begin_ms = a.end_ms = acts_mtime_ms(&st);
		a.bytes = (uint64_t)st.st_size;
		snprintf(a.id, sizeof(a.id), "%.60s@%lld", a.fabric, (long long)a.end_ms / 1000);
		vec_push(out, a);
	}
	close(fd);
}

static void acts_scan_baselines(struct acts *out, const char *state)
{
	char *path = baseline_dir(state);
	DIR *d = opendir(path);
	struct dirent *e;

	free(path);
	while (d && (e = readdir(d))) {
		char *name = baseline_of_file(e->d_name);

		if (name)
			acts_scan_baseline(out, dirfd(d), e->d_name, name);
		free(name);
	}
	if (d)
		closedir(d);
}

/* --- updates --------------------------------------------------------------------------------- */

static void acts_take_update(struct act *a, const struct txn_info *t)
{
	*a = (struct act){ .kind = ACT_UPDATE,
			   .begin_ms = t->head.time_s * 1000,
			   .end_ms = t->state_s * 1000,
			   .blocks = (uint64_t)t->head.nlft + t->head.nsl2vl };
	acts_text(a->id, sizeof(a->id), t->head.id);
	acts_text(a->fabric, sizeof(a->fabric), t->head.fabric);
	acts_text(a->user, sizeof(a->user), t->head.user);
	acts_text(a->host, sizeof(a->host), t->head.host);
	acts_text(a->plan, sizeof(a->plan), t->head.plan);
	acts_text(a->engine, sizeof(a->engine), t->head.engine);
	snprintf(a->state, sizeof(a->state), "%s", txn_state_name(t->state));
	acts_text(a->text, sizeof(a->text), t->broken[0] ? t->broken : t->said);
}

static void acts_scan_updates(struct acts *out, const char *state)
{
	struct txn_info *list;
	struct act a;
	uint32_t n;

	if (journal_list(&list, &n, journal_base(state), NULL))
		return;
	while (n) {
		acts_take_update(&a, &list[--n]);
		vec_push(out, a);
	}
	free(list);
}

/* --- records --------------------------------------------------------------------------------- */

/* Names begin with the time in UTC: 20261120T231951Z-4711. */
static int64_t acts_sid_ms(const char *sid)
{
	struct tm tm = { 0 };
	const char *end = strptime(sid, "%Y%m%dT%H%M%SZ", &tm);

	return end ? (int64_t)timegm(&tm) * 1000 : 0;
}

static bool acts_closed(int fd, off_t size)
{
	char tail[TAIL_LEN];
	off_t at = size > TAIL_LEN ? size - TAIL_LEN : 0;
	ssize_t n = pread(fd, tail, sizeof(tail), at);

	return n > 0 && (memmem(tail, (size_t)n, "\"session.end\"", 13) ||
			 memmem(tail, (size_t)n, "\"record.rotate\"", 15));
}

static void acts_scan_record(struct acts *out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct act a = { .kind = ACT_RECORD };
	char sid[64] = "";
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		record_name(sid, sizeof(sid), path);
		acts_text(a.id, sizeof(a.id), record_file_name(path));
		acts_text(a.text, sizeof(a.text), sid);
		acts_owner(a.user, sizeof(a.user), st.st_uid);
		a.end_ms = acts_mtime_ms(&st);
		a.begin_ms = acts_sid_ms(sid);
		if (!a.begin_ms)
			a.begin_ms = a.end_ms;
		a.bytes = (uint64_t)st.st_size;
		snprintf(a.state, sizeof(a.state), "%s",
			 acts_closed(fd, st.st_size) ? "closed" : "open");
		vec_push(out, a);
	}
	close(fd);
}

static void acts_scan_records(struct acts *out, const char *dir)
{
	struct record_files files;
	size_t n = 0;

	if (dir && !*dir)
		return;
	record_files_list(&files, record_dir(dir));
	for (size_t i = files.n; i-- && n < RECORDS_MAX; n++)
		acts_scan_record(out, files.v[i]);
	record_files_free(&files);
}

void acts_scan(struct acts *out, const struct acts_dirs *dirs)
{
	acts_scan_baselines(out, dirs->state);
	acts_scan_updates(out, dirs->state);
	acts_scan_records(out, dirs->record);
}
