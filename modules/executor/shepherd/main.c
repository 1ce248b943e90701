/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-shepherd - watches over one task and outlives the daemon that started it.
 *
 *   nursery: fork one of us for each task of the daemon (nursery.c)
 *   wait for "go" (the daemon has recorded us) -> child: own session, user, files, exec
 *   -> tell "started" -> reap everything -> last line of <id>.TK -> become the user, place output -> exit
 *
 * It adopts the orphans of its task, so the task's processes are exactly its descendants. Its last
 * words tell which output could not be placed (bits of deliver()). No name service is used: all
 * names are numbers by the time they come here.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../nursery.h"
#include "../proc.h"
#include "shepherd.h"

#define RETRY_LATER -3
#define EXIT_BAD_SPEC 64 /* nothing was started */
#define NO_SUCH_PROGRAM 254
#define STREAMS_BOTH 3	 /* they stay in the spool */

static int spec_load(struct spec *ret)
{
	struct stat st;
	size_t at = 0;
	char *bytes;

	if (fstat(SPEC_FD, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > SPEC_MAX)
		return -EPROTO;
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	while (at < (size_t)st.st_size) {
		ssize_t n = pread(SPEC_FD, bytes + at, (size_t)st.st_size - at, (off_t)at);

		if (n <= 0)
			return -EIO;
		at += (size_t)n;
	}
	close(SPEC_FD);
	return spec_decode(bytes, at, ret);
}

/* A task of the same user may signal us by accident (`kill -1`): only KILL ends us early. */
static void signals_ignore(void)
{
	static const int list[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1,
				    SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		signal(list[i], SIG_IGN);
}

/* The daemon may die between our start and its record of us; then nothing may run. */
static int go_wait(void)
{
	char go;
	ssize_t n;

	do
		n = recv(SPEC_TALK, &go, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 && go == 'g' ? 0 : -ECANCELED;
}

static void tell(const char *text)
{
	ssize_t n = send(SPEC_TALK, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);

	(void)n; /* the daemon may be gone: it reads the files */
}

/* Somebody else's directory of that name (another cluster on this machine has a job of the same id, a
 * stranger was here first) is left alone: take another name. */
static void tmpdir_choose(struct spec *s)
{
	char *path, *text;
	struct stat st;

	if (!s->tmpdir || lstat(s->tmpdir, &st) < 0 || (S_ISDIR(st.st_mode) && st.st_uid == s->uid) ||
	    asprintf(&path, "%s.%d", s->tmpdir, (int)getpid()) < 0)
		return;
	s->tmpdir = path;
	for (size_t i = 0; i < s->n_env; i++)
		if (strncmp(s->env[i], "TMPDIR=", 7) == 0 && asprintf(&text, "TMPDIR=%s", path) >= 0)
			s->env[i] = text;
}

static pid_t child_start(struct spec *s, struct trouble *ret_trouble)
{
	int fds[2];
	pid_t pid;
	ssize_t n;

	*ret_trouble = (struct trouble){ 0 };
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		*ret_trouble = (struct trouble){ TROUBLE_SETUP, errno, "new process" };
		return -1;
	}
	if (pid == 0)
		child_run(s, fds[1]);
	close(fds[1]);
	do
		n = read(fds[0], ret_trouble, sizeof(*ret_trouble));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*ret_trouble))
		ret_trouble->stage = TROUBLE_NONE;
	close(fds[0]);
	return pid;
}

static int status_of(int raw)
{
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 256 + WTERMSIG(raw);
}

/* Reap until `main_pid` ended, then end what it left behind. */
static int status_wait(pid_t main_pid)
{
	int raw = 0;
	pid_t pid;

	do
		pid = wait4(-1, &raw, 0, NULL);
	while (pid != main_pid && (pid > 0 || errno == EINTR));
	if (pid != main_pid)
		return -1;
	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR) {
		if (pid != 0)
			continue;
		proc_kill(getpid(), SIGKILL);
		waitpid(-1, NULL, 0);
	}
	return status_of(raw);
}

static uint64_t microseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

/* Errors that say nothing of the job: the host lacks something now. */
static bool is_short(const struct trouble *t)
{
	static const int errors[] = { EAGAIN, ENOMEM, ENOSPC, EMFILE, ENFILE, EIO, EROFS };

	for (size_t i = 0; t->stage != TROUBLE_NONE && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (t->error == errors[i])
			return true;
	return false;
}

/* System codes of a start that failed, by stage. */
static int trouble_status(const struct trouble *t)
{
	static const int codes[] = {
		[TROUBLE_SETUP] = -1, [TROUBLE_USER] = -10, [TROUBLE_HOME] = -2,
		[TROUBLE_OUTPUT] = -2, [TROUBLE_PROGRAM] = NO_SUCH_PROGRAM,
	};

	if (is_short(t))
		return RETRY_LATER;
	return t->stage > TROUBLE_NONE && t->stage <= TROUBLE_PROGRAM ? codes[t->stage] : -1;
}

static void start_report(const struct spec *s, pid_t pid, struct trouble *t)
{
	bool lacks = is_short(t) && t->stage != TROUBLE_PROGRAM; /* there it is the user's own limit */
	char text[512];

	t->what[sizeof(t->what) - 1] = '\0';
	if (t->stage == TROUBLE_NONE || (t->stage == TROUBLE_PROGRAM && !is_short(t))) {
		snprintf(text, sizeof(text), "started %d", (int)pid);
	} else if (t->stage == TROUBLE_HOME && strcmp(t->what, s->home) == 0) {
		snprintf(text, sizeof(text), "refused %d Could not chdir to Home directory",
			 trouble_status(t));
	} else {
		snprintf(text, sizeof(text), "refused %d %s: %s", trouble_status(t), t->what,
			 strerror(t->error));
	}
	record_append(s, text);
	if (lacks)
		snprintf(text, sizeof(text), "short %d %s: %s", RETRY_LATER, t->what, strerror(t->error));
	tell(text);
}

static int shepherd(void)
{
	struct outcome o = { 0 };
	struct trouble t;
	struct rusage ru;
	struct spec s;
	char *notice, last_words[32];
	int missed;

	signals_ignore();
	umask(077);
	if (spec_load(&s) < 0 || fcntl(SPEC_TALK, F_SETFD, FD_CLOEXEC) < 0)
		return EXIT_BAD_SPEC;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (go_wait() < 0)
		return EXIT_BAD_SPEC;
	tmpdir_choose(&s);
	o.session = child_start(&s, &t);
	start_report(&s, o.session, &t);
	o.status = o.session > 0 ? status_wait(o.session) : -1;
	if (t.stage != TROUBLE_NONE)
		o.status = trouble_status(&t);
	if (getrusage(RUSAGE_CHILDREN, &ru) == 0) {
		o.cpu_us = microseconds(ru.ru_utime) + microseconds(ru.ru_stime);
		o.max_rss_kb = (uint64_t)ru.ru_maxrss;
	}
	if (outcome_write(&s, &o) < 0)
		return EXIT_BAD_SPEC;
	if (t.stage != TROUBLE_NONE && (t.stage != TROUBLE_PROGRAM || is_short(&t)))
		return 0; /* there is no output */
	places_read(&s);
	notice = notice_read(&s);
	missed = s.drop && privileges_drop(&s) < 0 ? STREAMS_BOTH : deliver(&s, o.status, notice);
	snprintf(last_words, sizeof(last_words), "placed %d", missed);
	tell(last_words);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2 || strncmp(argv[1], NURSERY_WORD, strlen(NURSERY_WORD)) != 0)
		return EXIT_BAD_SPEC;
	if (geteuid() == 0)
		prctl(PR_SET_DUMPABLE, 0); /* no core file; a task's own limit is what it was */
	/* Nothing runs behind the last words: who kills what is left of the task may meet the helper
	 * process of a leak checker, which would then wait for ever. */
	if (nursery_run(argv[1]) == NURSERY_CHILD)
		_exit(shepherd());
	return 0;
}
