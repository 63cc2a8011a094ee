/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the screen, from --set, from configuration files, and from ':set'; and what is over
 * their limits. */
#include "console/app/app_priv.h"

#include "console/picture/png_font.h"
#include "fabric/base/memory/mem.h"
#include "views/prompt/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOLD_MAX 3 /* events of one sample */

static int app_set_number(double *out, const char *name, const char *text, double least,
			  double most, struct err *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= least && v <= most))
		return err_set(err, -EINVAL, "%s: '%s' is not a number between %g and %g", name,
			       text, least, most);
	*out = v;
	return 0;
}

static int app_set_palette(struct app *a, const char *v, struct err *err)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		if (!strcasecmp(palette_name((enum palette)i), v)) {
			context_set_palette(shell_context(a->shell), (enum palette)i);
			return 0;
		}
	return err_set(err, -EINVAL, "palette: '%s' is not one of viridis, cividis, glyphs", v);
}

static int app_set_terminal(struct app *a, const char *name, const char *v, struct err *err)
{
	bool on = !strcasecmp(v, "yes");

	if (!on && strcasecmp(v, "no") != 0)
		return err_set(err, -EINVAL, "%s: '%s' is neither yes nor no", name, v);
	if (!a->term)
		return 0;
	if (!strcmp(name, "mouse")) {
		terminal_set_mouse(a->term, on);
		return 0;
	}
	terminal_set_ascii(a->term, on);
	if (a->canvas)
		a->canvas->ascii = terminal_ascii(a->term);
	if (!on && terminal_ascii(a->term))
		return err_set(err, -EINVAL, "ascii: the locale supports only ASCII");
	return 0;
}

static int app_set_bell(struct app *a, const char *v, struct err *err)
{
	a->opts.bell = !strcasecmp(v, "yes");
	return a->opts.bell || !strcasecmp(v, "no")
		       ? 0
		       : err_set(err, -EINVAL, "bell: '%s' is neither yes nor no", v);
}

static int app_set_png(struct app *a, const char *name, const char *v, struct err *err)
{
	double size = a->opts.png_size;
	int rc = 0;

	if (!strcmp(name, "png-size"))
		rc = app_set_number(&size, name, v, PNG_SIZE_LEAST, PNG_SIZE_MOST, err);
	else if (strlen(v) >= sizeof(a->png_font))
		rc = err_set(err, -EINVAL, "png-font: more than %zu characters",
			     sizeof(a->png_font) - 1);
	else
		snprintf(a->png_font, sizeof(a->png_font), "%s", v);
	a->opts.png_size = (unsigned)size;
	return rc;
}

static int app_set_view(struct app *a, const char *v, struct err *err)
{
	enum view_id view = command_view(v);

	if (!v[0] || view == VIEW_COUNT)
		return err_set(err, -EINVAL,
			       "view: unknown view '%s'; Tab after ':view ' lists them", v);
	a->start_view = view;
	return 0;
}

/* "columns" and "sort" are of links, those of others have that before. */
static int app_set_table(struct app *a, const char *name, const char *v, struct err *err)
{
	static const struct {
		const char *prefix, *rows;
		enum view_id view;
	} tables[] = { { "", "links", VIEW_LINKS },
		       { "switch-", "switches", VIEW_SWITCHES },
		       { "job-", "jobs", VIEW_JOBS } };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		size_t n = strlen(tables[i].prefix);
		bool columns = !strcmp(name + (strlen(name) < n ? 0 : n), "columns");
		bool sort = !strcmp(name + (strlen(name) < n ? 0 : n), "sort");

		if (strncmp(name, tables[i].prefix, n) != 0 || (!columns && !sort))
			continue;
		if (columns ? shell_columns_set(a->shell, tables[i].view, v)
			    : shell_sort_set(a->shell, tables[i].view, v))
			return 0;
		return err_set(err, -EINVAL, "%s: %s have no column '%s'", name, tables[i].rows, v);
	}
	return err_set(err, -EINVAL, "unknown setting '%s': Tab lists them", name);
}

int app_set(struct app *a, const char *text, struct err *err)
{
	struct state_limits *l = &a->state.limits;
	const char *v = strchr(text, '=');
	char name[32];
	int rc;

	if (!v)
		return err_set(err, -EINVAL, "expected set NAME=VALUE, not '%s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)(v - text), text);
	v++;
	if (app_keys_has(name))
		return app_keys_set(a, text, err);
	if (!strcmp(name, "warn-util"))
		return app_set_number(&l->util_pct, name, v, 0, 100, err);
	if (!strcmp(name, "warn-wait"))
		return app_set_number(&l->wait_pct, name, v, 0, 100, err);
	if (!strcmp(name, "warn-errors"))
		return app_set_number(&l->errors_per_min, name, v, 0, 1e9, err);
	if (!strcmp(name, "warn-seconds"))
		return app_set_number(&l->for_s, name, v, 0, 86400, err);
	if (!strcmp(name, "interval")) {
		if (a->feed && a->feed->shared)
			return err_set(err, -EPERM, "interval: the collector sets it");
		rc = app_set_number(&a->state.poll.interval_s, name, v, 0.1, 3600, err);
		if (!rc && a->feed)
			feed_interval(a->feed, a->state.poll.interval_s);
		return rc;
	}
	if (!strcmp(name, "palette"))
		return app_set_palette(a, v, err);
	if (!strcmp(name, "theme"))
		return app_theme_set(a, v, err);
	if (!strcmp(name, "units") && (!strcmp(v, "bits") || !strcmp(v, "bytes"))) {
		context_set_units(shell_context(a->shell), !strcmp(v, "bits"));
		return 0;
	}
	if (!strcmp(name, "units"))
		return err_set(err, -EINVAL, "units: '%s' is neither bytes nor bits", v);
	if (!strcmp(name, "bell"))
		return app_set_bell(a, v, err);
	if (!strncmp(name, "png-", 4))
		return app_set_png(a, name, v, err);
	if (!strcmp(name, "mouse") || !strcmp(name, "ascii"))
		return app_set_terminal(a, name, v, err);
	if (!strcmp(name, "view"))
		return app_set_view(a, v, err);
	return app_set_table(a, name, v, err);
}

/* --- when it begins --------------------------------------------------------------------------- */

int app_set_all(struct app *a, struct err *err)
{
	int rc = app_keys_begin(a, err);

	if (!rc)
		rc = app_theme_set(a, a->opts.theme ? a->opts.theme : "dark", err);
	if (!a->opts.png_size)
		a->opts.png_size = PNG_SIZE;
	if (!rc && a->opts.png_font)
		rc = app_set_png(a, "png-font", a->opts.png_font, err);

	for (size_t i = 0; i < a->opts.nset && !rc; i++)
		if (!app_keys_has(a->opts.set[i]))
			rc = app_set(a, a->opts.set[i], err);
	return rc;
}

/* --- what is over a limit -------------------------------------------------------------------- */

static bool app_set_over(const struct state_limits *l, const struct port_rate *p)
{
	return (l->util_pct > 0 && p->util_pct >= l->util_pct) ||
	       (l->wait_pct > 0 && p->wait_pct >= l->wait_pct);
}

static void app_set_tell(const struct app *a, uint32_t chan, const struct port_rate *p,
			 double for_s)
{
	char label[256];

	log_add(LOG_WARN, "links", "%s: util %.0f%%, wait %.0f%% for %.0f s (limits %g%%, %g%%)",
		chan_label(label, sizeof(label), a->state.fabric, chan), p->util_pct,
		isfinite(p->wait_pct) ? p->wait_pct : 0, for_s, a->state.limits.util_pct,
		a->state.limits.wait_pct);
}

/* Once for each time that a link is over; the seconds count by samples. */
static void app_set_warn(struct app *a)
{
	const struct fabric *f = a->state.fabric;
	const struct rates *r = a->state.rates;
	uint32_t more = 0, told = 0;

	if (!r || r->nport != f->nport)
		return;
	if (a->over_of != f->nchan) {
		free(a->over_s);
		a->over_s = xcalloc(f->nchan + 1u, sizeof(*a->over_s));
		a->over_of = f->nchan;
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		const struct port_rate *p = &r->port[chan_fabric_port(f, c)];
		float was = a->over_s[c];

		a->over_s[c] = app_set_over(&a->state.limits, p) ? was + (float)r->interval_s : 0;
		if (a->over_s[c] < (float)a->state.limits.for_s || a->over_s[c] <= 0 ||
		    (was > 0 && was >= (float)a->state.limits.for_s))
			continue;
		if (told++ < TOLD_MAX)
			app_set_tell(a, c, p, (double)a->over_s[c]);
		else
			more++;
	}
	if (more)
		log_add(LOG_WARN, "links", "%u more links are over their limits for that time",
			more);
}

static void app_set_hear(struct app *a, const struct app_news *n)
{
	if (n->type == NEWS_SAMPLE)
		app_set_warn(a);
}

static void app_set_end(struct app *a)
{
	free(a->over_s);
}

const struct app_part app_set_part = { .hear = app_set_hear, .end = app_set_end };
