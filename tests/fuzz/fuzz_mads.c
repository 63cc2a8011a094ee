/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What switches, hosts and the subnet manager answer.  Five bytes a lie: how many answers come as
 * they are before it, where in the next one, what becomes of the bytes there (how, value). */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tiny.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/sim/device/sim.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire.h"

#include <stdlib.h>
#include <string.h>

#define LIE	   5
#define QUERIES	   200
#define PORTS_MOST 4096

/* A port that lies, in front of the simulator's. */
struct liar {
	struct mad_port honest;
	const uint8_t *lie, *end;
	unsigned pass;
	uint8_t *whole; /* of the packet that was given out last, where it is a lie */
};

static int liar_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct liar *l = ctx;

	return l->honest.ops->send(l->honest.ctx, p, err);
}

static void liar_change(struct mad_packet *p, const uint8_t lie[LIE])
{
	uint8_t *at = p->data + lie[1];

	switch (lie[2] % 5) {
	case 0:
		*at ^= lie[3];
		break;
	case 1:
		*at = lie[3];
		break;
	case 2:
		memset(at, lie[3], MAD_BYTES - lie[1]);
		break;
	case 3:
		p->addr.lid = (uint16_t)(lie[3] << 8 | lie[4]);
		break;
	default:
		memmove(p->data + 64, at, MAD_BYTES - (lie[1] > 64 ? lie[1] : 64u));
	}
}

/* Of a table: the same at its beginning, and it ends early. */
static void liar_change_whole(struct liar *l, struct mad_packet *p)
{
	size_t len = p->whole_len;

	if (l->lie[2] & 0x80)
		len = (size_t)(l->lie[3] << 8 | l->lie[4]) % (len + 1);
	free(l->whole);
	l->whole = memcpy(xcalloc(len, 1), p->whole, len);
	memcpy(l->whole, p->data, len < MAD_BYTES ? len : MAD_BYTES);
	p->whole = l->whole;
	p->whole_len = len;
}

static int liar_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct liar *l = ctx;
	int rc = l->honest.ops->recv(l->honest.ctx, p, wait_ns, err);

	if (rc != 1 || l->lie >= l->end)
		return rc;
	if (l->pass) {
		l->pass--;
		return rc;
	}
	liar_change(p, l->lie);
	if (p->whole)
		liar_change_whole(l, p);
	l->lie += LIE;
	l->pass = l->lie < l->end ? l->lie[0] : 0;
	return rc;
}

static uint64_t liar_now(void *ctx)
{
	struct liar *l = ctx;

	return l->honest.ops->now_ns(l->honest.ctx);
}

static void liar_local(void *ctx, struct mad_local *out)
{
	struct liar *l = ctx;

	l->honest.ops->local(l->honest.ctx, out);
}

static void liar_close(void *ctx)
{
	struct liar *l = ctx;

	l->honest.ops->close(l->honest.ctx);
	free(l->whole);
}

static const struct mad_ops liar_ops = { .send = liar_send,
					 .recv = liar_recv,
					 .now_ns = liar_now,
					 .local = liar_local,
					 .close = liar_close };

static void read_tables(struct wire *w, const struct fabric *f)
{
	struct tables_report report = { 0 };
	struct path_sl_report sls;
	struct tables *t = NULL;
	struct err err = { "" };
	int rc = wire_read_tables(&t, w, f, true, &report, NULL, &err);

	tables_report_clear(&report);
	FUZZ_NEED(rc ? !t && err.text[0] : t->nsw == f->nsw);
	if (!rc && wire_read_path_sls(t, w, f, QUERIES, 2, 1, &sls, NULL, &err))
		FUZZ_NEED(err.text[0]);
	if (!rc)
		tables_put(t);
}

static void read_rest(struct wire *w, const struct fabric *f)
{
	struct wire_ping ping[2] = { { .lid = 1, .tries = 1 }, { .lid = f->max_lid, .tries = 1 } };
	struct service_record found, wanted = { .id = 1 };
	struct sample *s = NULL;
	struct fabric *named = NULL;
	struct wire_sm sm;
	struct err err = { "" };

	FUZZ_NEED(!wire_read_sample(&s, w, f, SAMPLE_ALL, NULL, &err) == !!s);
	sample_put(s);
	s = NULL;
	FUZZ_NEED(!wire_read_sample(&s, w, f, SAMPLE_ALL | SAMPLE_SUMS, NULL, &err) == !!s);
	sample_put(s);
	wire_sm_info(&sm, w, &err);
	wire_ping(w, ping, 2, NULL, &err);
	wire_service_find(&found, w, &wanted, SERVICE_BY_ID, &err);
	if (!wire_read_names(&named, w, f, NULL, &err))
		fabric_put(named);
}

/* All switches say that something has changed. */
static void discover_again(struct wire *w, const struct fabric *f)
{
	struct sweep_report report = { 0 };
	struct fabric *now = NULL;
	struct err err = { "" };
	int rc = wire_sweep_part(&now, &report, w, NULL, f->sw_guid, f->nsw, NULL, &err);

	sweep_report_clear(&report);
	FUZZ_NEED(rc ? !now && err.text[0] : now->nport <= PORTS_MOST);
	if (rc)
		return;
	read_tables(w, now);
	fabric_put(now);
}

static void discover(struct wire *w)
{
	struct sweep_report report = { 0 };
	struct fabric *f = NULL;
	struct err err = { "" };
	int rc = wire_sweep(&f, &report, w, NULL, NULL, &err);

	sweep_report_clear(&report);
	FUZZ_NEED(rc ? !f && err.text[0] : f->nport <= PORTS_MOST);
	if (rc)
		return;
	read_tables(w, f);
	read_rest(w, f);
	discover_again(w, f);
	fabric_put(f);
}

/* Answers that are dropped are told each time. */
static void say_nothing(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_opts opts = { .timeout_ms = 1, .retries = 1 };
	struct liar liar = { .lie = data, .end = data + size / LIE * LIE };
	struct mad_port port = { &liar_ops, &liar };
	struct sim_opts so;
	struct wire *w;
	struct sim *sim;

	log_set_sink(say_nothing, NULL);
	sim_opts_init(&so);
	so.virtual_clock = true;
	liar.pass = liar.lie < liar.end ? *liar.lie : 0;
	FUZZ_NEED(!sim_new(&sim, tiny_fabric(), &so, NULL));
	FUZZ_NEED(!sim_install_tables(sim, tiny_tables(0), NULL));
	FUZZ_NEED(!sim_port_open(&liar.honest, sim, 0, NULL));
	wire_open_port(&w, &port, &opts);
	discover(w);
	wire_close(w);
	sim_free(sim);
	return 0;
}

/* NodeInfo and PortInfo begin at byte 64, what records say at 56. */
bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	static const uint8_t seed[][4 * LIE] = {
		{ 0, 0, 0, 0, 0 },
		{ 3, 64, 1, 255, 0, 1, 66, 1, 255, 0, 0, 67, 1, 254, 0, 0, 99, 1, 255, 0 },
		{ 20, 64, 2, 255, 0, 5, 64, 2, 0, 0, 9, 80, 1, 191, 0, 2, 81, 1, 255, 0 },
		{ 40, 4, 1, 1, 0, 20, 5, 1, 28, 0, 9, 3, 3, 0, 9, 1, 8, 4, 7, 0 },
		{ 90, 56, 2, 255, 0, 1, 64, 2, 200, 0, 30, 63, 1, 99, 0, 2, 62, 0, 128, 0 },
		{ 150, 64, 2, 254, 0, 0, 64, 2, 255, 0, 0, 90, 1, 255, 0, 0, 3, 1, 0x81, 0 },
		/* the first table of path records: its AttributeOffset, its end, the SLID of one */
		{ 103, 45, 1, 0, 0, 0, 4, 1, 3, 0, 5, 109, 1, 9, 0, 2, 96, 1, 0, 0 },
		{ 103, 45, 0x82, 0, 150, 0, 99, 1, 4, 0, 3, 96, 1, 7, 0, 1, 109, 1, 255, 0 },
		{ 103, 99, 0x82, 1, 250, 1, 45, 1, 9, 0, 0, 98, 1, 200, 0, 9, 4, 1, 3, 0 },
	};

	if (i >= sizeof(seed) / sizeof(*seed))
		return false;
	*len = i ? 4 * LIE : LIE;
	*out = xcalloc(*len, 1);
	memcpy(*out, seed[i], *len);
	return true;
}
