/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_end.h"

#include "console/record/record_files.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_FORMAT "ibroute-seal-end 1\nlines %020" PRIu64 "\nmac %s\n" /* one length for all */
#define END_BYTES  (19 + 6 + 20 + 1 + 4 + 64 + 1)

char *record_end_path(const char *record_path)
{
	const char *name = record_file_name(record_path);

	return xasprintf("%.*s." RECORD_END_SUFFIX,
			 (int)(name - record_path) + (int)strcspn(name, "."), record_path);
}

int record_end_open(int *fd, const char *path, struct err *err)
{
	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (*fd >= 0 && !fchmod(*fd, 0640))
		return 0;
	return err_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
}

void record_end_mac(struct digest *mac, const struct record_hmac *seal, uint64_t lines)
{
	char what[64];

	/* no line of a record begins like that */
	snprintf(what, sizeof(what), "ibroute-top seal end %" PRIu64, lines);
	record_hmac_line(mac, seal, what, strlen(what));
}

int record_end_put(int fd, const struct record_hmac *seal, uint64_t lines, const char *path,
		   struct err *err)
{
	char text[END_BYTES + 1], hex[DIGEST_HEX];
	struct digest mac;

	record_end_mac(&mac, seal, lines);
	snprintf(text, sizeof(text), END_FORMAT, lines, digest_hex(hex, &mac));
	if (pwrite(fd, text, END_BYTES, 0) == END_BYTES)
		return 0;
	return err_set(err, -EIO, "%s: cannot write: %s", path, strerror(errno));
}

bool record_end_read(struct record_end *out, const char *path)
{
	char *text, hex[DIGEST_HEX] = "";
	size_t len;
	bool good;

	if (store_read(&text, &len, path, NULL))
		return false;
	good = len == END_BYTES &&
	       sscanf(text, "ibroute-seal-end 1\nlines %" SCNu64 "\nmac %64[0-9a-f]\n", &out->lines,
		      hex) == 2 &&
	       !digest_parse(&out->mac, hex);
	free(text);
	return good;
}
