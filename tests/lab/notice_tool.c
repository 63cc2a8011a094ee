/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notice_tool: notices on a real port (or ibsim's), for notice.sh.
 *
 *   listen SECONDS TRAP...    subscribes, prints what comes, unsubscribes; acks 68 and 69 when 144
 *                             is not among the traps
 *   send PHASE TXN SEQ [N [FLAGS [HOLD]]]    68 or 69, N times the same
 *   round TXN AGENTS          subscribes to 144, sends 68, waits for so many acks, then 69
 *   osm SOCKET TXN AGENTS     the same over the socket of OpenSM's plugin, without a port
 *   wrong TXN                 an ack that tells other capabilities than the port has
 *   refused                   unsubscribes from what was not subscribed
 *
 * NOTICE_KEY: file of a key of the site, which it signs with then.
 */
#include "fabric/wire/notice_port.h"

#include "fabric/update/installer/osm_agents.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/site_key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000ull

struct tool {
	struct notice_port *np;
	struct notice_local local;
	uint32_t seq;
	struct err err;
};

static int fail(const struct tool *x)
{
	printf("notice_tool: %s\n", x->err.text);
	return 1;
}

static uint8_t phase_of(unsigned trap)
{
	return trap == NOTICE_UNPATH ? PHASE_UNPATH : PHASE_REPATH;
}

static void print(const struct notice_in *in, const struct phase_notice *a, bool ours)
{
	printf("report %u from lid %u guid %016" PRIx64 " by sm %u details ", in->notice.trap,
	       in->notice.issuer_lid, in->notice.issuer_guid, in->sm_lid);
	for (int i = 0; i < NOTICE_DETAILS; i++)
		printf("%02x", in->notice.details[i]);
	if (ours)
		printf(" phase %u txn %" PRIu64 " seq %u repeat %u hold %u flags %u", a->phase,
		       a->txn, a->seq, a->repeat, a->hold_s, a->flags);
	printf("\n");
}

static int acknowledge(struct tool *x, const struct phase_notice *a)
{
	struct phase_notice ack = *a;

	ack.repeat = (uint16_t)++x->seq;
	return notice_send_phase(x->np, &ack, true, &x->err);
}

static int listen_to(struct tool *x, uint64_t seconds, int n, char **traps)
{
	uint64_t end = notice_port_now_ns(x->np) + seconds * SECOND, now;
	struct phase_notice a;
	struct notice_in in;
	bool acks = true, answer;
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		acks &= strcmp(traps[i], "144") != 0;
		rc = notice_subscribe(x->np, (uint16_t)atoi(traps[i]), &x->err);
	}
	if (!rc)
		printf("listening lid %u caps %08x\n", x->local.lid, x->local.cap_mask);
	while (!rc && (now = notice_port_now_ns(x->np)) < end) {
		rc = notice_recv(x->np, &in, end - now, &x->err);
		if (rc <= 0)
			continue;
		rc = phase_codec_decode(&a, &answer, &in.notice);
		print(&in, &a, !rc);
		rc = !rc && acks ? acknowledge(x, &a) : 0;
	}
	for (int i = 0; i < n && rc >= 0; i++)
		rc = notice_unsubscribe(x->np, (uint16_t)atoi(traps[i]), &x->err);
	if (rc < 0)
		return fail(x);
	printf("unsubscribed\n");
	return 0;
}

static int send_phase(struct tool *x, char **argv, int n)
{
	int times = n > 3 ? atoi(argv[3]) : 1;
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = phase_of((unsigned)atoi(argv[0])),
				  .flags = n > 4 ? (uint16_t)atoi(argv[4]) : 0,
				  .hold_s = n > 5 ? (uint16_t)atoi(argv[5]) : 0,
				  .txn = strtoull(argv[1], NULL, 0),
				  .seq = (uint32_t)atoi(argv[2]) };

	for (int i = 0; i < times; i++) {
		if (notice_send_phase(x->np, &a, false, &x->err))
			return fail(x);
		usleep(20000);
	}
	printf("sent %d\n", times);
	return 0;
}

/* One phase: the notice, resent each second, until all agents have answered. */
static int phase(struct tool *x, uint8_t trap, uint32_t txn, uint32_t agents)
{
	uint64_t start = notice_port_now_ns(x->np), next = start, now;
	uint16_t heard[64];
	uint32_t n = 0;

	while (n < agents && (now = notice_port_now_ns(x->np)) < start + 10 * SECOND) {
		struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
					  .phase = phase_of(trap),
					  .txn = txn,
					  .seq = x->seq + 1 };
		bool answer;
		struct notice_in in;
		uint32_t k = 0;

		if (now >= next) {
			x->seq++;
			next = now + SECOND;
			if (notice_send_phase(x->np, &a, false, &x->err))
				return fail(x);
		}
		if (notice_recv(x->np, &in, next - now, &x->err) != 1 ||
		    phase_codec_decode(&a, &answer, &in.notice) || !answer || a.txn != txn ||
		    a.phase != phase_of(trap))
			continue;
		while (k < n && heard[k] != in.notice.issuer_lid)
			k++;
		if (k == n && n < 64)
			heard[n++] = in.notice.issuer_lid;
	}
	printf("phase %u: %u of %u acks in %.1f ms\n", trap, n, agents,
	       (double)(notice_port_now_ns(x->np) - start) / 1e6);
	return n < agents;
}

static int round_trip(struct tool *x, uint32_t txn, uint32_t agents)
{
	int rc;

	if (notice_subscribe(x->np, NOTICE_LOCAL_CHANGES, &x->err))
		return fail(x);
	rc = phase(x, NOTICE_UNPATH, txn, agents);
	if (!rc)
		rc = phase(x, NOTICE_REPATH, txn, agents);
	if (notice_unsubscribe(x->np, NOTICE_LOCAL_CHANGES, &x->err))
		return fail(x);
	return rc;
}

/* One phase over the plugin's socket. */
static int osm_phase(struct tool *x, struct agent_link *l, uint8_t trap, uint32_t txn,
		     uint32_t agents)
{
	uint64_t start = l->ops->now_ns(l->ctx), heard[64];
	struct phase_notice ask = { .version = PHASE_NOTICE_VERSION,
				    .phase = phase_of(trap),
				    .txn = txn,
				    .seq = ++x->seq };
	uint32_t n = 0;

	if (l->ops->listen(l->ctx, NULL, &x->err) || l->ops->send(l->ctx, &ask, &x->err))
		return fail(x);
	while (n < agents && l->ops->now_ns(l->ctx) < start + 10 * SECOND) {
		struct agent_answer a;
		uint32_t k = 0;

		if (l->ops->recv(l->ctx, &a, SECOND, &x->err) != 1 || a.notice.txn != txn ||
		    a.notice.phase != phase_of(trap))
			continue;
		while (k < n && heard[k] != a.guid)
			k++;
		if (k == n && n < 64)
			heard[n++] = a.guid;
	}
	printf("phase %u: %u of %u acks in %.1f ms\n", trap, n, agents,
	       (double)(l->ops->now_ns(l->ctx) - start) / 1e6);
	return n < agents;
}

static int by_osm(const char *socket, uint32_t txn, uint32_t agents)
{
	struct tool x = { 0 };
	struct agent_link l;
	struct osm_link *osm;
	uint64_t *guid;
	uint32_t n;
	int rc;

	if (osm_link_open(&osm, socket, 0, &x.err) || osm_link_listeners(osm, &guid, &n, &x.err))
		return fail(&x);
	printf("listeners: %u\n", n);
	free(guid);
	agent_link_osm(&l, osm, NULL, NULL);
	rc = osm_phase(&x, &l, NOTICE_UNPATH, txn, agents);
	if (!rc)
		rc = osm_phase(&x, &l, NOTICE_REPATH, txn, agents);
	agent_link_close(&l);
	osm_link_close(osm);
	return rc;
}

static int wrong_ack(struct tool *x, uint32_t txn)
{
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_UNPATH,
				  .txn = txn };
	struct notice_sender from = { .lid = x->local.lid, .cap_mask = x->local.cap_mask ^ 2 };
	struct notice n;

	phase_codec_encode(&n, &a, true, &from);
	if (notice_send(x->np, &n, &x->err))
		return fail(x);
	usleep(20000); /* ibsim drops what it has not read when a client goes */
	return 0;
}

static int run(struct tool *x, int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[0], "listen"))
		return listen_to(x, (uint64_t)atoi(argv[1]), argc - 2, argv + 2);
	if (argc >= 4 && !strcmp(argv[0], "send"))
		return send_phase(x, argv + 1, argc - 1);
	if (argc == 3 && !strcmp(argv[0], "round"))
		return round_trip(x, (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]));
	if (argc == 2 && !strcmp(argv[0], "wrong"))
		return wrong_ack(x, (uint32_t)atoi(argv[1]));
	if (argc == 1 && !strcmp(argv[0], "refused"))
		return notice_unsubscribe(x->np, NOTICE_UNPATH, &x->err) ? fail(x) : 0;
	printf("notice_tool: unknown command, see the head of notice_tool.c\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct notice_opts opts = { 0 };
	struct site_keys *keys = NULL;
	struct tool x = { 0 };
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && !strcmp(argv[1], "osm"))
		return by_osm(argv[2], (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
	opts.deaf = argc > 1 && strcmp(argv[1], "listen") && strcmp(argv[1], "round");
	rc = notice_port_open_umad(&x.np, &opts, &x.err);
	if (rc)
		return fail(&x);
	rc = notice_port_refresh(x.np, &x.local, &x.err);
	if (!rc && getenv("NOTICE_KEY"))
		rc = site_keys_load(&keys, getenv("NOTICE_KEY"), &x.err);
	notice_port_keys(x.np, keys);
	rc = rc ? fail(&x) : run(&x, argc - 1, argv + 1);
	notice_port_close(x.np);
	site_keys_free(keys);
	return rc;
}
