/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c - the TCP socket that accepts links: a number each turn; those that have not proved who they are may be few
 * (half_open) and have little time (greet_ms). Without a free file descriptor the socket stays readable: then it is not watched for a moment.
 */
#include <errno.h>
#include <netinet/in.h>
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
static int write_port(const struct link *l, const char *port, struct keel_err *err)
{
	char path[4096], new[4096 + 8];
	FILE *f;
	int ret = 0;

	port_path(l, path, sizeof(path));
	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "we");
	if (f == NULL)
		ret = -errno;
	else if (fprintf(f, "%s\n", port) < 0)
		ret = -errno;
	if (f != NULL && fclose(f) != 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(new, path) < 0)
		ret = -errno;
	return ret == 0 ? 0 : keel_error(err, ret, "cannot write %s: %s", path, strerror(-ret));
}

static bool is_any(const struct sockaddr_storage *sa)
{
	return sa->ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)sa)->sin6_addr) :
					   ((const struct sockaddr_in *)sa)->sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Where others dial: as configured, else the one address that the socket has, else the host's name; and the port. */
static int address_find(struct link *l, char port[16], struct keel_err *err)
{
	const char *said = conf_of(l)->address, *end;
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char host[128], *a, *b;
	int n;

	if (getsockname(l->listen_fd, (struct sockaddr *)&sa, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, 16, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return keel_error(err, -EIO, "the socket of the links has no address");
	if (said != NULL && said[0] != '\0') {
		end = strrchr(said, ']');
		n = snprintf(l->address, sizeof(l->address), strchr(end != NULL ? end : said, ':') ? "%s" : "%s:%s", said, port);
	} else if (is_any(&sa)) {
		n = snprintf(l->address, sizeof(l->address), "%s:%s", keel_host_name(l->mod), port);
	} else {
		n = snprintf(l->address, sizeof(l->address), sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	}
	if ((size_t)n >= sizeof(l->address) || address_split(l->address, &a, &b) < 0) {
		l->address[0] = '\0';
		return keel_error(err, -EINVAL, "link-tcp.address: expected HOST or HOST:PORT, got \"%s\"", said);
	}
	free(a);
	free(b);
	return 0;
}

/* The socket, or -errno. */
static int listen_at(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, off = 0, ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
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

/* Blocks for a name that is no address. "*" is any address of IPv6 and IPv4, of IPv4 alone where there is no other. */
static int32_t listen_on(struct link *l, const char *host, const char *port, struct keel_err *err)
{
	bool any = strcmp(host, "*") == 0;
	struct addrinfo hints = { .ai_family = any ? AF_INET6 : AF_UNSPEC, .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	int ret = getaddrinfo(any ? NULL : host, port, &hints, &found);

	if (ret != 0 && !any)
		return keel_error(err, -EADDRNOTAVAIL, "link address '%s': %s", host, gai_strerror(ret));
	ret = ret == 0 ? listen_at(found) : -EAFNOSUPPORT;
	if (ret >= 0)
		ret = listen_watch(l, ret);
	if (found != NULL)
		freeaddrinfo(found);
	if (any && (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL)) /* IPv6 is not there, or off */
		return listen_on(l, "0.0.0.0", port, err);
	return ret == 0 ? 0 : keel_error(err, ret, "cannot listen on %s port %s: %s", host, port, strerror(-ret));
}

int32_t listen_start(struct link *l, const char *at, struct keel_err *err)
{
	const char *kept;
	char *host, *port, buf[16], taken[16];
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
		ret = address_find(l, taken, err);
	if (ret == 0)
		ret = write_port(l, taken, err);
	return ret;
}

void listen_stop(struct link *l)
{
	if (l->listener == NULL)
		return;
	l->address[0] = '\0';
	keel_timer_cancel(l->listen_pause);
	keel_watch_cancel(l->listener);
	close(l->listen_fd);
	l->listen_pause = NULL;
	l->listener = NULL;
}
