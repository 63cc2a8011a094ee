/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_apart: a reader of tables in a process that can do nothing else (apart_read()). */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

typedef int tables_reader(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			  struct read_report *report, struct err *err);

/* As read(); -ECHILD and the like: that process has failed. */
int tables_apart_read(struct tables **out, tables_reader *read, FILE *file, const char *path,
		      const struct fabric *f, struct read_report *report, struct err *err);
/* As tables_ibr_read_fd(), from the beginning of the file. */
int tables_apart_read_ibr(struct tables **out, FILE *file, const char *path, const struct fabric *f,
			  struct graft_report *grafted, struct err *err);
/* As tables_ibr_read_fd_before(). */
int tables_apart_read_ibr_before(struct tables **out, FILE *file, const char *path,
				 const struct fabric *f, struct carry_report *carried,
				 struct err *err);
/* As tables_ibr_load(). */
int tables_apart_load_ibr(struct tables **out, const char *path, const struct fabric *f,
			  struct graft_report *grafted, struct err *err);
/* The same as tables_apart_read_ibr_before(). */
int tables_apart_load_ibr_before(struct tables **out, const char *path, const struct fabric *f,
				 struct carry_report *carried, struct err *err);
/* As netloc_paths_read_fd(). */
int tables_apart_netloc(struct tables **out, const char *path, const char *nodes_path,
			const struct fabric *f, struct read_report *report, struct err *err);
