/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the screen as they are now, and those that were changed into the configuration file.
 */
#include "console/app/app_priv.h"

#include "console/config/config.h"
#include "console/config/config_keep.h"
#include "fabric/base/memory/mem.h"
#include "views/prompt/command.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

static void app_settings_figure(struct setting *x, double v)
{
	snprintf(x->value, sizeof(x->value), "%g", v);
}

static void app_settings_word(struct setting *x, const char *text)
{
	snprintf(x->value, sizeof(x->value), "%s", text);
}

/* false: the table is not there now. */
static bool app_settings_of_table(struct setting *x, const struct app *a)
{
	enum view_id view = VIEW_LINKS;
	const char *dash = strrchr(x->name, '-');

	if (!strncmp(x->name, "switch-", 7))
		view = VIEW_SWITCHES;
	else if (!strncmp(x->name, "job-", 4))
		view = VIEW_JOBS;
	if (!strcmp(dash ? dash + 1 : x->name, "sort"))
		return shell_sort(a->shell, view, x->value, sizeof(x->value));
	return shell_columns(a->shell, view, x->value, sizeof(x->value));
}

static bool app_settings_value_of(struct setting *x, const struct app *a)
{
	const struct state_limits *l = &a->state.limits;

	if (!strcmp(x->name, "interval"))
		app_settings_figure(x, a->state.poll.interval_s);
	else if (!strcmp(x->name, "warn-util"))
		app_settings_figure(x, l->util_pct);
	else if (!strcmp(x->name, "warn-wait"))
		app_settings_figure(x, l->wait_pct);
	else if (!strcmp(x->name, "warn-errors"))
		app_settings_figure(x, l->errors_per_min);
	else if (!strcmp(x->name, "warn-seconds"))
		app_settings_figure(x, l->for_s);
	else if (!strcmp(x->name, "palette"))
		app_settings_word(x, palette_name(shell_context(a->shell)->palette));
	else if (!strcmp(x->name, "theme"))
		app_settings_word(x, a->theme);
	else if (!strcmp(x->name, "units"))
		app_settings_word(x, shell_context(a->shell)->bits ? "bits" : "bytes");
	else if (!strcmp(x->name, "png-font"))
		app_settings_word(x, a->png_font);
	else if (!strcmp(x->name, "png-size"))
		app_settings_figure(x, a->opts.png_size);
	else if (!strcmp(x->name, "bell"))
		app_settings_word(x, a->opts.bell ? "yes" : "no");
	else if (!strcmp(x->name, "mouse"))
		app_settings_word(x, a->term && terminal_has_mouse(a->term) ? "yes" : "no");
	else if (!strcmp(x->name, "ascii"))
		app_settings_word(x, a->term && terminal_ascii(a->term) ? "yes" : "no");
	else if (!strcmp(x->name, "view"))
		app_settings_word(x, command_view_name(a->start_view));
	else
		return app_settings_of_table(x, a);
	return true;
}

bool app_setting(void *of, uint32_t i, struct setting *out)
{
	const struct app *a = of;

	*out = (struct setting){ 0 };
	out->name = config_screen(i, &out->words, &out->about);
	if (!out->name)
		return false;
	if (!app_settings_value_of(out, a) && i < SETTINGS_MAX)
		app_settings_word(out, a->settings_kept[i]);
	out->changed = i < SETTINGS_MAX && strcmp(out->value, a->settings_kept[i]) != 0;
	return true;
}

void app_settings_kept(struct app *a)
{
	struct setting x;

	for (uint32_t i = 0; i < SETTINGS_MAX && app_setting(a, i, &x); i++)
		memcpy(a->settings_kept[i], x.value, sizeof(a->settings_kept[i]));
}

/* --- into the file ---------------------------------------------------------------------------- */

struct keeping {
	const char *config, *profile; /* the console's, which outlive it */
	struct setting x[SETTINGS_MAX];
	struct config_pair pair[SETTINGS_MAX + KEYS_CHOSEN_MAX]; /* of x, and of key */
	uint32_t at[SETTINGS_MAX];				 /* of the console's settings */
	size_t n, nkey;						 /* of x, of key */
	char *key[KEYS_CHOSEN_MAX]; /* "key.sort", a zero byte, its value */
	char names[200], file[PATH_TEXT];
};

static int app_settings_keep_run(void *ctx, struct err *err)
{
	struct keeping *k = ctx;

	return config_keep(k->config, k->profile, k->pair, k->n + k->nkey, k->file, sizeof(k->file),
			   err);
}

static void app_settings_key_is_kept(struct app *a, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < a->nkeys_chosen; i++) {
		const char *now = a->keys_chosen[i].text;

		if (!strncmp(now, key, n) && now[n] == '=' && !strcmp(now + n + 1, key + n + 1))
			a->keys_chosen[i].kept = true;
	}
}

static void app_settings_keep_done(void *owner, void *ctx)
{
	const struct keeping *k = ctx;
	struct app *a = owner;

	for (size_t i = 0; i < k->n; i++)
		memcpy(a->settings_kept[k->at[i]], k->x[i].value, sizeof(k->x[i].value));
	for (size_t i = 0; i < k->nkey; i++)
		app_settings_key_is_kept(a, k->key[i]);
	app_record_action(a, "keep", k->names);
	shell_say(a->shell, "saved in %s: %s", k->file, k->names);
}

static void app_settings_keep_free(void *ctx)
{
	struct keeping *k = ctx;

	while (k->nkey)
		free(k->key[--k->nkey]);
	free(k);
}

static const struct file_work_ops app_settings_keep_ops = {
	.what = "keep",
	.waited = true,
	.finishes = true,
	.run = app_settings_keep_run,
	.done = app_settings_keep_done,
	.free = app_settings_keep_free,
};

static void app_settings_add_name(struct keeping *k, const char *name)
{
	size_t len = strlen(k->names);

	snprintf(k->names + len, sizeof(k->names) - len, "%s%s", len ? ", " : "", name);
}

/* Keys that were chosen, behind the settings. */
static void app_settings_add_keys(struct keeping *k, const struct app *a)
{
	for (size_t i = 0; i < a->nkeys_chosen; i++) {
		char *key;

		if (a->keys_chosen[i].kept)
			continue;
		key = k->key[k->nkey] = xstrdup(a->keys_chosen[i].text);
		key[strcspn(key, "=")] = '\0';
		app_settings_add_name(k, key);
		k->pair[k->n + k->nkey++] = (struct config_pair){ key, key + strlen(key) + 1 };
	}
}

void app_settings_keep(struct app *a)
{
	struct keeping *k = xcalloc(1, sizeof(*k));
	struct setting *x = k->x;

	for (uint32_t i = 0; i < SETTINGS_MAX && app_setting(a, i, x); i++) {
		if (!x->changed)
			continue;
		app_settings_add_name(k, x->name);
		k->at[k->n] = i;
		k->pair[k->n++] = (struct config_pair){ x->name, x->value };
		x++;
	}
	app_settings_add_keys(k, a);
	if (k->n + k->nkey) {
		k->config = a->opts.config;
		k->profile = a->opts.profile;
		app_files_start(a, &app_settings_keep_ops, k);
		return;
	}
	free(k);
	shell_say(a->shell, "no setting was changed: nothing to save");
}
