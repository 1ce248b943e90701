/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c - the TCP socket that accepts links: a number each turn; those that have not proved who they are may be few
 * (half_open) and have little time (greet_ms). Without a free file descriptor the socket stays readable: then it is not watched for a moment.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "link-tcp.h"

#define PAUSE_MS 100

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

/* A handshake takes an instant: the oldest is the least likely to complete it. */
static void drop_oldest_stranger(struct link *l)
{
	struct conn *c;

	DL_FOREACH(l->conns, c) {
		if (!c->opened && c->state != CONN_UP) {
			conn_drop(c, "too many connections that have not proved who they are");
			return;
		}
	}
}

static void stranger_came(struct link *l, int fd)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);

	if (l->n_half_open >= l->limits.half_open)
		drop_oldest_stranger(l);
	getpeername(fd, (struct sockaddr *)&sa, &len);
	if (conn_create(l, fd, NULL, (struct sockaddr *)&sa, len) == NULL)
		close(fd);
}

static void look_again(struct keel_mod *m, void *arg)
{
	struct link *l = arg;

	(void)m;
	l->listen_pause = NULL;
	keel_watch_for(l->listener, KEEL_READABLE);
}

static void on_readable(struct keel_mod *m, void *arg)
{
	struct link *l = arg;

	(void)m;
	for (uint32_t i = 0; i < l->limits.accepts_per_turn; i++) {
		int fd = accept4(l->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
				keel_log(l->mod, KEEL_LOG_SYSTEM, "Link", "listen",
					 "new links have to wait: %s", strerrordesc_np(errno));
				l->listen_pause = keel_timer(l->mod, PAUSE_MS, look_again, l);
				if (l->listen_pause != NULL)
					keel_watch_for(l->listener, 0);
			}
			return;
		}
		stranger_came(l, fd);
	}
}

static void port_path(const struct link *l, char *buf, size_t size)
{
	snprintf(buf, size, "%s/run/%s.port", keel_home(l->mod), l->me.daemon == KEEL_SERVER ? "link" : "mom");
}

/* Port 0: the one that the system chose when this daemon ran last, so that others find it where it was; else 0. */
static const char *port_kept(const struct link *l, const char *port, char buf[16])
{
	char path[4096];
	FILE *f;

	port_path(l, path, sizeof(path));
	f = strcmp(port, "0") == 0 ? fopen(path, "re") : NULL;
	if (f == NULL)
		return port;
	if (fgets(buf, 16, f) != NULL)
		port = buf;
	fclose(f);
	buf[strspn(buf, "0123456789")] = '\0';
	return port[0] != '\0' ? port : "0";
}

/* The port that was configured, or chosen by the system, for those that connect. */
static int write_port(const struct link *l, struct keel_err *err)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char path[4096], new[4096 + 8], port[16] = "";
	FILE *f;
	int ret = 0;

	port_path(l, path, sizeof(path));
	snprintf(new, sizeof(new), "%s.new", path);
	if (getsockname(l->listen_fd, (struct sockaddr *)&sa, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&sa, len, NULL, 0, port, sizeof(port), NI_NUMERICSERV) != 0)
		ret = -EIO;
	f = ret == 0 ? fopen(new, "we") : NULL;
	if (ret == 0 && f == NULL)
		ret = -errno;
	if (f != NULL && ((fprintf(f, "%s\n", port) < 0) | (fclose(f) != 0) || rename(new, path) < 0))
		ret = -errno;
	return ret == 0 ? 0 : keel_error(err, ret, "cannot write %s: %s", path, strerror(-ret));
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

static int32_t listen_watch(struct link *l, int fd)
{
	l->listen_fd = fd;
	l->listener = keel_watch_fd(l->mod, fd, on_readable, l);
	if (l->listener != NULL)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* Blocks for a name that is no address. */
static int32_t listen_on(struct link *l, const char *host, const char *port, struct keel_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	int ret = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &found);

	if (ret != 0)
		return keel_error(err, -EADDRNOTAVAIL, "link address '%s': %s", conf_of(l)->listen, gai_strerror(ret));
	ret = listen_at(found);
	if (ret >= 0)
		ret = listen_watch(l, ret);
	freeaddrinfo(found);
	return ret == 0 ? 0 : keel_error(err, ret, "cannot listen on %s: %s", conf_of(l)->listen, strerror(-ret));
}

int32_t listen_start(struct link *l, struct keel_err *err)
{
	const char *at = conf_of(l)->listen, *kept;
	char *host, *port, buf[16];
	int32_t ret = address_split(at, &host, &port);

	if (ret < 0)
		return keel_error(err, ret, "link-tcp.listen: expected HOST:PORT, got \"%s\"", at);
	kept = port_kept(l, port, buf);
	ret = listen_on(l, host, kept, err);
	if (ret < 0 && kept != port)
		ret = listen_on(l, host, port, err);
	free(host);
	free(port);
	if (ret == 0)
		ret = write_port(l, err);
	return ret;
}

void listen_stop(struct link *l)
{
	if (l->listener == NULL)
		return;
	keel_timer_cancel(l->listen_pause);
	keel_watch_cancel(l->listener);
	close(l->listen_fd);
	l->listen_pause = NULL;
	l->listener = NULL;
}
