/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/less_host.h"

#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/topology/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabric *less_host(const struct fabric *f)
{
	struct freeze_opts o = { .name = f->name, .lmc = -1 };
	struct fabric *g = NULL;
	struct builder *b = NULL;
	char *text = NULL, *last = NULL, guid[24], *line;
	size_t len;
	FILE *m = open_memstream(&text, &len);

	ibnd_write(m, f, NULL);
	fclose(m);
	for (char *at = text; (at = strstr(at, "caguid=")); at++)
		last = at;
	snprintf(guid, sizeof(guid), "%.20s", strstr(last, "\"H-"));
	*last = '\0';
	line = strstr(text, guid);
	while (line[-1] != '\n')
		line--;
	*line = '#';
	m = fmemopen(text, strlen(text), "r");
	if (!ibnd_read(&b, m, "test", NULL, NULL))
		builder_freeze(&g, b, &o, NULL);
	fclose(m);
	builder_free(b);
	free(text);
	return g;
}
