/* SPDX-License-Identifier: Apache-2.0
 *
 * router.c - request names and the listening socket.
 */
#include "request/router.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "log/log.h"
#include "registry/registry.h"
#include "request/inside.h"
#include "util/err.h"

#define ACCEPT_PAUSE_MS 100

/* ---- the kind REQUEST ------------------------------------------------------------------------ */
static int route_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	struct router *r = arg;
	const struct keel_request_def *def = row;
	struct route *route, *taken;

	if (def->name == NULL || def->name[0] == '\0' || def->handler == NULL)
		return err_set(err, -EINVAL, "request '%s' of module %s has no name or no handler",
			       def->name != NULL ? def->name : "", owner->pub.name);
	taken = (struct route *)index_find(&r->routes, def->name, strlen(def->name));
	if (taken == NULL && (def->flags & KEEL_REQUEST_OTHERS))
		taken = r->others;
	if (taken != NULL)
		return err_set(err, -EEXIST, "request '%s' of module %s is already answered by module %s; "
			       "enable only one of the two", def->name, owner->pub.name, taken->owner->pub.name);
	route = calloc(1, sizeof(*route));
	if (route != NULL) {
		*route = (struct route){ .def = *def, .owner = owner };
		index_key_init(&route->name, route->def.name, strlen(route->def.name));
	}
	if (route == NULL || index_add(&r->routes, &route->name) < 0) {
		free(route);
		return err_set(err, -ENOMEM, "no memory for request '%s'", def->name);
	}
	if ((def->flags & KEEL_REQUEST_OTHERS) && !(r->parts->daemon & KEEL_SERVER))
		r->others = route;
	return 0;
}

static void requests_forget(struct keel_req *list, const struct route *route)
{
	struct keel_req *q, *next;

	DL_FOREACH_SAFE(list, q, next) {
		if (q->route != route)
			continue;
		if (q->state == REQ_OPEN)
			req_withdraw(q, PBSE_INTERNAL, "The module that serves this request was unloaded");
		q->route = NULL;
		q->gone = q->drained = q->leave = NULL;
	}
}

static void route_remove(void *arg, struct owner *owner, const void *row)
{
	const struct keel_request_def *def = row;
	struct router *r = arg;
	struct route *route = (struct route *)index_find(&r->routes, def->name, strlen(def->name));
	struct client *c;

	(void)owner;
	if (route == NULL)
		return;
	DL_FOREACH(r->clients, c)
		requests_forget(c->reqs, route);
	requests_forget(r->orphans, route);
	index_remove(&r->routes, &route->name);
	r->others = r->others == route ? NULL : r->others;
	free(route);
}

/* ---- accept ---------------------------------------------------------------------------------- */
static void client_came(struct router *r, int fd)
{
	int64_t now_ms = loop_now_ms(r->parts->loop);
	struct ucred cred;
	socklen_t len = sizeof(cred);
	bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0;

	if (known && client_create(r, fd, cred.uid, cred.gid) == 0)
		return;
	close(fd);
	if (!known || now_ms - r->refused_log_ms < 1000)
		return;
	r->refused_log_ms = now_ms;
	log_add(r->parts->log, KEEL_LOG_SYSTEM, "Req", "client",
		"connection of uid %u refused: too many connections (%u in all, limits %u and %u "
		"per user)", cred.uid, r->n_clients, r->limits.clients, r->limits.clients_per_uid);
}

static void accept_resume(void *arg)
{
	struct router *r = arg;

	r->pause = NULL;
	loop_watch_set(r->listener, LOOP_READABLE);
}

/* Some a turn, so that others have theirs. Without a descriptor to take one the socket stays readable: then it is not
 * watched for a moment. */
static void clients_accept(void *arg, int events)
{
	struct router *r = arg;

	(void)events;
	for (uint32_t i = 0; i < r->limits.accepts_per_turn; i++) {
		int fd = accept4(r->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			client_came(r, fd);
			continue;
		}
		if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
			return;
		log_add(r->parts->log, KEEL_LOG_ERROR, "Req", "client",
			"cannot accept connections: %s; trying again", strerror(errno));
		r->pause = loop_timer(r->parts->loop, ACCEPT_PAUSE_MS, accept_resume, r);
		if (r->pause != NULL)
			loop_watch_set(r->listener, 0);
		return;
	}
}

void router_listen_pause(struct router *r)
{
	loop_timer_cancel(r->pause);
	r->pause = NULL;
	if (r->listener != NULL)
		loop_watch_set(r->listener, 0);
}

/* ---- listen ---------------------------------------------------------------------------------- */
/* Removes a socket on which no process listens. Returns 0 when the path is free, else an error with *err. */
static int clear_path(const struct sockaddr_un *at, struct keel_err *err)
{
	struct stat st;
	int fd, ret;

	if (lstat(at->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %s", at->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -ENOTSOCK, "%s exists and is no socket; remove it or choose "
			       "another socket path", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, -errno, "socket: %s", strerror(errno));
	ret = connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 ? errno : 0;
	close(fd);
	if (ret != ECONNREFUSED)
		return err_set(err, -EADDRINUSE, "%s: another daemon serves this socket; stop it first",
			       at->sun_path);
	if (unlink(at->sun_path) < 0)
		return err_set(err, -errno, "cannot remove the old socket %s: %s", at->sun_path, strerror(errno));
	return 0;
}

static int bind_path(const struct sockaddr_un *at, int *ret_fd, struct keel_err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return err_set(err, -errno, "socket: %s", strerror(errno));
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 ||
	    chmod(at->sun_path, 0666) < 0 || listen(fd, SOMAXCONN) < 0) {
		ret = -errno;
		close(fd);
		return err_set(err, ret, "cannot listen on %s: %s", at->sun_path, strerror(-ret));
	}
	*ret_fd = fd;
	return 0;
}

/* Returns whether `fd` is a listening socket with this path. */
static bool is_bound(int fd, const struct sockaddr_un *at)
{
	struct sockaddr_un is = { 0 };
	socklen_t len = sizeof(is);
	int listens = 0;

	return getsockname(fd, (struct sockaddr *)&is, &len) == 0 && is.sun_family == AF_UNIX &&
	       strncmp(is.sun_path, at->sun_path, sizeof(is.sun_path)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ sizeof(listens) }) == 0 && listens;
}

int router_listen_fd(struct router *r)
{
	if (r->listener == NULL)
		return -1;
	r->handed = true;
	return fcntl(r->listen_fd, F_DUPFD_CLOEXEC, 3);
}

int router_listen(struct router *r, const char *path, int fd, struct keel_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int ret = 0;

	if (r->listener != NULL)
		return err_set(err, -EALREADY, "already listening on %s", r->listen_path);
	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "socket path %s is longer than %zu bytes; choose a "
			       "shorter one", path, sizeof(at.sun_path) - 1);
	memcpy(at.sun_path, path, strlen(path) + 1);
	if (fd < 0 || !is_bound(fd, &at)) {
		if (fd >= 0)
			close(fd);
		ret = clear_path(&at, err);
		if (ret == 0)
			ret = bind_path(&at, &fd, err);
	} else if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		ret = err_set(err, -errno, "cannot use the socket %s: %s", path, strerror(errno));
		close(fd);
	}
	if (ret < 0)
		return ret;
	r->listen_path = strdup(path);
	if (r->listen_path == NULL || loop_watch(r->parts->loop, fd, LOOP_READABLE, clients_accept, r, &r->listener) < 0) {
		close(fd);
		return err_set(err, -ENOMEM, "no memory to listen on %s", path);
	}
	r->listen_fd = fd;
	return 0;
}

void router_listen_stop(struct router *r)
{
	router_listen_pause(r);
	loop_watch_cancel(r->listener);
	if (r->listener != NULL)
		close(r->listen_fd);
	r->listener = NULL;
	if (r->listen_path != NULL && !r->handed)
		unlink(r->listen_path);
	free(r->listen_path);
	r->listen_path = NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */
void router_set_stall(struct router *r, int64_t stall_ms)
{
	r->limits.stall_ms = stall_ms;
}

int router_create(struct parts *parts, struct router **ret_router)
{
	struct router *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return -ENOMEM;
	r->parts = parts;
	r->limits = (struct router_limits){
#define LIMIT(type, name, value) .name = value,
#include "request/limits.def"
#undef LIMIT
	};
	r->euid = geteuid();
	r->refused_log_ms = INT64_MIN / 2;
	ret = registry_kind(parts->registry,
			    &(struct registry_kind){ .name = "REQUEST", .add = route_add, .remove = route_remove,
						     .arg = r, .row_size = sizeof(struct keel_request_def) });
	if (ret == 0)
		ret = registry_offer(parts->registry, "request", &req_api);
	if (ret == 0)
		ret = registry_offer(parts->registry, "remote", &remote_api);
	if (ret == 0)
		ret = registry_offer(parts->registry, "msg", &msg_api);
	if (ret < 0) {
		router_destroy(r);
		return ret;
	}
	*ret_router = r;
	return 0;
}

void router_destroy(struct router *r)
{
	struct route *route;

	if (r == NULL)
		return;
	router_listen_stop(r);
	while (r->clients != NULL)
		client_drop(r->clients);
	loop_timer_cancel(r->sweep_timer);
	drain_end(r);
	loop_defer_cancel(r->parts->loop, client_turn_over, r);
	req_destroy_all(r);
	while (r->shares != NULL)
		share_destroy(r->shares);
	for (uint32_t at = 0; (route = (struct route *)index_next(&r->routes, &at));)
		free(route);
	index_fini(&r->routes);
	free(r);
}
