/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every parameter of engines/param.h is taken and refused alike by the command line, the policy of
 * the plugin and the form of previews. */
#include "console/input/options.h"
#include "engines/opensm/policy.h"
#include "views/preview/preview_form.h"

#include "tests/unit/kit/text_files.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static void press(struct preview_form *m, struct context *ctx, enum req req, uint32_t ch)
{
	static const struct state s;
	const struct input in = { .req = req, .ch = ch };

	preview_form_input(m, ctx, &in, &s);
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
			assert_int_equal(by_option(p, p->words[i]), i);
		if (p->type == PARAM_WORD && p->option)
			assert_int_equal(by_option(p, "none-such"), -1);
		if (p->type != PARAM_FLAG)
			continue;
		assert_int_equal(by_option(p, ""), 1);
		if (p->policy) {
			assert_int_equal(by_policy(p, "yes"), 1);
			assert_int_equal(by_policy(p, "no"), 0);
			assert_int_equal(by_policy(p, "1"), -1);
		}
	}
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
		assert_true(!p->policy || p->option);
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
		cmocka_unit_test(every_row_says_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
