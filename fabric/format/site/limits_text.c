/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/limits_text.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/model/topology/end_find.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_BYTES 256

/* --- what a word means --------------------------------------------------------------------- */

static bool limits_text_is_guid(const char *word, size_t len)
{
	if (len < 7 || word[0] != '0' || tolower((unsigned char)word[1]) != 'x' || len > 18)
		return false;
	for (size_t i = 2; i < len; i++)
		if (!isxdigit((unsigned char)word[i]))
			return false;
	return true;
}

/* The first two switches of that name or GUID, and how many there are. */
static uint32_t limits_text_find_switch(uint32_t sw[2], const struct fabric *f, const char *word,
					size_t len)
{
	uint32_t n = fabric_switches_named(sw, 2, f, word, len);

	if (n || !limits_text_is_guid(word, len))
		return n;
	sw[0] = fabric_switch_by_guid(f, strtoull(word, NULL, 16));
	return sw[0] != FAB_NONE;
}

static bool limits_text_names_host(const struct fabric *f, const char *word)
{
	uint32_t end;
	uint16_t lid;

	for (uint32_t t = 0; t < f->nend; t++)
		if (!strcmp(f->term_name[t], word))
			return true;
	return strpbrk(word, "/.") && !end_find(&end, &lid, f, word, NULL) && end < f->nend;
}

/* Several switches: of one name, or shown alike without their middle. */
static int limits_text_refuse_several(const struct fabric *f, const char *word, uint32_t n,
				      const uint32_t sw[2], struct err *err)
{
	const char *a = f->sw_short[sw[0]], *b = f->sw_short[sw[1]];

	if (!strcmp(a, b) || !strcmp(f->sw_name[sw[0]], f->sw_name[sw[1]]))
		return err_set(err, -EINVAL,
			       "exclude: %u switches are called \"%s\"; give the GUID of the "
			       "right one, such as 0x%016llx",
			       n, word, (unsigned long long)f->sw_guid[sw[0]]);
	if (n == 2)
		return err_set(err, -EINVAL, "exclude: \"%s\" may be %s or %s", word, a, b);
	return err_set(err, -EINVAL, "exclude: \"%s\" may be %s, %s or %u more", word, a, b, n - 2);
}

static int limits_text_refuse_word(const struct fabric *f, const char *word, uint32_t n,
				   const uint32_t sw[2], struct err *err)
{
	if (n > 1)
		return limits_text_refuse_several(f, word, n, sw, err);
	if (limits_text_names_host(f, word))
		return err_set(err, -EINVAL,
			       "exclude: %s is a host, and no path passes through hosts; switches "
			       "and cables between switches can be excluded",
			       word);
	return err_set(err, -EINVAL,
		       "exclude: no switch \"%s\"; give spine[1-4], 0xGUID, NAME/PORT", word);
}

static int limits_text_exclude_cable(struct route_limits *l, const struct fabric *f, uint32_t sw,
				     const char *port, struct err *err)
{
	char *end;
	unsigned long p = strtoul(port, &end, 10);
	uint32_t c, t;

	if (!isdigit((unsigned char)*port) || *end || !p || p > f->sw_nports[sw])
		return err_set(err, -EINVAL, "exclude: %s has ports 1 to %u, but no port \"%s\"",
			       f->sw_short[sw], f->sw_nports[sw], port);
	c = fabric_chan(f, sw, (uint8_t)p);
	if (c != FAB_NONE) {
		route_limits_add(l, f, FAB_NONE, c);
		return 0;
	}
	t = fabric_port(f, sw, (uint8_t)p)->term;
	if (t != FAB_NONE)
		return err_set(err, -EINVAL,
			       "exclude: %s/%lu leads to %s, which has no other link; only cables "
			       "between switches can be excluded",
			       f->sw_short[sw], p, f->term_name[t]);
	return err_set(err, -EINVAL, "exclude: no cable at %s/%lu", f->sw_short[sw], p);
}

/* A switch or a cable.  *known: it is one of these, rightly or not. */
static int limits_text_exclude_word(bool *known, struct route_limits *l, const struct fabric *f,
				    const char *word, struct err *err)
{
	const char *slash = strrchr(word, '/');
	uint32_t sw[2], n = limits_text_find_switch(sw, f, word, strlen(word));

	*known = true;
	if (n == 1) {
		route_limits_add(l, f, sw[0], FAB_NONE);
		return 0;
	}
	if (!n && slash) {
		n = limits_text_find_switch(sw, f, word, (size_t)(slash - word));
		if (n == 1)
			return limits_text_exclude_cable(l, f, sw[0], slash + 1, err);
	}
	*known = n > 1;
	return limits_text_refuse_word(f, word, n, sw, err);
}

/* Missing items are an error only without a callback for them. */
static int limits_text_miss(int rc, const struct limits_missing *missing, const struct err *why)
{
	if (!rc || !missing)
		return rc;
	missing->tell(missing->ctx, why->text);
	return 0;
}

static int limits_text_exclude_list(struct route_limits *l, const struct fabric *f,
				    const char *item, const struct limits_missing *missing,
				    struct err *err)
{
	struct hostlist *h;
	struct err why;
	bool known;
	int rc = hostlist_parse(&h, item, &why);

	if (rc)
		return err_set(err, -EINVAL, "exclude: %s: %.300s", item, why.text);
	for (uint32_t i = 0; i < hostlist_count(h) && !rc; i++)
		rc = limits_text_miss(
			limits_text_exclude_word(&known, l, f, hostlist_names(h)[i], err), missing,
			err);
	hostlist_free(h);
	return rc;
}

static int limits_text_exclude_item(struct route_limits *l, const struct fabric *f,
				    const char *item, bool quoted,
				    const struct limits_missing *missing, struct err *err)
{
	bool known;
	int rc = limits_text_exclude_word(&known, l, f, item, err);

	if (rc && !known && !quoted && strchr(item, '['))
		return limits_text_exclude_list(l, f, item, missing, err);
	return limits_text_miss(rc, missing, err);
}

static bool limits_text_is_space(char c)
{
	return c == ',' || isspace((unsigned char)c);
}

/* The next item without its quotes into out; false at the end.  Commas in brackets are its own. */
static bool limits_text_next_item(char out[ITEM_BYTES], bool *quoted, const char **at, int *rc,
				  struct err *err)
{
	bool in_quotes = false;
	size_t n = 0;
	int depth = 0;

	*quoted = false;
	while (limits_text_is_space(**at))
		++*at;
	for (; **at && (in_quotes || depth || !limits_text_is_space(**at)); ++*at) {
		if (**at == '"') {
			in_quotes = !in_quotes;
			*quoted = true;
			continue;
		}
		depth += !in_quotes && **at == '[';
		depth -= !in_quotes && **at == ']' && depth;
		if (n + 1 < ITEM_BYTES)
			out[n] = **at;
		n++;
	}
	out[n < ITEM_BYTES ? n : ITEM_BYTES - 1] = '\0';
	if (in_quotes || depth)
		*rc = err_set(err, -EINVAL, "exclude: %.200s: the %s is not closed", out,
			      in_quotes ? "quote" : "bracket");
	else if (n >= ITEM_BYTES)
		*rc = err_set(err, -EINVAL, "exclude: %.60s...: an item is longer than %d bytes",
			      out, ITEM_BYTES - 1);
	return !*rc && (n || *quoted);
}

int limits_text_check(const char *text, struct err *err)
{
	char item[ITEM_BYTES];
	bool quoted;
	int rc = 0;

	while (limits_text_next_item(item, &quoted, &text, &rc, err))
		;
	return rc;
}

int route_limits_exclude(struct route_limits **l, const struct fabric *f, const char *text,
			 struct err *err)
{
	return route_limits_exclude_there(l, f, text, NULL, err);
}

int route_limits_exclude_there(struct route_limits **l, const struct fabric *f, const char *text,
			       const struct limits_missing *missing, struct err *err)
{
	char item[ITEM_BYTES];
	struct err own;
	bool quoted;
	int rc = 0;

	err = err ? err : &own;

	if (!*l)
		*l = route_limits_new(f);
	while (!rc && limits_text_next_item(item, &quoted, &text, &rc, err))
		rc = limits_text_exclude_item(*l, f, item, quoted, missing, err);
	free((*l)->exclude_text);
	(*l)->exclude_text = route_limits_exclude_text(*l, f);
	return rc;
}

/* --- and back ------------------------------------------------------------------------------ */

/* Would it be read as something else, or as that of another switch? */
static bool limits_text_speaks(const struct fabric *f, const char *name)
{
	uint32_t at[2];

	return name[0] && !strpbrk(name, "/[]\"") &&
	       limits_text_find_switch(at, f, name, strlen(name)) == 1;
}

/* A switch as an item, as it is called on screens; the caller frees it. */
static char *limits_text_switch_item(const struct fabric *f, uint32_t sw)
{
	const char *name = f->sw_short[sw];

	if (!limits_text_speaks(f, name))
		name = f->sw_name[sw];
	if (!limits_text_speaks(f, name))
		return xasprintf("0x%016llx", (unsigned long long)f->sw_guid[sw]);
	for (const char *s = name; *s; s++)
		if (limits_text_is_space(*s))
			return xasprintf("\"%s\"", name);
	return xstrdup(name);
}

static void limits_text_append(char **text, char *item)
{
	char *old = *text;

	if (item[0])
		*text = xasprintf("%s%s%s", old, old[0] ? "," : "", item);
	else
		old = NULL;
	free(old);
	free(item);
}

char *route_limits_exclude_text(const struct route_limits *l, const struct fabric *f)
{
	VEC(const char *) plain = { 0 };
	VEC(char *) others = { 0 };
	char *text;

	for (uint32_t u = 0; l && l->exclude_sw && u < f->nsw; u++) {
		char *item = l->exclude_sw[u] ? limits_text_switch_item(f, u) : NULL;

		if (item && !strcmp(item, f->sw_name[u]))
			vec_push(&plain, f->sw_name[u]);
		else if (item && !strcmp(item, f->sw_short[u]))
			vec_push(&plain, f->sw_short[u]);
		else if (item)
			vec_push(&others, xstrdup(item));
		free(item);
	}
	text = hostlist_compress(plain.v, (uint32_t)plain.n);
	for (size_t i = 0; i < others.n; i++)
		limits_text_append(&text, others.v[i]);
	for (uint32_t c = 0; l && l->exclude_chan && c < f->nchan; c++) {
		char *item;

		if (!l->exclude_chan[c] || c > f->chan_rev[c])
			continue;
		item = limits_text_switch_item(f, f->chan_src[c]);
		limits_text_append(&text, xasprintf("%s/%u", item, f->chan_port[c]));
		free(item);
	}
	vec_free(&plain);
	vec_free(&others);
	return text;
}
