/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit prune, seal: what is kept of the records of a directory, and the key that seals them. */
#include "console/cli/audit/audit_cmd.h"

#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/record/record.h"
#include "console/record/record_files.h"
#include "console/record/record_hmac.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/process/confine.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct pruned {
	const char *dir;
	bool dry_run;
	struct record *record; /* NULL: nothing was removed yet */
	uint32_t n;
	json_t *list; /* of removed, with --json */
	uint64_t bytes;
};

static int audit_cmd_prune_tell(void *ctx, json_t *data, struct err *err)
{
	struct pruned *k = ctx;
	const struct record_opts ro = { .dir = k->dir, .mode = "prune", .syslog = true };
	int rc = k->record ? 0 : record_open(&k->record, &ro, err);

	if (rc) {
		json_decref(data);
		return rc;
	}
	return record_add(k->record, "record.prune", data, err);
}

static int audit_cmd_prune_told(void *ctx, struct err *err)
{
	struct pruned *k = ctx;

	return record_sync(k->record, err);
}

static void audit_cmd_prune_gone(void *ctx, const char *path, uint64_t bytes)
{
	struct pruned *k = ctx;
	char *shown = plain_text(xstrdup(path), "");

	k->bytes += bytes;
	k->n++;
	if (k->list)
		json_array_append_new(k->list, json_text(path));
	else
		printf("%s%s\n", k->dry_run ? "would remove " : "", shown);
	free(shown);
}

int audit_cmd_prune(const struct audit_options *o)
{
	struct pruned k = { .dir = record_dir(o->n ? o->names[0] : o->record_dir),
			    .dry_run = o->dry_run,
			    .list = o->json ? json_array() : NULL };
	struct record_prune_opts po = { .dir = k.dir,
					.state_dir = o->state_dir,
					.keep = o->keep,
					.dry_run = o->dry_run,
					.tell = audit_cmd_prune_tell,
					.told = audit_cmd_prune_told,
					.gone = audit_cmd_prune_gone,
					.ctx = &k };
	struct err err = { "" }, end;
	int rc;

	if (o->dry_run)
		confine_to_reading(NULL);
	else
		confine_to_writing(k.dir, true, NULL);
	rc = record_prune(&po, &err);

	if (k.record && record_close(k.record, &end) && !rc)
		rc = err_set(&err, -EIO, "%s", end.text);
	if (o->json && !rc)
		rc = output_file_print_json(
			json_pack("{s:s, s:o, s:b, s:O, s:I}", "schema", "ibroute-top/1",
				  "directory", json_text(k.dir), "dry_run", o->dry_run, "removed",
				  k.list, "bytes", (json_int_t)k.bytes),
			&err);
	else if (!o->json && (k.n || !rc))
		printf("%u file%s, %" PRIu64 " KiB%s\n", k.n, plural(k.n), k.bytes / 1024,
		       o->dry_run ? ", dry run" : "");
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
		confine_to_writing(dir, false, NULL);
	if (!rc)
		rc = record_hmac_setup(&first, dir, &err);
	if (rc) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_FINDINGS;
	}
	if (o->json)
		output_file_print_json(json_pack("{s:s, s:o, s:s}", "schema", "ibroute-top/1",
						 "directory", json_text(dir), "key",
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
