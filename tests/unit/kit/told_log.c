/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/told_log.h"

#include "fabric/base/message/log.h"

#include <string.h>

static char told[8192];

static void told_log_take(void *ctx, const struct log_line *line)
{
	(void)ctx;
	if (strlen(told) + strlen(line->text) + 2 < sizeof(told))
		strcat(strcat(told, line->text), "\n");
}

void told_log_begin(void)
{
	told_log_clear();
	log_set_sink(told_log_take, NULL);
}

void told_log_end(void)
{
	log_set_sink(NULL, NULL);
}

const char *told_log_text(void)
{
	return told;
}

void told_log_clear(void)
{
	told[0] = '\0';
}
