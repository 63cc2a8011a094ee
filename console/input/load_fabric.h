/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_fabric: fabrics, tables, names and jobs from any file that we can read, told apart by
 * what is in them.  "-" is stdin.  Warnings of the readers go to the log. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/plan/file/plan_bytes.h"

#include <stddef.h>
#include <stdint.h>

/*
 * ibnetdiscover text or its cache (ibnetdiscover --cache), an ibsim net file, opensm-subnet.lst,
 * OpenSM's neighbors (LIDs from guid2lid beside it), netloc's ...-nodes.ndat, SLURM's topology.conf
 * or topology.yaml, or, where no such file exists, the text of a generated fabric
 * (fabric/sim/topology/topo.h).  name: of the fabric, NULL for one made from its fingerprint; names
 * may be NULL; lmc -1: as found in the file.  The caller owns one reference.
 */
int load_fabric_lmc(struct fabric **out, const char *path, const char *name,
		    const struct name_map *names, int lmc, struct err *err);

static inline int loadfab_fabric(struct fabric **out, const char *path, const char *name,
				 const struct name_map *names, struct err *err)
{
	return load_fabric_lmc(out, path, name, names, -1, err);
}

/* opensm-lfts.dump and the like, opensm.fdbs, our tables.ibr, what a saved plan is to install, or
 * netloc's X-log-paths.ndat, beside which X-nodes.ndat must be. */
int load_fabric_tables(struct tables **out, const char *path, const struct fabric *f,
		       struct err *err);

/* plan_load(), which tells on a terminal how far it is. */
struct plan;
int load_fabric_plan(struct plan **out, const char *path, struct err *err);
/* The same with its bytes, see plan_bytes_load(). */
int load_fabric_plan_bytes(struct plan_bytes *bytes, struct plan **out, const char *path,
			   struct err *err);

/* Into tables that the caller alone owns: path-sl lines; opensm-sl2vl.dump or the form of
 * ibdmchk. */
int load_fabric_path_sl(struct tables *t, const char *path, const struct fabric *f,
			struct err *err);
int load_fabric_sl2vl(struct tables *t, const char *path, const struct fabric *f, struct err *err);
/* A line of the log where nodes of jobs are not certain. */
void load_fabric_tell_names(const struct jobset *js, const struct fabric *f);

/* A node-name-map. */
int load_fabric_names(struct name_map **out, const char *path, struct err *err);

/* Switch blocks of a topology.conf or topology.yaml (fabric/format/slurm/slurm_topology.h,
 * slurm_yaml.h), or of the one that SLURM takes in a folder; path "slurm": of the SLURM that runs,
 * as scontrol tells them, which may take up to 20 s; -EIO where it does not. */
struct slurm_topology;
int load_fabric_racks(struct slurm_topology **out, const char *path, struct err *err);

/* All jobs of a file (fabric/format/slurm/jobs_file.h); nodes that the fabric does not have are
 * warned of. */
int load_fabric_jobs(struct jobset **out, const char *path, const struct fabric *f,
		     struct err *err);

/* A demand file (fabric/format/native/demand_file.h); ranks, a rank file, may be NULL. */
int load_fabric_demand(struct demand **out, const char *path, const char *ranks,
		       const struct fabric *f, struct err *err);

/* lid-choice.txt as route writes it for parx; the caller owns *out. */
int load_fabric_lid_choice(struct lid_choice **out, const char *path, const struct fabric *f,
			   struct err *err);

/* A GUID a line, # comments.  The caller frees *out. */
int load_fabric_guids(uint64_t **out, size_t *n, const char *path, struct err *err);
