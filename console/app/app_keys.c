/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that were chosen: by --set and configuration files, and by ':set' while the console runs. */
#include "console/app/app_priv.h"

#include "console/app/terminal/key_choice.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CHOICES_MAX (SETS_MAX + KEYS_CHOSEN_MAX)

struct key_list {
	struct key_choice choice[CHOICES_MAX];
	char *name[CHOICES_MAX];
	size_t n;
};

bool app_keys_has(const char *setting)
{
	return !strncasecmp(setting, KEY_SETTING, sizeof(KEY_SETTING) - 1);
}

static int app_keys_add(struct key_list *l, const char *text, const char *where, struct err *err)
{
	const char *v = strchr(text, '=');

	if (!v)
		return err_set(err, -EINVAL, "expected set NAME=VALUE, not '%s'", text);
	text += sizeof(KEY_SETTING) - 1;
	l->name[l->n] = xasprintf("%.*s", (int)(v - text), text);
	l->choice[l->n] = (struct key_choice){ l->name[l->n], v + 1, where };
	l->n++;
	return 0;
}

/* All of them at once: a key that one of them frees is free for the others. */
static int app_keys_use(const struct app *a, struct err *err)
{
	struct key_list *l = xcalloc(1, sizeof(*l));
	int rc = 0;

	for (size_t i = 0; i < a->opts.nset && !rc; i++)
		if (app_keys_has(a->opts.set[i]))
			rc = app_keys_add(l, a->opts.set[i], NULL, err);
	for (size_t i = 0; i < a->nkeys_chosen && !rc; i++)
		rc = app_keys_add(l, a->keys_chosen[i].text, ":set", err);
	if (!rc)
		rc = key_choices_use(l->choice, l->n, err);
	while (l->n--)
		free(l->name[l->n]);
	free(l);
	return rc;
}

int app_keys_begin(struct app *a, struct err *err)
{
	return app_keys_use(a, err);
}

/* The sentence begins with where that is, which whoever has just typed it knows. */
static void app_keys_say_why(struct err *err)
{
	const struct err why = *err;

	if (!strncmp(why.text, ":set: ", 6))
		err_set(err, -EINVAL, "%s", why.text + 6);
}

int app_keys_set(struct app *a, const char *text, struct err *err)
{
	size_t len = strcspn(text, "="), i = 0;
	struct app_key_chosen before = { NULL, false };
	int rc;

	while (i < a->nkeys_chosen && (strncasecmp(a->keys_chosen[i].text, text, len) != 0 ||
				       a->keys_chosen[i].text[len] != '='))
		i++;
	if (i == KEYS_CHOSEN_MAX)
		return err_set(err, -E2BIG,
			       "%.*s: more than %d keys are for the configuration file", (int)len,
			       text, KEYS_CHOSEN_MAX);
	if (i < a->nkeys_chosen)
		before = a->keys_chosen[i];
	else
		a->nkeys_chosen++;
	a->keys_chosen[i] = (struct app_key_chosen){ xstrdup(text), false };
	rc = app_keys_use(a, err);
	if (!rc) {
		free(before.text);
		return 0;
	}
	app_keys_say_why(err);
	free(a->keys_chosen[i].text);
	a->keys_chosen[i] = before;
	a->nkeys_chosen -= !before.text;
	return rc;
}

static void app_keys_end(struct app *a)
{
	while (a->nkeys_chosen)
		free(a->keys_chosen[--a->nkeys_chosen].text);
}

const struct app_part app_keys_part = { .end = app_keys_end };
