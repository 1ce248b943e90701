/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - one connection: bytes in, frames out, and its bounds.
 *
 *	accepted -> user being looked up -> serving -> closing (drains) -> dropped
 *
 * A client is dropped only from the loop's own callbacks (read, flush, sweep), never below a module's function: an
 * error there marks it `broken`. Work that would take too long goes on in the next turn (again).
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "log/log.h"
#include "request/inside.h"
#include "util/crumb.h"

#define READER_KEEP (64u * 1024u)
#define SHORT 4096u /* requests up to this size are served at once */

static void on_events(void *arg, int events);
static void sweep_start(struct router *r);

const char *client_who(const struct client *c)
{
	return c->user != NULL && c->user->who != NULL ? c->user->who : "an unknown user";
}

bool client_may_log(const struct client *c)
{
	return c->share->logged++ < c->router->limits.log_lines && c->router->logged++ < c->router->limits.log_lines_all;
}

static void client_log(const struct client *c, const char *what)
{
	if (!client_may_log(c))
		return;
	log_add(c->router->parts->log, KEEL_LOG_SYSTEM, "Req", "client",
		"connection of %s (uid %u) closed: %s", client_who(c), c->uid, what);
}

/* ---- bounds ------------------------------------------------------------------------------- */
static bool is_root(const struct router *r, uint32_t uid)
{
	return uid == 0 || uid == r->euid;
}

/* Returns since when it has been idle; INT64_MAX: it waits for a reply, or may not be dropped. */
static int64_t idle_since(const struct client *c)
{
	if (c->reqs != NULL || c->user == NULL || c->in_flush || c->remote.owner != NULL || is_root(c->router, c->uid))
		return INT64_MAX;
	return c->queued > 0 ? c->progress_ms : c->read_ms;
}

/* Drops the client that has been idle for longest. Returns false when there is none to drop. */
static bool make_room(struct router *r)
{
	struct client *c, *found = NULL;
	int64_t before_ms = loop_now_ms(r->parts->loop) - r->limits.idle_ms;

	DL_FOREACH(r->clients, c) {
		if (idle_since(c) < before_ms) {
			before_ms = idle_since(c);
			found = c;
		}
	}
	if (found == NULL)
		return false;
	client_log(found, "it was idle, and there are too many");
	client_drop(found);
	return true;
}

static uint32_t places(const struct router *r, uint32_t reserve)
{
	return r->limits.clients > reserve ? r->limits.clients - reserve : r->limits.clients;
}

/* Returns whether there is a place for a client that `n` counts already. *ret_deciding: only in the reserve, until it
 * is known whether its user may manage. */
static bool place_find(struct router *r, const struct uid_share *n, bool *ret_deciding)
{
	bool root = is_root(r, n->uid);
	uint32_t most = places(r, root ? 0 : r->limits.reserve);

	if (n->uid != 0 && n->n > r->limits.clients_per_uid)
		return false;
	if (n->who != NULL)
		return r->n_remotes <= r->limits.remotes;
	while (r->n_clients - r->n_remotes > most && make_room(r))
		;
	*ret_deciding = r->n_clients - r->n_remotes > most;
	return !*ret_deciding || (!root && n->deciding < r->limits.deciding &&
				  r->n_clients - r->n_remotes <= places(r, r->limits.reserve_root));
}

/* The user is known now. Returns false when the client is in the reserve and its user may not manage: drop it. */
static bool client_may_stay(struct client *c)
{
	bool stays = !c->deciding || (c->user->error == 0 && (req_roles(c) & (KEEL_OPERATOR | KEEL_MANAGER)) != 0);

	c->share->deciding -= c->deciding;
	c->deciding = false;
	return stays;
}

/* Counts the memory of this client's half request; returns false when that is beyond the bound. */
static bool input_counted(struct client *c)
{
	struct router *r = c->router;

	if (c->reader.start == c->reader.end && c->reader.size > READER_KEEP) {
		uint32_t body_max = c->reader.body_max;

		frame_reader_fini(&c->reader);
		frame_reader_init(&c->reader, body_max);
	}
	r->input += c->reader.size - c->input;
	c->input = c->reader.size;
	return r->input <= r->limits.input_all || c->input <= r->limits.input_small;
}

/* ---- life --------------------------------------------------------------------------------- */
static bool may_serve(const struct client *c)
{
	const struct router_limits *limits = &c->router->limits;

	return c->router->drain.phase < DRAIN_ENDING && !c->closing && !c->broken &&
	       c->n_reqs < limits->requests_open && !client_overfull(c);
}

void client_rearm(struct client *c)
{
	int events = 0;

	if (c->watch == NULL)
		return;
	if (may_serve(c) && !c->leftover)
		events |= LOOP_READABLE;
	if (c->queued > 0 && c->full)
		events |= LOOP_WRITABLE;
	loop_watch_set(c->watch, events);
}

void client_known(struct client *c, struct user *u)
{
	c->user = u;
	c->read_ms = loop_now_ms(c->router->parts->loop);
	if (!client_may_stay(c)) {
		client_log(c, "there are too many, and the last places are for managers");
		client_drop(c);
	} else if (loop_watch(c->router->parts->loop, c->fd, LOOP_READABLE, on_events, c, &c->watch) < 0) {
		client_drop(c);
	}
}

/* `who`: of another host's user, or NULL. */
static struct client *client_make(struct router *r, int fd, uint32_t uid, uint32_t gid, const char *who)
{
	struct client *c = calloc(1, sizeof(*c));
	struct uid_share *share = c != NULL ? share_get(r, uid, who) : NULL;

	if (share == NULL) {
		free(c);
		return NULL;
	}
	*c = (struct client){ .router = r, .fd = fd, .uid = uid, .gid = gid, .share = share,
			      .read_ms = loop_now_ms(r->parts->loop) };
	share->n++; /* counted now, so that dropping others does not free it */
	r->n_clients++;
	r->n_remotes += who != NULL;
	if (!place_find(r, share, &c->deciding)) {
		r->n_clients--;
		r->n_remotes -= who != NULL;
		share->n--;
		free(c);
		errno = EUSERS;
		return NULL;
	}
	share->deciding += c->deciding;
	frame_reader_init(&c->reader, WIRE_BODY_MAX);
	DL_APPEND(r->clients, c);
	sweep_start(r);
	return c;
}

int client_create(struct router *r, int fd, uint32_t uid, uint32_t gid)
{
	struct client *c = client_make(r, fd, uid, gid, NULL);

	if (c == NULL)
		return -errno;
	if (user_find(c) < 0)
		client_drop(c);
	return 0;
}

void client_drop(struct client *c)
{
	struct router *r = c->router;

	c->broken = true;
	loop_watch_cancel(c->watch);
	c->watch = NULL;
	while (c->reqs != NULL)
		req_client_gone(c->reqs);
	loop_timer_cancel(c->again);
	DL_DELETE(r->clients, c);
	client_drop_queue(c);
	r->input -= c->input;
	frame_reader_fini(&c->reader);
	if (c->gone != NULL)
		c->gone(c);
	else if (c->fd >= 0)
		close(c->fd);
	user_unref(c->user);
	r->n_clients--;
	r->n_remotes -= c->share->who != NULL;
	c->share->n--;
	c->share->deciding -= c->deciding;
	free(c);
	drain_due(r);
}

/* ---- in ----------------------------------------------------------------------------------- */
static void bad_frame(struct client *c, const char *what)
{
	client_log(c, what);
	c->closing = true;
	client_flush_soon(c);
}

void client_turn_over(void *router)
{
	((struct router *)router)->served_ns = 0;
}

/* Returns whether requests have had their time in this turn. */
static bool is_late(const struct router *r)
{
	return r->served_ns > r->limits.serve_ns;
}

static void frame_serve(struct client *c, const struct frame *f)
{
	struct router *r = c->router;
	bool counted = r->served_ns > 0 || loop_defer(r->parts->loop, client_turn_over, r) == 0;
	int64_t begin = loop_clock_ns(r->parts->loop);

	if (f->type == WIRE_REQUEST)
		req_start(c, f);
	else if (f->type == WIRE_PING)
		client_send(c, out_create(), WIRE_PONG, f->corr);
	else
		bad_frame(c, "a frame that is no request");
	if (counted)
		r->served_ns += 1 + loop_clock_ns(r->parts->loop) - begin;
}

/* Serve the requests that were read, at least one, up to the client's share of a turn. */
static void client_serve(struct client *c)
{
	struct router *r = c->router;
	struct frame f;
	int ret;

	c->leftover = true;
	for (uint32_t n = 0; may_serve(c); n++) {
		if (n == r->limits.requests_per_turn || (n > 0 && is_late(r))) {
			client_again(c);
			return;
		}
		ret = frame_next(&c->reader, &f);
		if (ret == 1) {
			frame_serve(c, &f);
			continue;
		}
		c->leftover = false;
		if (ret < 0)
			bad_frame(c, "not the wire format");
		return;
	}
}

void client_take(struct client *c, const char *bytes, size_t len)
{
	struct router *r = c->router;
	size_t room_len;
	char *room;

	if (frame_reader_room(&c->reader, len, &room, &room_len) < 0) {
		c->broken = true;
		return;
	}
	memcpy(room, bytes, len);
	frame_reader_added(&c->reader, len);
	c->read_ms = loop_now_ms(r->parts->loop);
	if (c->reader.end - c->reader.start > SHORT || is_late(r)) {
		c->leftover = frame_is_whole(&c->reader); /* a long one, or one of many: a slice of its own */
		if (c->leftover)
			client_again(c);
	} else if (!c->closing) {
		client_serve(c);
	}
	if (!input_counted(c)) {
		client_log(c, "too many long requests at once; try again later");
		c->broken = true;
	}
}

/* Read up to the end of the frame that has begun: no bytes follow a long one, so its memory need not be copied. */
static void read_some(struct client *c)
{
	struct router *r = c->router;
	size_t lacks = frame_lacks(&c->reader);
	ssize_t n = read(c->fd, r->scratch, lacks > 0 && lacks < sizeof(r->scratch) ? lacks : sizeof(r->scratch));

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	if (n <= 0)
		c->broken = true;
	else
		client_take(c, r->scratch, (size_t)n);
}

static void on_events(void *arg, int events)
{
	struct client *c = arg;

	if (events & LOOP_WRITABLE)
		client_write(c);
	if ((events & LOOP_READABLE) && !c->broken)
		read_some(c);
	if (c->broken)
		client_drop(c);
	else
		client_rearm(c);
}

/* ---- the next turn, and idle clients ---------------------------------------------------------- */
static void client_go_on(void *arg)
{
	struct client *c = arg;
	struct keel_req *q, *next;

	c->again = NULL;
	if (client_drained(c)) {
		DL_FOREACH_SAFE(c->reqs, q, next) {
			keel_fn *fn = q->drained;

			if (fn == NULL)
				continue;
			q->drained = NULL;
			if (q->state == REQ_OPEN && q->route != NULL)
				CRUMB_CALL(q->route->owner, "drained()", q->route->def.name,
					   fn(&q->route->owner->pub, q->drained_arg));
			/* That may have ended any request of this client: start over after each. */
			client_again(c);
			break;
		}
	}
	if (c->leftover && !c->broken && may_serve(c))
		client_serve(c);
	input_counted(c);
	if (c->broken)
		client_flush_soon(c);
	else
		client_rearm(c);
}

void client_again(struct client *c)
{
	if (c->again == NULL && !c->broken)
		c->again = loop_timer(c->router->parts->loop, 0, client_go_on, c);
	if (c->again == NULL)
		c->broken = true;
}

void client_request_ended(struct client *c)
{
	if (c->leftover && may_serve(c))
		client_again(c);
}

static const char *stands_still(const struct client *c, int64_t before_ms)
{
	if (c->broken)
		return "no memory for its answer";
	if (c->queued > 0 && c->progress_ms < before_ms)
		return "it does not read its answers";
	if (c->closing && c->reqs == NULL && c->read_ms < before_ms)
		return "it was to be closed";
	if ((c->watch != NULL || c->remote.owner != NULL) && !c->leftover && c->reader.start != c->reader.end &&
	    c->read_ms < before_ms)
		return "half a request and nothing more";
	return NULL;
}

/* Drop stalled and broken clients. */
static void clients_sweep(void *router)
{
	struct router *r = router;
	int64_t before_ms = loop_now_ms(r->parts->loop) - r->limits.stall_ms;
	struct client *c, *next;

	r->sweep_timer = NULL;
	r->logged = 0;
	for (c = r->clients; c != NULL; c = next) {
		const char *why = stands_still(c, before_ms);

		/* client_drop() calls modules, which never drop other clients. */
		next = c->next;
		c->share->logged = 0;
		if (why != NULL) {
			client_log(c, why);
			client_drop(c);
		} else if (c->queued > 0 && !c->full) {
			client_flush_soon(c);
		}
	}
	r->trim |= r->input + r->queued > r->limits.queued_uid;
	if (r->trim && r->input + r->queued < r->limits.queued_low)
		r->trim = malloc_trim(0) < 0; /* what is free between small blocks stays with malloc() otherwise */
	sweep_start(r);
}

static void sweep_start(struct router *r)
{
	if (r->sweep_timer == NULL && r->clients != NULL)
		r->sweep_timer = loop_timer(r->parts->loop, r->limits.sweep_ms, clients_sweep, r);
}

/* ---- clients without a socket ------------------------------------------------------------------ */
struct client *client_of_user(struct router *r, struct user *u, struct owner *remote)
{
	struct client *c = u != NULL ? client_make(r, -1, u->uid, u->uid, remote != NULL ? u->who : NULL) : NULL;

	if (c == NULL) {
		user_unref(u);
		return NULL;
	}
	c->user = u;
	c->remote.owner = remote;
	if (client_may_stay(c))
		return c;
	client_drop(c);
	errno = EUSERS;
	return NULL;
}
