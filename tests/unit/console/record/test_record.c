/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record.h"

#include "console/record/audit/audit.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/version.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int setup(void **state)
{
	*state = net_tmpdir();
	unsetenv("SSH_CONNECTION");
	return 0;
}

static int teardown(void **state)
{
	net_rmdir(*state);
	return 0;
}

static struct record *open_in(const char *dir)
{
	struct record_opts o = { .dir = dir, .fabric = "testnet", .mode = "rw" };
	struct record *r;
	struct err err = { "" };

	if (record_open(&r, &o, &err))
		fail_msg("%s", err.text);
	return r;
}

static void add_note(struct record *r, const char *text)
{
	struct err err = { "" };

	if (record_add(r, "note", json_pack("{s:o}", "text", json_text(text)), &err))
		fail_msg("%s", err.text);
}

static struct audit_report verify(const char *path)
{
	struct audit_report rep;

	assert_int_equal(audit_verify(&rep, path, NULL, NULL), 0);
	return rep;
}

static void line_has_the_keys_of_the_format_in_order(void **state)
{
	static const char *const keys[] = { "v",    "seq",  "ts",   "mono_ns", "sid",
					    "type", "user", "data", "prev" };
	struct record *r;
	char *path, *text;
	const char *key;
	size_t len, n = 0;
	json_t *j, *v;

	setenv("SSH_CONNECTION", "10.0.0.1 5 10.0.0.2 22", 1);
	r = open_in(*state);
	path = xstrdup(record_path(r));
	add_note(r, "two\nlines \"quoted\"");
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, "\"prev\":\"00000000000000000000000000000000"
				     "00000000000000000000000000000000\"}\n{\"v\":1,\"seq\":1,"));
	j = json_loads(strchr(text, '\n') + 1, JSON_DISABLE_EOF_CHECK, NULL);
	assert_non_null(j);
	json_object_foreach(j, key, v)
	{
		assert_true(n < sizeof(keys) / sizeof(*keys));
		assert_string_equal(key, keys[n++]);
	}
	assert_int_equal(n, sizeof(keys) / sizeof(*keys));
	assert_int_equal(json_object_size(json_object_get(j, "user")), 3);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "user"), "ssh")),
			    "10.0.0.1 5 10.0.0.2 22");
	json_decref(j);
	free(text);
	free(path);
}

static void line_of_text_is_as_one_of_json(void **state)
{
	static const char text[] = "{\"list\":[1,\"two\",null],\"prev\":\"\"}";
	struct record *r = open_in(*state);
	char *path = xstrdup(record_path(r)), *all;
	struct audit_report rep;
	size_t len;
	json_t *j, *same;

	assert_int_equal(record_add_text(r, "lft.write", text, NULL), 0);
	assert_int_equal(record_add_text(r, "lft.write", NULL, NULL), -EINVAL);
	add_note(r, "after it");
	assert_int_equal(record_close(r, NULL), 0);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(store_read(&all, &len, path, NULL), 0);
	j = json_loads(strchr(all, '\n') + 1, JSON_DISABLE_EOF_CHECK, NULL);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "type")), "lft.write");
	same = json_loads(text, 0, NULL);
	assert_true(json_equal(json_object_get(j, "data"), same));
	json_decref(same);
	assert_non_null(strstr(all, ",\"type\":\"record.gap\","));
	json_decref(j);
	free(all);
	free(path);
}

static void first_line_names_the_version_of_the_program(void **state)
{
	struct record *r = open_in(*state);
	char line[4096] = "";
	FILE *f = fopen(record_path(r), "r");
	json_t *j;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	j = json_loads(line, 0, NULL);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(j, "data"), "version")),
		IBROUTE_VERSION);
	json_decref(j);
	record_close(r, NULL);
}

static void few_lines_of_shell_verify_it(void **state)
{
	static const char script[] =
		"prev=$(printf '0%%.0s' $(seq 64)); while IFS= read -r line; do "
		"case $line in *'\"prev\":\"'\"$prev\"'\"}') ;; *) exit 1 ;; esac; "
		"prev=$(printf %%s \"$line\" | sha256sum | cut -d' ' -f1); done <'%s'; "
		"[ \"$prev\" = '%s' ]";
	struct record *r = open_in(*state);
	char *path = xstrdup(record_path(r)), *cmd;
	char hex[DIGEST_HEX];
	struct audit_report rep;

	for (int i = 0; i < 20; i++)
		add_note(r, "caf\xc3\xa9 100% \\ 'x'");
	assert_int_equal(record_close(r, NULL), 0);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	cmd = xasprintf(script, path, digest_hex(hex, &rep.head));
	assert_int_equal(system(cmd), 0);
	free(cmd);
	cmd = xasprintf("sed -i 's/caf/cup/' '%s'", path);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	cmd = xasprintf(script, path, hex);
	assert_int_not_equal(system(cmd), 0);
	free(cmd);
	free(path);
}

static void file_is_private_to_the_group_and_only_appended(void **state)
{
	char *dir = xasprintf("%s/log/ibr", (char *)*state);
	mode_t old = umask(0077);
	struct record *r = open_in(dir);
	struct stat st;

	umask(old);
	assert_int_equal(stat(record_path(r), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0750);
	record_close(r, NULL);
	free(dir);
}

static void sessions_are_chained_to_the_one_before(void **state)
{
	struct record *a = open_in(*state), *b;
	char *path_a = xstrdup(record_path(a)), *path_b, *sid = xstrdup(record_sid(a));
	struct audit_report ra, rb;

	record_close(a, NULL);
	b = open_in(*state); /* the same second and process: a name of its own */
	path_b = xstrdup(record_path(b));
	assert_string_not_equal(path_a, path_b);
	record_close(b, NULL);
	ra = verify(path_a);
	rb = verify(path_b);
	assert_string_equal(ra.genesis_sid, "");
	assert_string_equal(rb.genesis_sid, sid);
	assert_true(digest_equal(&rb.genesis, &ra.head));
	assert_string_equal(ra.next_sid, rb.sid);
	free(path_a);
	free(path_b);
	free(sid);
}

static void place_that_cannot_be_written_is_refused(void **state)
{
	char *file = xasprintf("%s/file", (char *)*state);
	struct record_opts o = { .dir = file };
	struct err err = { "" };
	struct record *r;

	assert_int_equal(store_write(file, "x", 1, NULL), 0);
	assert_int_equal(record_open(&r, &o, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, file));
	o.dir = "/proc/ibroute-no-such-place";
	assert_int_not_equal(record_open(&r, &o, &err), 0);
	assert_non_null(strstr(err.text, o.dir));
	free(file);
}

static void limit_file_size(rlim_t size)
{
	struct rlimit l;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void full_disk_is_told_and_leaves_no_torn_line(void **state)
{
	struct record *r = open_in(*state);
	char *path = xstrdup(record_path(r)), *text;
	struct audit_report rep;
	struct err err = { "" };
	struct stat st;
	size_t len;

	add_note(r, "before");
	assert_int_equal(stat(path, &st), 0);
	limit_file_size((rlim_t)st.st_size + 50);
	for (int i = 0; i < 3; i++)
		assert_int_equal(record_add(r, "lft.write", json_pack("{s:i}", "n", i), &err),
				 -EFBIG);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(record_sync(r, &err), -EFBIG); /* what was lost cannot even be told */
	rep = verify(path);
	assert_true(rep.ok && !rep.ended);
	assert_int_equal(rep.lines, 2);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(record_sync(r, &err), 0);
	add_note(r, "after");
	assert_int_equal(record_close(r, NULL), 0);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.lines, 5);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, "\"type\":\"record.gap\""));
	assert_non_null(strstr(text, "{\"lost\":3}"));
	free(text);
	free(path);
}

static bool disk_fails;

/* Instead of libc's. */
int fsync(int fd)
{
	if (!disk_fails)
		return (int)syscall(SYS_fsync, fd);
	errno = EIO;
	return -1;
}

static void part_that_cannot_be_synced_is_told_and_nothing_is_behind_its_end(void **state)
{
	struct record_opts o = { .dir = *state, .part_bytes = 2000 };
	struct err err = { "" };
	struct audit_report rep;
	char *first, *second;
	struct record *r;

	assert_int_equal(record_open(&r, &o, &err), 0);
	first = xstrdup(record_path(r));
	second = xasprintf("%s/%s.2.jsonl", o.dir, record_sid(r));
	assert_int_equal(record_sync(r, &err), 0);
	disk_fails = true;
	while (access(second, F_OK) && record_seq(r) < 100)
		add_note(r, "until the part is full");
	add_note(r, "behind it");
	disk_fails = false;
	/* that a later sync works does not bring it back */
	for (int i = 0; i < 2; i++) {
		err.text[0] = '\0';
		assert_int_equal(record_sync(r, &err), -EIO);
		assert_non_null(strstr(err.text, first));
		assert_int_equal(record_whole(r, NULL), -EIO);
	}
	assert_int_equal(record_close(r, NULL), -EIO);
	rep = verify(first);
	assert_true(rep.ok && rep.rotated);
	rep = verify(second);
	assert_true(rep.ok && rep.ended && rep.part == 2);
	free(second);
	free(first);
}

static void data_that_is_no_json_is_an_error(void **state)
{
	struct record *r = open_in(*state);
	struct err err = { "" };

	assert_int_equal(record_add(r, "note", NULL, &err), -EINVAL);
	assert_int_equal(record_sync(r, &err), 0);
	assert_int_equal(record_seq(r), 2); /* with the gap */
	assert_int_equal(record_close(r, NULL), 0);
}

static void *many_notes(void *r)
{
	for (int i = 0; i < 200; i++)
		add_note(r, "from a thread");
	return NULL;
}

static void threads_keep_the_chain_whole(void **state)
{
	struct record *r = open_in(*state);
	char *path = xstrdup(record_path(r));
	struct audit_report rep;
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many_notes, r), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	record_close(r, NULL);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.lines, 802);
	free(path);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(line_has_the_keys_of_the_format_in_order),
		T(line_of_text_is_as_one_of_json),
		T(first_line_names_the_version_of_the_program),
		T(few_lines_of_shell_verify_it),
		T(file_is_private_to_the_group_and_only_appended),
		T(sessions_are_chained_to_the_one_before),
		T(place_that_cannot_be_written_is_refused),
		T(full_disk_is_told_and_leaves_no_torn_line),
		T(part_that_cannot_be_synced_is_told_and_nothing_is_behind_its_end),
		T(data_that_is_no_json_is_an_error),
		T(threads_keep_the_chain_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
