/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: differences from a dump or a snapshot, as --diff of the infiniband-diags. */
#include "console/batch/batch_record.h"

#include "console/app/app_priv.h"
#include "console/input/load/load_fabric.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/model/topology/fabric_diff.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static int batch_diff_read_before(struct fabric **out, bool *incomplete, const struct app *a,
				  const char *path, struct err *err)
{
	struct load_fabric_opts opts = { .names = a->names, .lmc = -1, .strict = a->opts.strict };
	char *inside = NULL;
	struct stat st;
	int rc;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		inside = xasprintf("%s/" SNAPSHOT_FABRIC, path);
	rc = load_fabric_of(out, incomplete, inside ? inside : path, &opts, err);
	free(inside);
	return rc;
}

static json_t *batch_diff_row_json(const struct fabric_diff_row *r)
{
	bool both = r->change == FDIFF_CHANGED;

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "change",
			 fabric_diff_change_name(r->change), "what", r->what, "subject",
			 json_text(r->subject), "guid", batch_json_guid(r->guid), "guid_b",
			 batch_json_guid(r->guid_b), "before",
			 both ? json_text(r->before) : json_null(), "after",
			 both ? json_text(r->after) : json_null());
}

static void batch_diff_print_json(FILE *out, const struct app *a, const struct fabric_diff *d,
				  const struct batch_opts *o, bool complete)
{
	json_t *rows = json_array(), *j;
	char ts[FIGURE_LEN];

	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(rows, batch_diff_row_json(&d->row[i]));
	j = json_pack("{s:s, s:s, s:o, s:o, s:b, s:o}", "schema", "ibroute-top/1", "ts",
		      figure_utc(ts, time(NULL)), "fabric", json_text(a->state.fabric->name),
		      "since", json_text(o->diff), "complete", complete, "diff", rows);
	json_dumpf(j, out, o->form == BATCH_JSON ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(j);
	fputc('\n', out);
}

static void batch_diff_print_text(FILE *out, const struct app *a, const struct fabric_diff *d,
				  const char *since)
{
	static const char marks[] = { '-', '+', '~' };

	for (size_t i = 0; i < d->n; i++) {
		const struct fabric_diff_row *r = &d->row[i];

		fprintf(out, "%c %-7s 0x%016lx %s", marks[r->change], r->what,
			(unsigned long)r->guid, r->subject);
		if (r->change == FDIFF_CHANGED)
			fprintf(out, ": %s -> %s", r->before, r->after);
		fputc('\n', out);
	}
	fprintf(out, "%s: %zu difference%s from %s\n", a->state.fabric->name, d->n, plural(d->n),
		since);
}

int batch_diff(struct app *a, const struct batch_opts *o, bool *complete, struct err *err)
{
	struct fabric *before;
	bool incomplete;
	struct fabric_diff *d;
	int rc = batch_diff_read_before(&before, &incomplete, a, o->diff, err);

	if (rc)
		return rc;
	*complete = *complete && !incomplete;
	d = fabric_diff_new(before, a->state.fabric);
	if (o->form == BATCH_TEXT)
		batch_diff_print_text(stdout, a, d, o->diff);
	else
		batch_diff_print_json(stdout, a, d, o, *complete);
	rc = output_file_flush_stdout(err) ? -EIO : d->n != 0;
	fabric_diff_free(d);
	fabric_put(before);
	return rc;
}
