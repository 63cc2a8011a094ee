/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ends of the plugin's socket. */
#include "tests/unit/kit/fake_osm.h"

#include "engines/opensm/table_selection.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/installer/osm_agents.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/version.h"
#include "fabric/wire/notice_port.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SPEC "torus:dims=4x4,hosts=1"

static int up(void **state)
{
	struct fabric *f = net_spec(SPEC);

	*state = fake_osm_new(f, "engine nue:2\nthreads 1\n", NULL, NULL);
	fabric_put(f);
	return 0;
}

static int down(void **state)
{
	fake_osm_free(*state);
	return 0;
}

static void hear(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static struct tables *routed(const struct fabric *f, const char *spec, uint64_t seed)
{
	struct engine_params params = { .seed = seed, .threads = 1 };
	struct engine_spec e;
	struct tables *t;

	assert_int_equal(engine_spec_parse(&e, spec, NULL), 0);
	engine_spec_apply(&e, &params);
	assert_int_equal(engine_run(e.engine, &t, f, NULL, NULL, &params, NULL, NULL), 0);
	return t;
}

static int connected(const struct fake_osm *k)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", k->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static bool hung_up(int fd)
{
	struct timeval wait = { .tv_sec = 3 };
	char byte[256];
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	while ((n = recv(fd, byte, sizeof(byte), 0)) > 0)
		;
	return !n || errno == ECONNRESET;
}

static void the_socket_is_for_its_owner_and_tells_what_routes(void **state)
{
	struct fake_osm *k = *state;
	char *run = xasprintf("%s/run", k->dir);
	struct osm_status s = fake_osm_status(k);
	struct stat st;

	assert_int_equal(stat(k->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(run, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_string_equal(s.plugin, IBROUTE_VERSION);
	assert_string_equal(s.state, "master");
	assert_true(s.sm_guid == 0x1234567890abcdef);
	assert_true(s.ours);
	assert_string_equal(s.source, OSM_SOURCE_ENGINE);
	assert_string_equal(s.engine, "nue");
	assert_string_equal(s.policy_engine, "nue:2");
	assert_int_equal(s.switches, 16);
	assert_int_equal(strlen(s.tables), 64);
	assert_int_equal(s.routings, 1);
	assert_int_equal(s.clients, 1);
	free(run);
}

static void given_tables_route_and_are_kept_across_a_restart(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	struct table_selection_log log = { hear, k };
	struct osm_answer a, r;
	struct osm_status s;
	struct sm_session *second;
	struct table_selection c;
	struct err err = { "" };

	fake_osm_begin(k, "kept");
	assert_int_equal(osm_link_load(k->l, t, false, &a, &err), 0);
	s = fake_osm_status(k);
	assert_string_equal(s.source, OSM_SOURCE_ENGINE); /* not yet */
	assert_string_equal(s.base, s.tables);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, &err), 0);
	assert_true(r.ours);
	assert_string_equal(r.tables, a.tables);
	assert_string_equal(r.source, OSM_SOURCE_CONSOLE);
	assert_int_equal(osm_link_keep(k->l, &err), 0);
	s = fake_osm_status(k);
	assert_string_equal(s.source, OSM_SOURCE_CONFIRMED);
	assert_true(s.confirmed_there);
	assert_string_equal(s.base, "");

	second = sm_session_new(k->policy, k->confirmed);
	assert_int_equal(sm_session_choose(second, &c, k->f, &log, &err), 0);
	assert_int_equal(c.source, CHOICE_CONFIRMED);
	assert_true(tables_same(c.tables, t, k->f));
	tables_put(c.tables);
	sm_session_free(second);
	tables_put(t);
}

static void tables_that_are_confirmed_while_opensm_routes_by_them_are_called_so(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	struct table_selection_log log = { hear, k };
	struct table_selection c;
	struct osm_answer r;

	fake_osm_begin(k, "kept");
	assert_int_equal(osm_link_load(k->l, t, false, NULL, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_int_equal(sm_session_choose(k->session, &c, k->f, &log, NULL), 0);
	assert_int_equal(osm_link_keep(k->l, NULL), 0);
	sm_session_routed(k->session, k->f, &c);
	assert_string_equal(fake_osm_status(k).source, OSM_SOURCE_CONFIRMED);
	tables_put(c.tables);
	tables_put(t);
}

static void without_the_cable_the_engine_routes_and_with_it_the_kept_tables(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	const struct fabric *whole = k->f;
	struct osm_answer r;
	struct osm_status s;

	fake_osm_policy(k, "engine nue:2\nthreads 1\non_change reroute\n");
	fake_osm_begin(k, "kept");
	assert_int_equal(osm_link_load(k->l, t, false, NULL, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_int_equal(osm_link_keep(k->l, NULL), 0);
	k->f = net_spec(SPEC ",fail=1");
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_string_equal(r.source, OSM_SOURCE_ENGINE);
	s = fake_osm_status(k);
	assert_non_null(strstr(s.why, "not the confirmed tables, but nue:2: "));
	assert_non_null(strstr(s.why, "for another fabric"));
	assert_string_not_equal(s.away, "");
	fabric_put(k->f);
	k->f = whole;
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_string_equal(r.source, OSM_SOURCE_CONFIRMED);
	assert_string_equal(fake_osm_status(k).why, "");
	tables_put(t);
}

static void without_the_cable_the_kept_tables_are_repaired(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:2", 5);
	const struct fabric *whole = k->f;
	struct osm_answer r;
	struct osm_status s;

	fake_osm_begin(k, "kept");
	assert_int_equal(osm_link_load(k->l, t, false, NULL, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_int_equal(osm_link_keep(k->l, NULL), 0);
	k->f = net_spec(SPEC ",fail=1");
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_string_equal(r.source, OSM_SOURCE_REPAIRED);
	s = fake_osm_status(k);
	assert_string_equal(s.engine, "repair");
	assert_string_equal(s.params, "from dfsssp");
	assert_non_null(strstr(s.why, "not the confirmed tables, but what is left of them: "));
	fabric_put(k->f);
	k->f = whole;
	assert_int_equal(osm_link_reroute(k->l, false, 0, &r, NULL), 0);
	assert_string_equal(r.source, OSM_SOURCE_CONFIRMED);
	tables_put(t);
}

/* The first switch sends what is for the last host to a neighbour that sends it back. */
static void send_around(struct tables *t, const struct fabric *f)
{
	uint32_t c = f->chan_off[0], peer = f->chan_dst[c], lid = f->term_lid[f->nterm - 1];

	assert_int_not_equal(f->term_sw[f->nterm - 1], 0);
	assert_int_not_equal(f->term_sw[f->nterm - 1], peer);
	tables_row(t, 0)[lid] = f->chan_port[c];
	tables_row(t, peer)[lid] = f->chan_rport[c];
}

static void *lose(void *arg)
{
	struct fake_osm *k = arg;
	struct timespec t = { .tv_nsec = 1000000 };
	bool asked = false;

	while (!asked) {
		nanosleep(&t, NULL);
		pthread_mutex_lock(&k->lock);
		asked = k->asked;
		pthread_mutex_unlock(&k->lock);
	}
	k->standby = true;
	socket_server_kick(k->server);
	return NULL;
}

static void reroute_of_who_is_no_master_any_more_is_not_waited_for(void **state)
{
	struct fake_osm *k = *state;
	struct socket_server_limits patient = { .reroute_ms = 60000 };
	struct osm_answer a;
	struct err err = { "" };
	pthread_t other;

	socket_server_stop(k->server);
	assert_int_equal(socket_server_start(&k->server, k->path, k->session, &fake_osm_ops, k,
					     &patient, NULL),
			 0);
	assert_int_equal(osm_link_reopen(k->l, &err), 0);
	pthread_mutex_lock(&k->lock);
	k->hangs = true;
	pthread_mutex_unlock(&k->lock);
	pthread_create(&other, NULL, lose, k);
	assert_int_equal(osm_link_reroute(k->l, false, 30000, &a, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "no longer the master"));
	pthread_join(other, NULL);
}

static void step_that_ends_a_way_is_refused(void **state)
{
	struct fake_osm *k = *state;
	struct tables *half = routed(k->f, "dfsssp:4", 5);
	char before[DIGEST_HEX];
	struct err err = { "" };

	strcpy(before, fake_osm_status(k).tables);
	tables_row(half, 0)[k->f->term_lid[0]] = FAB_NO_PORT;
	assert_int_equal(osm_link_load(k->l, half, true, NULL, &err), -EPROTO);
	assert_non_null(strstr(err.text, "must not remove a path"));
	assert_string_equal(fake_osm_status(k).tables, before);
	assert_int_equal(fake_osm_status(k).loads, 0);
	tables_put(half);
}

static void step_that_moves_escape_lids_is_refused(void **state)
{
	struct fabric *f = net_spec("random:switches=6,links=9,hosts=2,lmc=1,seed=4");
	struct tables *was = routed(f, "updn", 1), *is = routed(f, "updn", 1);
	uint32_t lid = f->term_lid[0] + 1u, sw = !f->term_sw[0];
	struct err err = { "" };

	(void)state;
	was->escape = is->escape = true;
	assert_true(fabric_lid_escape(f, lid));
	assert_int_equal(table_selection_judge_step(f, was, is, &err), 0);
	tables_row(is, sw)[lid - 1]++;
	assert_int_equal(table_selection_judge_step(f, was, is, &err), 0);
	tables_row(is, sw)[lid]++;
	assert_int_equal(table_selection_judge_step(f, was, is, &err), -EPROTO);
	assert_non_null(strstr(err.text, "paths of escape LIDs"));
	is->escape = false; /* the update itself changes them */
	assert_int_equal(table_selection_judge_step(f, was, is, &err), 0);
	tables_put(was);
	tables_put(is);
	fabric_put(f);
}

/* What AHEAD answers, for LOAD. */
static struct digest sent_ahead(struct fake_osm *k, const struct tables *t, bool step)
{
	struct osm_answer a;
	struct digest hash, theirs;

	assert_int_equal(osm_link_ahead(k->l, t, step, &a, NULL), 0);
	tables_hash(&hash, t, k->f);
	assert_int_equal(digest_parse(&theirs, a.tables), 0);
	assert_true(digest_equal(&hash, &theirs));
	return hash;
}

static void tables_sent_ahead_are_loaded_by_their_hash(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5), *half = routed(k->f, "dfsssp:4", 5);
	struct digest step, end;
	char before[DIGEST_HEX], hex[DIGEST_HEX];
	struct osm_answer a;
	struct err err = { "" };

	strcpy(before, fake_osm_status(k).tables);
	assert_true(fake_osm_status(k).ahead);
	assert_int_equal(osm_link_ahead(k->l, t, false, &a, &err), -EPERM); /* of no update */
	fake_osm_begin(k, "ahead");
	send_around(half, k->f);
	assert_int_equal(osm_link_ahead(k->l, half, false, &a, &err), -EPROTO);
	step = sent_ahead(k, half, true);
	end = sent_ahead(k, t, false);
	assert_int_equal(fake_osm_status(k).loads, 0); /* nothing of it routes yet */
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, before);

	/* what was judged as a step is no end, and the other way round */
	assert_int_equal(osm_link_load_known(k->l, &step, false, &a, &err), -ENOENT);
	assert_int_equal(osm_link_load_known(k->l, &end, true, &a, &err), -ENOENT);
	assert_int_equal(osm_link_load_known(k->l, &step, true, &a, &err), 0);
	assert_non_null(strstr(a.text, "packets to 1 LIDs loop"));
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, digest_hex(hex, &step));
	assert_true(fake_osm_status(k).step);
	assert_int_equal(osm_link_load_known(k->l, &end, false, &a, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, digest_hex(hex, &end));
	assert_int_equal(fake_osm_status(k).loads, 2);

	/* the way back leads through what it knows, to what was before */
	assert_int_equal(osm_link_back(k->l, &a, NULL), 0);
	assert_string_equal(fake_osm_status(k).tables, before);

	/* another update has to send its own */
	fake_osm_begin(k, "the next one");
	assert_int_equal(osm_link_load_known(k->l, &end, false, &a, &err), -ENOENT);
	tables_put(t);
	tables_put(half);
}

static void what_was_sent_ahead_is_judged_again_once_the_policy_excludes_more(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	char *policy = xasprintf("engine updn\nexclude %s\n", k->f->sw_name[0]);
	struct osm_answer a;
	struct digest end;
	struct err err = { "" };

	fake_osm_begin(k, "excluded");
	end = sent_ahead(k, t, false);
	fake_osm_policy(k, policy);
	assert_int_equal(osm_link_load_known(k->l, &end, false, &a, &err), -ENOENT);
	assert_int_equal(osm_link_load(k->l, t, false, &a, &err), -EPROTO);
	assert_int_equal(fake_osm_status(k).loads, 0);
	free(policy);
	tables_put(t);
}

static void steps_are_taken_and_the_way_back_leads_to_the_tables_before(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5), *half = routed(k->f, "dfsssp:4", 5), *base;
	char before[DIGEST_HEX];
	struct osm_answer a;
	struct osm_status s;

	strcpy(before, fake_osm_status(k).tables);
	fake_osm_begin(k, "steps");
	send_around(half, k->f);
	assert_int_equal(osm_link_load(k->l, half, false, NULL, NULL), -EPROTO);
	assert_int_equal(osm_link_load(k->l, half, true, &a, NULL), 0);
	assert_non_null(strstr(a.text, "packets to 1 LIDs loop"));
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	s = fake_osm_status(k);
	assert_true(s.step);
	assert_string_equal(s.base, before);
	assert_int_equal(osm_link_keep(k->l, NULL), -EINVAL);
	assert_int_equal(osm_link_tables(k->l, true, &base, k->f, NULL), 0);
	assert_string_equal(base->engine, "nue");
	tables_put(base);
	assert_int_equal(osm_link_load(k->l, t, true, &a, NULL), 0);
	assert_string_equal(a.text, ""); /* a step without */
	assert_int_equal(osm_link_load(k->l, t, false, NULL, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(fake_osm_status(k).base, before);
	/* another policy meanwhile changes nothing about the way back */
	fake_osm_policy(k, "engine dfsssp:3\nthreads 1\n");
	assert_int_equal(osm_link_return(k->l, &a, NULL), 0);
	assert_true(a.change);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, before);
	assert_string_equal(a.source, OSM_SOURCE_ENGINE);
	assert_int_equal(osm_link_return(k->l, &a, NULL), 0);
	assert_false(a.change);
	assert_int_equal(osm_link_tables(k->l, true, &base, k->f, NULL), -ENOENT);
	tables_put(half);
	tables_put(t);
}

/* An update may not end in tables that pass it, but may lead there; and the way back is kept. */
static void what_the_policy_excludes_no_update_ends_in(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	char *policy = xasprintf("engine nue:2\nthreads 1\nexclude %s\n", k->f->sw_name[5]);
	char before[DIGEST_HEX];
	struct err err = { "" };
	struct osm_answer a;

	strcpy(before, fake_osm_status(k).tables);
	assert_string_equal(fake_osm_status(k).exclude, "");
	fake_osm_policy(k, policy);
	assert_int_equal(osm_link_load(k->l, t, false, NULL, &err), -EPROTO);
	assert_non_null(strstr(err.text, "Plan with --exclude, or remove it from "));
	assert_int_equal(fake_osm_status(k).loads, 0);
	/* an update asks that before it begins; the status says that there is something to ask */
	assert_string_equal(fake_osm_status(k).exclude, k->f->sw_name[5]);
	err.text[0] = '\0';
	assert_int_equal(osm_link_judge(k->l, t, &err), -EPROTO);
	assert_non_null(strstr(err.text, "Plan with --exclude, or remove it from "));
	assert_non_null(strstr(err.text, k->f->sw_name[5]));
	assert_int_equal(fake_osm_status(k).loads, 0);
	assert_string_equal(fake_osm_status(k).base, "");
	fake_osm_begin(k, "through");
	assert_int_equal(osm_link_load(k->l, t, true, NULL, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.source, OSM_SOURCE_CONSOLE);
	assert_int_equal(osm_link_return(k->l, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, before);

	/* what was returned to is then routed around, too */
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_not_equal(a.tables, before);
	assert_non_null(strstr(fake_osm_status(k).why, k->f->sw_name[5]));
	tables_put(t);
	assert_int_equal(osm_link_tables(k->l, false, &t, k->f, NULL), 0);
	assert_int_equal(osm_link_judge(k->l, t, &err), 0);
	free(policy);
	tables_put(t);
}

static struct osm_link *second_link(const struct fake_osm *k)
{
	struct osm_link *l;

	assert_int_equal(osm_link_open(&l, k->path, 0, NULL), 0);
	return l;
}

static void there_is_one_update_at_a_time_whoever_comes_from_where(void **state)
{
	struct fake_osm *k = *state;
	struct osm_link *other = second_link(k);
	struct osm_update u = { .id = "second", .owner = "bob@admin2" };
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	struct osm_answer a;
	struct err err = { "" };

	fake_osm_begin(k, "first");
	assert_string_equal(fake_osm_status(k).update, "first");
	assert_int_equal(osm_link_begin(other, &u, false, &err), -EBUSY);
	assert_non_null(strstr(err.text, "update first of a test is in progress"));
	assert_int_equal(osm_link_load(other, t, true, NULL, &err), -EBUSY);
	assert_int_equal(osm_link_load(k->l, t, true, NULL, &err), 0);
	/* the same update from another process: the first was killed */
	strcpy(u.id, "first");
	assert_int_equal(osm_link_begin(other, &u, true, &err), 0);
	assert_int_equal(osm_link_return(other, &a, &err), 0);
	strcpy(u.id, "second");
	assert_int_equal(osm_link_begin(other, &u, false, &err), 0);
	assert_int_equal(osm_link_load(k->l, t, true, NULL, &err), -EBUSY);
	osm_link_close(other);
	tables_put(t);
}

static void an_update_begins_once_opensm_writes_only_what_differs(void **state)
{
	struct fake_osm *k = *state;

	atomic_store(&k->unsettled, 3);
	fake_osm_begin(k, "settles");
	assert_int_equal(atomic_load(&k->unsettled), 0);
	assert_int_equal(atomic_load(&k->sweeps), 1); /* asked for once */
}

static void wait_until_it_is_over(struct fake_osm *k)
{
	struct osm_link *l = second_link(k); /* the first one would speak for it */
	struct osm_status s;
	int tries = 0;

	do {
		assert_true(tries++ < 1000);
		clock_rest_us(10000);
		assert_int_equal(osm_link_status(l, &s, NULL), 0);
	} while (s.update[0]);
	osm_link_close(l);
}

/* Three steps, of each of which the whole is written. */
static void an_update_that_nobody_speaks_for_is_led_back_through_its_steps(void **state)
{
	struct fake_osm *k = *state;
	struct osm_update u = {
		.id = "stopped", .owner = "a test", .lease_ms = 300, .txn = 7, .seq = 0x70003
	};
	struct tables *t[3] = { routed(k->f, "dfsssp:4", 5), routed(k->f, "dfsssp:4", 6),
				routed(k->f, "updn", 1) };
	char before[DIGEST_HEX];
	struct osm_answer a;
	struct osm_status s;
	struct err err = { "" };
	uint64_t routings;

	strcpy(before, fake_osm_status(k).tables);
	assert_int_equal(osm_link_begin(k->l, &u, false, &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(osm_link_load(k->l, t[i], true, &a, &err), 0);
		assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	}
	routings = fake_osm_status(k).routings;
	wait_until_it_is_over(k);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	s = fake_osm_status(k);
	assert_string_equal(s.tables, before);
	assert_true(s.routings >= routings + 3);
	assert_non_null(strstr(s.ended, "does not respond"));
	assert_int_equal(atomic_load(&k->notices), 2); /* UNPATH before, REPATH after it */
	/* whoever wakes up is told */
	assert_int_equal(osm_link_load(k->l, t[0], true, &a, &err), -ESTALE);
	assert_non_null(strstr(err.text, "does not respond"));
	for (int i = 0; i < 3; i++)
		tables_put(t[i]);
}

/* Its client died before it spoke for the update again. */
static void what_agents_were_asked_is_known_at_once(void **state)
{
	struct fake_osm *k = *state;
	struct osm_update u = { .id = "asked", .owner = "a test", .lease_ms = 300 };
	struct phase_notice ask = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_UNPATH, .seq = 3, .txn = 9
	};
	struct notice_sender nobody = { 0 };
	struct notice n;
	bool answer;

	assert_int_equal(osm_link_begin(k->l, &u, false, NULL), 0);
	phase_codec_encode(&n, &ask, false, &nobody);
	assert_int_equal(osm_link_notice(k->l, &n, NULL), 0);
	wait_until_it_is_over(k);
	for (int i = 0; i < 500 && atomic_load(&k->notices) < 3; i++)
		clock_rest_us(10000);
	assert_int_equal(atomic_load(&k->notices), 3); /* UNPATH before, REPATH after it */
	assert_int_equal(notice_decode(&n, k->notice, sizeof(k->notice)), 0);
	assert_int_equal(phase_codec_decode(&ask, &answer, &n), 0);
	assert_int_equal(ask.phase, PHASE_REPATH);
	assert_int_equal(ask.txn, 9);
	assert_int_equal(ask.seq, 5);
}

static void what_was_not_confirmed_in_time_goes_though_its_client_talks(void **state)
{
	struct fake_osm *k = *state;
	struct osm_update u = { .id = "late", .owner = "a test" }, now = { .confirm_ms = 1 };
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	char before[DIGEST_HEX];
	struct osm_answer a;

	strcpy(before, fake_osm_status(k).tables);
	assert_int_equal(osm_link_begin(k->l, &u, false, NULL), 0);
	assert_int_equal(osm_link_load(k->l, t, false, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_int_equal(osm_link_alive(k->l, &now, 0, NULL), 0);
	wait_until_it_is_over(k);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, before);
	assert_non_null(strstr(fake_osm_status(k).ended, "nobody confirmed in time"));
	assert_int_equal(osm_link_keep(k->l, NULL), -ESTALE);
	tables_put(t);
}

/* An update that stayed open would refuse all others until OpenSM is restarted. */
static void what_cannot_be_led_back_now_is_over_all_the_same(void **state)
{
	struct fake_osm *k = *state;
	struct osm_update u = { .id = "stuck", .owner = "a test", .lease_ms = 300 };
	struct tables *t = routed(k->f, "dfsssp:4", 5), *t2 = routed(k->f, "updn", 1);
	char before[DIGEST_HEX];
	struct osm_answer a;

	strcpy(before, fake_osm_status(k).tables);
	assert_int_equal(osm_link_begin(k->l, &u, false, NULL), 0);
	assert_int_equal(osm_link_load(k->l, t, true, &a, NULL), 0);
	assert_int_equal(osm_link_load(k->l, t2, true, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	k->standby = true; /* it does not route when it is asked to */
	wait_until_it_is_over(k);
	k->standby = false;
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.tables, before);
	fake_osm_begin(k, "next");
	tables_put(t);
	tables_put(t2);
}

/* A cable is lost before anybody has confirmed, and comes back. */
static void unconfirmed_tables_do_not_come_back_with_the_cable(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	const struct fabric *whole = k->f;
	char before[DIGEST_HEX];
	struct osm_answer a;
	struct err err = { "" };

	strcpy(before, fake_osm_status(k).tables);
	fake_osm_begin(k, "cut");
	assert_int_equal(osm_link_load(k->l, t, true, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	k->f = net_spec(SPEC ",fail=1");
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.source, OSM_SOURCE_REPAIRED);
	assert_string_equal(fake_osm_status(k).params, "from nue");
	assert_non_null(strstr(fake_osm_status(k).ended, "fabric has changed"));
	fabric_put(k->f);
	k->f = whole;
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_string_equal(a.source, OSM_SOURCE_ENGINE);
	assert_string_equal(a.tables, before);
	assert_int_equal(osm_link_load(k->l, t, true, &a, &err), -ESTALE);
	tables_put(t);
}

static void tables_that_cannot_be_saved_are_not_confirmed(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	struct osm_answer a;
	struct err err = { "" };

	fake_osm_begin(k, "full");
	assert_int_equal(osm_link_load(k->l, t, false, &a, NULL), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, NULL), 0);
	assert_int_equal(mkdir(k->confirmed, 0700), 0); /* no file can have its name */
	assert_true(osm_link_keep(k->l, &err) < 0);
	assert_string_equal(fake_osm_status(k).source, OSM_SOURCE_CONSOLE);
	assert_string_equal(fake_osm_status(k).update, "full");
	rmdir(k->confirmed);
	assert_int_equal(osm_link_keep(k->l, &err), 0);
	assert_string_equal(fake_osm_status(k).source, OSM_SOURCE_CONFIRMED);
	tables_put(t);
}

static void hears(struct fake_osm *k, const struct phase_notice *p, bool answer, uint16_t lid)
{
	struct notice_sender from = { .lid = lid };
	uint8_t d[NOTICE_SA_DATA];
	struct notice n;

	phase_codec_encode(&n, p, answer, &from);
	notice_encode(d, sizeof(d), &n);
	socket_server_heard(k->server, d);
}

static void says(struct fake_osm *k, int nr, struct phase_notice *said)
{
	struct notice n;
	bool answer;

	for (int i = 0; i < 500 && atomic_load(&k->notices) < nr; i++)
		clock_rest_us(10000);
	assert_int_equal(atomic_load(&k->notices), nr);
	assert_int_equal(notice_decode(&n, k->notice, sizeof(k->notice)), 0);
	assert_int_equal(phase_codec_decode(said, &answer, &n), 0);
	assert_false(answer);
}

static const struct phase_notice lost = { .version = PHASE_NOTICE_VERSION,
					  .phase = PHASE_UNPATH,
					  .flags = NOTICE_ASK,
					  .seq = 5,
					  .txn = 99 };

/* Nobody else may be there any more who knows of it. */
static void an_agent_that_asks_about_an_update_that_is_over_is_called_back(void **state)
{
	struct fake_osm *k = *state;
	struct osm_update with = { .id = "open", .owner = "a test", .txn = 99, .seq = 5 };
	struct phase_notice said;

	clock_rest_us(400000);
	assert_int_equal(osm_link_begin(k->l, &with, false, NULL), 0);
	hears(k, &lost, true, 3);
	clock_rest_us(100000);
	assert_int_equal(atomic_load(&k->notices), 0); /* its coordinator answers */
	/* another process takes it over, and has not asked yet */
	with.txn = with.seq = 0;
	assert_int_equal(osm_link_begin(k->l, &with, true, NULL), 0);
	clock_rest_us(100000);
	assert_int_equal(atomic_load(&k->notices), 0);
	assert_int_equal(osm_link_return(k->l, &(struct osm_answer){ 0 }, NULL), 0);
	says(k, 1, &said); /* it need not ask again */
	assert_int_equal(said.phase, PHASE_REPATH);
	assert_int_equal(said.txn, 99);
	assert_true(said.seq > 5);
}

static void an_agent_left_behind_is_called_back_by_an_update_without_agents_too(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice said, late = lost;
	struct osm_agent *heard;
	uint32_t n;

	fake_osm_begin(k, "without");
	hears(k, &lost, true, 3);
	says(k, 1, &said);
	assert_int_equal(said.phase, PHASE_REPATH);
	assert_int_equal(said.txn, 99);
	late.seq--; /* what was overtaken changes nothing */
	late.phase = PHASE_REPATH;
	hears(k, &late, true, 3);
	hears(k, &lost, true, 2);
	hears(k, &said, true, 2);
	clock_rest_us(100000);
	assert_int_equal(osm_link_agents(k->l, &heard, &n, NULL), 0);
	assert_int_equal(n, 2);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(heard[i].txn, 99);
		assert_int_equal(heard[i].phase, heard[i].lid == 2 ? PHASE_REPATH : PHASE_UNPATH);
		assert_true(heard[i].age_ms < 20000);
	}
	free(heard);
}

/* Of an OpenSM that has just started: whoever leads an update may come back. */
static void nobody_is_called_back_before_an_update_could_go_on(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice said, more = lost;

	for (uint16_t i = 1; i <= 1000; i++) {
		more.repeat = i % 3;
		hears(k, &more, true, i);
	}
	clock_rest_us(100000);
	assert_int_equal(atomic_load(&k->notices), 0);
	says(k, 1, &said); /* one for all of them */
	assert_true(said.seq > more.seq + 2);
	clock_rest_us(100000);
	assert_int_equal(atomic_load(&k->notices), 1);
}

static void agents_of_a_coordinator_elsewhere_are_left_to_it(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice told = lost, said;

	clock_rest_us(400000);
	told.flags = 0;
	hears(k, &told, false, 9);
	hears(k, &lost, true, 3);
	clock_rest_us(100000);
	assert_int_equal(atomic_load(&k->notices), 0);
	told.phase = PHASE_REPATH;
	told.seq++;
	hears(k, &told, false, 9);
	says(k, 1, &said);
	assert_int_equal(said.txn, 99);
	assert_true(said.seq > 5);
}

static void tables_that_do_not_fit_or_can_deadlock_are_refused_at_once(void **state)
{
	struct fake_osm *k = *state;
	struct fabric *ring = net_ring(6, 1, NULL);
	struct tables *other = kit_clockwise(ring), *t, *wild = kit_bfs(k->f);
	struct err err = { "" };
	struct rng r;

	rng_seed(&r, 1);
	t = kit_random_trees(k->f, &r);

	assert_int_equal(osm_link_load(k->l, other, false, NULL, &err), -ESTALE);
	assert_int_equal(osm_link_load(k->l, t, false, NULL, &err), -EPROTO);
	assert_non_null(strstr(err.text, "did not pass"));
	tables_row(wild, 3)[2] = 77;
	assert_int_equal(osm_link_load(k->l, wild, true, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "do not match the fabric"));
	assert_string_equal(fake_osm_status(k).source, OSM_SOURCE_ENGINE);
	assert_int_equal(fake_osm_status(k).loads, 0);
	assert_int_equal(osm_link_keep(k->l, &err), -EPERM);
	fake_osm_begin(k, "nothing");
	assert_int_equal(osm_link_keep(k->l, &err), -ENOENT);
	tables_put(wild);
	tables_put(t);
	tables_put(other);
	fabric_put(ring);
}

static void reroutes_are_refused_by_a_standby_and_end_when_nobody_finishes(void **state)
{
	struct fake_osm *k = *state;
	struct osm_answer a;
	struct err err = { "" };

	k->standby = true;
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), -ENOTSUP);
	assert_string_equal(fake_osm_status(k).state, "standby");
	k->standby = false;
	pthread_mutex_lock(&k->lock);
	k->hangs = true;
	pthread_mutex_unlock(&k->lock);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), -ETIMEDOUT);
	/* the link lives */
	fake_osm_status(k);
}

static void an_engine_that_refuses_is_an_answer_with_its_reason(void **state)
{
	struct fake_osm *k = *state;
	struct osm_answer a;
	struct err err = { "" };

	fake_osm_policy(k, "engine ftree\n");
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), -EPROTO);
	assert_non_null(strstr(err.text, "not a fat tree"));
	assert_false(fake_osm_status(k).ours);
	assert_non_null(strstr(fake_osm_status(k).why, "not a fat tree"));
}

static void a_policy_is_checked_held_saved_and_forgotten(void **state)
{
	struct fake_osm *k = *state;
	struct tables *t = routed(k->f, "dfsssp:4", 5);
	struct osm_answer a;
	struct osm_status s;
	struct err err = { "" };

	assert_int_equal(osm_link_policy(k->l, "engine nosuch\n", 0, &a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "policy:1: "));
	assert_int_equal(osm_link_policy(k->l, "engine dfsssp:3\n", 0, &a, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	s = fake_osm_status(k);
	assert_true(s.policy_unsaved);
	assert_string_equal(s.engine, "dfsssp");
	assert_int_equal(osm_link_policy(k->l, "", 0, &a, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	assert_string_equal(fake_osm_status(k).engine, "nue");
	assert_int_equal(osm_link_policy(k->l, "engine dfsssp:3\n", OSM_POLICY_SAVE, &a, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	s = fake_osm_status(k);
	assert_false(s.policy_unsaved);
	assert_string_equal(s.engine, "dfsssp");

	fake_osm_begin(k, "kept");
	assert_int_equal(osm_link_load(k->l, t, false, NULL, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	assert_int_equal(osm_link_keep(k->l, &err), 0);
	assert_int_equal(osm_link_policy(k->l, "", OSM_POLICY_FORGET, &a, &err), 0);
	assert_int_equal(osm_link_reroute(k->l, false, 0, &a, &err), 0);
	assert_string_equal(a.source, OSM_SOURCE_ENGINE);
	assert_false(fake_osm_status(k).confirmed_there);
	tables_put(t);
}

static void garbage_and_slow_clients_are_hung_up_on_and_harm_nobody(void **state)
{
	struct fake_osm *k = *state;
	struct osm_msg huge = { OSM_MSG_LOAD, 0, 1, OSM_MSG_LARGE }, odd = { 0x33, 0, 1, 0 };
	uint8_t head[OSM_MSG_HEAD];
	int garbage = connected(k), slow = connected(k), liar = connected(k), gone = connected(k),
	    strange = connected(k);
	uint64_t begin = clock_ms();

	assert_true(send(garbage, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL) == 18);
	assert_true(send(slow, "IBR", 3, MSG_NOSIGNAL) == 3);
	osm_msg_put(head, &huge);
	assert_true(send(liar, head, sizeof(head), MSG_NOSIGNAL) == sizeof(head));
	assert_true(send(gone, head, sizeof(head), MSG_NOSIGNAL) == sizeof(head));
	close(gone);
	osm_msg_put(head, &odd);
	assert_true(send(strange, head, sizeof(head), MSG_NOSIGNAL) == sizeof(head));
	assert_true(fake_osm_status(k).ours);
	assert_true(clock_ms() - begin < 250);
	assert_true(hung_up(garbage));
	assert_true(hung_up(slow));
	assert_true(hung_up(liar));
	assert_true(fake_osm_status(k).ours);
	close(strange);
	close(garbage);
	close(slow);
	close(liar);
}

static void a_client_that_does_not_fetch_its_answers_is_hung_up_on(void **state)
{
	struct fake_osm *k = *state;
	struct osm_msg m = { OSM_MSG_STATUS, 0, 1, 0 };
	uint8_t head[OSM_MSG_HEAD];
	int fd = connected(k);
	uint64_t begin = clock_ms();
	ssize_t n = 1;

	osm_msg_put(head, &m);
	while (n > 0 && clock_ms() - begin < 5000) {
		struct timeval wait = { .tv_usec = 100000 };

		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
		n = send(fd, head, sizeof(head), MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			n = 1;
	}
	assert_true(n < 0 && (errno == EPIPE || errno == ECONNRESET));
	assert_true(fake_osm_status(k).ours);
	close(fd);
}

static void when_all_places_are_taken_an_idle_client_gives_way(void **state)
{
	struct fake_osm *k = *state;
	int fd[SERVER_CLIENTS];
	struct osm_link *late;
	struct osm_status s;

	for (int i = 0; i < SERVER_CLIENTS - 1; i++)
		fd[i] = connected(k);
	fake_osm_status(k);
	usleep(80000);
	fake_osm_status(k); /* this one is not idle */
	assert_int_equal(osm_link_open(&late, k->path, 2000, NULL), 0);
	assert_int_equal(osm_link_status(late, &s, NULL), 0);
	assert_true(fake_osm_status(k).ours);
	osm_link_close(late);
	for (int i = 0; i < SERVER_CLIENTS - 1; i++)
		close(fd[i]);
}

static void answers_of_agents_reach_whoever_watches(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice in = { .version = 1, .phase = PHASE_UNPATH, .seq = 7, .txn = 99 }, out;
	struct notice_sender from = { .lid = 12, .cap_mask = 5 };
	uint8_t d[NOTICE_SA_DATA];
	struct osm_link *other;
	struct notice n;
	bool answer;

	assert_int_equal(osm_link_open(&other, k->path, 2000, NULL), 0);
	assert_int_equal(osm_link_watch(k->l, NULL), 0);
	assert_int_equal(osm_link_watch(other, NULL), 0);
	phase_codec_encode(&n, &in, true, &from);
	n.issuer_guid = 0xabc;
	n.issuer_lid = 12;
	notice_encode(d, sizeof(d), &n);
	for (int i = 0; i < 3; i++)
		socket_server_heard(k->server, d);
	fake_osm_status(k); /* what comes in between is kept */
	for (int i = 0; i < 3; i++)
		assert_int_equal(osm_link_heard(k->l, &n, 2000, NULL), 1);
	assert_int_equal(osm_link_heard(k->l, &n, 0, NULL), 0);
	assert_int_equal(osm_link_heard(other, &n, 2000, NULL), 1);
	assert_int_equal(n.issuer_lid, 12);
	assert_true(n.issuer_guid == 0xabc);
	assert_int_equal(phase_codec_decode(&out, &answer, &n), 0);
	assert_true(answer && out.seq == 7 && out.txn == 99);
	osm_link_close(other);
}

static void notices_are_sent_when_opensm_has_time_and_only_those_of_phases(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice in = { .version = 1, .phase = PHASE_UNPATH, .seq = 1, .txn = 2 };
	struct notice_sender from = { .lid = 1 };
	struct notice n, sent;

	phase_codec_encode(&n, &in, false, &from);
	atomic_store(&k->busy, 5);
	assert_int_equal(osm_link_notice(k->l, &n, NULL), 0);
	assert_int_equal(atomic_load(&k->busy), 0);
	assert_int_equal(atomic_load(&k->notices), 1);
	assert_int_equal(notice_decode(&sent, k->notice, sizeof(k->notice)), 0);
	assert_memory_equal(sent.details, n.details, sizeof(n.details));
	n.trap = NOTICE_LINK_STATE;
	assert_int_equal(osm_link_notice(k->l, &n, NULL), -EINVAL);
	assert_int_equal(atomic_load(&k->notices), 1);
}

static void a_coordinator_speaks_to_agents_over_the_socket(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice ask = { .version = 1, .phase = PHASE_UNPATH, .seq = 3, .txn = 5 };
	struct agent_place at[2] = { { .guid = k->f->term_guid[3] },
				     { .guid = k->f->term_guid[1] } };
	struct notice_sender from = { .lid = 12 };
	uint8_t d[NOTICE_SA_DATA];
	struct agent_answer a;
	struct agent_link l;
	struct notice n;
	struct err err = { "" };

	agent_link_osm(&l, k->l, NULL, NULL);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	atomic_store(&k->busy, 3);
	assert_int_equal(l.ops->present(l.ctx, at, 2, NULL, &err), 0);
	assert_int_equal(at[0].there, AGENT_PRESENT);
	assert_int_equal(at[1].there, AGENT_ABSENT);
	assert_int_equal(l.ops->send(l.ctx, &ask, &err), 0);
	assert_int_equal(atomic_load(&k->notices), 1);

	n = (struct notice){ .type = NOTICE_INFO,
			     .producer = NOTICE_CA,
			     .trap = NOTICE_LOCAL_CHANGES };
	notice_encode(d, sizeof(d), &n);
	socket_server_heard(k->server, d); /* of another sort */
	phase_codec_encode(&n, &ask, true, &from);
	n.issuer_lid = 12;
	n.issuer_guid = 77;
	notice_encode(d, sizeof(d), &n);
	socket_server_heard(k->server, d);
	assert_int_equal(l.ops->recv(l.ctx, &a, 1000000000, &err), 0);
	assert_int_equal(l.ops->recv(l.ctx, &a, 1000000000, &err), 1);
	assert_int_equal(a.lid, 12);
	assert_true(a.guid == 77);
	assert_int_equal(a.notice.seq, 3);
	assert_int_equal(l.ops->recv(l.ctx, &a, 1000000, &err), 0);

	/* OpenSM restarts */
	socket_server_stop(k->server);
	assert_int_equal(
		socket_server_start(&k->server, k->path, k->session, &fake_osm_ops, k, NULL, NULL),
		0);
	assert_true(l.ops->recv(l.ctx, &a, 1000000, &err) < 0);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	socket_server_heard(k->server, d);
	assert_int_equal(l.ops->recv(l.ctx, &a, 1000000000, &err), 1);
	/* and once more; before anybody listens, the installer opens the same link again */
	socket_server_stop(k->server);
	assert_int_equal(
		socket_server_start(&k->server, k->path, k->session, &fake_osm_ops, k, NULL, NULL),
		0);
	assert_int_equal(osm_link_reopen(k->l, &err), 0);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	socket_server_heard(k->server, d);
	assert_int_equal(l.ops->recv(l.ctx, &a, 1000000000, &err), 1);
	k->standby = true;
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), -ESTALE);
	agent_link_close(&l);
}

/* The master is on terminal 4 then; a wire of terminal 1 is there in reserve. */
static void when_another_sm_takes_over_agents_are_asked_through_that_one(void **state)
{
	struct fake_osm *k = *state;
	struct phase_notice ask = { .version = 1, .phase = PHASE_REPATH, .seq = 3, .txn = 5 };
	struct notice_opts no = { .term = 3 };
	struct wire_opts wo = { .term = 1 };
	struct tables *t = routed(k->f, "nue:2", 1);
	struct notice_port *agent;
	struct agent_answer a;
	struct agent_link l;
	struct notice_in in;
	struct sim_opts so;
	struct sim *sim;
	struct wire *w;
	struct err err = { "" };
	int rc = 0;

	sim_opts_init(&so);
	so.virtual_clock = true;
	assert_int_equal(sim_new(&sim, k->f, &so, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, &wo, &err), 0);
	assert_int_equal(notice_port_open_sim(&agent, sim, &no, &err), 0);
	agent_link_osm(&l, k->l, w, NULL);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	assert_null(wire_notices(w)); /* nobody needs it yet */
	sim_stop_sm(sim, true);
	k->standby = true;
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), -ESTALE);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), -ETIMEDOUT); /* no other one yet */
	assert_int_equal(l.ops->send(l.ctx, &ask, &err), -EAGAIN);
	assert_null(wire_notices(w));
	sim_stop_sm(sim, false);
	sim_move_sm(sim, 4);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	assert_int_equal(notice_subscribe(agent, NOTICE_REPATH, &err), 0);
	assert_int_equal(l.ops->send(l.ctx, &ask, &err), 0);
	assert_int_equal(atomic_load(&k->notices), 0);
	assert_int_equal(notice_recv(agent, &in, 1000000, &err), 1);
	ask.repeat = 1;
	assert_int_equal(notice_send_phase(agent, &ask, true, &err), 0);
	for (int i = 0; i < 10 && !rc; i++)
		rc = l.ops->recv(l.ctx, &a, 1000000, &err);
	assert_int_equal(rc, 1);
	assert_true(a.guid == k->f->term_guid[3]);
	agent_link_close(&l);
	notice_port_close(agent);
	wire_close(w);
	sim_free(sim);
	tables_put(t);
}

/* What it was master of is another SM's, which is seen over the wire. */
static void also_when_opensm_has_ended(void **state)
{
	struct fake_osm *k = *state;
	struct wire_opts wo = { .term = 1 };
	struct tables *t = routed(k->f, "nue:2", 1);
	struct agent_link l;
	struct sim_opts so;
	struct sim *sim;
	struct wire *w;
	struct err err = { "" };

	sim_opts_init(&so);
	so.virtual_clock = true;
	assert_int_equal(sim_new(&sim, k->f, &so, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, &wo, &err), 0);
	agent_link_osm(&l, k->l, w, NULL);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	socket_server_stop(k->server);
	k->server = NULL;
	sim_stop_sm(sim, true);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), -ETIMEDOUT); /* it may come back */
	assert_null(wire_notices(w));
	sim_stop_sm(sim, false);
	sim_move_sm(sim, 4);
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), -ESTALE);
	assert_non_null(wire_notices(w));
	assert_int_equal(l.ops->listen(l.ctx, NULL, &err), 0);
	agent_link_close(&l);
	wire_close(w);
	sim_free(sim);
	tables_put(t);
}

static void a_socket_that_answers_is_not_taken_over_and_a_dead_one_is(void **state)
{
	struct fake_osm *k = *state;
	struct socket_server *second;
	struct err err = { "" };
	struct osm_status s;

	assert_int_equal(
		socket_server_start(&second, k->path, k->session, &fake_osm_ops, k, NULL, &err),
		-EADDRINUSE);
	socket_server_stop(k->server);
	k->server = NULL;
	assert_true(osm_link_status(k->l, &s, &err) < 0); /* ECONNRESET or EPIPE */
	assert_int_equal(osm_link_status(k->l, &s, &err), -ENOTCONN);
	/* as a killed process leaves it */
	close(socket(AF_UNIX, SOCK_STREAM, 0));
	{
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		snprintf(at.sun_path, sizeof(at.sun_path), "%s", k->path);
		assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
		close(fd);
	}
	assert_int_equal(
		socket_server_start(&k->server, k->path, k->session, &fake_osm_ops, k, NULL, &err),
		0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, up, down)
	const struct CMUnitTest tests[] = {
		T(the_socket_is_for_its_owner_and_tells_what_routes),
		T(given_tables_route_and_are_kept_across_a_restart),
		T(tables_that_are_confirmed_while_opensm_routes_by_them_are_called_so),
		T(without_the_cable_the_engine_routes_and_with_it_the_kept_tables),
		T(without_the_cable_the_kept_tables_are_repaired),
		T(tables_sent_ahead_are_loaded_by_their_hash),
		T(what_was_sent_ahead_is_judged_again_once_the_policy_excludes_more),
		T(steps_are_taken_and_the_way_back_leads_to_the_tables_before),
		T(reroute_of_who_is_no_master_any_more_is_not_waited_for),
		T(step_that_ends_a_way_is_refused),
		T(step_that_moves_escape_lids_is_refused),
		T(what_the_policy_excludes_no_update_ends_in),
		T(there_is_one_update_at_a_time_whoever_comes_from_where),
		T(an_update_begins_once_opensm_writes_only_what_differs),
		T(an_update_that_nobody_speaks_for_is_led_back_through_its_steps),
		T(what_agents_were_asked_is_known_at_once),
		T(what_cannot_be_led_back_now_is_over_all_the_same),
		T(what_was_not_confirmed_in_time_goes_though_its_client_talks),
		T(unconfirmed_tables_do_not_come_back_with_the_cable),
		T(tables_that_cannot_be_saved_are_not_confirmed),
		T(an_agent_that_asks_about_an_update_that_is_over_is_called_back),
		T(an_agent_left_behind_is_called_back_by_an_update_without_agents_too),
		T(nobody_is_called_back_before_an_update_could_go_on),
		T(agents_of_a_coordinator_elsewhere_are_left_to_it),
		T(tables_that_do_not_fit_or_can_deadlock_are_refused_at_once),
		T(reroutes_are_refused_by_a_standby_and_end_when_nobody_finishes),
		T(an_engine_that_refuses_is_an_answer_with_its_reason),
		T(a_policy_is_checked_held_saved_and_forgotten),
		T(garbage_and_slow_clients_are_hung_up_on_and_harm_nobody),
		T(a_client_that_does_not_fetch_its_answers_is_hung_up_on),
		T(when_all_places_are_taken_an_idle_client_gives_way),
		T(answers_of_agents_reach_whoever_watches),
		T(notices_are_sent_when_opensm_has_time_and_only_those_of_phases),
		T(a_coordinator_speaks_to_agents_over_the_socket),
		T(when_another_sm_takes_over_agents_are_asked_through_that_one),
		T(also_when_opensm_has_ended),
		T(a_socket_that_answers_is_not_taken_over_and_a_dead_one_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
