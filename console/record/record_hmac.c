/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_hmac.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define STATE_FORMAT "ibroute-seal 1\nepoch %020" PRIu64 "\nkey %s\n" /* one length for all */
#define STATE_BYTES  (15 + 6 + 20 + 1 + 4 + 64 + 1)

static void record_hmac_do_forward(struct digest *key, const char *what)
{
	struct digest next;

	digest_hmac(&next, key, what, strlen(what));
	*key = next;
	digest_erase(&next);
}

static void record_hmac_next_epoch(struct digest *key)
{
	record_hmac_do_forward(key, "ibroute-top seal epoch");
}

static void record_hmac_line_key(struct record_hmac *out, uint64_t epoch, const struct digest *key)
{
	out->epoch = epoch;
	out->key = *key;
	record_hmac_do_forward(&out->key, "ibroute-top seal session");
}

static void record_hmac_state_text(char text[STATE_BYTES + 1], uint64_t epoch,
				   const struct digest *key)
{
	char hex[DIGEST_HEX];

	snprintf(text, STATE_BYTES + 1, STATE_FORMAT, epoch, digest_hex(hex, key));
	explicit_bzero(hex, sizeof(hex));
}

int record_hmac_setup(struct digest *first, const char *dir, struct err *err)
{
	char *path = xasprintf("%s/" SEAL_STATE, dir), text[STATE_BYTES + 1];
	int rc = 0;

	if (getrandom(first->b, DIGEST_BYTES, 0) != DIGEST_BYTES)
		rc = err_set(err, -EIO, "no random bytes for a key: %s", strerror(errno));
	if (!rc) {
		record_hmac_state_text(text, 1, first);
		rc = store_write(path, text, STATE_BYTES, err);
	}
	if (!rc)
		rc = store_sync_dir(dir, err);
	explicit_bzero(text, sizeof(text));
	free(path);
	return rc;
}

static int record_hmac_state_take(struct digest *key, uint64_t *epoch, int fd, const char *path,
				  struct err *err)
{
	char text[STATE_BYTES + 1] = "", hex[DIGEST_HEX] = "";
	bool good = pread(fd, text, STATE_BYTES, 0) == STATE_BYTES &&
		    sscanf(text, "ibroute-seal 1\nepoch %" SCNu64 "\nkey %64[0-9a-f]\n", epoch,
			   hex) == 2 &&
		    *epoch && !digest_parse(key, hex);

	explicit_bzero(text, sizeof(text));
	explicit_bzero(hex, sizeof(hex));
	return good ? 0
		    : err_set(err, -EINVAL,
			      "%s: not the state of a seal: restore it, or move it away and "
			      "create a new one with 'ibroute-top audit seal'",
			      path);
}

static int record_hmac_state_put(int fd, const char *path, uint64_t epoch, const struct digest *key,
				 struct err *err)
{
	char text[STATE_BYTES + 1];
	bool written;

	record_hmac_state_text(text, epoch, key);
	written = pwrite(fd, text, STATE_BYTES, 0) == STATE_BYTES;
	explicit_bzero(text, sizeof(text));
	if (!written)
		return err_set(err, -EIO, "%s: cannot write: %s", path, strerror(errno));
	return store_sync(fd, path, err);
}

int record_hmac_begin(struct record_hmac **out, const char *dir, struct err *err)
{
	char *path = xasprintf("%s/" SEAL_STATE, dir);
	int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;
	struct digest key;
	uint64_t epoch;

	*out = NULL;
	if (fd < 0 && errno == ENOENT)
		goto out;
	if (fd < 0 || flock(fd, LOCK_EX)) {
		rc = err_set(err, -errno, "%s: cannot be opened: %s", path, strerror(errno));
		goto out;
	}
	rc = record_hmac_state_take(&key, &epoch, fd, path, err);
	if (rc)
		goto out;
	*out = xcalloc(1, sizeof(**out));
	record_hmac_line_key(*out, epoch, &key);
	record_hmac_next_epoch(&key);
	rc = record_hmac_state_put(fd, path, epoch + 1, &key, err);
	digest_erase(&key);
	if (rc) {
		record_hmac_end(*out);
		*out = NULL;
	}
out:
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

void record_hmac_end(struct record_hmac *s)
{
	if (!s)
		return;
	digest_erase(&s->key);
	free(s);
}

void record_hmac_line(struct digest *mac, const struct record_hmac *s, const char *line, size_t len)
{
	digest_hmac(mac, &s->key, line, len);
}

void record_hmac_forward(struct record_hmac *s)
{
	record_hmac_do_forward(&s->key, "ibroute-top seal line");
}

void record_hmac_walk(struct record_hmac *out, struct record_hmac_walk *w,
		      const struct digest *first, uint64_t epoch)
{
	if (!w->epoch || w->epoch > epoch)
		*w = (struct record_hmac_walk){ 1, *first };
	for (; w->epoch < epoch; w->epoch++)
		record_hmac_next_epoch(&w->key);
	record_hmac_line_key(out, epoch, &w->key);
}

void record_hmac_at(struct record_hmac *out, const struct digest *first, uint64_t epoch)
{
	struct record_hmac_walk w = { 0 };

	record_hmac_walk(out, &w, first, epoch);
	digest_erase(&w.key);
}

uint64_t record_hmac_last_epoch(const char *dir)
{
	char *path = xasprintf("%s/" SEAL_STATE, dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct digest key;
	uint64_t epoch = 1;

	if (fd >= 0) {
		if (record_hmac_state_take(&key, &epoch, fd, path, NULL))
			epoch = 1;
		digest_erase(&key);
		close(fd);
	}
	free(path);
	return epoch - 1;
}
