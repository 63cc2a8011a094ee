/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's policy file. */
#include "tests/fuzz/fuzz.h"

#include "engines/opensm/policy.h"
#include "fabric/base/memory/mem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { "" };
	struct policy *p = NULL;
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	int rc;

	if (!f)
		return 0;
	rc = policy_read(&p, f, "folder/policy.conf", &err);
	fclose(f);
	FUZZ_NEED(!rc == !!p && !rc == !err.text[0]);
	if (p)
		FUZZ_NEED(p->spec.engine && p->params.vls <= 15 && p->params.threads <= 1024);
	policy_put(p);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	static const char *const text[] = {
		"engine nue:4\ntables confirmed.ibr\nvls 4\nseed 1\nthreads 0\n",
		"# all of it\r\nengine sar:paper\r\nspread yes\r\nescape no\r\n",
		"engine updn\nroots /etc/roots.txt # at the top\njobs jobs.txt\ndemand d.txt\n",
	};

	if (i >= sizeof(text) / sizeof(*text))
		return false;
	*out = (uint8_t *)xstrdup(text[i]);
	*len = strlen(text[i]);
	return true;
}
