/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What 80x24 shows of the names of real machines is taken wherever a name is typed. */
#include "console/input/load/load_fabric.h"
#include "engines/weak/weak.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "fabric/model/topology/end_find.h"
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/text_files.h"
#include "views/data/lists/weak_list.h"
#include "views/table/row_filter.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 32, 24, 12, 8, 4, 0 };

/* What has been seen: words of all screens. */
struct seen {
	const struct fabric *f;
	uint32_t switches, hosts, ports, cut;
};

/* A row of a filter over switches or ports has it. */
static void assert_filters(const struct console_kit *k, const char *word, const char *where)
{
	struct rows sw = { ROWS_SWITCHES, &k->s, NULL }, links = { ROWS_LINKS, &k->s, NULL };
	struct row_filter *f;
	unsigned column;
	struct err err;
	bool found = false;

	if (row_filter_new(&f, ROWS_SWITCHES, word, &column, &err))
		fail_msg("%s: filter %s: %s", where, word, err.text);
	for (uint32_t i = 0; i < k->fabric->nsw && !found; i++)
		found = row_filter_match(f, &sw, i);
	row_filter_free(f);
	if (row_filter_new(&f, ROWS_LINKS, word, &column, &err))
		fail_msg("%s: filter %s: %s", where, word, err.text);
	for (uint32_t i = 0; i < k->fabric->nchan && !found; i++)
		found = row_filter_match(f, &links, i);
	row_filter_free(f);
	if (!found)
		fail_msg("%s: no row has %s", where, word);
}

static void assert_taken_as_switch(const struct console_kit *k, const char *word, const char *where)
{
	struct route_limits *l = NULL;
	struct err err;

	if (route_limits_exclude(&l, k->fabric, word, &err))
		fail_msg("%s: %s", where, err.text);
	route_limits_free(l);
	assert_filters(k, word, where);
}

static void assert_taken_as_host(const struct console_kit *k, const char *word, const char *where)
{
	struct route_limits *l = NULL;
	struct err err;

	if (route_limits_pin(&l, k->fabric, NULL, word, &err))
		fail_msg("%s: %s", where, err.text);
	assert_true(l->pin_text[0]);
	route_limits_free(l);
}

/* "leaf17/33" */
static bool is_port(const struct fabric *f, const char *word)
{
	const char *slash = strrchr(word, '/');
	char own[256];
	uint32_t end;
	uint16_t lid;

	if (!slash || !isdigit((unsigned char)slash[1]) || strlen(slash) > 3 ||
	    (!isalpha((unsigned char)word[0]) && !strchr(word, '-')))
		return false; /* "layout 1/3" */
	snprintf(own, sizeof(own), "%.*s", (int)(slash - word), word);
	return !end_find(&end, &lid, f, own, NULL) && end >= f->nend &&
	       (uint32_t)atoi(slash + 1) <= f->sw_nports[end - f->nend];
}

static bool is_name_of_hosts(const struct fabric *f, const char *word)
{
	uint32_t t;

	return fabric_terms_by_name(f, word, &t, 1) > 0;
}

/* A word of the screen: what has the look of a name is one.  Nodes of jobs are called what SLURM
 * calls them. */
static void look_at(struct seen *n, const struct console_kit *k, const char *word,
		    const char *where)
{
	const struct fabric *f = k->fabric;
	const char *gap = strstr(word, "..");
	bool cut = gap && gap != word && gap[2] && gap[2] != '.';
	struct err err;
	uint32_t end;
	uint16_t lid;

	if (!isalnum((unsigned char)word[0]))
		return;
	if (!end_find(&end, &lid, f, word, &err)) {
		if (!isalpha((unsigned char)word[0]) && !strpbrk(word, "-."))
			return; /* a LID */
		n->cut += cut;
		n->switches += end >= f->nend;
		n->hosts += end < f->nend;
		if (end >= f->nend)
			assert_taken_as_switch(k, word, where);
		else
			assert_taken_as_host(k, word, where);
	} else if (is_port(f, word)) {
		struct route_limits *l = NULL;

		n->cut += cut;
		n->ports++;
		/* only cables between switches can be */
		if (route_limits_exclude(&l, f, word, &err) && !strstr(err.text, "no other link") &&
		    !strstr(err.text, "no cable at"))
			fail_msg("%s: %s", where, err.text);
		route_limits_free(l);
	} else if (cut || (is_name_of_hosts(f, word) && !strstr(where, "job"))) {
		fail_msg("%s: %s", where, err.text);
	}
}

static void look_at_screen(struct seen *n, struct console_kit *k, const char *where)
{
	char *text = console_screen(k), *word, *rest;

	for (word = strtok_r(text, " \n()[]>,;:=", &rest); word;
	     word = strtok_r(NULL, " \n()[]>,;:=", &rest))
		look_at(n, k, word, where);
	free(text);
}

static void command(struct console_kit *k, const char *line)
{
	console_keys(k, ":");
	console_keys(k, line);
	console_key(k, K_ENTER);
}

/* Of each page of a table, and of the details of its first row. */
static void look_through(struct seen *n, struct console_kit *k, const char *keys, const char *where)
{
	char *before = NULL, *now = NULL;

	for (const char *p = keys; *p; p++)
		console_key(k, *p == '\n' ? K_ENTER : (uint32_t)*p);
	for (int page = 0; page < 60; page++) {
		look_at_screen(n, k, where);
		console_key(k, K_PGDN);
		free(before);
		before = now;
		now = console_screen(k);
		if (before && !strcmp(before, now))
			break;
	}
	free(before);
	free(now);
}

static struct weak_list *weak_of(const struct console_kit *k)
{
	struct tables *t = must_route(engine_find("updn", NULL), k->fabric, NULL, NULL);
	struct engine_params params = { .threads = 1, .current = t };
	struct weak_opts opts = { .cables = true, .switches = true };
	struct weak_list *list = xcalloc(1, sizeof(*list));
	struct err err;

	list->fabric = fabric_get(k->fabric);
	list->tables = t;
	list->serial = 1;
	if (weak_find(&list->report, k->fabric, &params, &opts, NULL, &err))
		fail_msg("%s", err.text);
	return list;
}

static void look_at_views(struct seen *n, struct console_kit *k)
{
	char line[400], a[END_NAME_LEN], b[END_NAME_LEN];

	look_through(n, k, "1", "the Overview");
	look_through(n, k, "\t", "its problems");
	look_through(n, k, "2", "the heatmap");
	look_through(n, k, "\n", "its cables");
	look_through(n, k, "3", "links");
	look_through(n, k, "g\n", "a link");
	look_through(n, k, "4", "switches");
	look_through(n, k, "g\n", "ports");
	look_through(n, k, "\t", "an LFT");
	look_through(n, k, "\t", "SL2VL tables");
	look_through(n, k, "\t", "VLs");
	look_through(n, k, "5", "jobs");
	look_through(n, k, "g\n", "a job");
	look_through(n, k, "6", "the preview");
	look_through(n, k, "\t", "its links");
	look_through(n, k, "\t", "its figures");
	look_through(n, k, "\t", "its switches");
	look_through(n, k, "J", "the plan's jobs");
	command(k, "difference");
	look_through(n, k, "", "what the plan changes");
	look_through(n, k, "t", "the picture");
	look_through(n, k, "z", "the picture, closer");
	look_through(n, k, "v", "its cables");
	look_through(n, k, "W", "what would cost most");
	snprintf(line, sizeof(line), "path %s %s", end_name(a, sizeof(a), k->fabric, 0),
		 end_name(b, sizeof(b), k->fabric, k->fabric->nterm - 1));
	command(k, line);
	look_through(n, k, "", "a path");
	look_through(n, k, "\t", "pairs");
}

/* An aggregation node of a switch, which is routed to and not counted as a host. */
static void pin_what_is_not_counted(struct console_kit *k)
{
	const struct fabric *f = k->fabric;
	char name[END_NAME_LEN], line[2 * END_NAME_LEN];
	uint32_t end = f->nend - 1;

	if (f->nend == f->nterm)
		return;
	snprintf(line, sizeof(line), "goto %s/%u", f->sw_short[f->term_sw[end]], f->term_port[end]);
	command(k, line);
	command(k, "pin");
	snprintf(line, sizeof(line), "leaves the paths to %s as they are",
		 end_name(name, sizeof(name), f, end));
	console_shows(k, line);
	command(k, "pin");
	console_shows(k, "no host is pinned");
}

static void names_shown_of(const char *file)
{
	char *path = shared_file(file);
	struct console_kit k;
	struct seen n = { 0 };
	struct fabric *f = NULL;
	struct err err;

	if (!path)
		skip();
	if (load_fabric(&f, path, "hpc1", NULL, &err))
		fail_msg("%s", err.text);
	free(path);
	console_open(&k, 80, 24);
	console_fabric_is(&k, f, jobs);
	console_preview(&k, "sar");
	k.s.weak.list = weak_of(&k);
	look_at_views(&n, &k);
	pin_what_is_not_counted(&k);
	print_message("%s: %u switches, %u hosts, %u ports, %u of them cut\n", file, n.switches,
		      n.hosts, n.ports, n.cut);
	assert_true(n.switches > 100 && n.hosts > 100 && n.ports > 100);
	weak_list_free((struct weak_list *)(uintptr_t)k.s.weak.list);
	console_close(&k);
}

static void names_of_40_ndr_switches_are_taken(void **state)
{
	(void)state;
	names_shown_of("topograph-ndr-40sw-2025.ibnetdiscover");
}

static void names_of_11_switches_and_hosts_of_one_name_are_taken(void **state)
{
	(void)state;
	names_shown_of("psmn-x5-2020.ibnetdiscover");
}

static void names_of_two_rails_are_taken(void **state)
{
	(void)state;
	names_shown_of("kalcher-qdr-2014.ibnetdiscover");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_40_ndr_switches_are_taken),
		cmocka_unit_test(names_of_11_switches_and_hosts_of_one_name_are_taken),
		cmocka_unit_test(names_of_two_rails_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
