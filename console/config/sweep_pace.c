/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/sweep_pace.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "views/canvas/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define WORTH_S 0.5 /* what takes less needs no hint the next time */
#define SURE_S	0.5 /* before a rate is one */

/* NULL: there is no place for it. */
static char *sweep_pace_kept_file(uint64_t port_guid, bool make)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *base, *dir, *file;

	if (!(xdg && *xdg) && !(home && *home))
		return NULL;
	base = xdg && *xdg ? xasprintf("%s", xdg) : xasprintf("%s/.cache", home);
	dir = xasprintf("%s/ibroute-top", base);
	if (make) {
		mkdir(base, 0700);
		mkdir(dir, 0700);
	}
	file = xasprintf("%s/sweep-0x%016" PRIx64, dir, port_guid);
	free(dir);
	free(base);
	return file;
}

void sweep_pace_begin(struct sweep_pace *p, uint64_t port_guid)
{
	char *path = port_guid ? sweep_pace_kept_file(port_guid, false) : NULL;
	FILE *f = path ? fopen(path, "re") : NULL;

	p->port_guid = port_guid;
	p->done = 0;
	p->begun = clock_s();
	if (f) {
		if (fscanf(f, "%" SCNu64, &p->known) != 1)
			p->known = 0;
		fclose(f);
	}
	free(path);
}

void sweep_pace_words(char *buf, size_t len, struct sweep_pace *p, uint64_t done, uint64_t asked)
{
	double took = clock_s() - p->begun, rate = took > SURE_S ? (double)done / took : 0;
	uint64_t all =
		p->known > asked ? p->known : 0; /* else it has grown by we do not know what */
	char figure[FIGURE_LEN];
	size_t n = 0;

	p->done = done;
	buf[0] = '\0';
	if (all)
		n = (size_t)snprintf(buf, len, "%.0f %%, ", 100 * (double)done / (double)all);
	if (rate > 0 && n < len)
		n += (size_t)snprintf(buf + n, len - n, "%s requests/s, ",
				      figure_short(figure, (uint64_t)rate));
	if (n >= len)
		return;
	if (all && rate > 0)
		snprintf(buf + n, len - n, "%.1f s left", (double)(all - done) / rate);
	else if (rate > 0)
		snprintf(buf + n, len - n, "%.0f s elapsed, %s outstanding, more may follow", took,
			 figure_short(figure, asked > done ? asked - done : 0));
	else
		snprintf(buf + n, len - n, "%.1f s elapsed", took);
}

void sweep_pace_end(struct sweep_pace *p)
{
	char *path;
	FILE *f;

	p->known = p->done;
	if (!p->port_guid || clock_s() - p->begun < WORTH_S)
		return;
	path = sweep_pace_kept_file(p->port_guid, true);
	f = path ? fopen(path, "we") : NULL;
	if (f) {
		fprintf(f, "%" PRIu64 " requests\n", p->done);
		fclose(f);
	}
	free(path);
}
