/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/key_choice.h"

#include "console/app/terminal/key_name.h"
#include "console/app/terminal/keymap.h"
#include "fabric/base/memory/mem.h"
#include "views/prompt/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A keymap in the making. */
struct key_rows {
	struct binding *row;
	char (*shown)[KEYMAP_SHOWN];
	const struct binding *before; /* the default keys */
	size_t n;
};

/* --- actions --------------------------------------------------------------------------------- */

static bool key_choice_same(const struct binding *a, const struct binding *b)
{
	return a->req == b->req && a->view == b->view;
}

/* Who has to get out of something, or is asked whether it is meant, must find them. */
static bool key_choice_stays(uint32_t key)
{
	return key == K_ESC || key == K_ENTER || key == '\n' || key == K_BACKSPACE || key == 8 ||
	       key == K_CTRL('c') || key == 'Y' || (key >= '0' && key <= '9');
}

static bool key_choice_has(const struct binding *b, uint32_t key)
{
	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (b->keys[i] == key)
			return true;
	return false;
}

static void key_choice_append(char *buf, size_t len, uint32_t key)
{
	char name[KEY_NAME_LEN];
	size_t n = strlen(buf);

	snprintf(buf + n, len - n, "%s%s", n ? " " : "", key_name(name, key));
}

/* Those that the action has wherever it has one. */
static void key_choice_defaults(char *buf, size_t len, const struct binding *rows, size_t n,
				const struct binding *action)
{
	for (int k = 0; k < BINDING_KEYS && action->keys[k]; k++) {
		bool everywhere = !key_choice_stays(action->keys[k]);

		for (size_t i = 0; i < n; i++)
			everywhere &= !key_choice_same(&rows[i], action) ||
				      key_choice_has(&rows[i], action->keys[k]);
		if (everywhere)
			key_choice_append(buf, len, action->keys[k]);
	}
}

/* Its first row, and not the key of an answer. */
static bool key_choice_begins(const struct binding *rows, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (key_choice_same(&rows[k], &rows[i]))
			return false;
	return rows[i].req != REQ_YES && keymap_name(&rows[i]);
}

const struct key_action *key_action_all(size_t *n)
{
	static struct key_action all[KEY_ACTIONS_MAX];
	static size_t nall;
	size_t nrow;
	const struct binding *rows = keymap_default(&nrow);

	for (size_t i = nall ? nrow : 0; i < nrow && nall < KEY_ACTIONS_MAX; i++) {
		struct key_action *a = &all[nall];

		if (!key_choice_begins(rows, i))
			continue;
		*a = (struct key_action){ .name = keymap_name(&rows[i]), .help = rows[i].help };
		snprintf(a->setting, sizeof(a->setting), KEY_SETTING "%s", a->name);
		key_choice_defaults(a->keys, sizeof(a->keys), rows, nrow, &rows[i]);
		nall++;
	}
	*n = nall;
	return all;
}

/* --- what was chosen ------------------------------------------------------------------------- */

static int key_choice_one(uint32_t *out, const char *word, size_t len, struct err *err)
{
	int rc = key_named(out, word, len, err);

	if (!rc && key_choice_stays(*out))
		return err_set(err, -EINVAL, "%.*s keeps its meaning", (int)len, word);
	return rc;
}

/* Into keys, 0 behind the last. */
static int key_choice_parse(uint32_t keys[BINDING_KEYS + 1], const char *text, struct err *err)
{
	int n = 0, rc = 0;

	memset(keys, 0, (BINDING_KEYS + 1) * sizeof(*keys));
	if (!strcasecmp(text, "none"))
		return 0;
	for (text += strspn(text, " "); *text && !rc; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");

		if (n == BINDING_KEYS)
			return err_set(err, -EINVAL, "at most %d keys are possible", BINDING_KEYS);
		rc = key_choice_one(&keys[n++], text, len, err);
		text += len;
	}
	return rc || n ? rc : err_set(err, -EINVAL, "no key; none: no key at all");
}

/* Those chosen first, then those that stay. */
static int key_choice_put(struct binding *b, const uint32_t *chosen, struct err *err)
{
	uint32_t keys[2 * BINDING_KEYS + 1] = { 0 };
	int n = 0;

	for (; chosen[n]; n++)
		keys[n] = chosen[n];
	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (key_choice_stays(b->keys[i]))
			keys[n++] = b->keys[i];
	if (n > BINDING_KEYS)
		return err_set(err, -EINVAL, "too many keys: at most %d with those that stay",
			       BINDING_KEYS);
	memcpy(b->keys, keys, sizeof(b->keys));
	return 0;
}

/* Help shows those of the keys that stay which have a name there. */
static bool key_choice_is_shown(uint32_t key)
{
	return !key_choice_stays(key) || key == K_ESC || key == K_ENTER ||
	       (key >= '0' && key <= '9');
}

static void key_choice_show(struct binding *b, char shown[KEYMAP_SHOWN])
{
	shown[0] = '\0';
	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (key_choice_is_shown(b->keys[i]))
			key_choice_append(shown, KEYMAP_SHOWN, b->keys[i]);
	if (!shown[0] && b->keys[0])
		key_choice_append(shown, KEYMAP_SHOWN, b->keys[0]);
	if (!shown[0] && command_doing(b->req, b->view)) /* which is left */
		snprintf(shown, KEYMAP_SHOWN, ":%s", command_doing(b->req, b->view));
	b->shown = shown[0] ? shown : "-";
}

static int key_choice_take(struct key_rows *r, const struct key_choice *c, struct err *err)
{
	uint32_t keys[BINDING_KEYS + 1];
	bool any = false;
	int rc = key_choice_parse(keys, c->keys, err);

	for (size_t i = 0; !rc && i < r->n; i++) {
		const char *name = keymap_name(&r->row[i]);

		if (r->row[i].req == REQ_YES || !name || strcasecmp(name, c->name) != 0)
			continue;
		any = true;
		memcpy(r->row[i].keys, r->before[i].keys, sizeof(r->row[i].keys));
		rc = key_choice_put(&r->row[i], keys, err);
		key_choice_show(&r->row[i], r->shown[i]);
	}
	return rc || any ? rc : err_set(err, -EINVAL, "no action has this name");
}

/* --- two actions, one key -------------------------------------------------------------------- */

static bool key_choice_meet(const struct binding *a, const struct binding *b)
{
	return !a->views || !b->views || (a->views & b->views);
}

/* The row that has the key as well; the keymap itself may have it so, where the nearer row is
 * meant. */
static const struct binding *key_choice_other(const struct key_rows *r, size_t i, uint32_t key)
{
	for (size_t j = 0; j < r->n; j++) {
		const struct binding *b = &r->row[j];

		if (key_choice_same(b, &r->row[i]) || !key_choice_has(b, key) ||
		    !key_choice_meet(b, &r->row[i]) ||
		    (key_choice_has(&r->before[i], key) && key_choice_has(&r->before[j], key)))
			continue;
		return b;
	}
	return NULL;
}

static int key_choice_refuse(uint32_t key, const char *other, const struct key_choice *c, size_t n,
			     struct err *err)
{
	char name[KEY_NAME_LEN];

	key_name(name, key);
	for (size_t k = n; k-- > 0;)
		if (!strcasecmp(c[k].name, other))
			return err_set(err, -EINVAL, "%s is also the key of %s (%s)", name, other,
				       c[k].where ? c[k].where : "--set");
	return err_set(err, -EINVAL, "%s is the key of %s: give that another one, or none", name,
		       other);
}

static int key_choice_clash(const struct key_rows *r, const struct key_choice *c, size_t n,
			    size_t at, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *name = keymap_name(&r->row[i]);

		if (!name || strcasecmp(name, c[at].name) != 0)
			continue;
		for (int k = 0; k < BINDING_KEYS && r->row[i].keys[k]; k++) {
			uint32_t key = r->row[i].keys[k];
			const struct binding *other =
				key_choice_stays(key) ? NULL : key_choice_other(r, i, key);

			if (other)
				return key_choice_refuse(key, keymap_name(other), c, n, err);
		}
	}
	return 0;
}

/* Says of which setting the sentence is. */
static int key_choice_name(const struct key_choice *c, int rc, struct err *err)
{
	struct err why = *err;

	return err_set(err, rc, "%s%s" KEY_SETTING "%s: %s", c->where ? c->where : "",
		       c->where ? ": " : "", c->name, why.text);
}

static void key_choice_open(struct key_rows *r)
{
	r->before = keymap_default(&r->n);
	r->row = xcalloc(r->n, sizeof(*r->row));
	r->shown = xcalloc(r->n, sizeof(*r->shown));
	memcpy(r->row, r->before, r->n * sizeof(*r->row));
}

static void key_choice_close(struct key_rows *r)
{
	free(r->row);
	free(r->shown);
}

static int key_choice_make(struct key_rows *r, const struct key_choice *c, size_t n,
			   struct err *err)
{
	int rc;

	for (size_t i = 0; i < n; i++) {
		rc = key_choice_take(r, &c[i], err);
		if (rc)
			return key_choice_name(&c[i], rc, err);
	}
	for (size_t i = n; i-- > 0;) { /* the later line has the mistake */
		rc = key_choice_clash(r, c, n, i, err);
		if (rc)
			return key_choice_name(&c[i], rc, err);
	}
	return 0;
}

int key_choice_fits(const char *name, const char *keys, struct err *err)
{
	struct key_choice c = { .name = name, .keys = keys };
	struct key_rows r;
	int rc;

	key_choice_open(&r);
	rc = key_choice_take(&r, &c, err);
	key_choice_close(&r);
	return rc ? key_choice_name(&c, rc, err) : 0;
}

int key_choices_check(const struct key_choice *c, size_t n, struct err *err)
{
	struct key_rows r;
	int rc;

	key_choice_open(&r);
	rc = key_choice_make(&r, c, n, err);
	key_choice_close(&r);
	return rc;
}

int key_choices_use(const struct key_choice *c, size_t n, struct err *err)
{
	struct key_rows r;
	int rc;

	key_choice_open(&r);
	rc = key_choice_make(&r, c, n, err);
	if (!rc)
		keymap_use(r.row);
	key_choice_close(&r);
	return rc;
}
