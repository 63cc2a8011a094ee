/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/topology/topo_spec.h"

#include "fabric/base/memory/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct pair {
	char *key, *value; /* in text */
};

struct topo_spec {
	const struct topo_type *type;
	char *text;
	VEC(struct pair) pairs;
};

void topo_spec_free(struct topo_spec *s)
{
	if (!s)
		return;
	free(s->text);
	vec_free(&s->pairs);
	free(s);
}

const struct topo_type *topo_spec_type(const struct topo_spec *s)
{
	return s->type;
}

static const struct topo_key *topo_spec_key_find(const struct topo_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

static int topo_spec_type_find(const struct topo_type **out, const struct topo_grammar *g,
			       const char *name, struct err *err)
{
	char all[256] = "";

	for (size_t i = 0; i < g->ntypes; i++) {
		if (!strcmp(g->types[i]->name, name)) {
			*out = g->types[i];
			return 0;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 g->types[i]->name);
	}
	return err_set(err, -EINVAL, "there is no fabric type \"%s\"; the types are %s", name, all);
}

const char *topo_spec_text(const struct topo_spec *s, const char *key, const char *fallback)
{
	for (size_t i = 0; i < s->pairs.n; i++)
		if (!strcmp(s->pairs.v[i].key, key))
			return s->pairs.v[i].value;
	return fallback;
}

static int topo_spec_unknown_key(const struct topo_type *type, const struct topo_grammar *g,
				 const char *key, struct err *err)
{
	char all[256] = "";
	const struct topo_key *lists[2] = { type->keys, g->common_keys };

	for (int l = 0; l < 2; l++)
		for (const struct topo_key *k = lists[l]; k->name; k++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 *all ? ", " : "", k->name);
	return err_set(err, -EINVAL, "%s has no key \"%s\"; its keys are %s", type->name, key, all);
}

static int topo_spec_pair_add(struct topo_spec *s, const struct topo_grammar *g, char *word,
			      struct err *err)
{
	char *eq = strchr(word, '=');
	struct pair p = { word, eq ? eq + 1 : NULL };

	if (!eq || eq == word || !eq[1])
		return err_set(err, -EINVAL, "%s: \"%s\" is not of the form key=value",
			       s->type->name, word);
	*eq = '\0';
	if (!topo_spec_key_find(s->type->keys, p.key) && !topo_spec_key_find(g->common_keys, p.key))
		return topo_spec_unknown_key(s->type, g, p.key, err);
	if (topo_spec_text(s, p.key, NULL))
		return err_set(err, -EINVAL, "%s: %s is given twice", s->type->name, p.key);
	vec_push(&s->pairs, p);
	return 0;
}

int topo_spec_parse(struct topo_spec **out, const char *text, const struct topo_grammar *g,
		    struct err *err)
{
	struct topo_spec *s = xcalloc(1, sizeof(*s));
	char *rest, *word;
	int rc;

	*out = NULL;
	s->text = xstrdup(text);
	rest = s->text;
	word = strsep(&rest, ":");
	rc = topo_spec_type_find(&s->type, g, word, err);
	while (!rc && rest && *rest && (word = strsep(&rest, ",")))
		rc = topo_spec_pair_add(s, g, word, err);
	for (const struct topo_key *k = rc ? NULL : s->type->keys; k && k->name && !rc; k++)
		if (!k->fallback && !topo_spec_text(s, k->name, NULL))
			rc = err_set(err, -EINVAL, "%s needs %s= (%s); for example %s",
				     s->type->name, k->name, k->what, s->type->example);
	if (rc)
		topo_spec_free(s);
	else
		*out = s;
	return rc;
}

/* Reads digits up to end; false when there are none, or too many. */
static bool topo_spec_number_read(uint64_t *out, const char *text, const char *end)
{
	uint64_t v = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text) || v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(*text - '0');
	}
	*out = v;
	return true;
}

int topo_spec_u64(uint64_t *out, const struct topo_spec *s, const char *key, uint64_t fallback,
		  struct err *err)
{
	const char *text = topo_spec_text(s, key, NULL);

	*out = fallback;
	if (text && !topo_spec_number_read(out, text, text + strlen(text)))
		return err_set(err, -EINVAL, "%s: %s=%s is not a whole number", s->type->name, key,
			       text);
	return 0;
}

int topo_spec_u32(uint32_t *out, const struct topo_spec *s, const char *key, uint32_t fallback,
		  uint32_t min, uint32_t max, struct err *err)
{
	uint64_t v;
	int rc = topo_spec_u64(&v, s, key, fallback, err);

	if (rc)
		return rc;
	if (v < min || v > max)
		return err_set(err, -EINVAL, "%s: %s=%llu is out of range; %u to %u is allowed",
			       s->type->name, key, (unsigned long long)v, min, max);
	*out = (uint32_t)v;
	return 0;
}

int topo_spec_list(struct topo_list *out, const struct topo_spec *s, const char *key, uint32_t want,
		   uint32_t min, uint32_t max, struct err *err)
{
	const char *text = topo_spec_text(s, key, NULL);

	out->n = 0;
	if (!text)
		return 0;
	for (const char *p = text; p;) {
		const char *x = strchrnul(p, 'x');
		uint64_t v;

		if (!topo_spec_number_read(&v, p, x) || v < min || v > max)
			return err_set(err, -EINVAL,
				       "%s: %s=%s must be numbers of %u to %u joined by x, "
				       "such as 4x4x2",
				       s->type->name, key, text, min, max);
		if (out->n == TOPO_LIST_MAX)
			return err_set(err, -EINVAL, "%s: %s=%s has more than %d numbers",
				       s->type->name, key, text, TOPO_LIST_MAX);
		out->v[out->n++] = (uint32_t)v;
		p = *x ? x + 1 : NULL;
	}
	if (out->n == 1 && want <= TOPO_LIST_MAX)
		for (; out->n < want; out->n++)
			out->v[out->n] = out->v[0];
	if (want && out->n != want)
		return err_set(err, -EINVAL, "%s: %s=%s must have %u numbers", s->type->name, key,
			       text, want);
	return 0;
}
