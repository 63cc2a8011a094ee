/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/config.h"

#include "console/app/terminal/key_choice.h"
#include "console/config/param_check.h"
#include "console/config/theme_file.h"
#include "console/fabrics/fabric_spec.h"
#include "fabric/base/memory/mem.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "fabric/version.h"
#include "views/prompt/command.h"
#include "views/table/fields.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAG_WORDS " yes no "

enum kind { TEXT, NUMBER, WORD, FLAG, PARAM };

static int config_fits_installer(const char *name, const char *value, struct err *err)
{
	if (!strcmp(value, "opensm") || !strcmp(value, "smp") ||
	    (!strncmp(value, "file:", 5) && value[5]))
		return 0;
	return err_set(err, -EINVAL, "%s: '%s' is not one of opensm, smp, file:DIR", name, value);
}

static int config_fits_limits(const char *name, const char *value, struct err *err)
{
	struct watch_limits limits = { 0 };
	struct err why;
	int rc = watch_limits_parse(&limits, value, &why);

	return rc ? err_set(err, rc, "%s: %s", name, why.text) : 0;
}

/* A setting's name says of which rows it is: "columns", "switch-columns", "job-sort". */
static enum row_kind config_kind_of(const char *name)
{
	if (!strncmp(name, "switch-", 7))
		return ROWS_SWITCHES;
	return strncmp(name, "job-", 4) ? ROWS_LINKS : ROWS_JOBS;
}

static int config_fits_columns(const char *name, const char *value, struct err *err)
{
	enum row_kind kind = config_kind_of(name);

	for (const char *p = value; *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");

		if (n && !field_find(kind, p, n))
			return err_set(err, -EINVAL, "%s: %s have no field '%.*s'", name,
				       row_kind_name(kind), (int)n, p);
		p += n;
	}
	return 0;
}

static int config_fits_sort(const char *name, const char *value, struct err *err)
{
	enum row_kind kind = config_kind_of(name);
	const char *field = value + (value[0] == '-');

	if (field_find(kind, field, strlen(field)))
		return 0;
	return err_set(err, -EINVAL, "%s: %s have no field '%s'", name, row_kind_name(kind), field);
}

static int config_fits_view(const char *name, const char *value, struct err *err)
{
	if (command_view(value) != VIEW_COUNT)
		return 0;
	return err_set(err, -EINVAL, "%s: unknown view '%s'", name, value);
}

static int config_fits_tabs(const char *name, const char *value, struct err *err)
{
	struct fabric_specs specs = { .n = 0 };
	struct err why;
	int rc = fabric_specs_add(&specs, value, &why);

	fabric_specs_free(&specs);
	return rc ? err_set(err, rc, "%s: %s", name, why.text) : 0;
}

static int config_fits_theme(const char *name, const char *value, struct err *err)
{
	struct theme t;
	struct err why;
	int rc = theme_read(&t, value, &why);

	return rc ? err_set(err, rc, "%s: %s", name, why.text) : 0;
}

/* A setting, and the option of the command line that it is. */
static const struct key {
	const char *name, *option;
	enum kind kind;
	double least, most;
	const char *words; /* WORD: " a b c " */
	const char *default_value;
	const char *help; /* where there is no option that has one */
	bool secret, screen;
	bool live; /* an option that the screen can change, too */
	int (*fits)(const char *name, const char *value, struct err *err); /* TEXT; NULL: any */
	const char *with;	   /* only for commands that have this option, too */
	const struct param *param; /* of engines: the rest is there */
	const char *action;	   /* whose keys it is */
} settings[] = {
	{ "ca", "--Ca", TEXT, .default_value = "the first with an active port" },
	{ "port", "--Port", NUMBER, 1, 254, .default_value = "" },
	{ "timeout", "--timeout", NUMBER, 1, 60000, .default_value = "200" },
	{ "outstanding-smps", "--outstanding_smps", NUMBER, 1, 1024, .default_value = "32" },
	{ "m-key", "--m_key", TEXT, .default_value = "0", .secret = true },
	{ "m-key-file", "--m_key_file", TEXT, .default_value = "" },
	{ "name", "--name", TEXT, .default_value = "" },
	{ "node-name-map", "--node-name-map", TEXT, .default_value = "" },
	{ "tab", "--tab", TEXT, .default_value = "", .fits = config_fits_tabs },
	{ "racks", "--racks", TEXT, .default_value = "derived from node names" },
	{ "interval", "--interval", NUMBER, 0.1, 3600, .default_value = "2",
	  .help = "seconds between polls", .live = true },
	{ "sweep-interval", "--sweep-interval", NUMBER, 1, 86400, .default_value = "60" },
	{ "jobs", "--jobs", TEXT, .default_value = "slurm" },
	{ "jobs-interval", "--jobs-interval", NUMBER, 1, 86400, .default_value = "10" },
	{ "record-dir", "--record-dir", TEXT, .default_value = "/var/log/ibroute-top" },
	{ "record-keep-days", "--keep-days", NUMBER, 1, 1000000, .default_value = "",
	  .with = "--keep-sessions" }, /* the collector has others of that name */
	{ "record-keep-sessions", "--keep-sessions", NUMBER, 1, 1000000, .default_value = "" },
	{ "record-keep-size", "--keep-size", NUMBER, 1, 1000000, .default_value = "",
	  .with = "--keep-sessions" },
	{ "adaptive-routing", "--adaptive-routing", WORD, .words = " auto yes no ",
	  .default_value = "auto" },
	{ "state-dir", "--state-dir", TEXT, .default_value = "/var/lib/ibroute-top" },
	{ "installer", "--installer", TEXT,
	  .default_value = "opensm if our plugin responds, else smp",
	  .fits = config_fits_installer },
	/* that of the agent is another one */
	{ "socket", "--socket", TEXT, .default_value = "",
	  .with = "--outstanding_smps" }, /* the one of agents is another */
	{ "agents-key", "--agents-key", TEXT,
	  .default_value = IBROUTE_ETC "/agents.key, if it is there" },
	{ "confirm-timeout", "--confirm-timeout", NUMBER, 1, 86400, .default_value = "300" },
	{ "error-limits", "--error-limits", TEXT, .default_value = "", .fits = config_fits_limits },
	{ "color", "--color", WORD, .words = " auto 16 256 true never ", .default_value = "auto" },
	{ "theme", "--theme", TEXT, .default_value = "dark", .fits = config_fits_theme,
	  .live = true, .help = "colours: dark, light, mono, or a file" },
	{ "ascii", "--ascii", FLAG, .default_value = "no", .help = "only ASCII characters",
	  .words = FLAG_WORDS, .live = true },
	{ "bell", "--bell", FLAG, .default_value = "no", .words = FLAG_WORDS, .live = true,
	  .help = "the terminal's bell for warnings and errors" },
	{ "mouse", "--no-mouse", FLAG, .default_value = "yes", .words = FLAG_WORDS, .live = true,
	  .help = "no: the terminal selects text" },
	{ "png-font", "--png-font", TEXT, .default_value = "", .live = true,
	  .help = "font of pictures: a file" },
	{ "png-size", "--png-size", NUMBER, 8, 48, .default_value = "16", .live = true,
	  .help = "size of their letters, in pixels" },
	{ "view", NULL, TEXT, .default_value = "overview", .screen = true, .fits = config_fits_view,
	  .help = "initial view" },
	{ "palette", NULL, WORD, .words = " viridis cividis glyphs ", .default_value = "viridis",
	  .help = "viridis, cividis or glyphs", .screen = true },
	{ "units", NULL, WORD, .words = " bytes bits ", .default_value = "bytes",
	  .help = "unit of rates", .screen = true },
	{ "columns", NULL, TEXT, .default_value = "", .help = "columns of the links table",
	  .screen = true, .fits = config_fits_columns },
	{ "sort", NULL, TEXT, .default_value = "", .screen = true, .fits = config_fits_sort,
	  .help = "sort key of links; - reverses it" },
	{ "switch-columns", NULL, TEXT, .default_value = "", .screen = true,
	  .fits = config_fits_columns, .help = "columns of the switches table" },
	{ "switch-sort", NULL, TEXT, .default_value = "", .screen = true, .fits = config_fits_sort,
	  .help = "sort key of the switches table" },
	{ "job-columns", NULL, TEXT, .default_value = "", .screen = true,
	  .fits = config_fits_columns, .help = "columns of the jobs table" },
	{ "job-sort", NULL, TEXT, .default_value = "", .screen = true, .fits = config_fits_sort,
	  .help = "sort key of the jobs table" },
	{ "warn-util", NULL, NUMBER, 0, 100, .default_value = "95",
	  .help = "warn at this utilisation (%)", .screen = true },
	{ "warn-wait", NULL, NUMBER, 0, 100, .default_value = "20",
	  .help = "warn at this XmitWait (% of time)", .screen = true },
	{ "warn-errors", NULL, NUMBER, 0, 1e9, .default_value = "0",
	  .help = "warn at this many errors/min", .screen = true },
	{ "warn-seconds", NULL, NUMBER, 0, 86400, .default_value = "60",
	  .help = "warn only after this many seconds", .screen = true },
};
#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))
#define KEYS_MAX  (NSETTINGS + PARAM_IDS + KEY_ACTIONS_MAX)

static struct key config_key_of(const struct param *p)
{
	return (struct key){ .name = p->option,
			     .kind = p->type == PARAM_FLAG ? FLAG : PARAM,
			     .param = p,
			     .default_value = p->type == PARAM_FLAG ? "no"
					      : p->words	    ? p->words[0]
					      : p->unset	    ? p->unset
								    : "none",
			     .help = p->help };
}

static struct key config_key_of_action(const struct key_action *a)
{
	return (struct key){ .name = a->setting,
			     .kind = TEXT,
			     .default_value = a->keys,
			     .help = a->help,
			     .screen = true,
			     .action = a->name };
}

/* The i-th of the settings, then of the parameters of engines, then of the keys; NULL behind the
 * last. */
static const struct key *config_key(size_t i)
{
	static struct key keys[KEYS_MAX + 1];
	const struct key_action *a;
	const struct param *p;
	struct key *k;
	size_t n;

	if (!keys[0].name) {
		memcpy(keys, settings, sizeof(settings));
		p = param_all(&n);
		for (k = keys + NSETTINGS; n--; p++)
			if (p->config)
				*k++ = config_key_of(p);
		for (a = key_action_all(&n); n--; a++)
			*k++ = config_key_of_action(a);
	}
	return i < KEYS_MAX && keys[i].name ? &keys[i] : NULL;
}

const char *config_screen(size_t i, const char **words, const char **about)
{
	const struct key *k;

	for (size_t n = 0; (k = config_key(n)); n++)
		if ((k->screen || k->live) && !k->action && !i--)
			break;
	if (!k)
		return NULL;
	*words = k->words;
	*about = k->help;
	return k->name;
}

struct config {
	char *value[KEYS_MAX];	 /* by the number of the key; NULL: default */
	char *source[KEYS_MAX];	 /* "file:line" */
	unsigned turn[KEYS_MAX]; /* in which they were read last, from 1 */
	unsigned turns;
	char profile[64]; /* that was asked for; "" none */
	bool profile_found;

	/* while a file is read */
	const char *path;
	FILE *in;
	int line, bad_line;
	bool diags;
	struct err *err;
	int rc;
};

static void config_bad(struct config *c, const char *what)
{
	if (c->rc && c->line >= c->bad_line)
		return; /* the first one is reported */
	c->bad_line = c->line;
	c->rc = err_set(c->err, -EINVAL, "%s:%d: %s", c->path, c->line, what);
}

/* Settings are called as their options are, m_key and outstanding_smps too.  -1: none. */
static int config_find(const char *name)
{
	const struct key *k;

	for (int i = 0; (k = config_key((size_t)i)); i++)
		if (!strcasecmp(k->name, name) || (k->option && !strcasecmp(k->option + 2, name)))
			return i;
	return -1;
}

/* What ibdiag.conf may hold for the diags alone: -z takes one of its kind. */
static bool config_of_the_diags(const char *name)
{
	return !strcasecmp(name, "MLX_EPI") || !strcasecmp(name, "sa_key") ||
	       !strcasecmp(name, "nd_format");
}

static bool config_yes(const char *v)
{
	return !strcasecmp(v, "yes") || !strcasecmp(v, "true") || !strcasecmp(v, "on") ||
	       !strcmp(v, "1");
}

static bool config_no(const char *v)
{
	return !strcasecmp(v, "no") || !strcasecmp(v, "false") || !strcasecmp(v, "off") ||
	       !strcmp(v, "0");
}

static int config_fits_number(const struct key *k, const char *value, struct err *err)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(value, &end);
	if (!errno && end != value && !*end && v >= k->least && v <= k->most)
		return 0;
	return err_set(err, -EINVAL, "%s: '%s' is not a number from %g to %g", k->name, value,
		       k->least, k->most);
}

static int config_fits_word(const struct key *k, const char *value, struct err *err)
{
	char word[64];

	snprintf(word, sizeof(word), " %.60s ", value);
	if (value[0] && !strchr(value, ' ') && strstr(k->words, word))
		return 0;
	return err_set(err, -EINVAL, "%s: '%s' is not one of:%s", k->name, value, k->words);
}

static int config_fits(const struct key *k, const char *value, struct err *err)
{
	switch (k->kind) {
	case NUMBER:
		return config_fits_number(k, value, err);
	case WORD:
		return config_fits_word(k, value, err);
	case FLAG:
		if (config_yes(value) || config_no(value))
			return 0;
		return err_set(err, -EINVAL, "%s: '%s' is not yes or no", k->name, value);
	default:
		if (!value[0])
			return err_set(err, -EINVAL, "%s: no value after the =", k->name);
		if (k->param)
			return param_check(k->param, value, err);
		if (k->action)
			return key_choice_fits(k->action, value, err);
		return k->fits ? k->fits(k->name, value, err) : 0;
	}
}

void config_range(double *least, double *most, const char *option)
{
	const struct key *k = config_key((size_t)config_find(option + 2));

	*least = k->least;
	*most = k->most;
}

/* As libibmad's tools call them; what else is in their file is not for us. */
static const char *config_diags_name(const char *name)
{
	static const char *const same[][2] = {
		{ "CA", "ca" }, { "Port", "port" }, { "timeout", "timeout" }, { "m_key", "m-key" }
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!strcasecmp(same[i][0], name))
			return same[i][1];
	return NULL;
}

/* 0: not for this run; 1: for every fabric or for the profile; -1: wrong. */
static int config_section_counts(struct config *c, const char *section)
{
	char buf[200];

	if (!section[0])
		return 1;
	if (strncmp(section, "fabric ", 7) != 0 || !section[7]) {
		snprintf(buf, sizeof(buf), "[%.60s]: a section must be [fabric NAME]", section);
		config_bad(c, buf);
		return -1;
	}
	if (strcmp(section + 7, c->profile) != 0)
		return 0;
	c->profile_found = true;
	return 1;
}

static int config_take(void *ctx, const char *section, const char *name, const char *value)
{
	struct config *c = ctx;
	const char *ours = c->diags ? config_diags_name(name) : name;
	int at = ours ? config_find(ours) : -1;
	const struct key *k = at < 0 ? NULL : config_key((size_t)at);
	struct err bad;
	int counts;

	if (c->diags && (!k || !value))
		return 1;
	counts = c->diags ? 1 : config_section_counts(c, section);
	if (counts < 0)
		return 0;
	if (!k && config_of_the_diags(name))
		return 1;
	if (!k) {
		err_set(&bad, -EINVAL, "unknown setting '%.60s'; 'config show' lists them", name);
		config_bad(c, bad.text);
		return 0;
	}
	/* profiles of other fabrics are judged too: a mistake should not wait for its day */
	if (config_fits(k, value, &bad)) {
		config_bad(c, bad.text);
		return 0;
	}
	if (!counts)
		return 1;
	free(c->value[at]);
	free(c->source[at]);
	c->value[at] = xstrdup(value);
	c->source[at] = xasprintf("%s:%d", c->path, c->line);
	c->turn[at] = ++c->turns;
	return 1;
}

/* inih tells handlers no line and cuts long ones: both are seen to here. */
static char *config_read_line(char *buf, int size, void *ctx)
{
	struct config *c = ctx;
	char *got = fgets(buf, size, c->in), *from;
	size_t n = got ? strlen(got) : 0;

	if (!got)
		return NULL;
	c->line++;
	/* zero bytes end a text before its line ends */
	if (n + 1 != (size_t)size && (!n || got[n - 1] != '\n') && !feof(c->in)) {
		config_bad(c, "zero byte: not a text file");
		return NULL;
	}
	if (n + 1 == (size_t)size && got[n - 1] != '\n') {
		config_bad(c, "the line is longer than 190 characters");
		return NULL;
	}
	/* a blank at the beginning would go on with the value of the line before */
	from = got + strspn(got, " \t");
	memmove(got, from, strlen(from) + 1);
	return got;
}

/* One that nobody named has to be root's or the operator's, and nobody else's to change: its
 * settings stand for options. */
static int config_permitted(const struct config *c, const char *path)
{
	const char *sudo = getenv("SUDO_UID");
	struct stat st;

	if (fstat(fileno(c->in), &st))
		return err_set(c->err, -errno, "%s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid() &&
	    !(!geteuid() && sudo && st.st_uid == strtoul(sudo, NULL, 10)))
		return err_set(c->err, -EPERM,
			       "%s belongs to user %u, neither to root nor to you: it is not used",
			       path, (unsigned)st.st_uid);
	if (S_ISREG(st.st_mode) && st.st_mode & S_IWOTH)
		return err_set(c->err, -EPERM, "%s can be changed by any user: chmod o-w it", path);
	return 0;
}

/* must: the user named it. */
static int config_read_file(struct config *c, const char *path, bool must)
{
	int line;

	c->path = path;
	c->line = 0;
	c->in = fopen(path, "re");
	if (!c->in && !must && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!c->in)
		return err_set(c->err, -errno, "%s: %s", path, strerror(errno));
	if (!must && config_permitted(c, path)) {
		fclose(c->in);
		return -EPERM;
	}
	errno = 0;
	line = ini_parse_stream(config_read_line, c, config_take, c);
	if (ferror(c->in) && !c->rc)
		c->rc = err_set(c->err, errno ? -errno : -EIO, "%s: %s", path,
				strerror(errno ? errno : EIO));
	fclose(c->in);
	if (line > 0 && (!c->rc || line < c->bad_line)) {
		c->line = line;
		config_bad(c, "not NAME = VALUE or [fabric NAME]");
	}
	return c->diags ? 0 : c->rc; /* what the diags make of theirs is their business */
}

char *config_user_file(void)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (xdg && *xdg)
		return xasprintf("%s/ibroute-top/config", xdg);
	return home ? xasprintf("%s/.config/ibroute-top/config", home) : NULL;
}

static int config_read_usual(struct config *c)
{
	char *user = config_user_file();
	int rc = config_read_file(c, IBROUTE_ETC "/config", false);

	if (!rc && user)
		rc = config_read_file(c, user, false);
	free(user);
	return rc;
}

/* The key of an action that was read next after that turn; NULL: none. */
static const struct key *config_next_chosen(const struct config *c, unsigned *turn, size_t *at)
{
	const struct key *k, *next = NULL;
	unsigned after = *turn;

	for (size_t i = 0; (k = config_key(i)); i++)
		if (k->action && c->turn[i] > after && (!next || c->turn[i] < *turn)) {
			next = k;
			*turn = c->turn[i];
			*at = i;
		}
	return next;
}

/* No key for two actions, as they are together in the end. */
static int config_check_keys(const struct config *c)
{
	struct key_choice *all = xcalloc(KEY_ACTIONS_MAX, sizeof(*all));
	const struct key *k;
	unsigned turn = 0;
	size_t n = 0, at;
	int rc;

	while ((k = config_next_chosen(c, &turn, &at)))
		all[n++] = (struct key_choice){ k->action, c->value[at], c->source[at] };
	rc = key_choices_check(all, n, c->err);
	free(all);
	return rc;
}

int config_read(struct config **out, const char *file, const char *profile, struct err *err)
{
	struct config *c = xcalloc(1, sizeof(*c));
	int rc;

	c->err = err;
	snprintf(c->profile, sizeof(c->profile), "%s", profile ? profile : "");
	c->diags = true;
	config_read_file(c, "/etc/infiniband-diags/ibdiag.conf", false);
	c->diags = false;
	c->rc = 0;
	rc = file ? config_read_file(c, file, true) : config_read_usual(c);
	if (!rc && c->profile[0] && !c->profile_found)
		rc = err_set(err, -ENOENT, "no section [fabric %s] in %s", c->profile,
			     file ? file : IBROUTE_ETC "/config or ~/.config/ibroute-top/config");
	if (!rc)
		rc = config_check_keys(c);
	if (rc) {
		config_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < KEYS_MAX; i++) {
		free(c->value[i]);
		free(c->source[i]);
	}
	free(c);
}

void config_show(const struct config *c, FILE *out)
{
	const struct key *k;

	for (size_t i = 0; (k = config_key(i)); i++) {
		const char *v = c->value[i] ? c->value[i] : k->default_value;

		fprintf(out, "%-18s = %-30s # %s\n", k->name,
			k->secret && c->value[i] ? "........" : v,
			c->source[i] ? c->source[i] : "default");
	}
}

const char *config_setting(size_t i, const char **option, const char **default_value,
			   const char **help)
{
	const struct key *k = config_key(i);

	if (!k)
		return NULL;
	*option = k->option;
	*default_value = k->default_value;
	*help = k->help;
	return k->name;
}

/* What is no option of the console, it takes for the options of its previews.  A value that takes
 * back what is for every fabric is an option left out. */
static char *config_option_of_param(const struct param *p, const char *v, config_takes_fn *takes,
				    void *arg)
{
	char option[40];
	bool flag = p->type == PARAM_FLAG, set;

	snprintf(option, sizeof(option), "--%s", p->option);
	set = takes && !takes(option, arg);
	if ((set && !takes("--set", arg)) || (flag && !config_yes(v)) ||
	    (p->min && !strtoull(v, NULL, 10)))
		return NULL;
	if (set)
		return xasprintf("--set=%s=%s", p->option, flag ? "yes" : v);
	return flag ? xstrdup(option) : xasprintf("%s=%s", option, v);
}

/* The option that a setting is, if the command has it. */
static char *config_option_of(const struct key *k, const char *v, config_takes_fn *takes, void *arg)
{
	if (k->param)
		return config_option_of_param(k->param, v, takes, arg);
	if ((takes && !takes(k->screen ? "--set" : k->option, arg)) ||
	    (takes && k->with && !takes(k->with, arg)))
		return NULL;
	if (k->screen)
		return xasprintf("--set=%s=%s", k->name, v);
	if (k->kind != FLAG)
		return xasprintf("%s=%s", k->option, v);
	return config_yes(v) == !strcmp(k->name, "ascii") ? xstrdup(k->option) : NULL;
}

/* Options point into these words until the program ends. */
static struct words {
	char **v;
	int own; /* v[1] .. v[own] */
	struct words *next;
} * all_words;

static void config_free_words(void)
{
	while (all_words) {
		struct words *w = all_words;

		all_words = w->next;
		for (int i = 1; i <= w->own; i++)
			free(w->v[i]);
		free(w->v);
		free(w);
	}
}

static void config_keep_words(char **v, int own)
{
	struct words *w = xcalloc(1, sizeof(*w));

	if (!all_words)
		atexit(config_free_words);
	*w = (struct words){ v, own, all_words };
	all_words = w;
}

void config_argv(const struct config *c, config_takes_fn *takes, void *arg, int *argc, char ***argv)
{
	char **all = xcalloc(KEYS_MAX + (size_t)*argc + 2, sizeof(*all));
	const struct key *k;
	int n = 0;

	all[n++] = (*argv)[0];
	for (size_t i = 0; (k = config_key(i)); i++) {
		all[n] = c->value[i] ? config_option_of(k, c->value[i], takes, arg) : NULL;
		n += all[n] != NULL;
	}
	/* a profile without a name has its own */
	if (c->profile[0] && !c->value[config_find("name")] && (!takes || takes("--name", arg)))
		all[n++] = xasprintf("--name=%s", c->profile);
	config_keep_words(all, n - 1);
	for (int i = 1; i < *argc; i++)
		all[n++] = (*argv)[i];
	*argc = n;
	*argv = all;
}

#define SHORTEST 5 /* "--con" */

/* What stands behind the letter in "-zFILE" or "-bzFILE"; "" where it is the next word, NULL where
 * there is no such letter.  b and M are those that take no value themselves. */
static const char *config_behind_letter(const char *word, char letter)
{
	size_t n;

	if (!letter || word[0] != '-' || word[1] == '-')
		return NULL;
	n = 1 + strspn(word + 1, "bM");
	return word[n] == letter ? word + n + 1 : NULL;
}

const char *config_asked(int argc, char **argv, const char *option, char letter)
{
	const char *found = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t n = strcspn(argv[i], "=");
		const char *value = config_behind_letter(argv[i], letter);

		if (value && *value)
			found = value;
		else if (value && i + 1 < argc)
			found = argv[++i];
		if (n < SHORTEST || n > strlen(option) || strncmp(argv[i], option, n) != 0)
			continue;
		if (argv[i][n] == '=')
			found = argv[i] + n + 1;
		else if (i + 1 < argc)
			found = argv[++i];
	}
	return found;
}
