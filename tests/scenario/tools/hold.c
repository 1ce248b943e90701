/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.c - a rude client for stories: keeps as many connections as it gets and reads nothing.
 *
 *	hold COUNT SECONDS PATH [ping]     ping: asks on each of them for as long as it is listened to
 *
 * Says how many connections it got when it has them, then stays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, PINGS = 4096, FRAME = 16, TYPE_PING = 5 };

static int fds[MOST];
static char pings[PINGS * FRAME];

static int came_in(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	return fd;
}

static void ping_all(int n, size_t *off)
{
	for (int i = 0; i < n; i++) {
		ssize_t sent = send(fds[i], pings + off[i], sizeof(pings) - off[i], MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent > 0)
			off[i] = (off[i] + (size_t)sent) % sizeof(pings);
	}
}

int main(int argc, char **argv)
{
	int n = 0, most = argc > 3 ? atoi(argv[1]) : 0;
	time_t end = time(NULL) + (argc > 3 ? atoi(argv[2]) : 0);
	size_t off[MOST] = { 0 };

	for (int i = 0; i < PINGS; i++)
		pings[i * FRAME + 5] = TYPE_PING;
	while (n < most && n < MOST && (fds[n] = came_in(argv[3])) >= 0)
		n++;
	printf("%d\n", n);
	fflush(stdout);
	while (time(NULL) < end) {
		if (argc > 4)
			ping_all(n, off);
		nanosleep(&(struct timespec){ .tv_nsec = argc > 4 ? 1000000 : 50000000 }, NULL);
	}
	return 0;
}
