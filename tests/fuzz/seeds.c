/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <string.h>

static void write_seeds(const char *folder)
{
	uint8_t *data;
	size_t len;

	for (unsigned i = 0; fuzz_seed(&data, &len, i); i++) {
		char *path = xasprintf("%s/seed-%02u", folder, i);
		FILE *f = fopen(path, "we");

		if (!f || fwrite(data, 1, len, f) != len || fclose(f)) {
			perror(path);
			exit(1);
		}
		free(path);
		free(data);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	if (folder) {
		write_seeds(folder);
		exit(0);
	}
	return 0;
}

void fuzz_wrong(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

void *fuzz_copy(const void *data, size_t n)
{
	void *p = xcalloc(n, 1);

	if (n)
		memcpy(p, data, n);
	return p;
}
