/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/job_attr.h"

#include <stdio.h>

const char *job_attr_key(enum job_attr a)
{
	static const char *const keys[] = {
		[JOB_LABEL] = "label",	     [JOB_PARTITION] = "partition",
		[JOB_ACCOUNT] = "account",   [JOB_RESERVATION] = "reservation",
		[JOB_FEATURES] = "features",
	};

	return keys[a];
}

const char *job_id_text(char buf[JOB_ID_LEN], uint64_t id, const char *const attr[JOB_ATTRS])
{
	if (attr[JOB_LABEL] && attr[JOB_LABEL][0])
		snprintf(buf, JOB_ID_LEN, "%.40s", attr[JOB_LABEL]);
	else
		snprintf(buf, JOB_ID_LEN, "%llu", (unsigned long long)id);
	return buf;
}
