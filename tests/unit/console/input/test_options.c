/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every parameter of engines/param.h is taken and refused alike by the command line, configuration
 * files, the policy of the plugin and the form of previews. */
#include "console/app/app_opts.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/param_check.h"
#include "console/input/options.h"
#include "engines/opensm/policy.h"
#include "views/preview/preview_form.h"

#include "tests/unit/kit/text_files.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The number that it became, -1 where it was refused. */
typedef int64_t taken_fn(const struct param *p, const char *text);

static error_t take(int key, char *arg, struct argp_state *s)
{
	return options_take(s->input, key, arg, s);
}

static int64_t value_of(const struct options *o, const struct param *p)
{
	return p->id == PARAM_LMC ? o->lmc : (int64_t)param_value(&o->params, p);
}

/* In a child: what is refused ends the program. */
static int64_t by_option(const struct param *p, const char *text)
{
	const struct argp_option table[] = { OPTION_PARAM(p->id), { 0 } };
	const struct argp argp = { .options = table, .parser = take };
	char word[120], *argv[] = { (char[]){ "test" }, word, NULL };
	int64_t v = -1;
	int fd[2], status;
	pid_t pid;

	snprintf(word, sizeof(word), p->arg ? "--%s=%s" : "--%s", p->option, text);
	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct options o;

		assert_non_null(freopen("/dev/null", "w", stderr));
		options_init(&o);
		options_parse(&argp, 2, argv, &o);
		v = value_of(&o, p);
		_exit(write(fd[1], &v, sizeof(v)) != sizeof(v));
	}
	close(fd[1]);
	if (read(fd[0], &v, sizeof(v)) != sizeof(v))
		v = -1;
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return v;
}

static int64_t by_policy(const struct param *p, const char *text)
{
	char file[200];
	struct policy *policy;
	int64_t v = -1;
	FILE *f;

	snprintf(file, sizeof(file), "engine updn\n%s %s\n", p->option, text);
	f = text_file(file, strlen(file));
	if (!policy_read(&policy, f, "p", NULL)) {
		v = (int64_t)param_value(&policy->params, p);
		policy_put(policy);
	}
	fclose(f);
	return v;
}

static char config_path[] = "/tmp/ibroute-test-options-XXXXXX";

/* The settings of a file with that line; NULL: it is refused, with the line. */
static struct config *config_with(const char *option, const char *text)
{
	FILE *f = fopen(config_path, "w");
	struct config *c = NULL;
	struct err err;

	assert_non_null(f);
	fprintf(f, "interval = 3\n%s = %s\n", option, text);
	fclose(f);
	if (!config_read(&c, config_path, NULL, &err))
		return c;
	assert_non_null(strstr(err.text, ":2: "));
	assert_non_null(strstr(err.text, option));
	return NULL;
}

/* As a command takes it that has the option; 0 where it is left out. */
static int64_t by_config(const struct param *p, const char *text)
{
	struct config *c = config_with(p->option, text);
	char *words[] = { (char[]){ "test" }, NULL }, **argv = words, option[40];
	int argc = 1;
	int64_t v = 0;

	if (!c)
		return -1;
	config_argv(c, NULL, NULL, &argc, &argv);
	config_free(c);
	snprintf(option, sizeof(option), "--%s", p->option);
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], option, strlen(option)))
			v = by_option(p, argv[i][strlen(option)] ? strchr(argv[i], '=') + 1 : "");
	return v;
}

static bool only_set(const char *option, void *arg)
{
	(void)arg;
	return !strcmp(option, "--set");
}

/* As the console takes what it has no option for. */
static int64_t by_console(const struct param *p, const char *text)
{
	struct config *c = config_with(p->option, text);
	char *words[] = { (char[]){ "test" }, NULL }, **argv = words;
	struct app_opts o;
	int argc = 1;

	if (!c)
		return -1;
	config_argv(c, only_set, NULL, &argc, &argv);
	config_free(c);
	app_opts_init(&o);
	assert_int_equal(cmdline_parse(&app_argp, argc, argv, &o), 0);
	return (int64_t)param_value(&o.params, p);
}

static void press(struct preview_form *m, struct context *ctx, enum req req, uint32_t ch)
{
	static const struct state s;
	const struct input in = { .req = req, .ch = ch };
	struct request out = { 0 };

	preview_form_input(m, ctx, &in, &s, 0, &out);
}

static uint32_t row_of(const struct param *p)
{
	const struct param *all;
	uint32_t row = 0;
	size_t n;

	all = param_all(&n);
	for (; all->id != p->id; all++)
		row += all->label != NULL;
	return row;
}

static int64_t by_form(const struct param *p, const char *text)
{
	static struct context ctx;
	struct preview_form m = { .open = true };

	memset(&ctx.options, 0, sizeof(ctx.options));
	m.list.cursor = row_of(p);
	press(&m, &ctx, REQ_ENTER, 0);
	press(&m, &ctx, REQ_ERASE_ALL, 0);
	for (; *text; text++)
		press(&m, &ctx, REQ_CHAR, (uint32_t)*text);
	press(&m, &ctx, REQ_ENTER, 0);
	return m.typing ? -1 : (int64_t)param_value(&ctx.options.params, p);
}

static bool is_number(const struct param *p)
{
	return p->type == PARAM_NUMBER || p->type == PARAM_PERCENT;
}

static void all_agree(const struct param *p, const char *text, int64_t want)
{
	if (p->option)
		assert_int_equal(by_option(p, text), want);
	if (p->config)
		assert_int_equal(by_config(p, text), want);
	if (p->config)
		assert_int_equal(by_console(p, text), want);
	if (p->policy)
		assert_int_equal(by_policy(p, text), want);
	if (p->label && p->id != PARAM_LMC)
		assert_int_equal(by_form(p, text), want);
}

static void numbers_have_the_same_range_everywhere(void **state)
{
	const struct param *all;
	char text[40];
	size_t n;

	(void)state;
	all = param_all(&n);
	for (const struct param *p = all; p < all + n; p++) {
		if (!is_number(p))
			continue;
		for (int more = 0; more < 2; more++) {
			uint64_t v = more ? p->max : p->min;

			snprintf(text, sizeof(text), "%" PRIu64, v);
			all_agree(p, text, (int64_t)v);
		}
		snprintf(text, sizeof(text), "%" PRIu64, p->max + 1);
		all_agree(p, text, -1);
		all_agree(p, "-1", -1);
		all_agree(p, "1x", -1);
		all_agree(p, "x", -1);
		all_agree(p, " 1x", -1);
		all_agree(p, "99999999999999999999999", -1);
	}
}

/* Where a value stays, 0 takes it back; a command line just leaves the option out. */
static void zero_is_the_default_where_numbers_begin_at_one(void **state)
{
	const struct param *all;
	size_t n;

	(void)state;
	all = param_all(&n);
	for (const struct param *p = all; p < all + n; p++) {
		if (!is_number(p) || !p->min)
			continue;
		assert_int_equal(by_option(p, "0"), -1);
		if (p->policy)
			assert_int_equal(by_policy(p, "0"), 0);
		if (p->config)
			assert_int_equal(by_config(p, "0"), 0);
		if (p->label)
			assert_int_equal(by_form(p, "0"), 0);
	}
}

static void words_and_flags_are_the_same_everywhere(void **state)
{
	const struct param *all;
	size_t n;

	(void)state;
	all = param_all(&n);
	for (const struct param *p = all; p < all + n; p++) {
		for (int i = 0; p->type == PARAM_WORD && p->option && p->words[i]; i++)
			assert_true(by_option(p, p->words[i]) == i &&
				    by_config(p, p->words[i]) == i &&
				    by_console(p, p->words[i]) == i);
		if (p->type == PARAM_WORD && p->option)
			assert_true(by_option(p, "none-such") == -1 &&
				    by_config(p, "none-such") == -1);
		if (p->type != PARAM_FLAG)
			continue;
		assert_int_equal(by_option(p, ""), 1);
		for (int yes = 0; p->config && yes < 2; yes++) {
			assert_int_equal(by_config(p, yes ? "yes" : "no"), yes);
			assert_int_equal(by_console(p, yes ? "yes" : "no"), yes);
		}
		if (p->config)
			assert_int_equal(by_config(p, "perhaps"), -1);
		if (p->policy) {
			assert_int_equal(by_policy(p, "yes"), 1);
			assert_int_equal(by_policy(p, "no"), 0);
			assert_int_equal(by_policy(p, "1"), -1);
		}
	}
}

/* Names are looked up where the fabric is; quotes and brackets are judged at once. */
static void lists_are_judged_before_there_is_a_fabric(void **state)
{
	static const struct {
		enum param_id id;
		const char *text;
		bool good;
	} lists[] = {
		{ PARAM_PIN, "n[0001-0016],job:81234 n7", true },
		{ PARAM_PIN, "n[0001-", false },
		{ PARAM_PIN, "n[b-a]", false },
		{ PARAM_PIN, "job:mine", false },
		{ PARAM_EXCLUDE, "spine[1-4] \"a b\"/3,0x2c9/1", true },
		{ PARAM_EXCLUDE, "spine[1-4", false },
		{ PARAM_EXCLUDE, "\"a b/3", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const struct param *p = param_of(lists[i].id);
		struct config *c = config_with(p->option, lists[i].text);
		struct err err;

		assert_int_equal(!param_check(p, lists[i].text, &err), lists[i].good);
		assert_int_equal(c != NULL, lists[i].good);
		if (!lists[i].good)
			assert_int_equal(by_option(p, lists[i].text), -1);
		config_free(c);
	}
}

static void every_setting_of_engines_is_in_the_manual(void **state)
{
	const struct param *all;
	const char *name, *option, *value, *help;
	size_t n, found = 0, want = 0;

	(void)state;
	all = param_all(&n);
	for (const struct param *p = all; p < all + n; p++)
		want += p->config;
	for (size_t i = 0; (name = config_setting(i, &option, &value, &help)); i++) {
		const struct param *p = param_named(name, strlen(name));

		assert_true(value && (option || help));
		found += p && p->config && help == p->help;
	}
	assert_int_equal(found, want);
}

static void every_row_says_what_it_is(void **state)
{
	const struct param *all;
	size_t n;

	(void)state;
	all = param_all(&n);
	assert_int_equal(n, PARAM_IDS);
	for (size_t i = 0; i < n; i++) {
		const struct param *p = &all[i];

		assert_ptr_equal(param_of(p->id), p);
		assert_true(p->help && strlen(p->help) < 150);
		assert_true(p->option || p->label);
		assert_true(p->option || (!p->policy && !p->config));
		assert_true(!p->label || strlen(p->label) < 12);
		assert_true(p->type != PARAM_WORD || p->words);
		assert_true(!is_number(p) || p->max > p->min);
		if (p->label && p->id != PARAM_LMC && p->type != PARAM_FLAG &&
		    p->type != PARAM_WORD)
			assert_non_null(p->unset);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_same_range_everywhere),
		cmocka_unit_test(zero_is_the_default_where_numbers_begin_at_one),
		cmocka_unit_test(words_and_flags_are_the_same_everywhere),
		cmocka_unit_test(lists_are_judged_before_there_is_a_fabric),
		cmocka_unit_test(every_setting_of_engines_is_in_the_manual),
		cmocka_unit_test(every_row_says_what_it_is),
	};
	int rc, fd = mkstemp(config_path);

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(config_path);
	return rc;
}
