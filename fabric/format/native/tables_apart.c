/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/tables_apart.h"

#include "fabric/base/process/apart.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/netloc/netloc.h"
#include "fabric/model/tables/tables_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A file of tables on its way through a process of its own. */
struct tables_reading {
	FILE *file, *nodes; /* nodes: of netloc, beside it */
	const char *path, *nodes_path;
	const struct fabric *f;
	tables_reader *read; /* NULL: tables.ibr, netloc */
	struct graft_report grafted;
	bool before; /* they may be of any older state of the fabric */
	struct carry_report carried;
	struct tables *t;
};

static int tables_apart_work(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct tables_reading *x = ctx;
	int rc;

	if (x->read)
		rc = x->read(&x->t, x->file, x->path, x->f, report, err);
	else if (x->nodes)
		rc = netloc_paths_read_fd(&x->t, fileno(x->file), x->path, fileno(x->nodes),
					  x->nodes_path, x->f, report, err);
	else if (lseek(fileno(x->file), 0, SEEK_SET) < 0) /* the stream has read ahead */
		rc = err_set(err, -errno, "%s cannot be read: %s", x->path, strerror(errno));
	else if (x->before)
		rc = tables_ibr_read_fd_before(&x->t, fileno(x->file), x->f, &x->carried, x->path,
					       err);
	else
		rc = tables_ibr_read_fd(&x->t, fileno(x->file), x->f, &x->grafted, x->path, err);
	if (rc)
		return rc;
	bytes_put(out, &x->grafted, sizeof(x->grafted));
	bytes_put(out, &x->carried, sizeof(x->carried));
	tables_bytes_put(out, x->t);
	tables_put(x->t);
	return 0;
}

static int tables_apart_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct tables_reading *x = ctx;

	(void)err;
	bytes_take(in, &x->grafted, sizeof(x->grafted));
	bytes_take(in, &x->carried, sizeof(x->carried));
	return tables_bytes_take(&x->t, in, x->f);
}

static int tables_apart_run(struct tables **out, struct tables_reading *x,
			    struct read_report *report, struct err *err)
{
	struct apart a = { .path = x->path,
			   .file = x->file,
			   .beside = x->nodes,
			   .read = tables_apart_work,
			   .take = tables_apart_take,
			   .ctx = x };
	int rc = apart_read(&a, report, err);

	if (rc)
		tables_put(x->t);
	else
		*out = x->t;
	return rc;
}

int tables_apart_read(struct tables **out, tables_reader *read, FILE *file, const char *path,
		      const struct fabric *f, struct read_report *report, struct err *err)
{
	struct tables_reading x = { .file = file, .path = path, .f = f, .read = read };

	return tables_apart_run(out, &x, report, err);
}

int tables_apart_read_ibr(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			  struct graft_report *grafted, struct err *err)
{
	struct tables_reading x = { .file = file, .path = path, .f = f };
	int rc = tables_apart_run(out, &x, NULL, err);

	if (!rc && grafted)
		*grafted = x.grafted;
	return rc;
}

int tables_apart_read_ibr_before(struct tables **out, FILE *file, const char *path,
				 const struct fabric *f, struct carry_report *carried,
				 struct err *err)
{
	struct tables_reading x = { .file = file, .path = path, .f = f, .before = true };
	int rc = tables_apart_run(out, &x, NULL, err);

	if (!rc)
		*carried = x.carried;
	return rc;
}

static int tables_apart_open(FILE **file, const char *path, struct err *err)
{
	*file = fopen(path, "re");
	if (*file)
		return 0;
	return err_set(err, -errno, "%s: cannot be opened: %s", path, strerror(errno));
}

int tables_apart_load_ibr(struct tables **out, const char *path, const struct fabric *f,
			  struct graft_report *grafted, struct err *err)
{
	FILE *file;
	int rc = tables_apart_open(&file, path, err);

	if (rc)
		return rc;
	rc = tables_apart_read_ibr(out, file, path, f, grafted, err);
	fclose(file);
	return rc;
}

int tables_apart_load_ibr_before(struct tables **out, const char *path, const struct fabric *f,
				 struct carry_report *carried, struct err *err)
{
	FILE *file;
	int rc = tables_apart_open(&file, path, err);

	if (rc)
		return rc;
	rc = tables_apart_read_ibr_before(out, file, path, f, carried, err);
	fclose(file);
	return rc;
}

int tables_apart_netloc(struct tables **out, const char *path, const char *nodes_path,
			const struct fabric *f, struct read_report *report, struct err *err)
{
	struct tables_reading x = { .path = path, .nodes_path = nodes_path, .f = f };
	int rc = tables_apart_open(&x.file, path, err);

	if (rc)
		return rc;
	rc = tables_apart_open(&x.nodes, nodes_path, err);
	if (!rc) {
		rc = tables_apart_run(out, &x, report, err);
		fclose(x.nodes);
	}
	fclose(x.file);
	return rc;
}
