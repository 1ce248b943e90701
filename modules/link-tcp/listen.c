/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c - the server's TCP socket. Strangers are few (half_open) and short (greet_ms).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "link/inside.h"
#include "log/log.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

int address_split(const char *text, char **ret_host, char **ret_port)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len;

	if (colon == NULL || colon == text || colon[1] == '\0')
		return -EINVAL;
	len = (size_t)(colon - text);
	if (host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	*ret_host = strndup(host, len);
	*ret_port = strdup(colon + 1);
	if (*ret_host != NULL && *ret_port != NULL)
		return 0;
	free(*ret_host);
	free(*ret_port);
	return -ENOMEM;
}

static void accept_paused(void *arg, int error)
{
	const struct links *l = arg;

	log_add(l->parts->log, KEEL_LOG_SYSTEM, "Link", "listen", "new links have to wait: %s", strerrordesc_np(error));
}

/* Whoever means it is through the handshake in an instant. */
static void drop_oldest_stranger(struct links *l)
{
	struct conn *c;

	DL_FOREACH(l->conns, c) {
		if (!c->opened && c->state != CONN_UP) {
			conn_drop(c, "too many connections that have not proved who they are");
			return;
		}
	}
}

static void stranger_came(void *arg, int fd)
{
	struct links *l = arg;
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);

	if (l->n_half_open >= l->limits.half_open)
		drop_oldest_stranger(l);
	getpeername(fd, (struct sockaddr *)&sa, &len);
	if (conn_create(l, fd, false, (struct sockaddr *)&sa, len) == NULL)
		close(fd);
}

/* The port that was given, or chosen by the system, for whoever wants to connect. */
static int write_port(const struct links *l, int fd, struct keel_err *err)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char *dir = path_join(l->parts->home, "run"), *path = NULL, port[16];
	int ret = -ENOMEM;

	if (dir != NULL)
		path = path_join(dir, "link.port");
	if (path != NULL && (ret = dir_make(dir, 0755)) == 0) {
		ret = -EIO;
		if (getsockname(fd, (struct sockaddr *)&sa, &len) == 0 &&
		    getnameinfo((struct sockaddr *)&sa, len, NULL, 0, port, sizeof(port) - 1,
				NI_NUMERICSERV) == 0)
			ret = file_write_durable(path, strcat(port, "\n"), strlen(port), 0644);
	}
	if (ret < 0)
		err_set(err, ret, "cannot write run/link.port in %s: %s", l->parts->home, strerror(-ret));
	free(dir);
	free(path);
	return ret;
}

/* The socket, or -errno. */
static int listen_at(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

/* Blocks for a name that is no address; only before service begins. */
int listen_start(struct links *l, struct keel_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct loop_listening conf = { .per_turn = l->limits.accepts_per_turn, .came = stranger_came,
				       .paused = accept_paused, .arg = l };
	struct addrinfo *found = NULL;
	char *host, *port;
	int ret = address_split(l->listen, &host, &port);

	if (ret < 0)
		return err_set(err, ret, "link address '%s': expected HOST:PORT", l->listen);
	ret = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &found);
	if (ret != 0)
		ret = err_set(err, -EADDRNOTAVAIL, "link address '%s': %s", l->listen,
			      gai_strerror(ret));
	else if ((ret = conf.fd = listen_at(found)) < 0 ||
		 (ret = loop_listen(l->parts->loop, &conf, &l->listener)) < 0)
		err_set(err, ret, "cannot listen on %s: %s", l->listen, strerror(-ret));
	if (found != NULL)
		freeaddrinfo(found);
	free(host);
	free(port);
	return ret < 0 ? ret : write_port(l, conf.fd, err);
}

void listen_stop(struct links *l)
{
	loop_listen_stop(l->listener);
	l->listener = NULL;
}
