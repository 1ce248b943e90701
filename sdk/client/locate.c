/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.c - finds the server and connects to it.
 *
 * The server of this host is reached by its Unix socket, without a query to a name service: its name is the one in the
 * configuration file, "localhost", or a name of this host. Every other name is resolved and tried by TCP.
 */
#include "locate.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "any_case.h"
#include "conf.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

#define CONNECT_SECONDS 15
#define SOCKET_IN_HOME "run/server.sock"

/* A server's name taken apart; empty port: the default one. */
struct address {
	char host[PBS_MAXSERVERNAME + 1];
	char port[PBS_MAXPORTNUM + 1];
};

static int address_parse(const char *name, struct address *ret)
{
	const char *colon = strrchr(name, ':');
	size_t len;

	ret->port[0] = '\0';
	if (colon != NULL && strchr(name, ':') != colon)
		colon = NULL; /* two colons: a bare IPv6 address */
	len = colon == NULL ? strlen(name) : (size_t)(colon - name);
	if (len == 0 || len >= sizeof(ret->host))
		return -EINVAL;
	memcpy(ret->host, name, len);
	ret->host[len] = '\0';
	if (colon == NULL)
		return 0;
	len = strlen(colon + 1);
	if (len == 0 || len >= sizeof(ret->port) || strspn(colon + 1, "0123456789") != len)
		return -EINVAL;
	memcpy(ret->port, colon + 1, len + 1);
	return 0;
}

static bool is_conf_value(const char *host, enum conf_key key)
{
	struct address named;
	char *value = conf_get_from_file(key);
	bool same;

	same = value != NULL && address_parse(value, &named) == 0 &&
	       same_word(named.host, host);
	free(value);
	return same;
}

/* The node name of this host, whole or up to its first dot. */
static bool is_own_name(const char *host)
{
	char own[PBS_MAXHOSTNAME + 1];
	size_t first;

	if (gethostname(own, sizeof(own)) < 0)
		return false;
	own[sizeof(own) - 1] = '\0';
	first = strcspn(own, ".");
	return same_word(own, host) ||
	       (strlen(host) == first && any_case_order(own, host, first) == 0);
}

static bool is_local(const struct address *a)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };
	char *usual = a->port[0] != '\0' ? conf_get(CONF_PBS_BATCH_SERVICE_PORT) : NULL;
	bool elsewhere = a->port[0] != '\0' && (usual == NULL || strcmp(usual, a->port) != 0);

	free(usual);
	if (elsewhere)
		return false;
	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
		if (same_word(loopback[i], a->host))
			return true;
	return is_conf_value(a->host, CONF_PBS_SERVER) ||
	       is_conf_value(a->host, CONF_PBS_SERVER_HOST_NAME) || is_own_name(a->host);
}

static int socket_path(struct sockaddr_un *ret)
{
	char *path = conf_get(CONF_PBS_SERVER_SOCKET), *home = NULL;
	size_t size = sizeof(ret->sun_path);
	int len = -1;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path != NULL)
		len = snprintf(ret->sun_path, size, "%s", path);
	else if ((home = conf_get(CONF_PBS_HOME)) != NULL)
		len = snprintf(ret->sun_path, size, "%s/%s", home, SOCKET_IN_HOME);
	free(path);
	free(home);
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

/* A connect() that a signal interrupts continues in the kernel; the second call waits for it. Returns 0 or -errno. */
static int connect_through(int fd, const struct sockaddr *address, socklen_t len)
{
	while (connect(fd, address, len) < 0) {
		if (errno == EISCONN)
			return 0;
		if (errno != EINTR && errno != EALREADY)
			return -errno;
	}
	return 0;
}

static int fail_errno(int pbse, int number)
{
	errno = number;
	return pbse;
}

/* The socket is above 0, 1 and 2, if these were closed: else the program's output would go to the server. */
static int open_local(int *ret_fd)
{
	struct sockaddr_un address;
	int fd, low, ret;

	if (socket_path(&address) < 0)
		return fail_errno(PBSE_SYSTEM, ENAMETOOLONG);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && fd <= STDERR_FILENO) {
		low = fd;
		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(low);
	}
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? PBSE_NOCONNECTS : PBSE_SYSTEM;
	ret = connect_through(fd, (const struct sockaddr *)&address, sizeof(address));
	if (ret == 0) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	if (ret == -EACCES || ret == -EPERM)
		return fail_errno(PBSE_PERM, -ret);
	/* A stopped server removes its socket file: the same error as for one that refuses connections. */
	return fail_errno(PBSE_SYSTEM, ret == -ENOENT || ret == -ENOTDIR ? ECONNREFUSED : -ret);
}

static int try_tcp(const struct addrinfo *to)
{
	struct timeval limit = { .tv_sec = CONNECT_SECONDS };
	int fd, ret;

	fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC, to->ai_protocol);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	ret = connect_through(fd, to->ai_addr, to->ai_addrlen);
	close(fd);
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

/* Always fails: requests over TCP need an identity that this library cannot prove yet. It tries to connect, so that the
 * error says whether the name or the server is missing. */
static int open_remote(struct address *a)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list;
	char *usual = conf_get(CONF_PBS_BATCH_SERVICE_PORT);
	int ret = -EHOSTUNREACH;

	if (a->port[0] == '\0' && usual != NULL)
		snprintf(a->port, sizeof(a->port), "%s", usual);
	free(usual);
	if (getaddrinfo(a->host, a->port, &hints, &list) != 0)
		return fail_errno(PBSE_BADHOST, EHOSTUNREACH);
	for (const struct addrinfo *i = list; i != NULL && ret != 0; i = i->ai_next)
		ret = try_tcp(i);
	freeaddrinfo(list);
	return ret == 0 ? fail_errno(PBSE_NOSUP, EPROTONOSUPPORT) : fail_errno(PBSE_SYSTEM, -ret);
}

int locate_open(const char *name, int *ret_fd)
{
	struct address a;

	if (address_parse(name, &a) < 0)
		return fail_errno(PBSE_BADHOST, EINVAL);
	return is_local(&a) ? open_local(ret_fd) : open_remote(&a);
}

int locate_defaults(char *ret_names[2])
{
	char *primary = conf_get(CONF_PBS_PRIMARY), *secondary = conf_get(CONF_PBS_SECONDARY);

	ret_names[0] = ret_names[1] = NULL;
	if (primary != NULL && secondary != NULL) {
		ret_names[0] = primary;
		ret_names[1] = secondary;
		return 0;
	}
	free(primary);
	free(secondary);
	ret_names[0] = conf_get(CONF_PBS_SERVER_HOST_NAME);
	if (ret_names[0] == NULL)
		ret_names[0] = conf_get(CONF_PBS_SERVER);
	return ret_names[0] == NULL ? PBSE_NOSERVER : 0;
}
