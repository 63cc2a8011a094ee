/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/protocol/site_key.h"

#include "fabric/base/hash/digest.h"
#include "fabric/base/memory/mem.h"
#include "fabric/ib/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 8192
#define HEX	   (2 * DIGEST_BYTES)

struct key {
	uint16_t id;
	bool site;			       /* else of a node */
	uint64_t guid;			       /* of a node */
	struct digest whole, question, answer; /* answer: of that node */
};

struct site_keys {
	char *path;
	struct stat seen;
	uint32_t n;
	struct key key[SITE_KEYS_MAX];
	uint32_t nissuers;
	uint64_t issuer[SITE_ISSUERS_MAX];
};

/* ---- what comes of a key ---- */

static void site_key_derive(struct digest *out, const struct digest *from, const char *what,
			    uint64_t guid)
{
	uint8_t text[64] = { 0 };
	size_t n = strlen(what);

	memcpy(text, what, n);
	be64_put(text + n, guid);
	digest_hmac(out, from, text, n + 8);
}

static void site_key_of_answers(struct digest *out, const struct key *k, uint64_t guid)
{
	if (k->site)
		site_key_derive(out, &k->whole, "ibroute-top answers 1", guid);
	else
		*out = k->answer;
}

/* Of the key of questions, which whoever has any of it has. */
static uint16_t site_key_number(const struct key *k)
{
	struct digest d;
	uint16_t id;

	site_key_derive(&d, &k->question, "ibroute-top number 1", 0);
	id = be16_get(d.b);
	return id ? id : 1;
}

static bool site_key_mac(uint8_t mac[SITE_KEY_MAC], const struct key *k,
			 const struct site_key_subject *s)
{
	struct digest by, out;

	if (s->guid && !k->site && s->guid != k->guid)
		return false;
	if (s->guid)
		site_key_of_answers(&by, k, s->guid);
	else
		by = k->question;
	digest_hmac(&out, &by, s->data, s->len);
	memcpy(mac, out.b, SITE_KEY_MAC);
	digest_erase(&by);
	return true;
}

/* ---- the file ---- */

static int site_key_hex(struct digest *out, const char *text)
{
	char hex[DIGEST_HEX];

	if (strlen(text) != HEX)
		return -EINVAL;
	memcpy(hex, text, sizeof(hex));
	return digest_parse(out, hex);
}

static bool site_key_take_site(struct key *k, const char *text)
{
	if (site_key_hex(&k->whole, text))
		return false;
	k->site = true;
	site_key_derive(&k->question, &k->whole, "ibroute-top questions 1", 0);
	return true;
}

static bool site_key_take_node(struct key *k, const char *line)
{
	char one[HEX + 1], two[HEX + 1];
	int end = 0;
	bool ok = sscanf(line, "node %" SCNx64 " %64s %64s%n", &k->guid, one, two, &end) == 3 &&
		  !line[end] && k->guid && !site_key_hex(&k->question, one) &&
		  !site_key_hex(&k->answer, two);

	explicit_bzero(one, sizeof(one));
	explicit_bzero(two, sizeof(two));
	return ok;
}

static int site_key_take_issuer(struct site_keys *k, const char *line, uint32_t nr, struct err *err)
{
	uint64_t guid;
	int end = 0;

	if (sscanf(line, "issuer %" SCNx64 "%n", &guid, &end) != 1 || line[end] || !guid)
		return err_set(err, -EINVAL, "%s:%u: not 'issuer GUID'", k->path, nr);
	if (k->nissuers == SITE_ISSUERS_MAX)
		return err_set(err, -EINVAL, "%s:%u: more than %d issuers", k->path, nr,
			       SITE_ISSUERS_MAX);
	k->issuer[k->nissuers++] = guid;
	return 0;
}

static int site_key_take_line(struct site_keys *k, const char *line, uint32_t nr, struct err *err)
{
	struct key *key = &k->key[k->n];

	if (!*line || *line == '#')
		return 0;
	if (!strncmp(line, "issuer ", 7))
		return site_key_take_issuer(k, line, nr, err);
	if (k->n == SITE_KEYS_MAX)
		return err_set(err, -EINVAL, "%s:%u: more than %d keys", k->path, nr,
			       SITE_KEYS_MAX);
	if (strncmp(line, "node ", 5) ? !site_key_take_site(key, line)
				      : !site_key_take_node(key, line))
		return err_set(err, -EINVAL,
			       "%s:%u: neither a key of 64 hexadecimal digits nor 'node GUID' with "
			       "two of them",
			       k->path, nr);
	key->id = site_key_number(key);
	k->n++;
	return 0;
}

static int site_key_parse(struct site_keys *k, char *text, struct err *err)
{
	uint32_t nr = 0;
	int rc = 0;

	for (char *line = text, *next; line && *line && !rc; line = next) {
		size_t n;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		n = strlen(line);
		while (n && strchr(" \t\r", line[n - 1]))
			line[--n] = '\0';
		rc = site_key_take_line(k, line, ++nr, err);
	}
	if (!rc && !k->n)
		rc = err_set(err, -EINVAL, "%s has no key", k->path);
	return rc;
}

/* Whoever may read it can forge, and whoever may write it can, too. */
static int site_key_permitted(const struct site_keys *k, struct err *err)
{
	const struct stat *st = &k->seen;

	if (!S_ISREG(st->st_mode))
		return err_set(err, -EACCES, "%s is no file", k->path);
	if (st->st_uid && st->st_uid != geteuid())
		return err_set(err, -EACCES, "%s belongs to user %u: it has to be root's", k->path,
			       (unsigned)st->st_uid);
	if (st->st_mode & 077)
		return err_set(err, -EACCES,
			       "%s can be read or written by others than its owner (mode %o): "
			       "chmod 600 %s; if others may have read it, make a new key",
			       k->path, (unsigned)(st->st_mode & 0777), k->path);
	return 0;
}

static int site_key_read(struct site_keys *k, struct err *err)
{
	char text[FILE_BYTES + 1];
	ssize_t n = 0, got = 1;
	int fd, rc;

	fd = open(k->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(err, -errno, "%s cannot be read: %s", k->path, strerror(errno));
	rc = fstat(fd, &k->seen) ? -errno : site_key_permitted(k, err);
	while (!rc && got > 0 && n < FILE_BYTES) {
		got = read(fd, text + n, (size_t)(FILE_BYTES - n));
		n += got > 0 ? got : 0;
	}
	close(fd);
	if (!rc && got < 0)
		rc = err_set(err, -EIO, "%s cannot be read", k->path);
	if (!rc && n == FILE_BYTES)
		rc = err_set(err, -EINVAL, "%s is longer than a file of keys", k->path);
	text[n] = '\0';
	if (!rc && strlen(text) != (size_t)n)
		rc = err_set(err, -EINVAL, "%s is no file of keys", k->path);
	if (!rc)
		rc = site_key_parse(k, text, err);
	explicit_bzero(text, sizeof(text));
	return rc;
}

/* A user's own agent cannot read root's, and goes without. */
static bool site_keys_preset_away(int rc)
{
	return rc == -ENOENT || (rc == -EACCES && geteuid());
}

int site_keys_load(struct site_keys **out, const char *path, struct err *err)
{
	struct site_keys *k;
	int rc;

	*out = NULL;
	if (path && !strcmp(path, "none"))
		return 0;
	if (!path && access(SITE_KEY_PRESET, R_OK) && site_keys_preset_away(-errno))
		return 0;
	k = xcalloc(1, sizeof(*k));
	k->path = xstrdup(path ? path : SITE_KEY_PRESET);
	rc = site_key_read(k, err);
	if (rc)
		site_keys_free(k);
	else
		*out = k;
	return rc;
}

void site_keys_free(struct site_keys *k)
{
	if (!k)
		return;
	free(k->path);
	explicit_bzero(k, sizeof(*k));
	free(k);
}

static bool site_keys_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_mode == b->st_mode && a->st_uid == b->st_uid;
}

int site_keys_refresh(struct site_keys *k, struct err *err)
{
	struct site_keys new = { .path = k->path };
	struct stat now;
	int rc;

	if (!stat(k->path, &now) && site_keys_same_file(&now, &k->seen))
		return 0;
	rc = site_key_read(&new, err);
	if (!rc)
		*k = new;
	explicit_bzero(&new, sizeof(new));
	return rc ? rc : 1;
}

/* ---- what they are for ---- */

uint16_t site_keys_id(const struct site_keys *k)
{
	return k->key[0].id;
}

int site_keys_sign(uint16_t *id, uint8_t mac[SITE_KEY_MAC], const struct site_keys *k,
		   const struct site_key_subject *s)
{
	*id = k->key[0].id;
	return site_key_mac(mac, &k->key[0], s) ? 0 : -ENOKEY;
}

static bool site_key_same(const uint8_t *a, const uint8_t *b)
{
	uint8_t differ = 0;

	for (int i = 0; i < SITE_KEY_MAC; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

int site_keys_check(const struct site_keys *k, uint16_t id, const uint8_t mac[SITE_KEY_MAC],
		    const struct site_key_subject *s)
{
	uint8_t want[SITE_KEY_MAC];
	int rc = -ENOKEY;

	for (uint32_t i = 0; i < k->n && rc; i++) {
		if (k->key[i].id != id || !site_key_mac(want, &k->key[i], s))
			continue;
		rc = site_key_same(mac, want) ? 0 : -EKEYREJECTED;
	}
	return rc;
}

bool site_keys_may_ask(const struct site_keys *k, uint64_t guid)
{
	for (uint32_t i = 0; i < k->nissuers; i++)
		if (k->issuer[i] == guid)
			return true;
	return !k->nissuers;
}

/* ---- new ones ---- */

static int site_key_random(struct digest *out, struct err *err)
{
	size_t n = 0;

	while (n < DIGEST_BYTES) {
		ssize_t got = getrandom(out->b + n, DIGEST_BYTES - n, 0);

		if (got < 0 && errno != EINTR)
			return err_set(err, -errno, "the kernel gives no random numbers: %s",
				       strerror(errno));
		n += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int site_key_write(int fd, const char *path, const struct digest *key, struct err *err)
{
	char hex[DIGEST_HEX], text[200];
	int n = snprintf(text, sizeof(text),
			 "# ibroute-top: the key of the agents of this site.  Root's, mode 0600.\n"
			 "%s\n",
			 digest_hex(hex, key));
	int rc = 0;

	if (write(fd, text, (size_t)n) != n || fsync(fd))
		rc = err_set(err, -EIO, "%s cannot be written: %s", path, strerror(errno));
	explicit_bzero(hex, sizeof(hex));
	explicit_bzero(text, sizeof(text));
	return rc;
}

int site_key_new(const char *path, struct err *err)
{
	struct digest key;
	int fd, rc = site_key_random(&key, err);

	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		rc = err_set(err, -errno, "%s cannot be created: %s", path, strerror(errno));
	if (!rc)
		rc = site_key_write(fd, path, &key, err);
	if (fd >= 0)
		close(fd);
	if (rc && fd >= 0)
		unlink(path);
	digest_erase(&key);
	return rc;
}

int site_key_node(char **out, const struct site_keys *k, uint64_t guid, struct err *err)
{
	const struct key *key = &k->key[0];
	char one[DIGEST_HEX], two[DIGEST_HEX];
	struct digest answers;

	*out = NULL;
	if (!key->site)
		return err_set(err, -ENOKEY, "%s has the key of a node, not that of the site",
			       k->path);
	site_key_of_answers(&answers, key, guid);
	*out = xasprintf("node 0x%016" PRIx64 " %s %s", guid, digest_hex(one, &key->question),
			 digest_hex(two, &answers));
	digest_erase(&answers);
	explicit_bzero(one, sizeof(one));
	explicit_bzero(two, sizeof(two));
	return 0;
}
