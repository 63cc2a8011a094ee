/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal_prune.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *journal_removed_path(const char *base)
{
	return xasprintf("%s/removed.json", journal_base(base));
}

int journal_removed(struct journal_counts *l, struct journal_gone *gone, const char *base,
		    struct err *err)
{
	char *path = journal_removed_path(base), *data = NULL;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (!rc && journal_counts_decode(l, gone, data, len))
		rc = err_set(err, -EBADMSG, "%s: damaged", path);
	free(data);
	free(path);
	return rc == -ENOENT ? 0 : rc;
}

/* Names of earlier ones that are gone by now are of no use. */
static void journal_prune_forget(struct journal_gone *l, const char *base)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		char *dir = xasprintf("%s/%s", journal_base(base), l->v[i]);

		if (access(dir, F_OK))
			free(l->v[i]);
		else
			l->v[kept++] = l->v[i];
		free(dir);
	}
	l->n = kept;
}

/* Where they cannot be written, as on a disk that is full, they are lost: room is what is wanted.
 */
static void journal_prune_count(const struct txn_info *list, uint32_t n, const char *base)
{
	char *path = journal_removed_path(base), *text;
	struct journal_counts counts = { 0 };
	struct journal_gone gone = { 0 };
	struct err err = { "" };

	if (journal_removed(&counts, &gone, base, &err))
		log_add(LOG_WARN, "journal", "%s; counting begins again", err.text);
	journal_prune_forget(&gone, base);
	for (uint32_t i = 0; i < n; i++) {
		if (journal_gone_has(&gone, list[i].head.id))
			continue;
		journal_counts_add_of(&counts, &list[i], base);
		vec_push(&gone, xstrdup(list[i].head.id));
	}
	text = journal_counts_encode(&counts, &gone);
	if (store_replace(path, text, strlen(text), 0600, &err))
		log_add(LOG_WARN, "journal", "updates that are removed are not counted: %s",
			err.text);
	journal_counts_free(&counts);
	journal_gone_free(&gone);
	free(text);
	free(path);
}

/* Those that go are the first *n of the list then. */
static int journal_prune_list(struct txn_info **list, uint32_t *n, const char *base,
			      int64_t before_s, struct err *err)
{
	uint32_t all;
	int rc = journal_list(list, &all, base, err);

	*n = 0;
	for (uint32_t i = 0; !rc && i < all; i++) {
		const struct txn_info *t = &(*list)[i];

		if (txn_state_final(t->state) && !t->live && t->state_s < before_s &&
		    journal_is_ours(base, t->head.id))
			(*list)[(*n)++] = *t;
	}
	return rc;
}

static int journal_prune_remove(uint32_t *n, const struct txn_info *list, uint32_t go,
				const char *base, struct err *err)
{
	journal_prune_count(list, go, base);
	for (uint32_t i = 0; i < go; i++) {
		char *dir = xasprintf("%s/%s", journal_base(base), list[i].head.id);

		store_remove(dir);
		*n += access(dir, F_OK) != 0;
		free(dir);
	}
	return *n ? store_sync_dir(journal_base(base), err) : 0;
}

int journal_prune(const char *base, int64_t before_s, uint32_t *n, struct err *err)
{
	char *gate = xasprintf("%s/lock", journal_base(base));
	struct txn_info *list = NULL;
	uint32_t go = 0;
	int fd = -1, rc = journal_prune_list(&list, &go, base, before_s, err);

	*n = 0;
	if (!rc && go)
		rc = store_lock(&fd, gate, "prune", true, err);
	if (fd >= 0) { /* whoever had it may have removed them */
		free(list);
		rc = journal_prune_list(&list, &go, base, before_s, err);
	}
	if (!rc && go)
		rc = journal_prune_remove(n, list, go, base, err);
	store_unlock(fd);
	free(list);
	free(gate);
	return rc;
}
