/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams from anybody: 256 bytes each, one behind the other; notices of the five phases go
 * on to an agent and to a coordinator. */
#include "tests/fuzz/fuzz.h"

#include "fabric/agent/agent_state.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/update/protocol/phase_seal.h"
#include "fabric/wire/sa.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TXN    7
#define AGENTS 2

struct phases {
	bool begun;
	struct agent_state agent;
	struct coordinator c;
	struct coord_agent known[AGENTS];
};

/* Two agents were asked to drain. */
static void begin(struct phases *p)
{
	struct coord_drain d = {
		.agents = p->known, .nagents = AGENTS, .txn = TXN, .max_sends = 2
	};

	if (p->begun)
		return;
	memset(p, 0, sizeof(*p));
	p->begun = true;
	agent_state_init(&p->agent, NULL);
	agent_state_step(&p->agent, AGENT_EV_START);
	coordinator_init(&p->c, 2, 2);
	coordinator_drain(&p->c, &d);
	coordinator_step(&p->c, EV_START);
	while (p->c.action < ACT_AWAIT)
		coordinator_step(&p->c, EV_DONE);
}

/* The same in every run, so that seeds are. */
static struct site_keys *the_key(void)
{
	static const char hex[] =
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
	static struct site_keys *k;
	char path[40];
	int fd;

	if (k)
		return k;
	fd = memfd_create("key", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || fchmod(fd, 0600) || write(fd, hex, sizeof(hex) - 1) < 0 ||
	    site_keys_load(&k, path, NULL))
		abort();
	close(fd);
	return k;
}

/* Only what the key makes of just that is believed. */
static void seal(const struct notice *n)
{
	int rc = phase_seal_check(n, the_key());
	struct notice again = *n;

	FUZZ_NEED(!rc || rc == -ENOKEY || rc == -EKEYREJECTED);
	FUZZ_NEED(!phase_seal_put(&again, n->issuer_guid, the_key()));
	FUZZ_NEED(!rc == !memcmp(again.details, n->details, NOTICE_DETAILS) ||
		  (n->trap == NOTICE_LOCAL_CHANGES && !n->issuer_guid));
	again.details[53]++;
	FUZZ_NEED(phase_seal_check(&again, the_key()));
}

static void feed(struct phases *p, const struct notice *n)
{
	struct notice_sender from = { .lid = n->issuer_lid };
	struct phase_notice said, again;
	struct notice copy;
	bool answer, same;

	seal(n);
	if (phase_codec_decode(&said, &answer, n))
		return;
	begin(p);
	phase_codec_encode(&copy, &said, answer, &from);
	FUZZ_NEED(!phase_codec_decode(&again, &same, &copy) && same == answer);
	FUZZ_NEED(!memcmp(&said, &again, sizeof(said)));
	if (answer) {
		coordinator_ack(&p->c, n->issuer_lid % AGENTS, &said);
		FUZZ_NEED(p->c.action <= ACT_STOP && p->c.pending <= AGENTS);
		coordinator_answer(&again, &p->c, &said);
		return;
	}
	agent_state_notice(&p->agent, &said);
	FUZZ_NEED(p->agent.mode <= AGENT_RECALLED);
	FUZZ_NEED(p->agent.txn >= said.txn || !phase_notice_in_bounds(&said));
	FUZZ_NEED(p->agent.txn <= PHASE_TXN_MAX && p->agent.seq <= PHASE_SEQ_MAX);
	if (agent_state_busy(&p->agent))
		agent_state_step(&p->agent, said.flags & 1 ? AGENT_EV_FAILED : AGENT_EV_DONE);
}

static void check_notice(struct phases *p, const struct notice *n, size_t bytes)
{
	uint8_t data[NOTICE_SA_DATA];
	struct notice again;

	notice_encode(data, bytes, n);
	FUZZ_NEED(!notice_decode(&again, data, bytes) && !memcmp(n, &again, sizeof(again)));
	feed(p, n);
}

/* Every attribute that an answer may hold, whatever it says that it holds. */
static void attributes(const struct mad_answer *m)
{
	union {
		struct inform_info inform;
		struct path_record path;
		struct port_info port;
		struct node_info node;
		struct switch_info sw;
		struct sm_info sm;
		struct perf_class_info perf;
		struct perf_counters counters;
		struct perf_counters ext;
	} out;
	char desc[SMP_DATA + 1];
	uint8_t vl[16];

	inform_info_decode(&out.inform, m->data);
	path_record_decode(&out.path, m->data);
	port_info_decode(&out.port, m->data);
	node_info_decode(&out.node, m->data);
	switch_info_decode(&out.sw, m->data);
	sm_info_decode(&out.sm, m->data);
	node_desc_decode(desc, m->data);
	FUZZ_NEED(strlen(desc) <= SMP_DATA);
	sl2vl_decode(vl, m->data);
	if (m->mgmt_class != MAD_PERF)
		return;
	perf_class_info_decode(&out.perf, m->data);
	perf_counters_decode(&out.counters, m->data);
	perf_counters_ext_decode(&out.ext, m->data);
}

static void packet(struct phases *p, const uint8_t *data)
{
	static struct mad_packet *k; /* ends where its memory ends */
	struct mad_request request;
	struct mad_answer m;
	struct notice n;
	uint32_t tid;

	if (!k)
		k = fuzz_copy(&(struct mad_packet){ 0 }, sizeof(*k));
	*k = (struct mad_packet){ 0 };
	memcpy(k->data, data, MAD_BYTES);
	if (!mad_parse(&m, k)) {
		FUZZ_NEED(sa_status_text(m.status)[0]);
		attributes(&m);
	}
	mad_parse_request(&request, &tid, k);
	if (!trap_read(&n, k))
		check_notice(p, &n, NOTICE_SMP_DATA);
	if (!report_read(&n, k)) {
		check_notice(p, &n, NOTICE_SA_DATA);
		report_answer(k);
		FUZZ_NEED(report_read(&n, k)); /* an answer to it is none itself */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct phases p;
	struct notice n;

	p.begun = false;
	for (; size >= MAD_BYTES; data += MAD_BYTES, size -= MAD_BYTES)
		packet(&p, data);
	notice_decode(&n, data, size);
	return 0;
}

static void seed_phase(struct mad_packet *p, unsigned i)
{
	struct phase_notice said = { .version = PHASE_NOTICE_VERSION,
				     .phase = i & 1 ? PHASE_REPATH : PHASE_UNPATH,
				     .flags = (uint16_t)(i >> 1 & 7),
				     .repeat = 1,
				     .hold_s = 60,
				     .seq = 1 + (i & 1),
				     .txn = TXN };
	struct notice_sender from = { .lid = (uint16_t)(i + 1), .cap_mask = 0x02514868 };
	struct notice n;

	phase_codec_encode(&n, &said, i & 2, &from);
	n.issuer_guid = 17;
	if (i & 8)
		phase_seal_put(&n, n.issuer_guid, the_key());
	if (i & 4)
		trap_build(p, 1, &n, i);
	else
		report_build(p, 5, 0, 1, &n, i);
}

static void seed_answer(struct mad_packet *p, unsigned i)
{
	struct mad_request r = { .mgmt_class = MAD_SA, .method = MAD_SET, .lid = 1 };
	struct path_record path = { .dlid = 9, .slid = 4, .sl = 3, .pkey = 0xffff, .num = 1 };
	struct inform_info inform;

	inform_info_init(&inform, 144, true);
	if (i & 1) {
		r.attr = SA_PATH_RECORD;
		path_record_encode(r.data, &path);
	} else {
		r.attr = SA_INFORM_INFO;
		inform_info_encode(r.data, &inform);
	}
	mad_build(p, &r, i);
	mad_reply(p, i & 2 ? SA_NO_RECORDS : 0, r.data, SMP_DATA);
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	struct mad_packet p[3];

	if (i >= 16)
		return false;
	*len = 3 * MAD_BYTES;
	*out = fuzz_copy((uint8_t[3 *MAD_BYTES]){ 0 }, *len);
	for (unsigned k = 0; k < 3; k++) {
		if ((i + k) % 4 == 3)
			seed_answer(&p[k], i / 4);
		else
			seed_phase(&p[k], (i + 3 * k) % 16);
		memcpy(*out + k * MAD_BYTES, p[k].data, MAD_BYTES);
	}
	return true;
}
