/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - whose tasks are these? A host remembers the id of the store whose server has a task here, and says it in its
 * hello. A server whose store is another one (it was lost, and begun anew) knows nothing of these tasks: it leaves
 * the host alone, with what runs there, until an administrator has removed the host's mom_priv/store.id.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "mom_priv/store.id"

/* ---- server half ------------------------------------------------------------------------------------- */

/* "": it has none. */
static void store_id(struct keel_mod *mod, char id[64])
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const struct keel_attr *attr = server ? keel_attr_find(mod, "server", "store_id") : NULL;

	if (!attr || keel_get_text(server, attr, NULL, id, 64) < 0)
		id[0] = '\0';
}

void store_put(struct keel_mod *mod, struct keel_out *out)
{
	char id[64];

	store_id(mod, id);
	if (id[0])
		keel_put_str(out, "store", id);
}

bool store_is_strange(struct keel_mod *mod, const char *peer, const struct keel_msg *hello)
{
	const char *theirs = keel_msg_str(hello, "store");
	struct keel_out *out;
	uint32_t n = 0;
	char ours[64];

	store_id(mod, ours);
	if (!theirs || !ours[0] || strcmp(theirs, ours) == 0 || !keel_msg_strings(hello, "running", &n) || n == 0 ||
	    n == UINT32_MAX)
		return false;
	keel_log(mod, KEEL_LOG_ERROR, "Node", peer,
		 "it runs %u jobs of another store (%s, ours is %s): they are left alone, and it gets no work, until "
		 "%s is removed there and its daemon started again", n, theirs, ours, MARK);
	out = keel_out(mod);
	if (out) {
		keel_put_str(out, "store", ours);
		keel_link_send(mod, peer, "task.strange", out);
	}
	return true;
}

/* ---- host half ---------------------------------------------------------------------------------------- */

static void mark_path(struct keel_mod *mod, char path[4096])
{
	snprintf(path, 4096, "%s/" MARK, keel_home(mod));
}

void store_recover(struct keel_mod *mod)
{
	struct state *st = mod->state;
	char path[4096];
	FILE *f;

	mark_path(mod, path);
	f = fopen(path, "re");
	if (f && fscanf(f, "%63s", st->mom.store) != 1)
		st->mom.store[0] = '\0';
	if (f)
		fclose(f);
}

void store_take(struct keel_mod *mod, const struct keel_msg *about)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(about, "store");
	char path[4096];
	int fd;

	if (!id || !*id || strlen(id) >= sizeof(st->mom.store) || strcmp(id, st->mom.store) == 0)
		return;
	strcpy(st->mom.store, id);
	mark_path(mod, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%s\n", id) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "", "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void on_strange(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const struct state *st = mod->state;
	const char *id = keel_msg_str(m, "store");
	char path[4096];

	(void)peer;
	mark_path(mod, path);
	keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_ADMIN, "Svr", "",
		 "the server has another store (%s) than the one whose jobs run here (%s): they are kept; to have that "
		 "server, which does not know them, end them, remove %s and start this daemon again",
		 id ? id : "?", st->mom.store, path);
}

