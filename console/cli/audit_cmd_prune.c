/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit prune, seal: what is kept of the records of a directory, and the key that seals them. */
#include "console/cli/audit_cmd.h"

#include "console/lib/exits.h"
#include "console/lib/output_file.h"
#include "console/record/record.h"
#include "console/record/record_files.h"
#include "console/record/record_hmac.h"
#include "console/record/record_json.h"
#include "fabric/base/mem.h"
#include "fabric/base/plain.h"
#include "fabric/base/plural.h"
#include "fabric/base/store.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_S 86400

struct kept {
	const char *dir;
	struct audit_dir *index; /* as it was at first */
	struct record_files files;
	struct record *record;
	uint32_t removed;
	json_t *list; /* of removed, with --json */
	uint64_t bytes;
};

/* A session holds a lock on the part that it writes. */
static bool audit_cmd_prune_is_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool open_now = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return open_now;
}

/* First file behind the session that file i belongs to. */
static size_t audit_cmd_prune_session_end(const struct kept *k, size_t i, char *sid, size_t size)
{
	char other[64];

	record_name(sid, size, k->files.v[i]);
	for (; i < k->files.n; i++) {
		record_name(other, sizeof(other), k->files.v[i]);
		if (strcmp(sid, other))
			break;
	}
	return i;
}

static uint32_t audit_cmd_prune_count_sessions(const struct kept *k)
{
	uint32_t n = 0;
	char sid[64];

	for (size_t i = 0; i < k->files.n; i = audit_cmd_prune_session_end(k, i, sid, sizeof(sid)))
		n++;
	return n;
}

/* All parts: older than that, and none being written. */
static bool audit_cmd_prune_session_old(const struct kept *k, size_t from, size_t to, time_t before)
{
	struct stat st;

	for (size_t i = from; i < to; i++)
		if (stat(k->files.v[i], &st) || (before && st.st_mtime >= before) ||
		    audit_cmd_prune_is_open(k->files.v[i]))
			return false;
	return true;
}

/* That it was there, and what it ended with, is told before it goes. */
static int audit_cmd_prune_tell(struct kept *k, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	struct audit_report r;
	char hex[DIGEST_HEX];
	int rc = audit_verify(&r, path, &(const struct audit_opts){ .dir = k->index }, err);

	if (!rc && !k->record) {
		struct record_opts ro = { .dir = k->dir, .mode = "prune", .syslog = true };

		rc = record_open(&k->record, &ro, err);
	}
	if (rc)
		return rc;
	rc = record_add(k->record, "record.prune",
			json_pack("{s:o, s:s, s:I, s:b, s:s, s:I}", "file", record_str(name), "sid",
				  r.sid, "lines", (json_int_t)r.lines, "whole", r.ok, "head",
				  digest_hex(hex, &r.head), "epoch", (json_int_t)r.epoch),
			err);
	return rc ? rc : record_sync(k->record, err);
}

static void audit_cmd_prune_print(const char *path, bool dry_run)
{
	char *shown = plain_text(xstrdup(path), "");

	printf("%s%s\n", dry_run ? "would remove " : "", shown);
	free(shown);
}

static int audit_cmd_prune_remove_file(struct kept *k, const char *path, bool dry_run,
				       struct err *err)
{
	char *cast = record_cast_path(path);
	struct stat st;
	int rc = dry_run ? 0 : audit_cmd_prune_tell(k, path, err);

	k->bytes += stat(path, &st) ? 0 : (uint64_t)st.st_size;
	k->bytes += stat(cast, &st) ? 0 : (uint64_t)st.st_size;
	k->removed++;
	if (k->list)
		json_array_append_new(k->list, record_str(path));
	else
		audit_cmd_prune_print(path, dry_run);
	if (!rc && !dry_run) {
		if (unlink(cast) && errno != ENOENT)
			rc = err_set(err, -errno, "%s: cannot be removed: %s", cast,
				     strerror(errno));
		else if (unlink(path))
			rc = err_set(err, -errno, "%s: cannot be removed: %s", path,
				     strerror(errno));
	}
	free(cast);
	return rc;
}

static int audit_cmd_prune_prune(struct kept *k, const struct audit_options *o, struct err *err)
{
	time_t before = o->keep_days >= 0 ? time(NULL) - (time_t)o->keep_days * DAY_S : 0;
	uint32_t left = audit_cmd_prune_count_sessions(k),
		 keep = o->keep_sessions > 0 ? (uint32_t)o->keep_sessions : 0;
	char sid[64];
	int rc = 0;

	for (size_t i = 0, next; !rc && i < k->files.n && left > keep; i = next) {
		next = audit_cmd_prune_session_end(k, i, sid, sizeof(sid));
		left--;
		if (!audit_cmd_prune_session_old(k, i, next, before))
			continue;
		for (; !rc && i < next; i++)
			rc = audit_cmd_prune_remove_file(k, k->files.v[i], o->dry_run, err);
	}
	return rc;
}

int audit_cmd_prune(const struct audit_options *o)
{
	struct kept k = { .dir = record_dir(o->n ? o->names[0] : o->record_dir),
			  .list = o->json ? json_array() : NULL };
	struct err err = { "" }, end;
	int rc = record_dir_check(k.dir, &err);

	if (!rc) {
		record_files_list(&k.files, k.dir);
		k.index = audit_dir_read(k.dir);
		rc = audit_cmd_prune_prune(&k, o, &err);
	}
	if (k.record && record_close(k.record, &end) && !rc)
		rc = err_set(&err, -EIO, "%s", end.text);
	if (o->json && !rc)
		rc = output_file_print_json(
			json_pack("{s:s, s:o, s:b, s:O, s:I}", "schema", "ibroute-top/1",
				  "directory", record_str(k.dir), "dry_run", o->dry_run, "removed",
				  k.list, "bytes", (json_int_t)k.bytes),
			&err);
	else if (!o->json && (k.files.n || !rc))
		printf("%u file%s, %" PRIu64 " KiB%s\n", k.removed, plural(k.removed),
		       k.bytes / 1024, o->dry_run ? ", dry run" : "");
	record_files_free(&k.files);
	audit_dir_free(k.index);
	json_decref(k.list);
	if (rc)
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}

int audit_cmd_seal(const struct audit_options *o)
{
	const char *dir = record_dir(o->n ? o->names[0] : o->record_dir);
	char hex[DIGEST_HEX];
	struct digest first;
	struct err err = { "" };
	int rc = store_mkdir(dir, &err);

	if (!rc)
		rc = record_hmac_setup(&first, dir, &err);
	if (rc) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_FINDINGS;
	}
	if (o->json)
		output_file_print_json(json_pack("{s:s, s:o, s:s}", "schema", "ibroute-top/1",
						 "directory", record_str(dir), "key",
						 digest_hex(hex, &first)),
				       &err);
	else
		printf("%s\n", digest_hex(hex, &first));
	fprintf(stderr,
		"ibroute-top: sessions recorded in %s are sealed from now on.  The line above is "
		"the key that\nverifies them (audit verify --key FILE).  Store it on another "
		"machine or on paper, not here.\n",
		dir);
	digest_erase(&first);
	return EXIT_OK;
}
