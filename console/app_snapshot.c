/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app_priv.h"
#include "fabric/files/ibnd.h"
#include "fabric/files/osm_lfts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int open_in(FILE **out, const char *dir, const char *name, struct err *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	*out = fopen(path, "we");
	return *out ? 0 : err_set(err, -errno, "%s: %s", path, strerror(errno));
}

static int closed(FILE *f, int rc, const char *dir, struct err *err)
{
	bool bad = ferror(f) != 0;

	if (fclose(f) || bad)
		return rc ? rc
			  : err_set(err, -EIO, "%s: not all could be written: %s", dir,
				    strerror(errno));
	return rc;
}

static int save_fabric(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = open_in(&f, dir, SNAPSHOT_FABRIC, err);

	return rc ? rc : closed(f, ibnd_write(f, a->fabric, err), dir, err);
}

static int save_lfts(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc;

	if (!a->tables)
		return 0;
	rc = open_in(&f, dir, SNAPSHOT_LFTS, err);
	return rc ? rc : closed(f, osm_lfts_write(f, a->fabric, a->tables, err), dir, err);
}

static int save_jobs(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = open_in(&f, dir, SNAPSHOT_JOBS, err);

	if (rc)
		return rc;
	for (uint32_t j = 0; a->jobs && j < a->jobs->njob; j++)
		fprintf(f, "%lu %s\n", (unsigned long)a->jobs->jobs[j].id, a->jobs->jobs[j].nodes);
	return closed(f, 0, dir, err);
}

static int save_screen(const struct app *a, const char *dir, struct err *err)
{
	char *text = canvas_dump(a->canvas);
	FILE *f;
	int rc = open_in(&f, dir, "screen.txt", err);

	if (!rc) {
		fputs(text, f);
		rc = closed(f, 0, dir, err);
	}
	free(text);
	return rc;
}

static int save_data(const struct app *a, const char *dir, struct err *err)
{
	int rc = save_fabric(a, dir, err);

	if (!rc)
		rc = save_lfts(a, dir, err);
	return rc ? rc : save_jobs(a, dir, err);
}

int app_snapshot(const struct app *a, char *dir, size_t len, struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];
	int rc;

	if (!a->fabric)
		return err_set(err, -EAGAIN,
			       "there is nothing to save yet: the fabric is not known");
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", localtime_r(&now, &tm));
	snprintf(dir, len, "ibroute-%s-%s", a->fabric->name, when);
	for (char *c = dir; *c; c++)
		if (*c == '/')
			*c = '_';
	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_set(err, -errno, "cannot create %s here: %s", dir, strerror(errno));
	rc = save_data(a, dir, err);
	return rc ? rc : save_screen(a, dir, err);
}

int app_snapshot_to(const struct app *a, const char *dir, struct err *err)
{
	if (mkdir(dir, 0755))
		return err_set(err, -errno, "cannot create the folder %s: %s", dir,
			       strerror(errno));
	return save_data(a, dir, err);
}
