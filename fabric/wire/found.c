/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/found.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct found *found_list_copy(const struct found *node, size_t n)
{
	struct found *copy = xcalloc(n, sizeof(*copy));

	for (size_t i = 0; i < n; i++) {
		copy[i] = node[i];
		copy[i].port = xcalloc(node[i].nports + 1u, sizeof(*copy[i].port));
		memcpy(copy[i].port, node[i].port, (node[i].nports + 1u) * sizeof(*copy[i].port));
	}
	return copy;
}

void found_list_free(struct found *node, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(node[i].port);
	if (n)
		explicit_bzero(node, n * sizeof(*node));
	free(node);
}
