/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tree.c - keelson-tree itself: what programs below it may not use up, and that all of them end, however they go
 * about it. Each program has a word of its own in its environment, by which what is left of it is found.
 *
 * As root each program that resists runs twice: in a pid namespace, and below a tree of an ordinary user, which has none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "harness.h"
#include "keel/service/supervise.h"
#include "tree/tree.h"

#define NOBODY 65534
#define MIB (1024 * 1024)
#define PROCESSES 24

enum who { SELF, ORDINARY }; /* of a tree: this program's user; nobody */

struct order {
	enum who who;
	int profile;
	long long memory;
	const char *user, *dir;
};
static struct {
	pid_t pid;
	int control, out;
	char word[64];
	struct tree_end begin, end;
	char text[4096]; /* what the program printed */
} tree;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- a tree ------------------------------------------------------------------------------------------------- */
static void tree_exec(const struct order *o, int control, int out, const char *script)
{
	char program[4096], profile[16], memory[32], processes[16];
	const char *user = o->user != NULL ? o->user : "nobody", *dir = o->dir != NULL ? o->dir : "/";
	char *const env[] = { tree.word, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NULL };
	char *const argv[] = { program, profile, (char *)(uintptr_t)user, memory, processes, "1", (char *)(uintptr_t)dir, "--",
			       "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };

	snprintf(program, sizeof(program), "%s/libexec/keelson/keelson-tree", getenv("KEELSON_BUILD"));
	snprintf(profile, sizeof(profile), "%d", o->profile);
	snprintf(memory, sizeof(memory), "%lld", o->memory);
	snprintf(processes, sizeof(processes), "%d", PROCESSES);
	if (o->who == ORDINARY && geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		_exit(1);
	control = fcntl(control, F_DUPFD, 20);
	out = fcntl(out, F_DUPFD, 20);
	dup2(control, TREE_CONTROL);
	dup2(out, TREE_DATA);
	dup2(open("/dev/null", O_RDWR), TREE_INPUT);
	close_range(TREE_INPUT + 1, ~0U, 0);
	close(TREE_FILTER);
	execve(program, argv, env);
	_exit(1);
}

static bool tree_says(struct tree_end *ret)
{
	struct pollfd fd = { .fd = tree.control, .events = POLLIN };

	return poll(&fd, 1, DEADLINE_MS) > 0 && read(tree.control, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
}

static void tree_begin(const struct order *o, const char *script)
{
	static int number;
	int control[2], out[2];

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out), 0);
	memset(&tree, 0, sizeof(tree));
	snprintf(tree.word, sizeof(tree.word), "KEELSON_TEST_TREE=%d.%d", (int)getpid(), number++);
	tree.control = control[0];
	tree.out = out[0];
	tree.pid = fork();
	if (tree.pid == 0)
		tree_exec(o, control[1], out[1], script);
	close(control[1]);
	close(out[1]);
	CU_ASSERT_FATAL(tree_says(&tree.begin));
}

/* Does one of them have the word? `ret_count` may be NULL. */
static bool any_left(int *ret_count)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while ((e = readdir(proc)) != NULL) {
		char path[300], text[4096];
		int fd;
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%s/environ", e->d_name);
		fd = e->d_name[0] >= '1' && e->d_name[0] <= '9' && atoi(e->d_name) != tree.pid ? open(path, O_RDONLY) : -1;
		len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
		n += len > 0 && memmem(text, (size_t)len, tree.word, strlen(tree.word) + 1) != NULL;
		if (fd >= 0)
			close(fd);
	}
	closedir(proc);
	if (ret_count != NULL)
		*ret_count = n;
	return n > 0;
}

/* What it prints, to its end or until it has `wanted`. */
static bool prints(const char *wanted)
{
	struct pollfd fd = { .fd = tree.out, .events = POLLIN };
	size_t len = strlen(tree.text);
	ssize_t n = 1;

	while (n > 0 && (wanted == NULL || strstr(tree.text, wanted) == NULL)) {
		n = poll(&fd, 1, DEADLINE_MS) > 0 ? read(tree.out, tree.text + len, sizeof(tree.text) - 1 - len) : 0;
		len += n > 0 ? (size_t)n : 0;
	}
	return wanted == NULL || strstr(tree.text, wanted) != NULL;
}

/* All of it is over, by itself or because it is to. */
static void tree_is_over(void)
{
	CU_ASSERT(tree_says(&tree.end));
	CU_ASSERT_EQUAL(tree.end.pid, 0);
	CU_ASSERT_FALSE(any_left(NULL));
	waitpid(tree.pid, NULL, 0);
	close(tree.control);
	close(tree.out);
}

static void tree_end(const char *what)
{
	int64_t began = now_us();

	shutdown(tree.control, SHUT_WR);
	CU_ASSERT(tree_says(&tree.end));
	printf(" [%s: %.1f ms]", what, (double)(now_us() - began) / 1000);
	CU_ASSERT_FALSE(any_left(NULL));
	waitpid(tree.pid, NULL, 0);
	close(tree.control);
	close(tree.out);
}

static bool by_itself(const struct order *o, const char *script)
{
	tree_begin(o, script);
	prints(NULL);
	tree_is_over();
	return WIFEXITED(tree.end.status) && WEXITSTATUS(tree.end.status) == 0;
}

/* ---- tests: ends --------------------------------------------------------------------------------------------- */
static void resists(const char *what, const char *script)
{
	for (enum who who = geteuid() == 0 ? SELF : ORDINARY; who <= ORDINARY; who++) {
		tree_begin(&(struct order){ .profile = KEEL_PROFILE_SCRIPT, .who = who }, script);
		CU_ASSERT(prints("go"));
		tree_end(what);
	}
}

static void one_that_ignores_every_signal_ends(void)
{
	resists("deaf", "trap '' TERM INT HUP USR1; echo go; while :; do sleep 1000; done");
}

static void what_has_left_its_session_and_parents_ends(void)
{
	resists("escaped", "(setsid sh -c '(setsid sleep 1000 &) ; setsid sh -c \"trap : TERM; echo go; sleep 1000\" & sleep 1000' &) ;"
			   " sleep 1000");
}

static void what_stops_itself_ends(void)
{
	resists("stopped", "(sleep 1000 & kill -STOP $!) ; echo go; kill -STOP $$");
}

/* Each of them starts others as fast as it can, for ever. */
static void a_program_that_multiplies_is_bounded_and_ends(void)
{
	int most = 0, count = 0;

	for (enum who who = geteuid() == 0 ? SELF : ORDINARY; who <= ORDINARY; who++) {
		tree_begin(&(struct order){ .profile = KEEL_PROFILE_SCRIPT, .who = who },
			   "exec perl -e '$| = 1; $SIG{CHLD} = \"IGNORE\"; print \"go\\n\"; fork while 1'");
		CU_ASSERT(prints("go"));
		for (int i = 0; i < 100 && most < PROCESSES - 4; i++) {
			any_left(&count);
			most = count > most ? count : most;
			usleep(10000);
		}
		tree_end("bomb");
		CU_ASSERT(most > PROCESSES / 2);
		CU_ASSERT(most <= PROCESSES + 8); /* others of this user may end meanwhile */
		most = 0;
	}
}

static void all_ends_with_the_daemon(void)
{
	for (enum who who = geteuid() == 0 ? SELF : ORDINARY; who <= ORDINARY; who++) {
		int line[2], i = 0;
		pid_t daemon;

		CU_ASSERT_EQUAL_FATAL(pipe(line), 0);
		daemon = fork();
		if (daemon == 0) {
			tree_begin(&(struct order){ .profile = KEEL_PROFILE_SCRIPT, .who = who },
				   "trap '' TERM; (setsid sleep 1000 &) ; echo go; sleep 1000");
			if (!prints("go") || write(line[1], tree.word, sizeof(tree.word)) < 0)
				_exit(1);
			pause();
		}
		CU_ASSERT_EQUAL(read(line[0], tree.word, sizeof(tree.word)), (ssize_t)sizeof(tree.word));
		CU_ASSERT(any_left(NULL));
		kill(daemon, SIGKILL);
		waitpid(daemon, NULL, 0);
		while (any_left(NULL) && i++ < DEADLINE_MS / 10)
			usleep(10000);
		CU_ASSERT_FALSE(any_left(NULL));
		close(line[0]);
		close(line[1]);
	}
}

/* ---- tests: bounds ------------------------------------------------------------------------------------------- */
static void a_script_has_a_user_and_a_folder(void)
{
	struct order o = { .profile = KEEL_PROFILE_SCRIPT, .dir = "/usr" };

	CU_ASSERT(by_itself(&o, "pwd; ulimit -c; ulimit -n; id -u"));
	CU_ASSERT_EQUAL(strncmp(tree.text, "/usr\n0\n256\n", 11), 0);
	CU_ASSERT(geteuid() != 0 || strstr(tree.text, "\n65534\n"));
	o.user = "no-such-user-here"; /* it is nobody then, not root */
	CU_ASSERT(by_itself(&o, "id -u"));
	CU_ASSERT(geteuid() != 0 || strcmp(tree.text, "65534\n") == 0);
	o.dir = "/no/such/folder";
	tree_begin(&o, "true");
	CU_ASSERT_STRING_EQUAL(tree.begin.error, "");
	CU_ASSERT(tree_says(&tree.end));
}

static void a_script_finds_no_memory_beyond_its_bound(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct order o = { .profile = KEEL_PROFILE_SCRIPT, .memory = 64ll * MIB };

	CU_ASSERT_FALSE(by_itself(&o, "head -c 200000000 /dev/zero | tail -n 1 | wc -c | grep -q 200000000"));
	o.memory = 0;
	CU_ASSERT(by_itself(&o, "head -c 200000000 /dev/zero | tail -n 1 | wc -c | grep -q 200000000"));
#endif
}

static void a_script_writes_no_file_of_100_mb(void)
{
	char dir[] = "/tmp/keelson-tree.XXXXXX", path[64];
	struct stat s = { .st_size = 0 };

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL(chmod(dir, 0777), 0);
	CU_ASSERT_FALSE(by_itself(&(struct order){ .profile = KEEL_PROFILE_SCRIPT, .dir = dir }, "head -c 100000000 /dev/zero >f"));
	snprintf(path, sizeof(path), "%s/f", dir);
	CU_ASSERT_EQUAL(stat(path, &s), 0);
	CU_ASSERT(s.st_size > 0 && s.st_size <= 64ll * MIB);
	unlink(path);
	rmdir(dir);
}

/* As far as this machine lets this program make cgroups: else the tree says what has no bound. */
static void what_runs_for_the_host_is_bounded_as_a_whole(void)
{
	struct order o = { .profile = KEEL_PROFILE_HOST, .memory = 32ll * MIB };
	int count = 0;

	tree_begin(&o, "exec perl -e '$| = 1; for (1 .. 60) { my $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } }"
		   " print \"full\\n\"; sleep 1000'");
	if (tree.begin.error[0])
		printf(" [no bound: %s]", tree.begin.error);
	CU_ASSERT(prints("full"));
	any_left(&count);
	CU_ASSERT(tree.begin.error[0] || (count > 2 && count <= PROCESSES));
	tree_end("host");
	CU_ASSERT(by_itself(&o, "id -u; head -c 1000000 /dev/zero | tail -n 1 | wc -c"));
	if (!tree.begin.error[0])
		CU_ASSERT_FALSE(by_itself(&o, "head -c 200000000 /dev/zero | tail -n 1 | wc -c | grep -q 200000000"));
}

#define GROUPS 3
/* Where the groups of its tree are, by its lines "4:pids:/path" and "0::/path". Returns how many. */
static int groups_of(pid_t pid, char ret[GROUPS][1200])
{
	char path[64], line[1024], *kind, *at;
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && n < GROUPS && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		kind = strchr(line, ':') + 1;
		at = strchr(kind, ':');
		if (at == NULL || strstr(at, "keelson-tree.") == NULL)
			continue;
		*at++ = '\0';
		snprintf(ret[n], sizeof(ret[n]), "/sys/fs/cgroup/%s%s", *kind ? kind : "unified", at);
		if (access(ret[n], F_OK) < 0)
			snprintf(ret[n], sizeof(ret[n]), "/sys/fs/cgroup%s", at);
		n += access(ret[n], F_OK) == 0;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

/* A tree that is killed itself leaves its groups; the next one removes them, once they are old. */
static void groups_that_were_left_are_removed(void)
{
	const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	struct order o = { .profile = KEEL_PROFILE_HOST, .memory = 32ll * MIB };
	char group[GROUPS][1200];
	int64_t until = now_us() + (int64_t)DEADLINE_MS * 1000;
	int n;

	tree_begin(&o, "echo go; exec sleep 1000");
	CU_ASSERT(prints("go"));
	n = groups_of(tree.begin.pid, group);
	kill(tree.pid, SIGKILL);
	waitpid(tree.pid, NULL, 0);
	while (any_left(NULL) && now_us() < until) /* its program ends with it */
		usleep(1000);
	CU_ASSERT_FALSE(any_left(NULL));
	close(tree.control);
	close(tree.out);
	CU_ASSERT(by_itself(&o, "true"));
	for (int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(access(group[i], F_OK), 0); /* it might be one that is about to be used */
		CU_ASSERT_EQUAL(utimensat(AT_FDCWD, group[i], old, 0), 0);
	}
	CU_ASSERT(by_itself(&o, "true"));
	for (int i = 0; i < n; i++)
		CU_ASSERT_EQUAL(access(group[i], F_OK), -1);
}

TESTS_MAIN("supervise_tree", TEST(one_that_ignores_every_signal_ends), TEST(what_has_left_its_session_and_parents_ends),
	   TEST(what_stops_itself_ends), TEST(a_program_that_multiplies_is_bounded_and_ends), TEST(all_ends_with_the_daemon),
	   TEST(a_script_has_a_user_and_a_folder), TEST(a_script_finds_no_memory_beyond_its_bound),
	   TEST(a_script_writes_no_file_of_100_mb), TEST(what_runs_for_the_host_is_bounded_as_a_whole),
	   TEST(groups_that_were_left_are_removed))
