/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - keelson-tree and the program below it: started, killed, reaped.
 *
 *   tree_start() -> runs -> the program ended, or tree_kill() -> over() -> reaped
 *
 * Its end is read from the control socket. One that does not end within END_MS after it was to is killed itself; its program
 * then ends with it, by the parent's death signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utlist.h>

#include "supervise.h"

#define END_MS 3000
#define REAP_MS 10

struct tree {
	struct tree *prev, *next;
	struct state *st;
	pid_t pid, program; /* program: 0 until it is known */
	int control; /* -1: it is over, and only to be reaped */
	struct keel_watch *watch;
	struct keel_timer *late;
	tree_fn *over;
	void *arg;
};

/* ---- start --------------------------------------------------------------------------------------- */
static int high_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, TREE_INPUT + 1), ret = -errno;

	close(fd);
	return high < 0 ? ret : high;
}

int socket_pair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	ends[0] = high_fd(ends[0]);
	ends[1] = high_fd(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	if (ends[0] >= 0 || ends[1] >= 0)
		close(ends[0] >= 0 ? ends[0] : ends[1]);
	return -EMFILE;
}

/* `argv` has room for what comes before the program. */
static int spawn(const struct tree_opts *o, char *const argv[], int control, pid_t *ret_pid)
{
	/* Nothing of the daemon's environment but this: no secret of it is in there. */
	static const char *const plain[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C",
#if defined(__SANITIZE_ADDRESS__) /* which would hide what it was killed by */
					     "ASAN_OPTIONS=handle_segv=0",
#endif
					     NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int ret;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, o->data, TREE_DATA);
	posix_spawn_file_actions_adddup2(&files, control, TREE_CONTROL);
	posix_spawn_file_actions_adddup2(&files, o->input >= 0 ? o->input : 0, TREE_INPUT);
	posix_spawn_file_actions_addclose(&files, TREE_FILTER); /* whatever this daemon was started with */
	posix_spawn_file_actions_addclosefrom_np(&files, TREE_INPUT + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	ret = posix_spawn(ret_pid, argv[0], &files, &attr, argv, (char *const *)(uintptr_t)(o->env ? o->env : plain));
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -ret;
}

static int launch(struct state *st, const struct tree_opts *o, int control, pid_t *ret_pid)
{
	char profile[16], memory[32], processes[16], captured[8], *program = NULL;
	const char *first[] = { NULL, profile, o->order.user, memory, processes, captured, o->order.dir, "--" };
	const char **argv;
	uint32_t n = 0, before = KEEL_COUNT(first);
	int ret = -ENOMEM;

	while (o->argv[n])
		n++;
	argv = calloc(before + n + 1, sizeof(*argv));
	if (argv && asprintf(&program, "%s/libexec/keelson/keelson-tree", keel_exec_dir(st->mod)) < 0)
		program = NULL;
	snprintf(profile, sizeof(profile), "%d", o->order.profile);
	snprintf(memory, sizeof(memory), "%lld", o->order.memory);
	snprintf(processes, sizeof(processes), "%d", o->order.processes);
	snprintf(captured, sizeof(captured), "%d", o->order.captured);
	first[0] = program;
	if (program) {
		memcpy(argv, first, sizeof(first));
		memcpy(argv + before, o->argv, n * sizeof(*argv));
		ret = spawn(o, (char *const *)(uintptr_t)argv, control, ret_pid);
	}
	free(program);
	free(argv);
	return ret;
}

static void said(struct keel_mod *m, void *arg);

int32_t tree_start(struct state *st, const struct tree_opts *o, struct tree **ret_tree, struct keel_err *err)
{
	struct tree *t = calloc(1, sizeof(*t));
	int ends[2] = { -1, -1 };
	int32_t ret = t ? socket_pair(ends) : -ENOMEM;

	if (ret == 0) {
		*t = (struct tree){ .st = st, .control = ends[0], .over = o->over, .arg = o->arg };
		t->watch = keel_watch_fd(st->mod, t->control, said, t);
		ret = t->watch ? launch(st, o, ends[1], &t->pid) : -ENOMEM;
		close(ends[1]);
	}
	if (ret == 0) {
		DL_APPEND(st->trees, t);
		*ret_tree = t;
		return 0;
	}
	if (t && t->control > 0) {
		keel_watch_cancel(t->watch);
		close(t->control);
	}
	free(t);
	return keel_error(err, ret, "%s/libexec/keelson/keelson-tree: %s", keel_exec_dir(st->mod), strerror(-ret));
}

pid_t tree_pid(const struct tree *t)
{
	return t->program;
}

/* ---- end ------------------------------------------------------------------------------------------- */
static void reap(struct keel_mod *m, void *arg)
{
	struct state *st = m->state;
	struct tree *t, *next;
	bool more = false;

	(void)arg;
	st->reaping = NULL;
	DL_FOREACH_SAFE(st->trees, t, next) {
		if (t->control >= 0)
			continue;
		if (waitpid(t->pid, NULL, WNOHANG) == 0) {
			more = true;
			continue;
		}
		DL_DELETE(st->trees, t);
		free(t);
	}
	if (more)
		st->reaping = keel_timer(m, REAP_MS, reap, NULL);
}

static void describe(const struct tree_end *end, char *text, size_t len)
{
	if (end->error[0])
		snprintf(text, len, "its process cannot be started: %s", end->error);
	else if (WIFSIGNALED(end->status))
		snprintf(text, len, "its process was killed by signal %d (%s)", WTERMSIG(end->status),
			 strsignal(WTERMSIG(end->status)));
	else
		snprintf(text, len, "its process ended with status %d", WEXITSTATUS(end->status));
}

static void finish(struct tree *t, const struct tree_end *end)
{
	struct state *st = t->st;
	tree_fn *over = t->over;
	char text[320];

	describe(end, text, sizeof(text));
	keel_timer_cancel(t->late);
	t->late = NULL;
	keel_watch_cancel(t->watch);
	close(t->control);
	t->control = -1;
	if (!st->reaping)
		st->reaping = keel_timer(st->mod, REAP_MS, reap, NULL);
	if (over)
		over(t->arg, end->error[0] || !WIFEXITED(end->status) ? text : NULL,
		     WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1);
}

/* Once, not for every program: it is the host that has none. */
static void has_begun(struct tree *t, const struct tree_end *begin)
{
	struct state *st = t->st;

	t->program = begin->pid;
	if (!begin->error[0] || st->unbounded)
		return;
	st->unbounded = true;
	keel_log(st->mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Node", keel_host_name(st->mod),
		 "programs with the rights of the daemon itself have no bound of processes and memory here: %s",
		 begin->error);
}

static void said(struct keel_mod *m, void *arg)
{
	struct tree_end end = { .status = SIGKILL };
	struct tree *t = arg;
	ssize_t n = read(t->control, &end, sizeof(end));

	(void)m;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(end))
		end = (struct tree_end){ .status = SIGKILL };
	end.error[sizeof(end.error) - 1] = '\0';
	if (end.pid > 0) {
		has_begun(t, &end);
		return;
	}
	finish(t, &end);
}

static void too_late(struct keel_mod *m, void *arg)
{
	struct tree *t = arg;

	(void)m;
	t->late = NULL;
	kill(t->pid, SIGKILL);
	finish(t, &(struct tree_end){ .status = SIGKILL });
}

void tree_kill(struct tree *t)
{
	if (t->control < 0 || t->late)
		return;
	shutdown(t->control, SHUT_WR);
	t->late = keel_timer(t->st->mod, END_MS, too_late, t);
	if (!t->late)
		kill(t->pid, SIGKILL); /* the socket ends with it */
}

void tree_forget(struct tree *t)
{
	t->over = NULL;
	tree_kill(t);
}

void tree_wait(struct tree *t, int timeout_ms)
{
	struct pollfd fd = { .fd = t->control, .events = POLLIN };

	while (t->control >= 0 && poll(&fd, 1, timeout_ms) > 0)
		said(t->st->mod, t);
}

void trees_end(struct state *st)
{
	struct tree *t;

	DL_FOREACH(st->trees, t)
		if (t->control >= 0) {
			tree_forget(t);
			tree_wait(t, 100);
			if (t->control >= 0)
				too_late(st->mod, t);
		}
	keel_timer_cancel(st->reaping);
	while ((t = st->trees) != NULL) {
		waitpid(t->pid, NULL, 0); /* it has said that it ends, or was killed */
		DL_DELETE(st->trees, t);
		free(t);
	}
}
