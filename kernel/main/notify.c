/* SPDX-License-Identifier: Apache-2.0
 *
 * notify.c - notify systemd and a waiting shell that the daemon is ready. Static variables: one of each per process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main/inside.h"

static char *supervisor;   /* the address of its socket; NULL: none */
static int ready_fd = -1;  /* a parent waits at the other end */

void notify_init(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path == NULL ? 0 : strlen(path);

	if (len > 1 && len < sizeof(((struct sockaddr_un *)NULL)->sun_path) && (path[0] == '/' || path[0] == '@'))
		supervisor = strdup(path);
	unsetenv("NOTIFY_SOCKET");
}

const char *notify_socket(void)
{
	return supervisor;
}

void notify_send(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = supervisor != NULL ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return;
	memcpy(to.sun_path, supervisor, strlen(supervisor));
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(supervisor)));
	close(fd);
}

int background_begin(void)
{
	int ends[2], end = 0;
	pid_t child;
	ssize_t n;
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		close(ends[0]);
		close(ends[1]);
		return -errno;
	}
	close(ends[child > 0 ? 1 : 0]); /* the other one's */
	if (child == 0) {
		ready_fd = ends[1];
		setsid();
		return 0;
	}
	do
		n = read(ends[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	while (waitpid(child, &end, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(end) && WEXITSTATUS(end) != 0 ? WEXITSTATUS(end) : 1);
}

void background_ready(void)
{
	int null;

	if (ready_fd < 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	(void)!chdir("/");
	(void)!write(ready_fd, "R", 1);
	close(ready_fd);
	ready_fd = -1;
}
