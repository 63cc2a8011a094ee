/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/paths/path_asker.h"

#include "fabric/wire/sa.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <string.h>

#define TABLES_OPEN   4	   /* each of thousands of records */
#define TABLE_MS      2000 /* for all of its datagrams */
#define TABLE_TRIES   2
#define TABLES_FAILED 4 /* then no more are asked for */
#define ROW_PATHS     3 /* fewer are asked for one by one */

void path_asker_add(struct path_asker *x, uint32_t term, uint16_t dlid)
{
	vec_push(&x->paths, (struct asked_path){ .term = term, .dlid = dlid, .sl = PATH_NO_SL });
}

void path_asker_free(struct path_asker *x)
{
	vec_free(&x->paths);
	vec_free(&x->rows);
}

static void path_asker_query(const struct path_asker *x, struct mad_request *r, uint8_t method,
			     uint64_t mask, const struct path_record *pr)
{
	memset(r, 0, sizeof(*r));
	r->mgmt_class = MAD_SA;
	r->method = method;
	r->attr = SA_PATH_RECORD;
	r->lid = x->sm_lid;
	r->sl = x->sm_sl;
	r->comp_mask = mask;
	path_record_encode(r->data, pr);
}

static void path_asker_learn(struct path_asker *x, struct asked_path *p, uint8_t sl)
{
	if (p->sl == PATH_NO_SL)
		x->report->answered++;
	p->sl = sl;
}

/* --- tables --- */

static bool path_asker_next_table(void *ctx, struct queue_request *out)
{
	struct path_asker *x = ctx;
	struct path_record pr = { .num = PATH_NUM_MOST };

	if (x->row == x->row_end || x->open == TABLES_OPEN || x->failed > TABLES_FAILED)
		return false;
	pr.slid = x->f->term_lid[x->rows.v[x->row].term];
	path_asker_query(x, &out->mad, MAD_GET_TABLE, PATH_BY_SLID | PATH_BY_NUM, &pr);
	out->tag = x->row++;
	out->node = QUEUE_NO_NODE;
	out->timeout_ms = TABLE_MS;
	out->tries = TABLE_TRIES;
	x->open++;
	x->report->queries++;
	x->report->tables++;
	return true;
}

/* NULL: none of that row. */
static struct asked_path *path_asker_find(struct path_asker *x, const struct path_row *row,
					  uint16_t dlid)
{
	size_t low = row->begin, high = row->end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (x->paths.v[mid].dlid < dlid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < row->end && x->paths.v[low].dlid == dlid && x->paths.v[low].term == row->term
		       ? &x->paths.v[low]
		       : NULL;
}

static void path_asker_table_done(void *ctx, const struct queue_request *req, int rc,
				  const struct mad_answer *a)
{
	struct path_asker *x = ctx;
	const struct path_row *row = &x->rows.v[req->tag];
	struct path_record pr;
	struct asked_path *p;
	struct sa_table t;

	x->open--;
	if (rc || sa_table_open(&t, a, PATH_RECORD_BYTES)) {
		x->failed++;
		return;
	}
	for (size_t i = 0; i < t.n; i++) {
		if (path_record_decode(&pr, t.at + i * t.step) ||
		    pr.slid != x->f->term_lid[row->term])
			continue;
		p = path_asker_find(x, row, pr.dlid);
		if (p && p->sl == PATH_NO_SL)
			path_asker_learn(x, p, pr.sl);
	}
}

static int path_asker_run_tables(struct path_asker *x, uint32_t end, struct progress *progress,
				 struct err *err)
{
	struct queue_source src = { .next = path_asker_next_table,
				    .done = path_asker_table_done,
				    .ctx = x,
				    .total = &x->total };

	x->row_end = end;
	x->total = end - x->row;
	return queue_run(x->w->queue, &src, progress, "query path SLs", err);
}

static uint64_t path_asker_open_paths(const struct path_asker *x, const struct path_row *row)
{
	uint64_t n = 0;

	for (size_t i = row->begin; i < row->end; i++)
		n += x->paths.v[i].term == row->term && x->paths.v[i].sl == PATH_NO_SL;
	return n;
}

/* --- path by path --- */

static bool path_asker_next_path(void *ctx, struct queue_request *out)
{
	struct path_asker *x = ctx;
	struct path_record pr = { 0 };
	const struct asked_path *p;

	while (x->at < x->paths.n && x->paths.v[x->at].sl != PATH_NO_SL)
		x->at++;
	if (x->at == x->paths.n)
		return false;
	p = &x->paths.v[x->at];
	pr.slid = x->f->term_lid[p->term];
	pr.dlid = p->dlid;
	path_asker_query(x, &out->mad, MAD_GET, PATH_BY_SLID | PATH_BY_DLID, &pr);
	out->tag = x->at++;
	out->node = QUEUE_NO_NODE;
	x->report->queries++;
	return true;
}

static void path_asker_path_done(void *ctx, const struct queue_request *req, int rc,
				 const struct mad_answer *a)
{
	struct path_asker *x = ctx;
	struct asked_path *p = &x->paths.v[req->tag];
	struct path_record pr;

	if (rc == -EPROTO)
		x->status = a->status;
	if (rc || path_record_decode(&pr, a->data) || pr.dlid != p->dlid ||
	    pr.slid != x->f->term_lid[p->term])
		return;
	path_asker_learn(x, p, pr.sl);
}

static int path_asker_run_paths(struct path_asker *x, struct progress *progress, struct err *err)
{
	struct queue_source src = { .next = path_asker_next_path,
				    .done = path_asker_path_done,
				    .ctx = x,
				    .total = &x->total };

	x->at = 0;
	x->total = x->paths.n - x->report->answered;
	return queue_run(x->w->queue, &src, progress, "query path SLs", err);
}

/* --- all --- */

/* There are rows .. more tables to ask for, and paths. */
static int path_asker_few_enough(const struct path_asker *x, uint64_t rows, uint64_t paths,
				 struct err *err)
{
	uint64_t all = x->report->queries + rows + paths;

	if (!x->max || all <= x->max)
		return 0;
	return err_set(err, -E2BIG,
		       "the SLs of all paths, %s, take %llu queries to the subnet manager; the "
		       "limit is %llu",
		       x->which, (unsigned long long)all, (unsigned long long)x->max);
}

/* The first row tells what the others are worth. */
static int path_asker_ask_tables(struct path_asker *x, struct progress *progress, struct err *err)
{
	const struct path_row *first = x->rows.v;
	uint64_t all, left, in_rows = 0;
	int rc;

	if (!x->rows.n || path_asker_open_paths(x, first) < ROW_PATHS)
		return 0;
	all = path_asker_open_paths(x, first);
	rc = path_asker_run_tables(x, 1, progress, err);
	left = path_asker_open_paths(x, first);
	if (rc || left > all / 2)
		return rc;
	for (size_t i = 1; i < x->rows.n; i++)
		in_rows += path_asker_open_paths(x, &x->rows.v[i]);
	rc = path_asker_few_enough(x, x->rows.n - 1, x->paths.n - x->report->answered - in_rows,
				   err);
	return rc ? rc : path_asker_run_tables(x, (uint32_t)x->rows.n, progress, err);
}

int path_asker_run(struct path_asker *x, struct progress *progress, struct err *err)
{
	uint64_t start = wire_now_ns(x->w);
	struct wire_sm sm;
	int rc = wire_sm_info(&sm, x->w, err);

	if (rc)
		return rc;
	x->sm_lid = sm.lid;
	x->sm_sl = sm.sl;
	x->report->asked = x->paths.n;
	rc = path_asker_ask_tables(x, progress, err);
	if (!rc)
		rc = path_asker_few_enough(x, 0, x->paths.n - x->report->answered, err);
	if (!rc)
		rc = path_asker_run_paths(x, progress, err);
	x->report->took_ns = wire_now_ns(x->w) - start;
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled: not all paths were queried");
	return rc;
}

int path_asker_unanswered(const struct path_asker *x, struct err *err)
{
	const struct path_sl_report *r = x->report;

	return err_set(err, -EIO,
		       "the subnet manager at LID %u reports no SL for %llu of %llu paths: %s",
		       x->sm_lid, (unsigned long long)(r->asked - r->answered),
		       (unsigned long long)r->asked,
		       x->status ? sa_status_text(x->status) : "no response");
}
