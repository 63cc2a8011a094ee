/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/short_names.h"

#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SIGNS	  "-_.:;/ "
#define GUID_ENDS 6 /* hexadecimal digits that tell switches of one name apart */

struct short_name {
	const char *text;
	uint32_t at;
};

static int short_names_cmp(const void *x, const void *y)
{
	const struct short_name *a = x, *b = y;

	return strcmp(a->text, b->text);
}

static struct short_name *short_names_sorted(char *const *names, uint32_t n)
{
	struct short_name *list = xcalloc(n + 1ull, sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct short_name){ names[i], i };
	qsort(list, n, sizeof(*list), short_names_cmp);
	return list;
}

/* --- what vendors add ---------------------------------------------------------------------------
 */

/* "-200b50" at the end of a name that several switches have; NULL: none. */
static const char *short_names_guid_end(const char *name)
{
	const char *end = strrchr(name, '-');

	if (!end || strlen(end + 1) != GUID_ENDS ||
	    strspn(end + 1, "0123456789abcdef") != GUID_ENDS)
		return NULL;
	return end;
}

/* Of Mellanox "MF0;HOST:MODEL/PLACE"; false: it is none. */
static bool short_names_parts(const char *name, const char **host, size_t *len, const char **place)
{
	const char *end = strncmp(name, "MF0;", 4) ? NULL : strchr(name + 4, ':');

	if (!end || end == name + 4)
		return false;
	*host = name + 4;
	*len = (size_t)(end - *host);
	*place = strchr(end, '/');
	return true;
}

static char *short_names_own(const char *name)
{
	const char *host, *place, *mark = strstr(name, " # "), *blank = strchr(name, ' ');
	const char *end = short_names_guid_end(name);
	size_t len;

	if (short_names_parts(name, &host, &len, &place))
		return xasprintf("%.*s", (int)len, host);
	if (mark && mark[3] && !strchr(mark + 3, ' '))
		return xstrdup(mark + 3);
	if (blank && blank > name && end)
		return xasprintf("%.*s%s", (int)(blank - name), name, end);
	return xstrdup(name);
}

/* Chips of one chassis have one host: they are told apart by their places. */
static void short_names_add_places(char **out, char *const *names, uint32_t n)
{
	struct short_name *list = short_names_sorted(out, n);
	const char *host, *place;
	size_t len;

	for (uint32_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && !strcmp(list[i].text, list[j].text); j++)
			;
		for (uint32_t k = i; k < j && j - i > 1; k++) {
			uint32_t at = list[k].at;

			if (short_names_parts(names[at], &host, &len, &place) && place)
				list[k].text = out[at] = xasprintf("%.*s%s", (int)len, host, place);
		}
	}
	free(list);
}

/* --- what all have ------------------------------------------------------------------------------
 */

static bool short_names_speaks(const char *from, const char *to)
{
	for (; from < to; from++)
		if (isalpha((unsigned char)*from))
			return true;
	return false;
}

static bool short_names_all_speak(char *const *out, uint32_t n, size_t begin, size_t end)
{
	for (uint32_t i = 0; i < n; i++) {
		size_t len = strlen(out[i]);

		if (begin + end >= len || strchr(SIGNS, out[i][begin]) ||
		    !short_names_speaks(out[i] + begin, out[i] + len - end))
			return false;
	}
	return true;
}

static size_t short_names_begin(char *const *out, uint32_t n)
{
	size_t same = strlen(out[0]);

	for (uint32_t i = 1; i < n; i++)
		for (size_t k = 0; k < same; k++)
			if (out[i][k] != out[0][k])
				same = k;
	for (; same; same--)
		if (strchr(SIGNS, out[0][same - 1]) && short_names_speaks(out[0], out[0] + same) &&
		    short_names_all_speak(out, n, same, 0))
			return same;
	return 0;
}

static size_t short_names_end(char *const *out, uint32_t n)
{
	size_t len = strlen(out[0]), same = len;

	for (uint32_t i = 1; i < n; i++) {
		size_t other = strlen(out[i]);

		same = same < other ? same : other;
		for (size_t k = 0; k < same; k++)
			if (out[i][other - 1 - k] != out[0][len - 1 - k])
				same = k;
	}
	for (; same; same--)
		if (strchr("-_.:", out[0][len - same]) &&
		    short_names_speaks(out[0] + len - same, out[0] + len) &&
		    short_names_all_speak(out, n, 0, same))
			return same;
	return 0;
}

static void short_names_cut(char **out, uint32_t n)
{
	size_t begin = n > 1 ? short_names_begin(out, n) : 0, end;

	for (uint32_t i = 0; i < n && begin; i++)
		memmove(out[i], out[i] + begin, strlen(out[i]) + 1 - begin);
	end = n > 1 ? short_names_end(out, n) : 0;
	for (uint32_t i = 0; i < n && end; i++)
		out[i][strlen(out[i]) - end] = '\0';
}

/* Is it the short or the whole name of somebody else? */
static bool short_names_is_anothers(const struct short_name *list, uint32_t n, const char *text,
				    uint32_t at)
{
	const struct short_name key = { text, 0 };
	const struct short_name *hit = bsearch(&key, list, n, sizeof(*list), short_names_cmp);

	return hit && (hit->at != at || (hit > list && !strcmp(hit[-1].text, text)) ||
		       (hit + 1 < list + n && !strcmp(hit[1].text, text)));
}

char **short_names_new(char *const *names, uint32_t n)
{
	char **out = xcalloc(n + 1ull, sizeof(*out)), **parts = xcalloc(n + 1ull, sizeof(*parts));
	struct short_name *shorts, *whole;

	for (uint32_t i = 0; i < n; i++)
		out[i] = parts[i] = short_names_own(names[i]);
	short_names_add_places(out, names, n);
	for (uint32_t i = 0; i < n; i++)
		if (out[i] != parts[i])
			free(parts[i]);
	short_names_cut(out, n);
	for (uint32_t i = 0; i < n; i++)
		parts[i] = out[i];
	shorts = short_names_sorted(parts, n);
	whole = short_names_sorted(names, n);
	for (uint32_t i = 0; i < n; i++)
		if (short_names_is_anothers(shorts, n, parts[i], i) ||
		    short_names_is_anothers(whole, n, parts[i], i))
			out[i] = xstrdup(names[i]);
	for (uint32_t i = 0; i < n; i++)
		if (out[i] != parts[i])
			free(parts[i]);
	free(parts);
	free(shorts);
	free(whole);
	return out;
}

bool short_name_is_of(const char *shown, size_t len, const char *name)
{
	const char *gap = memmem(shown, len, "..", 2);
	size_t head = gap ? (size_t)(gap - shown) : 0, tail = gap ? len - head - 2 : 0;
	size_t all = strlen(name);

	return head && tail && all > head + tail && !memcmp(name, shown, head) &&
	       !memcmp(name + all - tail, gap + 2, tail);
}
