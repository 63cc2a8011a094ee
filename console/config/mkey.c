/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/mkey.h"

#include "console/config/exits.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/opensm/osm_neighbors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static bool mkey_parse(uint64_t *key, const char *text)
{
	char *end;

	errno = 0;
	*key = strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

bool mkey_take(uint64_t *key, char *arg)
{
	bool number = mkey_parse(key, arg);

	explicit_bzero(arg, strlen(arg));
	return !number;
}

int mkey_ask(uint64_t *key, struct err *err)
{
	bool tty = isatty(STDIN_FILENO), got;
	struct termios old, quiet;
	char line[64];

	if (tty)
		fputs("M_Key: ", stderr);
	if (tty && !tcgetattr(STDIN_FILENO, &old)) {
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	got = fgets(line, sizeof(line), stdin);
	if (tty) {
		tcsetattr(STDIN_FILENO, TCSANOW, &old);
		fputc('\n', stderr);
	}
	if (got) {
		line[strcspn(line, "\n")] = '\0';
		got = mkey_parse(key, line);
	}
	explicit_bzero(line, sizeof(line));
	return got ? 0 : err_set(err, -EINVAL, "the M_Key is a number, such as 0x1234");
}

/* --- files --- */

/* All that were read: they live as long as the program, and are wiped at its end. */
static struct kept {
	struct mkeys keys;
	struct kept *next;
} * all_kept;

static void mkey_wipe_kept(void)
{
	while (all_kept) {
		struct kept *k = all_kept;

		all_kept = k->next;
		mkeys_clear(&k->keys);
		free(k);
	}
}

static struct kept *mkey_keep(void)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	if (!all_kept)
		atexit(mkey_wipe_kept);
	k->next = all_kept;
	all_kept = k;
	return k;
}

struct sample_reading {
	FILE *in;
	const char *path;
	struct mkeys *keys;
	uint64_t one;
	unsigned line, alone, ports; /* lines of either kind */
};

/* "0x1234", or "0xguid 0x1234"; false: neither, or one more of the first kind. */
static bool mkey_take_line(struct sample_reading *r, char *line)
{
	char *rest = NULL, *first = strtok_r(line, " \t\r", &rest);
	char *second = strtok_r(NULL, " \t\r", &rest);
	uint64_t guid, key;

	if (strtok_r(NULL, " \t\r", &rest) || r->alone || (!second && r->ports))
		return false;
	if (!second) {
		r->alone++;
		return mkey_parse(&r->one, first);
	}
	r->ports++;
	if (!mkey_parse(&guid, first) || !mkey_parse(&key, second))
		return false;
	mkeys_add(r->keys, guid, key);
	explicit_bzero(&key, sizeof(key));
	return true;
}

static int mkey_read_keys(struct sample_reading *r, struct err *err)
{
	char line[128];
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), r->in)) {
		r->line++;
		line[strcspn(line, "\n")] = '\0';
		if (!line[strspn(line, " \t\r")] || line[0] == '#')
			continue;
		if (!mkey_take_line(r, line))
			rc = err_set(err, -EINVAL, "%s:%u: not an M_Key or \"0xguid 0xkey\"",
				     r->path, r->line);
	}
	explicit_bzero(line, sizeof(line));
	if (!rc && ferror(r->in))
		rc = err_set(err, -EIO, "%s: reading stopped: %s", r->path, strerror(errno));
	if (!rc && !r->alone && !r->ports)
		rc = err_set(err, -EINVAL, "%s: no M_Key in it", r->path);
	return rc;
}

/* Who is behind which port, as OpenSM knew it: so the right key comes first.  A file that is not
 * there or cannot be understood only costs that. */
static void mkey_read_neighbors(struct mkeys *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *beside = xasprintf("%.*sneighbors", slash ? (int)(slash - path) + 1 : 0, path);
	FILE *in = fopen(beside, "re");
	struct osm_cable *cable = NULL;
	struct err err = { "" };
	uint32_t n = 0;

	if (in && osm_neighbors_cables(&cable, &n, in, beside, NULL, &err))
		fprintf(stderr, "warning: %s: continuing without it\n", err.text);
	for (uint32_t i = 0; i < n; i++)
		for (int end = 0; end < 2; end++)
			mkeys_add_cable(k, cable[i].guid[end], cable[i].port[end],
					cable[i].guid[!end]);
	free(cable);
	if (in)
		fclose(in);
	free(beside);
}

int mkey_file(uint64_t *key, const struct mkeys **keys, const char *path, struct err *err)
{
	struct sample_reading r = { .in = fopen(path, "re"), .path = path };
	struct mkeys read = { 0 };
	struct stat st;
	int rc = 0;

	*keys = NULL;
	r.keys = &read;
	if (!r.in || fstat(fileno(r.in), &st))
		rc = err_set(err, -errno, "%s: the M_Key cannot be read: %s", path,
			     strerror(errno));
	else if (S_ISREG(st.st_mode) && st.st_mode & 077)
		rc = err_set(err, -EPERM,
			     "%s: this M_Key is readable by others than its owner: chmod 600 it",
			     path);
	if (!rc)
		rc = mkey_read_keys(&r, err);
	if (r.in)
		fclose(r.in);
	if (!rc && r.alone)
		*key = r.one;
	explicit_bzero(&r.one, sizeof(r.one));
	if (rc || r.alone) {
		mkeys_clear(&read);
		return rc;
	}
	mkey_read_neighbors(&read, path);
	mkeys_sort(&read);
	*keys = memcpy(&mkey_keep()->keys, &read, sizeof(read));
	return 0;
}

void mkey_need_file(uint64_t *key, const struct mkeys **keys, const char *path,
		    const struct argp_state *s)
{
	struct err err = { "" };

	if (mkey_file(key, keys, path, &err))
		argp_failure(s, EXIT_UNREADABLE, 0, "%s", err.text);
}

/* --- to the watchdog --- */

json_t *mkey_json(const struct mkeys *keys)
{
	json_t *ports = json_array(), *cables = json_array();

	if (!keys) {
		json_decref(ports);
		json_decref(cables);
		return json_null();
	}
	for (uint32_t i = 0; i < keys->nport; i++)
		json_array_append_new(ports, json_pack("[I, I]", (json_int_t)keys->port[i].guid,
						       (json_int_t)keys->port[i].key));
	for (uint32_t i = 0; i < keys->ncable; i++)
		json_array_append_new(cables,
				      json_pack("[I, i, I]", (json_int_t)keys->cable[i].guid,
						(int)keys->cable[i].port,
						(json_int_t)keys->cable[i].peer));
	return json_pack("{s:o, s:o}", "ports", ports, "cables", cables);
}

static uint64_t mkey_num(const json_t *row, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(row, i));
}

const struct mkeys *mkey_from_json(const json_t *j)
{
	json_t *row;
	size_t i;
	struct mkeys *k;

	if (!json_is_object(j))
		return NULL;
	k = &mkey_keep()->keys;
	json_array_foreach(json_object_get(j, "ports"), i, row)
		mkeys_add(k, mkey_num(row, 0), mkey_num(row, 1));
	json_array_foreach(json_object_get(j, "cables"), i, row)
		mkeys_add_cable(k, mkey_num(row, 0), (uint32_t)mkey_num(row, 1), mkey_num(row, 2));
	mkeys_sort(k);
	return k;
}
