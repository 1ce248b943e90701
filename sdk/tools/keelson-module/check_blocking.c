/* SPDX-License-Identifier: Apache-2.0
 *
 * check_blocking.c - calls that block. On the loop's thread each is a finding and returns at once; on other
 * threads (core->work) they do what they always do.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_child.h"
#include "check_watch.h"
#include "keel/mock.h"

static struct {
	struct keel_mock *mock;
	pthread_t loop;
} blocking;

void watch_blocking(struct keel_mock *mock)
{
	blocking.mock = mock;
	blocking.loop = pthread_self();
}

/* What core->work() runs may block. */
bool watch_in_loop(void)
{
	return blocking.mock != NULL && pthread_equal(blocking.loop, pthread_self()) &&
	       keel_mock_inside(blocking.mock) != NULL;
}

const char *watch_inside(void)
{
	const struct keel_mod *m = blocking.mock != NULL ? keel_mock_inside(blocking.mock) : NULL;

	return m != NULL ? m->name : "";
}

bool watch_odd(enum rule rule, const char *name, const void *from)
{
	if (!watch_in_loop())
		return false;
	finding(rule, "%s calls %s(), %s", watch_function(from), name, child_last_step());
	return true;
}

/* Returns true when the call is a finding, and must not block. */
#define BLOCKS(name) watch_odd(RULE_calls_blocking, name, __builtin_return_address(0))

/* The kernel copies the page tables of a large daemon. */
static pid_t my_fork(void)
{
	errno = EAGAIN;
	return BLOCKS("fork") ? -1 : fork();
}

/* Returns whether a call on this descriptor would block. A file on a disk does not. */
static bool fd_waits(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_NONBLOCK || fstat(fd, &st) < 0)
		return false;
	return (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode)) &&
	       poll(&ready, 1, 0) == 0;
}

#define IT_BLOCKS BLOCKS(its_name)
#define MAY_BLOCK(name, type, parameters, value)                                     \
	static type my_##name parameters                                             \
	{                                                                            \
		static const char its_name[] __attribute__((unused)) = #name;        \
		return value;                                                        \
	}
#include "check_blocking.def"
#undef MAY_BLOCK

static int my_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	static const struct timespec none = { 0, 0 };
	bool waits = t == NULL || t->tv_sec != 0 || t->tv_nsec != 0;

	return ppoll(fds, n, waits && BLOCKS("ppoll") ? &none : t, mask);
}

static int my_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
	struct timeval none = { 0, 0 };
	bool waits = t == NULL || t->tv_sec != 0 || t->tv_usec != 0;

	return select(n, r, w, e, waits && BLOCKS("select") ? &none : t);
}

static int my_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask)
{
	static const struct timespec none = { 0, 0 };
	bool waits = t == NULL || t->tv_sec != 0 || t->tv_nsec != 0;

	return pselect(n, r, w, e, waits && BLOCKS("pselect") ? &none : t, mask);
}

static int my_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK) && to->sa_family != AF_UNIX && BLOCKS("connect") ?
		       -1 :
		       connect(fd, to, len);
}

static int my_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
			  struct addrinfo **ret)
{
	bool asks = host != NULL && (hints == NULL || !(hints->ai_flags & AI_NUMERICHOST));

	return asks && BLOCKS("getaddrinfo") ? EAI_AGAIN : getaddrinfo(host, service, hints, ret);
}

static int my_pthread_join(pthread_t thread, void **ret)
{
	if (pthread_tryjoin_np(thread, ret) == 0)
		return 0;
	(void)BLOCKS("pthread_join");
	return pthread_join(thread, ret); /* a thread that is not joined runs in code that is unmapped */
}

const struct watched watch_blocking_calls[] = {
#define MAY_BLOCK(name, ...) { #name, my_##name },
#include "check_blocking.def"
#undef MAY_BLOCK
	{ "ppoll", my_ppoll }, { "select", my_select }, { "pselect", my_pselect }, { "connect", my_connect },
	{ "getaddrinfo", my_getaddrinfo }, { "pthread_join", my_pthread_join },
	{ "fork", my_fork }, { "vfork", my_fork }, { "_Fork", my_fork },
	{ NULL, NULL },
};
