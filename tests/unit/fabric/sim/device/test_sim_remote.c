/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated fabric through a socket is the same as in the process that has it. */
#include "fabric/sim/device/sim_remote.h"
#include "fabric/sim/device/sim_wire.h"

#include "engines/minhop.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim.h"
#include "fabric/wire/queue.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct sim_server *server;
	char *dir, *path;
	struct mad_port port;
	struct wire *w; /* over port */
	struct err err;
};

static void serve(struct world *x, struct sim_opts *so)
{
	struct engine_params params = { 0 };

	*x = (struct world){ .dir = net_tmpdir() };
	x->path = xasprintf("%s/simulator", x->dir);
	x->f = net_tree(6, 3, 4, NULL);
	x->t = must_route(&engine_minhop, x->f, NULL, &params);
	assert_int_equal(sim_new(&x->sim, x->f, so, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	assert_int_equal(sim_server_start(&x->server, x->sim, 0, x->dir, "simulator", &x->err), 0);
}

static void connect_to(struct world *x, const struct wire_opts *wo)
{
	assert_int_equal(sim_remote_open(&x->port, x->path, &x->err), 0);
	wire_open_port(&x->w, &x->port, wo);
}

static void down(struct world *x)
{
	wire_close(x->w);
	sim_server_stop(x->server);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
	free(x->path);
	net_rmdir(x->dir);
}

static void sweep(struct wire *w)
{
	struct fabric *f;

	assert_int_equal(wire_sweep(&f, NULL, w, NULL, NULL, NULL), 0);
	fabric_put(f);
}

/* Discovers and reads all tables; are they those that were installed? */
static void reads_all(struct world *x)
{
	struct tables_report report = { 0 };
	struct fabric *f;
	struct tables *t;

	assert_int_equal(wire_sweep(&f, NULL, x->w, NULL, NULL, &x->err), 0);
	assert_true(digest_equal(&f->fingerprint, &x->f->fingerprint));
	assert_int_equal(wire_read_tables(&t, x->w, f, true, &report, NULL, &x->err), 0);
	assert_int_equal(report.nmissing, 0);
	assert_true(tables_forward_same(f, t, x->t));
	tables_report_clear(&report);
	tables_put(t);
	fabric_put(f);
}

static void another_process_sees_the_same_fabric(void **state)
{
	struct mad_local here, there;
	struct stat st;
	struct world x;
	struct wire *w;

	(void)state;
	serve(&x, NULL);
	assert_int_equal(stat(x.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	connect_to(&x, NULL);
	assert_int_equal(wire_open_sim(&w, x.sim, NULL, &x.err), 0);
	wire_local(w, &here);
	wire_local(x.w, &there);
	assert_string_equal(here.ca, there.ca);
	assert_int_equal(here.port, there.port);
	assert_int_equal(here.port_guid, there.port_guid);
	assert_int_equal(here.lid, there.lid);
	assert_int_equal(here.sm_lid, there.sm_lid);
	reads_all(&x);
	wire_close(w);
	down(&x);
}

static void what_one_writes_the_other_reads(void **state)
{
	struct wire_block b = { .sw = 1 };
	struct world x;
	struct wire *w;

	(void)state;
	serve(&x, NULL);
	connect_to(&x, NULL);
	assert_int_equal(wire_open_sim(&w, x.sim, NULL, &x.err), 0);
	sweep(w);
	sweep(x.w);
	assert_int_equal(wire_read_blocks(w, x.f, &b, 1, NULL, &x.err), 0);
	b.port[3] = b.port[3] == 1 ? 2 : 1;
	assert_int_equal(wire_write_blocks(x.w, x.f, &b, NULL, 1, NULL, &x.err), 0);
	memset(b.port, 0, sizeof(b.port));
	assert_int_equal(wire_read_blocks(w, x.f, &b, 1, NULL, &x.err), 0);
	assert_int_equal(b.port[3] == 1 || b.port[3] == 2, 1);
	assert_int_not_equal(b.port[3], tables_row(x.t, 1)[3]);
	wire_close(w);
	down(&x);
}

static void its_faults_and_delays_are_the_simulators(void **state)
{
	struct wire_opts wo = { .timeout_ms = 20, .retries = 10 };
	struct queue_stats stats;
	struct sim_opts so;
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.loss = 0.02;
	so.duplicate = 0.02;
	so.delay_us = 300;
	so.jitter_us = 500;
	serve(&x, &so);
	connect_to(&x, &wo);
	reads_all(&x);
	stats = *wire_stats(x.w);
	assert_true(stats.retried > 0);
	down(&x);
}

/* More requests under way than a socket holds. */
static void a_wide_window_does_not_block_either_side(void **state)
{
	struct wire_opts wo = { .window = 1024, .timeout_ms = 1000 };
	struct world x;

	(void)state;
	serve(&x, NULL);
	connect_to(&x, &wo);
	reads_all(&x);
	down(&x);
}

static void the_end_of_the_simulator_is_the_end_of_the_port(void **state)
{
	struct wire_block b = { 0 };
	struct mad_port other;
	struct world x;

	(void)state;
	serve(&x, NULL);
	connect_to(&x, NULL);
	sweep(x.w);
	assert_false(sim_remote_gone(&x.port));
	sim_server_stop(x.server);
	x.server = NULL;
	assert_true(sim_remote_gone(&x.port));
	assert_int_equal(wire_read_blocks(x.w, x.f, &b, 1, NULL, &x.err), -ENOLINK);
	assert_non_null(strstr(x.err.text, "the simulated fabric is gone"));
	assert_int_equal(access(x.path, F_OK), -1);
	assert_int_equal(sim_remote_open(&other, x.path, &x.err), -ENOLINK);
	assert_non_null(strstr(x.err.text, "no simulated fabric"));
	down(&x);
}

static int raw(const struct world *x)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true(strlen(x->path) < sizeof(a.sun_path));
	memcpy(a.sun_path, x->path, strlen(x->path) + 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void who_sends_nonsense_is_dropped_and_harms_nobody(void **state)
{
	uint32_t many = UINT32_MAX;
	struct mad_local local;
	struct world x;
	char buf[16];
	int fd;

	(void)state;
	serve(&x, NULL);
	connect_to(&x, NULL);
	fd = raw(&x);
	assert_int_equal(recv(fd, &local, sizeof(local), 0), sizeof(local));
	assert_int_equal(send(fd, &many, sizeof(many), 0), sizeof(many));
	assert_int_equal(recv(fd, buf, sizeof(buf), 0), 0);
	close(fd);
	for (int i = 0; i < 20; i++) /* those that come and go */
		close(raw(&x));
	reads_all(&x);
	down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_sees_the_same_fabric),
		cmocka_unit_test(what_one_writes_the_other_reads),
		cmocka_unit_test(its_faults_and_delays_are_the_simulators),
		cmocka_unit_test(a_wide_window_does_not_block_either_side),
		cmocka_unit_test(the_end_of_the_simulator_is_the_end_of_the_port),
		cmocka_unit_test(who_sends_nonsense_is_dropped_and_harms_nobody),
	};

	return cmocka_run_group_tests_name("sim_remote", tests, NULL, NULL);
}
