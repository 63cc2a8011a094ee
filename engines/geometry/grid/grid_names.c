/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_names.h"

#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define NUMBERS 12 /* in a name */
#define BEYOND	60000
#define DIMS	GRID_DIMS_MAX

/* Numbers in a name from the left; returns how many (NUMBERS + 1: too many). */
static uint32_t grid_names_read_numbers(uint32_t *out, const char *s)
{
	uint32_t n = 0;

	while (*s) {
		char *end;

		if (!isdigit((unsigned char)*s)) {
			s++;
			continue;
		}
		if (n == NUMBERS)
			return NUMBERS + 1;
		out[n++] = (uint32_t)strtoul(s, &end, 10);
		if (out[n - 1] > BEYOND)
			return NUMBERS + 1;
		s = end;
	}
	return n;
}

struct column {
	uint32_t least, most;
};

static int grid_names_read_all(uint32_t *num, uint32_t *count, const struct fabric *f,
			       struct err *err)
{
	*count = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t n = grid_names_read_numbers(num + (size_t)sw * NUMBERS, f->sw_name[sw]);

		if (!sw)
			*count = n;
		if (n != *count || n > NUMBERS)
			return err_set(err, -EINVAL, "the names contain no coordinates");
	}
	return 0;
}

int grid_names_read(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	uint32_t *num = xcalloc((size_t)f->nsw * NUMBERS, sizeof(*num)), count;
	int rc = grid_names_read_all(num, &count, f, err);
	uint64_t ncell = 1;

	l->ndim = 0;
	for (uint32_t k = 0; !rc && k < count; k++) {
		struct column c = { UINT32_MAX, 0 };

		for (uint32_t sw = 0; sw < f->nsw; sw++) {
			uint32_t v = num[(size_t)sw * NUMBERS + k];

			c.least = v < c.least ? v : c.least;
			c.most = v > c.most ? v : c.most;
		}
		if (c.least == c.most)
			continue;
		l->dim[l->ndim] = c.most - c.least + 1;
		ncell *= l->dim[l->ndim];
		if (ncell > 2ull * f->nsw) {
			rc = err_set(err, -EINVAL, "the numbers in the names are not coordinates");
			break;
		}
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			l->coord[(size_t)sw * DIMS + l->ndim] =
				(uint16_t)(num[(size_t)sw * NUMBERS + k] - c.least);
		l->ndim++;
	}
	if (!rc && l->ndim < 2)
		rc = err_set(err, -EINVAL, "the names contain no coordinates");
	free(num);
	return rc;
}
