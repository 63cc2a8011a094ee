/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app_folder: what a folder that key w wrote says beside its fabric, tables and history; read by a
 * process that can do nothing else (apart_read()). */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"
#include "views/data/state/state.h"

#include <stdbool.h>

struct app_folder {
	char *fabric;	   /* its name, NULL: not told */
	double interval_s; /* 0: not told */
	bool sls_told, sls_known;
	struct state_sm sm;
	const struct job_list *jobs; /* NULL: none */
	struct events events;
};

/* The state; then, where that is wanted, the jobs, and the events.  What is not there is left as it
 * is, as in folders of earlier versions.  -EBADMSG: damaged. */
int app_folder_read_state(struct app_folder *f, const char *folder, struct err *err);
int app_folder_read_rest(struct app_folder *f, const char *folder, bool jobs, struct err *err);
void app_folder_clear(struct app_folder *f);
