/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/found.h"

#include <stdlib.h>
#include <string.h>

void found_list_free(struct found *node, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(node[i].port);
	if (n)
		explicit_bzero(node, n * sizeof(*node));
	free(node);
}
