/* SPDX-License-Identifier: Apache-2.0
 *
 * host_socket.c - connect to a daemon of this host: a Unix socket.
 */
#include "host_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(HOST_SOCKET_PATH == sizeof(((struct sockaddr_un *)0)->sun_path), "what an address has room for");

/* A connect() that a signal interrupts continues in the kernel; the second call waits for it. */
static int connect_to(int fd, const struct sockaddr_un *at)
{
	while (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0) {
		if (errno == EISCONN)
			return 0;
		if (errno != EINTR && errno != EALREADY)
			return -errno;
	}
	return 0;
}

/* The socket is above 0, 1 and 2, if these were closed: else the program's output would go to the daemon. */
int host_socket_open(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, low, ret;

	if ((size_t)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && fd <= STDERR_FILENO) {
		low = fd;
		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(low);
	}
	if (fd < 0)
		return -errno;
	ret = connect_to(fd, &at);
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

int host_socket_open_below(enum conf_key key, const char *name, char ret_path[HOST_SOCKET_PATH])
{
	char *home = conf_get(key);
	int ret = -ENOENT, len = home != NULL ? snprintf(ret_path, HOST_SOCKET_PATH, "%s/run/%s", home, name) : 0;

	if (home == NULL)
		ret_path[0] = '\0';
	else if (len >= HOST_SOCKET_PATH)
		ret = -ENAMETOOLONG;
	else
		ret = host_socket_open(ret_path);
	free(home);
	return ret;
}

int host_socket_open_mom(char ret_path[HOST_SOCKET_PATH])
{
	const char *path = getenv("KEELSON_MOM_SOCKET");
	int ret;

	if (path != NULL && *path != '\0') {
		snprintf(ret_path, HOST_SOCKET_PATH, "%s", path);
		return host_socket_open(path);
	}
	ret = host_socket_open_below(CONF_PBS_MOM_HOME, "mom.sock", ret_path);
	return ret >= 0 || ret_path[0] != '\0' ? ret : host_socket_open_below(CONF_PBS_HOME, "mom.sock", ret_path);
}
