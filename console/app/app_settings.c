/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the screen as they are now, and those that were changed into the configuration file.
 */
#include "console/app/app_priv.h"

#include "console/lib/config.h"
#include "console/lib/config_keep.h"
#include "views/data/view.h"
#include "views/shell/command.h"

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
	else if (!strcmp(x->name, "units"))
		app_settings_word(x, shell_context(a->shell)->bits ? "bits" : "bytes");
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

void app_settings_keep(struct app *a)
{
	struct config_pair pair[SETTINGS_MAX];
	struct setting x[SETTINGS_MAX];
	char names[200] = "", file[PATH_TEXT];
	size_t n = 0, len = 0;
	struct err err = { "" };

	for (uint32_t i = 0; i < SETTINGS_MAX && app_setting(a, i, &x[n]); i++) {
		if (!x[n].changed)
			continue;
		pair[n] = (struct config_pair){ x[n].name, x[n].value };
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						n ? ", " : "", x[n].name);
		n++;
	}
	if (!n) {
		shell_say(a->shell, "no setting was changed: nothing to save");
		return;
	}
	if (config_keep(a->opts.config, a->opts.profile, pair, n, file, sizeof(file), &err)) {
		app_fail(a, "keep", err.text);
		return;
	}
	app_settings_kept(a);
	app_record_action(a, "keep", names);
	shell_say(a->shell, "saved in %s: %s", file, names);
}
