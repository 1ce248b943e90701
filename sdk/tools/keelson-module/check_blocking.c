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

static unsigned my_sleep(unsigned s)
{
	return s > 0 && BLOCKS("sleep") ? 0 : sleep(s);
}

static int my_usleep(useconds_t us)
{
	return us > 0 && BLOCKS("usleep") ? 0 : usleep(us);
}

static int my_nanosleep(const struct timespec *t, struct timespec *left)
{
	return BLOCKS("nanosleep") ? 0 : nanosleep(t, left);
}

static int my_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
	return BLOCKS("clock_nanosleep") ? 0 : clock_nanosleep(clock, flags, t, left);
}

static int my_poll(struct pollfd *fds, nfds_t n, int ms)
{
	return poll(fds, n, ms != 0 && BLOCKS("poll") ? 0 : ms);
}

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

static int my_epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	return epoll_wait(fd, events, n, ms != 0 && BLOCKS("epoll_wait") ? 0 : ms);
}

static int my_pause(void)
{
	return BLOCKS("pause") ? -1 : pause();
}

static int my_sigsuspend(const sigset_t *mask)
{
	return BLOCKS("sigsuspend") ? -1 : sigsuspend(mask);
}

static pid_t my_wait(int *status)
{
	return waitpid(-1, status, BLOCKS("wait") ? WNOHANG : 0);
}

static pid_t my_waitpid(pid_t pid, int *status, int flags)
{
	return waitpid(pid, status, !(flags & WNOHANG) && BLOCKS("waitpid") ? flags | WNOHANG : flags);
}

static int my_waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	return waitid(type, id, info, !(flags & WNOHANG) && BLOCKS("waitid") ? flags | WNOHANG : flags);
}

static int my_system(const char *command)
{
	return command != NULL && BLOCKS("system") ? 0 : system(command);
}

static FILE *my_popen(const char *command, const char *mode)
{
	return BLOCKS("popen") ? fopen("/dev/null", mode) : popen(command, mode);
}

static int my_pclose(FILE *f)
{
	return watch_in_loop() ? fclose(f) : pclose(f);
}

static ssize_t my_read(int fd, void *buf, size_t n)
{
	return fd_waits(fd) && BLOCKS("read") ? 0 : read(fd, buf, n);
}

static ssize_t my_recv(int fd, void *buf, size_t n, int flags)
{
	return !(flags & MSG_DONTWAIT) && fd_waits(fd) && BLOCKS("recv") ? 0 : recv(fd, buf, n, flags);
}

static int my_accept(int fd, struct sockaddr *from, socklen_t *len)
{
	return fd_waits(fd) && BLOCKS("accept") ? -1 : accept(fd, from, len);
}

static int my_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK) && to->sa_family != AF_UNIX && BLOCKS("connect") ?
		       -1 :
		       connect(fd, to, len);
}

static int my_flock(int fd, int how)
{
	return flock(fd, how != LOCK_UN && !(how & LOCK_NB) && BLOCKS("flock") ? how | LOCK_NB : how);
}

static int my_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
			  struct addrinfo **ret)
{
	bool asks = host != NULL && (hints == NULL || !(hints->ai_flags & AI_NUMERICHOST));

	return asks && BLOCKS("getaddrinfo") ? EAI_AGAIN : getaddrinfo(host, service, hints, ret);
}

static struct hostent *my_gethostbyname(const char *host)
{
	return BLOCKS("gethostbyname") ? NULL : gethostbyname(host);
}

static int my_pthread_join(pthread_t thread, void **ret)
{
	if (pthread_tryjoin_np(thread, ret) == 0)
		return 0;
	(void)BLOCKS("pthread_join");
	return pthread_join(thread, ret); /* a thread that is not joined runs in code that is unmapped */
}

static int my_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	return BLOCKS("pthread_cond_wait") ? 0 : pthread_cond_wait(cond, lock);
}

static int my_sem_wait(sem_t *sem)
{
	return sem_trywait(sem) == 0 || BLOCKS("sem_wait") ? 0 : sem_wait(sem);
}

void *watch_blocking_function(const char *name)
{
	static const struct {
		const char *name;
		void *fn;
	} known[] = {
		{ "sleep", my_sleep }, { "usleep", my_usleep }, { "nanosleep", my_nanosleep },
		{ "clock_nanosleep", my_clock_nanosleep }, { "poll", my_poll }, { "ppoll", my_ppoll },
		{ "select", my_select }, { "pselect", my_pselect }, { "epoll_wait", my_epoll_wait },
		{ "pause", my_pause }, { "sigsuspend", my_sigsuspend }, { "wait", my_wait },
		{ "waitpid", my_waitpid }, { "waitid", my_waitid }, { "system", my_system },
		{ "popen", my_popen }, { "pclose", my_pclose }, { "read", my_read }, { "recv", my_recv },
		{ "accept", my_accept }, { "connect", my_connect }, { "flock", my_flock },
		{ "getaddrinfo", my_getaddrinfo }, { "gethostbyname", my_gethostbyname },
		{ "pthread_join", my_pthread_join }, { "pthread_cond_wait", my_cond_wait },
		{ "sem_wait", my_sem_wait }, { "fork", my_fork }, { "vfork", my_fork }, { "_Fork", my_fork },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].fn;
	return NULL;
}
