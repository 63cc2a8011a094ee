/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire: one open port and the operations over it.
 *
 * Used by one thread at a time.  Nothing here changes the fabric except the two write
 * functions.  Every SMP has the M_Key of the port that it is for (see mkeys.h); none is ever
 * logged.
 *
 * Addressing: after a sweep the wire knows a directed route to every switch (found by GUID, so
 * also for fabrics of an earlier sweep or of a file), and SMPs take it: it does not depend on
 * the LFTs that are being changed, nor on the order of the changes.  Where no route is known or
 * it does not answer any more (a cable was pulled), SMPs go to the LID.  Before anything is read
 * from or written to a switch its GUID is asked for by the same route, so that re-plugged cables
 * or reassigned LIDs cannot misdirect it.  Performance MADs only go by LID.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/ib/mad.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/port_errors.h"
#include "fabric/model/traffic/sample.h"

struct mkeys;
struct name_map;
struct notice_port;
struct queue_stats;
struct wire;

struct wire_opts {
	const char *ca;		    /* umad: name of the HCA; NULL: the first with an active port */
	uint32_t port;		    /* 0: any */
	uint32_t window;	    /* outstanding MADs; 0: 32 */
	uint32_t timeout_ms;	    /* of the first try; 0: 200 */
	uint32_t retries;	    /* 0: 3; UINT32_MAX: none */
	uint64_t m_key;		    /* of ports that m_keys does not have */
	const struct mkeys *m_keys; /* must outlive the wire; NULL: one key for all */
	uint32_t term;		    /* sim: terminal that the port is on */
	bool notices;		    /* take reports of the SM as well: see wire_notices() */
};

/* opts may be NULL.  -ENOTSUP in a build without libibumad; -ENODEV, -EACCES, -ENETDOWN. */
int wire_open_umad(struct wire **out, const struct wire_opts *opts, struct err *err);
/* Over a port that is open, which the wire takes.  It cannot be opened again: opts->notices has no
 * effect, and wire_listen() is -ENOTSUP.  opts may be NULL. */
void wire_open_port(struct wire **out, const struct mad_port *port, const struct wire_opts *opts);

/* How the port under a wire is opened, and opened again by wire_listen(): with reports of the SM or
 * without.  opts are the wire's, without its M_Key; the context must outlive the wire. */
struct wire_opener {
	int (*open)(struct mad_port *out, void *ctx, const struct wire_opts *opts, bool notices,
		    struct err *err);
	void *ctx;
};

/* Over what the opener opens, of which the wire has a copy.  opts may be NULL.  Errors are its. */
int wire_open(struct wire **out, const struct wire_opener *opener, const struct wire_opts *opts,
	      struct err *err);
void wire_close(struct wire *w); /* NULL is fine */

/* Notices over the same port, for the same thread; what is reported while the wire does something
 * else is kept.  The wire's own, NULL when it was not opened with notices. */
struct notice_port *wire_notices(struct wire *w);
/* From now on with notices, over a port opened again; counts start from 0.  Errors as of
 * wire_open_umad() and -EBUSY: another program listens here; then it is as before. */
int wire_listen(struct wire *w, struct err *err);

void wire_local(struct wire *w, struct mad_local *out);
uint64_t wire_now_ns(struct wire *w); /* the port's clock: virtual in tests */

const struct queue_stats *wire_stats(const struct wire *w); /* since it was opened */

/* calm: nobody waits for what is read from now on, and answers are taken in batches of up to a
 * window a millisecond, which costs half of the system calls.  Nothing changes in a simulator. */
void wire_pace(struct wire *w, bool calm);

/* Something that the operator should know about a sweep. */
struct sweep_gap {
	uint64_t guid;	/* node it is about; 0 when that is what could not be found out */
	char text[160]; /* "no answer behind S3 port 17", ... */
	char place[80]; /* where nobody answers, "S3/17" or "S3"; "": it is about something else */
};

struct sweep_report {
	uint32_t switches, cas, routers, links_down;
	uint64_t mads; /* sent */
	uint64_t took_ns;
	uint32_t no_answer;	/* nodes that did not answer at all, or not any more */
	uint32_t clashes;	/* duplicate GUIDs, ports cabled to themselves, broken answers */
	struct sweep_gap *gaps; /* of both kinds, the first 1000 */
	uint32_t ngaps;
	uint16_t sm_lid; /* as the local port has it; 0 none */
};

void sweep_report_clear(struct sweep_report *r); /* frees what it holds */

struct sweep_opts {
	const char *name; /* of the fabric; NULL: as builder_freeze() names a live one */
	const struct name_map *names;
	int lmc; /* -1: as found; else LIDs are assigned again when they do not fit it */
};

/* Discovers everything that can be reached from the port over directed routes.  A part that does
 * not answer is left out and named in the report; the rest is still a fabric.
 * opts and report may be NULL.  -EHOSTUNREACH: not even the local port or its switch answers. */
int wire_sweep(struct fabric **out, struct sweep_report *report, struct wire *w,
	       const struct sweep_opts *opts, struct progress *progress, struct err *err);

/* The same after a sweep, where only the n switches of these GUIDs say that something has changed:
 * they, what is behind their ports, and what is new behind that.  Whoever cannot be reached any
 * more is left out.  The rest is taken as it was, its LIDs, too.  O(fabric) in memory, in
 * MADs about four for each port of the switches.
 * -EAGAIN: only a whole sweep can tell, since something did not answer or is not known, or the last
 * one had missed something; the wire is as before. */
int wire_sweep_part(struct fabric **out, struct sweep_report *report, struct wire *w,
		    const struct sweep_opts *opts, const uint64_t *sw_guid, uint32_t n,
		    struct progress *progress, struct err *err);

/* Result of reading or writing a list: rc of each item is 0 or -errno (-ETIMEDOUT no answer,
 * -EPROTO refused by the switch, -EIO written but read back differently, -ESTALE another
 * switch is there now, -ECANCELED not done).  Who answers at a switch's address is asked before,
 * but not again within a second in which nothing was missing or different. */
struct wire_block {
	uint32_t sw;
	uint32_t block; /* LIDs block*64 .. block*64+63 */
	int rc;
	uint8_t port[LFT_BLOCK];
};

struct wire_sl2vl {
	uint32_t sw;
	uint8_t in, out;
	int rc;
	uint8_t vl[FAB_SLS];
};

/* 0 when all items are 0, else -EIO, the message naming the first and how many; or -ECANCELED, or
 * what the port failed with.  Items of one switch should be neighbours in write lists, not in read
 * lists.  Writes are checked against the answer of the switch.
 *
 * With back they are also read back: a switch is read as soon as all its writes were answered (or
 * failed), while others are still written to.  back: n items of the same switches and blocks in the
 * same order, each gets its rc and what was read; or NULL.  The message is about writes before
 * reads. */
int wire_read_blocks(struct wire *w, const struct fabric *f, struct wire_block *b, uint32_t n,
		     struct progress *progress, struct err *err);
int wire_write_blocks(struct wire *w, const struct fabric *f, struct wire_block *b,
		      struct wire_block *back, uint32_t n, struct progress *progress,
		      struct err *err);
int wire_read_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s, uint32_t n,
		    struct progress *progress, struct err *err);
int wire_write_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s,
		     struct wire_sl2vl *back, uint32_t n, struct progress *progress,
		     struct err *err);

struct tables_report {
	uint64_t mads;
	uint64_t took_ns;
	uint32_t blocks, blocks_missing;
	uint32_t sl2vl, sl2vl_missing; /* (input, output) pairs */
	uint32_t *missing_sw;	       /* switches with something missing, ascending */
	uint32_t nmissing;
	uint16_t top_max;	   /* highest LinearFDBTop found */
	uint16_t top_min, cap_min; /* lowest LinearFDBTop and LinearFDBCap, and whose */
	uint32_t top_min_sw, cap_min_sw;
};

void tables_report_clear(struct tables_report *r);

/* The installed tables: LFT blocks 0 .. LinearFDBTop of every switch and, with want_sl2vl,
 * SL2VL between all ports with something on them (ports^2 MADs a switch; else SL2VL_UNREAD), and
 * which VLs have a weight in the VL arbitration of these ports (2 to 4 MADs a port), which not all
 * switches tell.
 * What could not be read stays FAB_NO_PORT and is in the report.  The SLs of paths
 * are the SM's and not in any switch: they are left at constant 0.
 * report may be NULL.  -EIO when no switch answered. */
int wire_read_tables(struct tables **out, struct wire *w, const struct fabric *f, bool want_sl2vl,
		     struct tables_report *report, struct progress *progress, struct err *err);

/* The SL2VL tables that belong to LFTs that were read without them, in parts: they are nine
 * tenths of all tables.  Counters and anything else may be read between two parts.  Errors as of
 * wire_read_tables(); after -ECANCELED requests are lost: only the end is left. */
struct sl2vl_reading;
int wire_sl2vl_begin(struct sl2vl_reading **out, struct wire *w, const struct fabric *f,
		     const struct tables *lfts, struct progress *progress, struct err *err);
/* -EAGAIN: there is more, after a pause.  Progress step: "read SL2VL", done and total over all
 * runs. */
int wire_sl2vl_read(struct sl2vl_reading *r, struct progress *progress, struct err *err);
/* Called from the progress of a run: it ends when outstanding requests are answered. */
void wire_sl2vl_pause(struct sl2vl_reading *r);
/* After 0: LFTs with their SL2VL, owned by the caller; report: of all runs, without LFTs.  r is
 * gone. */
struct tables *wire_sl2vl_take(struct tables_report *report, struct sl2vl_reading *r);
void wire_sl2vl_free(struct sl2vl_reading *r); /* NULL is fine */

/* What the SM was asked about SLs of paths. */
struct path_sl_report {
	uint64_t asked, answered; /* paths; answered without an error */
	uint64_t queries, tables; /* that this took, repetitions aside; tables among them */
	uint64_t differ;	  /* of the answers, from what was claimed or read before */
	uint32_t term;		  /* the first that differs: source terminal, LID, SLs */
	uint16_t dlid;
	uint8_t actual, claimed;
	uint64_t took_ns;
};

/* Reads the SLs of t (owned by the caller alone) from the SM's path records: from one terminal of
 * each switch to every LID in use, a query for a table each, or a query a path where the SA gives
 * no tables; then extra queries from random terminals, picked by seed, that check whether the
 * terminals of a switch share their SLs.  When they do not, from every terminal to every LID.  Kept
 * in the cheapest form that holds them. Switches without terminals send no paths, nor does a
 * terminal to its own LIDs: SL 0. report->differ other than 0: they changed while they were read.
 * -E2BIG: more than max queries are needed; -EIO: paths without an answer.  After an error the SLs
 * of t mean nothing. */
int wire_read_path_sls(struct tables *t, struct wire *w, const struct fabric *f, uint64_t max,
		       uint32_t extra, uint64_t seed, struct path_sl_report *report,
		       struct progress *progress, struct err *err);
/* The SLs of t, where they are not known, in as few queries as will do: of all, as above, where
 * these are few; else of 64 paths by chance, and of all where those are not SL 0.  0: t->sls_told.
 * -EIO: some have no answer, -EAGAIN: others each time, -E2BIG: more than max queries; then t has
 * SL 0 as before. */
int wire_learn_path_sls(struct tables *t, struct wire *w, const struct fabric *f, uint64_t max,
			struct progress *progress, struct err *err);
/* Asks for n random paths, terminal to LID, whether the SM has the SLs of t for them.  0 also when
 * some differ, which the report says.  -EIO: none was answered. */
int wire_check_path_sls(struct wire *w, const struct fabric *f, const struct tables *t, uint32_t n,
			uint64_t seed, struct path_sl_report *report, struct progress *progress,
			struct err *err);

enum sample_what {
	SAMPLE_TRAFFIC = 1, /* bytes and packets */
	SAMPLE_ERRORS = 2,
	SAMPLE_WAIT = 4,
	SAMPLE_ALL = 7,
	SAMPLE_SUMS = 8,  /* with ALL: sums instead of ports, where they say the same */
	SAMPLE_CALM = 16, /* with SUMS: also where they say the same to 0.01 % of a link */
};

/* Counters of the switch ports that have a link: one MAD a port for traffic, one more for errors
 * and wait where the switch does not have them in 64 bits.  What a switch counts is asked for
 * once and remembered.  Silent switches are asked less and less often (see queue.h).
 * With SAMPLE_SUMS a switch that can add up its ports, and on which nothing moved from one reading
 * to the next, is asked for the sum of them first.  While it stands still, its ports have
 * what they actual last, as of now, for at most 10 s; then they are read themselves.
 * 0 even when nothing answered: the sample says so. */
int wire_read_sample(struct sample **out, struct wire *w, const struct fabric *f, unsigned what,
		     struct progress *progress, struct err *err);

/* The error counters of all switch ports with a link and of the ports of hosts: one MAD each, by
 * LID. 0 even when nothing answered; the caller owns one reference. */
int wire_read_errors(struct error_set **out, struct wire *w, const struct fabric *f,
		     struct progress *progress, struct err *err);

struct wire_sm {
	uint16_t lid;
	uint8_t sl;	    /* of the path to it */
	uint64_t guid;	    /* port GUID */
	uint32_t act_count; /* grows while the SM lives */
	uint8_t priority;
	uint8_t state; /* enum sm_state */
};

/* The master SM as the local port knows it.  -ENOENT: no SM has been here; -ETIMEDOUT. */
int wire_sm_info(struct wire_sm *out, struct wire *w, struct err *err);
/* Does the port of each LID answer an SMP that goes there and back by the tables of the switches?
 * rc of each: 0, -ETIMEDOUT, -ECANCELED.  0 whatever they are, or what the port failed with. */
struct wire_ping {
	uint16_t lid;
	uint8_t tries; /* 0: as the wire's options say */
	int rc;
};

int wire_ping(struct wire *w, struct wire_ping *p, uint32_t n, struct progress *progress,
	      struct err *err);
/* Out: f with what its hosts are called now (fabric_renamed(), the caller's), or NULL: as they
 * were. Asked over the tables that are installed; who does not answer keeps his name.  -ECANCELED,
 * or what the port failed with. */
int wire_read_names(struct fabric **out, struct wire *w, const struct fabric *f,
		    struct progress *progress, struct err *err);
const char *wire_sm_state_name(uint8_t state);

/* Records of services at the SM (sa.h), in the name of the local port: where a record has no GID it
 * has the port's.  Set again before its lease is over, one goes on.  0; -EOPNOTSUPP: the SM
 * refuses, and says why; -ETIMEDOUT. */
struct service_record;
int wire_service_set(struct wire *w, const struct service_record *r, struct err *err);
int wire_service_remove(struct wire *w, const struct service_record *r, struct err *err);
/* The one that is as r in what mask has (SERVICE_BY_ID, ..).  -ENOENT: none; -ENOTUNIQ: several. */
int wire_service_find(struct service_record *out, struct wire *w, const struct service_record *r,
		      uint64_t mask, struct err *err);
