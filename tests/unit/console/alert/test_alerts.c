/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert_command.h"
#include "console/alert/alert_syslog.h"
#include "console/alert/alerts.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#define PATIENCE_S 120

static char folder[] = "/tmp/test_alerts.XXXXXX";

/* --- a socket that a daemon would have ------------------------------------------------------- */

static int daemon_socket(const char *path, int type)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	unlink(path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* The next message; fails the test where none comes. */
static const char *daemon_hears(int fd)
{
	static char text[4096];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		fail_msg("nothing came: %s", strerror(errno));
	text[n] = '\0';
	return text;
}

/* --- findings -------------------------------------------------------------------------------- */

static struct findings *some(size_t n, ...)
{
	struct findings *l = findings_new();
	va_list ap;

	l->v = xcalloc(n, sizeof(*l->v));
	l->n = l->cap = n;
	va_start(ap, n);
	for (size_t i = 0; i < n; i++)
		l->v[i] = (struct finding){ .kind = FINDING_GONE,
					    .what = "cable",
					    .subject = xstrdup(va_arg(ap, const char *)),
					    .guid = 1 + i };
	va_end(ap);
	for (size_t i = 0; i < n; i++) /* by name, wherever it stands */
		l->v[i].guid = (uint64_t)(unsigned char)l->v[i].subject[0];
	return l;
}

static void hears(int fd, const char *state, const char *text)
{
	const char *said = daemon_hears(fd);
	char *want = xasprintf(" state=\"%s\" kind=\"gone\" what=\"cable\"", state);

	if (!strstr(said, want) || !strstr(said, text))
		fail_msg("not \"%s\" and \"%s\": %s", want, text, said);
	free(want);
}

static void findings_are_told_when_they_come_and_when_they_go(void **state)
{
	char *path = temp_folder_file("log");
	int fd = daemon_socket(path, SOCK_DGRAM);
	struct alert_opts o;
	struct alerts *a;
	struct findings *l[] = { some(2, "a - b", "c - d"), some(2, "a - b", "c - d"),
				 some(2, "c - d", "e - f"), some(0) };

	(void)state;
	alert_opts_init(&o);
	o.syslog = true;
	o.syslog_path = path;
	a = alerts_new(&o);
	alerts_fabric(a, "fab-1");
	alerts_findings(a, l[0]);
	hears(fd, "raised",
	      "fabric=\"fab-1\"] \xef\xbb\xbf"
	      "cable gone: a - b");
	hears(fd, "raised", "cable gone: c - d");
	alerts_findings(a, l[1]);
	alerts_findings(a, NULL); /* nothing is known: nothing is said */
	alerts_findings(a, l[2]);
	hears(fd, "cleared", "cleared: cable gone: a - b");
	hears(fd, "raised", "cable gone: e - f");
	alerts_findings(a, l[3]);
	hears(fd, "cleared", "c - d");
	hears(fd, "cleared", "e - f");
	alerts_free(a, PATIENCE_S * 1000);
	assert_int_equal(recv(fd, (char[1]){ 0 }, 1, MSG_DONTWAIT), -1);
	for (size_t i = 0; i < sizeof(l) / sizeof(*l); i++)
		findings_put(l[i]);
	close(fd);
	free(path);
}

static void lines_of_the_log_are_alerts_from_a_level_on(void **state)
{
	char *path = temp_folder_file("log");
	int fd = daemon_socket(path, SOCK_DGRAM);
	struct log_line line = { .time_ns = 1700000000123456789u, .level = LOG_INFO };
	struct alert_opts o;
	struct alerts *a;
	const char *said;

	(void)state;
	alert_opts_init(&o);
	o.syslog = true;
	o.syslog_path = path;
	a = alerts_new(&o);
	strcpy(line.area, "sweep");
	strcpy(line.text, "all is well");
	alerts_line(a, &line);
	line.level = LOG_WARN;
	strcpy(line.area, "alert"); /* about alerts: no more of them */
	alerts_line(a, &line);
	strcpy(line.area, "sm");
	strcpy(line.text, "the SM is gone");
	alerts_line(a, &line);
	said = daemon_hears(fd);
	assert_ptr_equal(strstr(said, "<28>1 2023-11-14T22:13:20.123Z "), said);
	assert_non_null(strstr(said, " event [ibroute@32473 level=\"warn\" state=\"event\" "
				     "kind=\"event\" what=\"sm\"] \xef\xbb\xbfthe SM is gone"));
	o.events = false;
	alerts_line(a, &line);
	alerts_free(a, PATIENCE_S * 1000);
	assert_int_equal(recv(fd, (char[1]){ 0 }, 1, MSG_DONTWAIT), -1);
	close(fd);
	free(path);
}

/* --- syslog ---------------------------------------------------------------------------------- */

#define NASTY "a\"]\\ ;$(touch here)`touch here` 'b"

static struct alert nasty(void)
{
	struct alert a;

	alert_make(&a, LOG_ERROR, "gone", "host", "host gone: %s\n\x1b[2J", NASTY);
	snprintf(a.subject, sizeof(a.subject), "%s", NASTY);
	a.state = ALERT_RAISED;
	return a;
}

static void structured_data_is_escaped(void **state)
{
	struct alert a = nasty();
	size_t len;
	char *text = alert_syslog_rfc5424(&len, &a);

	(void)state;
	assert_ptr_equal(strstr(text, "<27>1 "), text);
	assert_non_null(strstr(text, " subject=\"a\\\"\\]\\\\ ;$(touch here)`touch here` 'b\"]"));
	assert_null(strchr(text, '\n'));
	assert_null(strchr(text, '\x1b'));
	assert_int_equal(len, strlen(text));
	free(text);
}

static void journald_gets_a_field_a_line(void **state)
{
	char *dir = temp_folder_file("journal"), *path = xasprintf("%s/socket", dir);
	struct alert_syslog s;
	struct alert a = nasty();
	struct err err = { "" };
	const char *said;
	int fd;

	(void)state;
	mkdir(dir, 0700);
	fd = daemon_socket(path, SOCK_DGRAM);
	alert_syslog_init(&s, path);
	assert_int_equal(alert_syslog_deliver(&s, NULL, &a, &err), 0);
	said = daemon_hears(fd);
	assert_non_null(strstr(said, "MESSAGE=host gone: " NASTY "??[2J\nPRIORITY=3\n"));
	assert_non_null(strstr(said, "\nIBROUTE_KIND=gone\n"));
	assert_non_null(strstr(said, "\nIBROUTE_SUBJECT=" NASTY "\n"));
	assert_null(strstr(said, "IBROUTE_BEFORE"));
	alert_syslog_done(&s);
	close(fd);
	unlink(path);
	rmdir(dir);
	free(path);
	free(dir);
}

static void a_daemon_that_is_started_again_is_found_again(void **state)
{
	char *path = temp_folder_file("log");
	struct alert_sink sink = { "syslog", alert_syslog_deliver, NULL };
	struct alert_queue *q;
	struct alert_syslog s;
	struct alert a = nasty();
	int fd = daemon_socket(path, SOCK_DGRAM);

	(void)state;
	alert_syslog_init(&s, path);
	sink.ctx = &s;
	q = alert_queue_new(&sink);
	alert_queue_put(q, &a);
	daemon_hears(fd);
	close(fd);
	fd = daemon_socket(path, SOCK_STREAM); /* and listens for another kind */
	assert_int_equal(listen(fd, 4), 0);
	alert_queue_put(q, &a);
	{
		int c = accept(fd, NULL, NULL);
		const char *said = daemon_hears(c);

		assert_ptr_equal(strstr(said, "<27>1 "), said);
		assert_int_equal(said[strlen(said) - 1], '\n');
		close(c);
	}
	alert_queue_free(q, PATIENCE_S * 1000);
	alert_syslog_done(&s);
	close(fd);
	free(path);
}

/* --- commands -------------------------------------------------------------------------------- */

static char *file_text(const char *name)
{
	FILE *f = temp_folder_open(name, "r");
	char text[4096];
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return xstrdup(text);
}

static int run(const char *command, uint32_t limit_ms, struct err *err)
{
	struct alert_command c = { .command = command, .limit_ms = limit_ms };
	struct alert_sink idle = { "none", alert_command_deliver, &c };
	struct alert_queue *q = alert_queue_new(&idle);
	struct alert a = nasty();
	int rc = alert_command_deliver(&c, q, &a, err);

	alert_queue_free(q, 0);
	return rc;
}

static void names_are_in_the_environment_and_in_no_command(void **state)
{
	struct err err = { "" };
	char *dir = temp_folder_file(""), *command, *text;
	json_t *j;

	(void)state;
	command = xasprintf("cd %s && printf '%%s' \"$IBROUTE_ALERT_SUBJECT\" >subject && "
			    "printf '%%s' \"$IBROUTE_ALERT\" >json && "
			    "printf '%%s' \"$IBROUTE_ALERT_STATE\" >state",
			    dir);
	assert_int_equal(run(command, PATIENCE_S * 1000, &err), 0);
	text = file_text("subject");
	assert_string_equal(text, NASTY);
	free(text);
	text = file_text("state");
	assert_string_equal(text, "raised");
	free(text);
	text = file_text("json");
	j = json_loads(text, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "ibroute-top-alert/1");
	assert_string_equal(json_string_value(json_object_get(j, "subject")), NASTY);
	assert_string_equal(json_string_value(json_object_get(j, "text")),
			    "host gone: " NASTY "??[2J");
	json_decref(j);
	free(text);
	text = xasprintf("%shere", dir);
	assert_int_equal(access(text, F_OK), -1);
	free(text);
	free(command);
	free(dir);
}

static void a_command_that_takes_too_long_is_ended(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_int_equal(run("sleep 600 & sleep 600", 100, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "event command took too long"));
	assert_int_equal(run("exit 3", PATIENCE_S * 1000, &err), -EIO);
	assert_non_null(strstr(err.text, "exit code 3"));
}

static void urls_are_checked_before_they_are_used(void **state)
{
	static const char *const bad[] = { "ftp://a/",	  "file:///etc/passwd", "http://a b/",
					   "http://a/\n", "-o/etc/passwd",	"" };
	struct err err = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(alert_webhook_check(bad[i], &err), -EINVAL);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(alert_webhook_check("https://a/b?c=d", &err), -ENOENT);
	assert_non_null(strstr(err.text, "curl"));
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
}

/* --- the queue ------------------------------------------------------------------------------- */

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool open, waits;
	uint32_t delivered;
	struct alert last;
};

static int through(void *ctx, const struct alert_queue *q, const struct alert *a, struct err *err)
{
	struct gate *g = ctx;

	(void)q;
	(void)err;
	pthread_mutex_lock(&g->lock);
	g->waits = true;
	pthread_cond_broadcast(&g->change);
	while (!g->open)
		pthread_cond_wait(&g->change, &g->lock);
	g->delivered++;
	g->last = *a;
	pthread_mutex_unlock(&g->lock);
	return 0;
}

static void a_full_queue_drops_and_says_how_many(void **state)
{
	struct gate g = { .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };
	struct alert_queue *q = alert_queue_new(&(struct alert_sink){ "gate", through, &g });
	struct alert a = nasty();

	(void)state;
	alert_queue_put(q, &a);
	pthread_mutex_lock(&g.lock);
	while (!g.waits) /* the first is on its way */
		pthread_cond_wait(&g.change, &g.lock);
	pthread_mutex_unlock(&g.lock);
	for (int i = 0; i < ALERT_QUEUE + 7; i++)
		alert_queue_put(q, &a);
	pthread_mutex_lock(&g.lock);
	g.open = true;
	pthread_cond_broadcast(&g.change);
	pthread_mutex_unlock(&g.lock);
	alert_queue_free(q, PATIENCE_S * 1000);
	assert_int_equal(g.delivered, 1 + ALERT_QUEUE + 1);
	assert_string_equal(g.last.kind, "dropped");
	assert_ptr_equal(strstr(g.last.text, "7 alerts were dropped"), g.last.text);
}

static void nobody_waits_longer_than_told(void **state)
{
	struct alert_command c = { .command = "sleep 600", .limit_ms = PATIENCE_S * 1000 };
	struct alert_queue *q =
		alert_queue_new(&(struct alert_sink){ "command", alert_command_deliver, &c });
	struct alert a = nasty();

	(void)state;
	alert_queue_put(q, &a);
	alert_queue_put(q, &a);
	alert_queue_free(q, 300); /* the test would never end */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_are_told_when_they_come_and_when_they_go),
		cmocka_unit_test(lines_of_the_log_are_alerts_from_a_level_on),
		cmocka_unit_test(structured_data_is_escaped),
		cmocka_unit_test(journald_gets_a_field_a_line),
		cmocka_unit_test(a_daemon_that_is_started_again_is_found_again),
		cmocka_unit_test(names_are_in_the_environment_and_in_no_command),
		cmocka_unit_test(a_command_that_takes_too_long_is_ended),
		cmocka_unit_test(urls_are_checked_before_they_are_used),
		cmocka_unit_test(a_full_queue_drops_and_says_how_many),
		cmocka_unit_test(nobody_waits_longer_than_told),
	};
	int rc;

	temp_folder_begin(folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	temp_folder_end();
	return rc;
}
