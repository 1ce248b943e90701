/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - does the store belong to this PBS_HOME? With a store that lacks the running jobs, the hosts would end
 * them. The store's id is an attribute of the server object and in a file (the mark) beside the store.
 */
#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KEEL_ATTR_OF(server, store_id);

#define MARK "server_priv/store.id"
#define MARK_SOON_MS 1000 /* until then the new store is committed */
#define ID_LEN 16

const struct keel_attr_def store_id_attr = KEEL_ATTR_DEF("server", "store_id", "string", .order = 995,
							 .flags = KEEL_ATTR_SAVE, .doc = "which store this is");

static void mark_path(struct keel_mod *mod, const char *end, char path[4096])
{
	snprintf(path, 4096, "%s/" MARK "%s", keel_home(mod), end);
}

/* "": there is no mark, or it is not readable. */
static void mark_read(struct keel_mod *mod, char id[ID_LEN + 1])
{
	char path[4096];
	FILE *f;

	id[0] = '\0';
	mark_path(mod, "", path);
	f = fopen(path, "re");
	if (f && fscanf(f, "%16[0-9a-f]", id) != 1)
		id[0] = '\0';
	if (f)
		fclose(f);
}

static void mark_due(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	const char *id = keel_get_str(server_object(mod), server_store_id);
	char path[4096], fresh[4096];
	bool done = false;
	int fd;

	(void)arg;
	st->marker = NULL;
	if (!id)
		return;
	mark_path(mod, "", path);
	mark_path(mod, ".new", fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		done = dprintf(fd, "%s\n", id) > 0 && fsync(fd) == 0;
		close(fd);
	}
	if (!done || rename(fresh, path) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "", "%s cannot be written: %s", path, strerror(errno));
}

static int32_t refuse(struct keel_mod *mod, const char *what, const char *mark, struct keel_err *err)
{
	return keel_error(err, -1, "the store %s, but this PBS_HOME has had one (%s): restore its database from a "
			  "backup; to go on with this store, without the jobs, queues and nodes of the other, remove "
			  "%s/" MARK, what, mark, keel_home(mod));
}

int32_t store_check(struct keel_mod *mod, bool is_new, struct keel_err *err)
{
	const char *id = is_new ? NULL : keel_get_str(server_object(mod), server_store_id);
	char mark[ID_LEN + 1];

	mark_read(mod, mark);
	if (is_new && mark[0])
		return refuse(mod, "is empty", mark, err);
	return id && mark[0] && strcmp(id, mark) != 0 ? refuse(mod, "is another one", mark, err) : 0;
}

void store_mark(struct keel_mod *mod, bool is_new)
{
	struct state *st = mod->state;
	struct keel_obj *server = server_object(mod);
	char mark[ID_LEN + 1], made[ID_LEN + 1];
	uint32_t hash = 2166136261u;

	mark_read(mod, mark);
	if (!keel_is_set(server, server_store_id)) { /* new, or written by an older version */
		/* Unique per server and second. Not random: a simulated run must be reproducible by its seed. */
		for (const char *p = keel_server_name(mod); *p; p++)
			hash = (hash ^ (uint8_t)*p) * 16777619u;
		snprintf(made, ID_LEN + 1, "%08x%08x", (unsigned)keel_time(mod), (unsigned)hash);
		keel_set_str(server, server_store_id, mark[0] ? mark : made);
	}
	if (is_new)
		st->marker = keel_timer(mod, MARK_SOON_MS, mark_due, NULL);
	else if (!mark[0])
		mark_due(mod, NULL);
}
