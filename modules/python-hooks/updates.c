/* SPDX-License-Identifier: Apache-2.0
 *
 * updates.c - a server's: "python.update" of hosts, in the order in which each host sends them. What has many changes is made in slices, and
 * noted behind the last one; what a host sends meanwhile waits.
 */
#include "accept.h"

#include <stdlib.h>
#include <string.h>

#include "keel/link.h"
#include "server.h"

#define SLICE 200	       /* changes of a turn */
#define CHANGES_MOST 50000u    /* of an update */
#define BYTES_MOST (4u << 20)  /* what a host sends at most: report.c */
#define BEHIND_MOST 5000u      /* updates of a host that wait: more than it keeps, as all come at a new link */
#define BEHIND_BYTES (20u << 20) /* the same */

KEEL_USE(link);

/* ---- hosts -------------------------------------------------------------------------------------------- */
static struct reporter *reporter_of(struct state *st, const char *name)
{
	struct reporter *t;

	HASH_FIND_STR(st->reporters, name, t);
	if (!t)
		ROW_ADD(st->reporters, t, name, name);
	return t;
}

static void update_free(struct update *u)
{
	DL_DELETE(u->reporter->updates, u);
	u->reporter->n_updates--;
	u->reporter->bytes -= u->len;
	changes_free(u->changes, u->n);
	free(u->id);
	free(u->event);
	free(u->name);
	free(u);
}

/* ---- making ------------------------------------------------------------------------------------------- */
static void noted(const struct update *u)
{
	struct keel_out *out = keel_out(u->st->mod);

	keel_put_int(out, "number", u->number);
	keel_link_send(u->st->mod, u->peer, "python.noted", out);
}

static void due(struct keel_mod *mod, void *arg);

/* A slice; the next one comes when others have had their turn. */
static void go_on(struct reporter *t)
{
	struct update *u;
	struct keel_mod *mod;

	while (!t->due && (u = t->updates) != NULL) {
		mod = u->st->mod;
		if (update_go_on(u, SLICE)) {
			bool was_long = u->n > SLICE;

			noted(u);
			update_free(u);
			if (!was_long || !t->updates)
				continue;
		}
		t->due = keel_defer(mod, due, t) == 0;
	}
}

static void due(struct keel_mod *mod, void *arg)
{
	struct reporter *t, *next;

	HASH_ITER(hh, ((struct state *)mod->state)->reporters, t, next)
		if (t == arg) { /* else the daemon is ending, and it is gone */
			t->due = false;
			go_on(t);
			return;
		}
}

/* ---- reading ------------------------------------------------------------------------------------------ */
static bool update_read(struct update *u, const void *bytes, uint32_t len)
{
	struct value all;

	if (!bytes || len > BYTES_MOST || !value_read(bytes, len, &all) || all.count > CHANGES_MOST)
		return false;
	u->changes = changes_read(&all, &u->n);
	u->len = len;
	return u->changes != NULL;
}

static char *text_of(const struct keel_msg *m, const char *key)
{
	const char *text = keel_msg_str(m, key);

	return strdup(text ? text : "");
}

/* It is in its host's list. NULL without memory. */
static struct update *update_new(struct state *st, struct reporter *t, const struct keel_msg *m)
{
	struct update *u = t ? calloc(1, sizeof(*u)) : NULL;
	uint32_t len = 0;
	const void *bytes = keel_msg_bytes(m, "changes", &len);

	if (!u)
		return NULL;
	*u = (struct update){ .st = st, .reporter = t, .peer = t->name, .id = text_of(m, "id"), .event = text_of(m, "event"),
			      .name = text_of(m, "hook"), .number = keel_msg_int(m, "number", -1), .run = keel_msg_int(m, "run", -1),
			      .flags = keel_msg_int(m, "flags", 0) };
	DL_APPEND(t->updates, u);
	t->n_updates++;
	if (!update_read(u, bytes, len)) {
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", "", "what %s says of hook %.128s is dropped: it cannot be read, or it is more than %u changes",
			 t->name, u->name ? u->name : "", CHANGES_MOST);
		u->flags = 0;
	}
	t->bytes += u->len;
	if (u->id && u->event && u->name)
		return u;
	update_free(u);
	return NULL;
}

/* What is dropped here was not noted: the host says it again at its next link. */
static void on_update(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	struct reporter *t = reporter_of(st, peer);

	if (!t || t->n_updates >= BEHIND_MOST || t->bytes >= BEHIND_BYTES || !update_new(st, t, m))
		keel_log(mod, KEEL_LOG_ERROR, "Hook", peer, "what its scripts change is dropped: %s",
			 t && t->n_updates ? "it sends more than can be made" : "no memory");
	else if (t->n_updates == 1)
		go_on(t);
}

int32_t updates_start(struct state *st, struct keel_err *err)
{
	return keel_link_on(st->mod, "python.update", KEEL_MOM, on_update) < 0
		       ? keel_error(err, -EBUSY, "another module receives \"python.update\"") : 0;
}

void updates_stop(struct state *st)
{
	struct reporter *t, *next;

	HASH_ITER(hh, st->reporters, t, next) {
		while (t->updates)
			update_free(t->updates);
		HASH_DEL(st->reporters, t);
		free(t->name);
		free(t);
	}
}
