/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.c - finds the server and connects to it.
 *
 * The server is reached by a Unix socket of this host, without a query to a name service: its own where it runs here, else that
 * of this host's daemon, which carries requests to it. Its name is the one in the configuration file, "localhost", or a
 * name of this host. No other server is reached from here.
 */
#include "locate.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_case.h"
#include "conf.h"
#include "host_socket.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "thread.h"

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

/* A name may be whole, or end at its first dot: head is head.example.org. */
static bool same_host(const char *a, const char *b)
{
	size_t first_a = strcspn(a, "."), first_b = strcspn(b, ".");

	if (a[first_a] != '\0' && b[first_b] != '\0')
		return same_word(a, b);
	return first_a == first_b && any_case_order(a, b, first_a) == 0;
}

/* The value of pbs.conf; where the file names no server, of the environment. */
static char *server_named(enum conf_key key)
{
	char *host = conf_get_from_file(CONF_PBS_SERVER_HOST_NAME), *name = conf_get_from_file(CONF_PBS_SERVER);
	bool in_file = host != NULL || name != NULL;

	free(host);
	free(name);
	return in_file ? conf_get_from_file(key) : conf_get(key);
}

/* Does the configuration name the server `a` as this one? Its port, where it has one, is the usual one or that of the value. */
static bool is_conf_value(const struct address *a, enum conf_key key)
{
	char *value = server_named(key), *usual = conf_get(CONF_PBS_BATCH_SERVICE_PORT);
	struct address named;
	bool same = value != NULL && address_parse(value, &named) == 0 && same_host(named.host, a->host);

	if (same && a->port[0] != '\0')
		same = strcmp(a->port, named.port) == 0 || (usual != NULL && strcmp(a->port, usual) == 0);
	free(value);
	free(usual);
	return same;
}

static bool is_this_host(const char *host)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };
	char own[PBS_MAXHOSTNAME + 1];

	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
		if (same_word(loopback[i], host))
			return true;
	if (gethostname(own, sizeof(own)) < 0)
		return false;
	own[sizeof(own) - 1] = '\0';
	return same_host(own, host);
}

/* Is it the server that commands of this host reach? */
static bool is_ours(const struct address *a)
{
	char *usual = conf_get(CONF_PBS_BATCH_SERVICE_PORT);
	bool elsewhere = a->port[0] != '\0' && (usual == NULL || strcmp(usual, a->port) != 0);

	free(usual);
	return (!elsewhere && is_this_host(a->host)) || is_conf_value(a, CONF_PBS_SERVER) ||
	       is_conf_value(a, CONF_PBS_SERVER_HOST_NAME);
}

/* Does the server run on this host, as pbs.conf says? */
static bool server_is_here(void)
{
	char *start = conf_get_from_file(CONF_PBS_START_SERVER), *name = server_named(CONF_PBS_SERVER_HOST_NAME);
	struct address a;
	bool here = start != NULL && strchr("1yYtT", start[0]) != NULL;

	if (name == NULL)
		name = server_named(CONF_PBS_SERVER);
	if (!here)
		here = name == NULL || address_parse(name, &a) < 0 || is_this_host(a.host);
	free(start);
	free(name);
	return here;
}

static int fail_errno(int pbse, int number)
{
	errno = number;
	return pbse;
}

/* The number of a connection that failed. A stopped server removes its socket file: as one that refuses connections. */
static int failed(int ret)
{
	if (ret == -EMFILE || ret == -ENFILE)
		return fail_errno(PBSE_NOCONNECTS, -ret);
	if (ret == -EACCES || ret == -EPERM)
		return fail_errno(PBSE_PERM, -ret);
	return fail_errno(PBSE_SYSTEM, ret == -ENOENT || ret == -ENOTDIR ? ECONNREFUSED : -ret);
}

/* The server's socket, or that of another daemon of this host, which carries requests to it. */
static int open_local(const struct address *a, int *ret_fd)
{
	char path[HOST_SOCKET_PATH], *named = conf_get(CONF_PBS_SERVER_SOCKET);
	int ret = named != NULL ? host_socket_open(named) : host_socket_open_below(CONF_PBS_HOME, "server.sock", path), pbse;

	free(named);
	pbse = ret < 0 ? failed(ret) : 0;
	if (pbse == PBSE_SYSTEM && errno == ECONNREFUSED && !server_is_here()) {
		ret = host_socket_open_mom(path);
		pbse = ret < 0 ? failed(ret) : 0;
		if (pbse == PBSE_SYSTEM)
			thread_set_text("cannot reach the server %s from this host: no keelsond answers at %s; start it, or enrol "
					"this host, keelson-key(8)", a->host, path);
	}
	*ret_fd = ret;
	return pbse;
}

/* Always fails: this host's daemons know one server. An unknown name has an error of its own. */
static int open_other(const struct address *a)
{
	char *ours = server_named(CONF_PBS_SERVER);
	struct addrinfo *list;

	if (getaddrinfo(a->host, NULL, NULL, &list) != 0) {
		free(ours);
		return fail_errno(PBSE_BADHOST, EHOSTUNREACH);
	}
	freeaddrinfo(list);
	thread_set_text("cannot reach the server %s%s%s from this host: its commands go to the server of pbs.conf%s%s alone; use a "
			"host of that cluster", a->host, a->port[0] != '\0' ? ":" : "", a->port, ours != NULL ? ", " : "",
			ours != NULL ? ours : "");
	free(ours);
	return fail_errno(PBSE_SYSTEM, EHOSTUNREACH);
}

int locate_open(const char *name, int *ret_fd)
{
	struct address a;

	if (address_parse(name, &a) < 0)
		return fail_errno(PBSE_BADHOST, EINVAL);
	return is_ours(&a) ? open_local(&a, ret_fd) : open_other(&a);
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
