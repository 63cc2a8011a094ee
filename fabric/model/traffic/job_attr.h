/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_attr: what a batch system says of a job beside its nodes, as texts; "" or NULL: nothing. */
#pragma once

#include <stdint.h>

enum job_attr {
	JOB_LABEL, /* its id as people know it: "5_1" is task 1 of array 5 */
	JOB_PARTITION,
	JOB_ACCOUNT,
	JOB_RESERVATION,
	JOB_FEATURES, /* of nodes that it wants: "ib&gpu" */
	JOB_ATTRS
};

/* "label", "partition", ...: a key in JSON, and the name of a field. */
const char *job_attr_key(enum job_attr a);

#define JOB_ID_LEN 48
/* The label, or the number where there is none.  Returns buf. */
const char *job_id_text(char buf[JOB_ID_LEN], uint64_t id, const char *const attr[JOB_ATTRS]);
