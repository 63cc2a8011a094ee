/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/update_record.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct world {
	char *dir;
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct changes *l;
	struct executor_item *item;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->dir = net_tmpdir();
	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, true);
	w->to = net_tables(w->f, 1, true);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 0, NULL), 0);
	w->l = w->p->changes;
	w->item = xcalloc(w->l->n, sizeof(*w->item));
	for (uint32_t i = 0; i < w->l->n; i++)
		w->item[i] = (struct executor_item){ i, i % 7 ? 0 : -5, 100 + i };
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->item);
	plan_free(w->p);
	tables_put(w->from);
	tables_put(w->to);
	fabric_put(w->f);
	net_rmdir(w->dir);
	free(w);
	return 0;
}

static char *recorded(struct world *w, enum phase phase)
{
	struct record_opts o = { .dir = w->dir, .mode = "rw" };
	struct executor_event ev = { .kind = APPLY_ITEM,
				     .phase = phase,
				     .wave = 3,
				     .txn = "t-1",
				     .list = w->l,
				     .item = w->item,
				     .items = w->l->n };
	struct record *r;
	char *path, *text;
	size_t len;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	path = xstrdup(record_path(r));
	update_record_event(r, &ev, w->f);
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	free(path);
	return text;
}

static void same_hash(json_t *j, const uint8_t *data, size_t len)
{
	char hex[DIGEST_HEX];
	struct digest d;

	digest_of(&d, data, len);
	assert_string_equal(json_string_value(j), digest_hex(hex, &d));
}

/* Entry e of change i. */
static void check_entry(const struct world *w, json_t *e, uint32_t i, bool back)
{
	const struct change *c = &w->l->v[i];
	const uint8_t *old = change_old(w->l, c), *new = change_new(w->l, c);
	size_t k = c->kind == CHANGE_SL2VL;

	assert_int_equal(json_object_size(e), 5 + k);
	assert_int_equal(json_integer_value(json_object_get(e, k ? "in" : "block")),
			 k ? c->in : c->block);
	if (k)
		assert_int_equal(json_integer_value(json_object_get(e, "out")), c->out);
	same_hash(json_object_get(e, "old"), back ? new : old, change_bytes(c));
	same_hash(json_object_get(e, "new"), back ? old : new, change_bytes(c));
	assert_int_equal(json_integer_value(json_object_get(e, "status")), w->item[i].rc);
	if (w->item[i].us)
		assert_int_equal(lround(json_number_value(json_object_get(e, "ms")) * 1000),
				 w->item[i].us);
	else
		assert_true(json_is_null(json_object_get(e, "ms")));
}

static uint32_t check_switch(const struct world *w, json_t *s, uint32_t i, bool back)
{
	const struct change *c = &w->l->v[i];
	json_t *list, *e;
	char guid[24];
	size_t k;

	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)c->guid);
	assert_string_equal(json_string_value(json_object_get(s, "sw")), guid);
	assert_string_equal(json_string_value(json_object_get(s, "name")), w->f->sw_name[c->sw]);
	list = json_object_get(s, c->kind == CHANGE_LFT ? "blocks" : "tables");
	assert_true(json_array_size(list) > 0);
	json_array_foreach(list, k, e) check_entry(w, e, i++, back);
	return i;
}

/* Every line of writes; returns how many changes they tell of. */
static uint32_t check(const struct world *w, char *text, bool back)
{
	char *save = NULL;
	uint32_t i = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_t *j = json_loads(line, 0, NULL), *data, *s;
		const char *type;
		size_t k;

		assert_non_null(j);
		type = json_string_value(json_object_get(j, "type"));
		data = json_object_get(j, "data");
		if (strstr(type, ".write")) {
			assert_string_equal(type, w->l->v[i].kind == CHANGE_LFT ? "lft.write"
										: "sl2vl.write");
			assert_string_equal(json_string_value(json_object_get(data, "txn")), "t-1");
			assert_int_equal(json_integer_value(json_object_get(data, "wave")), 3);
			assert_int_equal(json_is_true(json_object_get(data, "rollback")), back);
			json_array_foreach(json_object_get(data, "switches"), k, s) i =
				check_switch(w, s, i, back);
		}
		json_decref(j);
	}
	return i;
}

static void lines_tell_every_write_with_its_hashes(void **state)
{
	struct world *w = *state;

	assert_true(w->l->nsl2vl > 0 && w->l->nlft > 0);
	for (int hashed = 0; hashed < 2; hashed++) {
		char *text = recorded(w, PHASE_WRITE);

		assert_int_equal(check(w, text, false), w->l->n);
		free(text);
		changes_hash(w->l);
	}
}

static void of_a_rollback_old_and_new_are_exchanged(void **state)
{
	struct world *w = *state;
	char *text = recorded(w, PHASE_ROLLBACK);

	assert_int_equal(check(w, text, true), w->l->n);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_tell_every_write_with_its_hashes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(of_a_rollback_old_and_new_are_exchanged, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
