/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/cells/cell_dump.h"

#include "console/io/output_file.h"
#include "console/io/snapshot_files.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
	uint64_t seed;
	size_t engine;
	uint32_t step;
};

static int cell_dump_parse(struct place *p, const struct failures *x, const char *which,
			   struct err *err)
{
	char label[64];
	int n = 0;

	if (sscanf(which, "%" SCNu64 ",%63[^,],%u%n", &p->seed, label, &p->step, &n) != 3 ||
	    which[n])
		return err_set(err, -EINVAL, "'%s' is not SEED,ENGINE,STEP", which);
	if (p->seed - x->first_seed >= x->seeds)
		return err_set(err, -EINVAL,
			       "the seeds of this campaign are %" PRIu64 " to %" PRIu64,
			       x->first_seed, x->first_seed + x->seeds - 1);
	if (p->step >= x->rules.damage.nstep)
		return err_set(err, -EINVAL, "the steps of this campaign are 0 to %u",
			       x->rules.damage.nstep - 1);
	for (p->engine = 0; p->engine < x->nengine; p->engine++)
		if (!strcmp(x->engine[p->engine].label, label))
			return 0;
	return err_set(err, -EINVAL, "'%s' is no engine of this campaign", label);
}

static int cell_dump_put_fabric(FILE *out, const void *f, struct err *err)
{
	return ibnd_write(out, f, err);
}

struct installed {
	const struct fabric *f;
	const struct tables *t;
};

static int cell_dump_put_tables(FILE *out, const void *what, struct err *err)
{
	const struct installed *x = what;

	return tables_ibr_write_fd(fileno(out), x->t, x->f, SNAPSHOT_TABLES, err);
}

static int cell_dump_write(const char *dir, const struct installed *x, struct err *err)
{
	char *fabric = xasprintf("%s/%s", dir, SNAPSHOT_FABRIC);
	char *tables = xasprintf("%s/%s", dir, SNAPSHOT_TABLES);
	int rc = output_file_folder(dir, err);

	if (!rc && unlink(tables) && errno != ENOENT)
		rc = err_set(err, -errno, "%s cannot be removed: %s", tables, strerror(errno));
	if (!rc)
		rc = output_file_write(fabric, cell_dump_put_fabric, x->f, err);
	if (!rc && x->t)
		rc = output_file_write(tables, cell_dump_put_tables, x, err);
	free(tables);
	free(fabric);
	return rc;
}

int cell_dump(const char *dir, const struct failures *x, const char *which, struct err *err)
{
	struct fabric *f = NULL;
	const struct tables *t = NULL;
	struct err refusal = { "" };
	struct place p;
	int rc = cell_dump_parse(&p, x, which, err);

	if (rc)
		return rc;
	rc = life_tables(&f, &t, &x->rules, &x->engine[p.engine], p.seed, p.step, &refusal);
	if (!f)
		return err_set(err, rc, "%s", refusal.text);
	rc = cell_dump_write(dir, &(struct installed){ f, t }, err);
	if (!rc && !t)
		rc = err_set(err, -ENOEXEC, "no tables: %s", refusal.text);
	tables_put(t);
	fabric_put(f);
	return rc;
}
