/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trust_tool: what root of one node can send in the name of others, for trust.sh.
 *
 *   report LID TRAP TXN SEQ HOLD     a report of a notice 68 or 69 straight to a node, as the SM's
 *   answer LID GUID TXN SEQ          a report of an answer "drained" straight to a node
 *   trap LID TRAP TXN SEQ HOLD       a notice 68 or 69 through the SM, issuer: LID
 *   claim LID TXN SEQ [REPEAT]       an answer "drained" through the SM, issuer: LID
 *   record SECONDS FILE TRAP...      notices that come, as they are
 *   replay FILE [LID]                all that was recorded: through the SM, or straight to LID
 *
 * GUID in hexadecimal; all else in decimal.  Nothing that it sends has a key.
 */
#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/wire/notice_port.h"
#include "fabric/wire/sa.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull

struct forge {
	struct notice_port *np;
	struct notice_local local;
	uint32_t tid;
	struct err err;
};

static int fail(const struct forge *x)
{
	printf("trust_tool: %s\n", x->err.text);
	return 1;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static int put(struct forge *x, struct mad_packet *p)
{
	const struct mad_port *port = notice_port_mad(x->np);
	int rc = port->ops->send(port->ctx, p, &x->err);

	if (rc)
		return fail(x);
	usleep(50000); /* ibsim drops what it has not read when a client goes */
	return 0;
}

static int straight(struct forge *x, uint16_t lid, const struct notice *n)
{
	struct mad_packet p;

	report_build(&p, lid, 0, 1, n, ++x->tid);
	p.addr.qkey = MAD_QP1_QKEY;
	return put(x, &p);
}

static int by_sm(struct forge *x, const struct notice *n)
{
	struct mad_packet p;

	trap_build(&p, x->local.sm_lid, n, ++x->tid);
	return put(x, &p);
}

/* TRAP TXN SEQ HOLD */
static void question(struct notice *n, char **v, uint16_t issuer)
{
	struct phase_notice said = { .version = PHASE_NOTICE_VERSION,
				     .phase = number(v[0]) == NOTICE_UNPATH ? PHASE_UNPATH
									    : PHASE_REPATH,
				     .hold_s = (uint16_t)number(v[3]),
				     .seq = (uint32_t)number(v[2]),
				     .txn = number(v[1]) };
	struct notice_sender from = { .lid = issuer };

	phase_codec_encode(n, &said, false, &from);
}

/* TXN SEQ [REPEAT] */
static void answer(struct notice *n, const struct forge *x, char **v, int c, uint16_t issuer)
{
	struct phase_notice said = { .version = PHASE_NOTICE_VERSION,
				     .phase = PHASE_UNPATH,
				     .repeat = c > 2 ? (uint16_t)number(v[2]) : 999,
				     .seq = (uint32_t)number(v[1]),
				     .txn = number(v[0]) };
	struct notice_sender from = { .lid = issuer, .cap_mask = x->local.cap_mask };

	phase_codec_encode(n, &said, true, &from);
}

static int record(struct forge *x, uint64_t seconds, const char *path, int c, char **traps)
{
	uint64_t end = notice_port_now_ns(x->np) + seconds * SECOND, now;
	uint8_t d[NOTICE_SA_DATA];
	struct notice_in in;
	FILE *f = fopen(path, "w");
	int rc = 0;

	for (int i = 0; i < c && !rc; i++)
		rc = notice_subscribe(x->np, (uint16_t)number(traps[i]), &x->err);
	if (!f || rc)
		return fail(x);
	printf("listening\n");
	while (rc >= 0 && (now = notice_port_now_ns(x->np)) < end) {
		rc = notice_recv(x->np, &in, end - now, &x->err);
		if (rc != 1)
			continue;
		notice_encode(d, sizeof(d), &in.notice);
		fwrite(d, 1, sizeof(d), f);
		fflush(f);
	}
	fclose(f);
	for (int i = 0; i < c; i++)
		notice_unsubscribe(x->np, (uint16_t)number(traps[i]), &x->err);
	return 0;
}

static int replay(struct forge *x, const char *path, uint16_t lid)
{
	uint8_t d[NOTICE_SA_DATA];
	FILE *f = fopen(path, "r");
	struct notice n;
	int sent = 0;

	while (f && fread(d, 1, sizeof(d), f) == sizeof(d)) {
		if (notice_decode(&n, d, sizeof(d)))
			continue;
		if (lid ? straight(x, lid, &n) : by_sm(x, &n))
			return 1;
		sent++;
	}
	printf("replayed %d\n", sent);
	return !sent;
}

static int run(struct forge *x, int c, char **v)
{
	struct notice n;

	if (c == 6 && !strcmp(v[0], "report")) {
		question(&n, v + 2, x->local.sm_lid);
		return straight(x, (uint16_t)number(v[1]), &n);
	}
	if (c == 5 && !strcmp(v[0], "answer")) {
		answer(&n, x, v + 3, 2, x->local.sm_lid);
		n.issuer_prefix = 0xfe80000000000000ull;
		n.issuer_guid = strtoull(v[2], NULL, 16);
		return straight(x, (uint16_t)number(v[1]), &n);
	}
	if (c == 6 && !strcmp(v[0], "trap")) {
		question(&n, v + 2, (uint16_t)number(v[1]));
		return by_sm(x, &n);
	}
	if ((c == 4 || c == 5) && !strcmp(v[0], "claim")) {
		answer(&n, x, v + 2, c - 2, (uint16_t)number(v[1]));
		return by_sm(x, &n);
	}
	if (c > 3 && !strcmp(v[0], "record"))
		return record(x, number(v[1]), v[2], c - 3, v + 3);
	if ((c == 2 || c == 3) && !strcmp(v[0], "replay"))
		return replay(x, v[1], c == 3 ? (uint16_t)number(v[2]) : 0);
	printf("trust_tool: unknown command, see the head of trust_tool.c\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct notice_opts opts = { .deaf = argc < 2 || strcmp(argv[1], "record") };
	struct forge x = { .tid = (uint32_t)time(NULL) & 0xffffff };
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (notice_port_open_umad(&x.np, &opts, &x.err))
		return fail(&x);
	rc = notice_port_refresh(x.np, &x.local, &x.err);
	rc = rc ? fail(&x) : run(&x, argc - 1, argv + 1);
	notice_port_close(x.np);
	return rc;
}
