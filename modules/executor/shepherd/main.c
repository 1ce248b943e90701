/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-shepherd - watches over one task and outlives the daemon that started it.
 *
 *   nursery: fork one of us for each task of the daemon (nursery.c)
 *   wait for "go" (the daemon has recorded us) -> directories, spool -> "ready" -> serve (serve.c): "run" starts the
 *   program, a child with its own session, user, files; "spawn" others beside it -> reap everything -> end of the task in
 *   <id>.TK -> "over" -> a child places its output -> exit
 *   or for "proceed": the task's shepherd was killed, do the rest for it (proceed.c)
 *   message: a program of its own, for a line into the output of a task (message.c)
 *
 * It adopts the orphans of its task, so the task's processes are exactly its descendants. Its last
 * message, in <id>.TK too, says which output could not be placed (bits of courier_run()). No name service is
 * used: all names were resolved to numbers by the daemon. It stays root, so that its user cannot stop it.
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

#include "../group.h"
#include "../message.h"
#include "../nursery.h"
#include "../talk.h"
#include "shepherd.h"

#define EXIT_BAD_SPEC 64 /* nothing was started */

void signals_set(void (*handler)(int))
{
	static const int list[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1,
				    SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		signal(list[i], handler);
}

/* The daemon may die between our start and its record of us; then nothing may run. The first letter of what
 * it says: "go", "proceed"; else 0. */
static char go_wait(void)
{
	char go;
	ssize_t n;

	do
		n = recv(SPEC_TALK, &go, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 && (go == 'g' || go == 'p') ? go : 0;
}

static uint64_t microseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

/* TMPDIR, and the files in the spool, while we are root: what fails is the host's. */
static void roots_part(struct spec *s, struct trouble *t)
{
	const struct spec_stream *streams[] = { &s->out, &s->err };
	const char *promised = s->tmpdir;
	char line[4200];

	tmpdir_make(s);
	if (s->tmpdir != promised) {
		snprintf(line, sizeof(line), "tmpdir %s", s->tmpdir);
		record_append(s, line);
	}
	for (int i = 0; i < 2; i++) {
		if (!streams[i]->run || streams[i]->keep)
			continue;
		s->fds[i] = spool_create(s, streams[i]->run);
		if (s->fds[i] < 0) {
			*t = (struct trouble){ .stage = TROUBLE_SPOOL, .error = -s->fds[i] };
			snprintf(t->what, sizeof(t->what), "%s", streams[i]->run);
			return;
		}
	}
}

/* All that there is before a program. A sister has no program whose start would look for the rest. */
static void task_set_up(struct spec *s, struct trouble *t)
{
	int fd, status = 0;
	pid_t pid;

	*t = (struct trouble){ 0 };
	roots_part(s, t);
	if (t->stage != TROUBLE_NONE || (!s->sandbox && !s->index))
		return;
	pid = birth(s, NULL, child_set_up, &fd);
	if (pid < 0) {
		*t = (struct trouble){ TROUBLE_SETUP, -pid, "new process" };
		return;
	}
	trouble_wait(s, fd, pid, t);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (t->stage == TROUBLE_NONE && status)
		*t = (struct trouble){ TROUBLE_SETUP, EINTR, "setup" };
}

/* From the setup to the last process. False: there is no output, or nothing could be written down. */
static bool task_run(struct spec *s, struct talk *talk, struct outcome *o)
{
	char record[TALK_MESSAGE], text[TALK_MESSAGE];
	enum served served = SERVED_NOTHING;
	struct trouble t;
	struct rusage ru;

	task_set_up(s, &t);
	if (t.stage == TROUBLE_NONE) {
		served = serve(s, talk, o);
	} else {
		trouble_text(s, &t, 0, record, text);
		record_append(s, record);
		daemon_say(talk, text);
		o->status = trouble_status(&t);
	}
	if (getrusage(RUSAGE_CHILDREN, &ru) == 0) {
		o->cpu_us = microseconds(ru.ru_utime) + microseconds(ru.ru_stime);
		o->max_rss_kb = (uint64_t)ru.ru_maxrss;
	}
	if (outcome_write(s, o) < 0)
		return false;
	if (served == SERVED_ENDED)
		return true;
	courier_clean(s, o->place);
	return false;
}

static int shepherd(void)
{
	struct outcome o = { 0 };
	struct spec s;
	struct talk talk = { .s = &s, .fd = SPEC_TALK, .listener = -1 };
	char last_words[32], *bytes, go; /* bytes: kept */
	bool placed;

	umask(077);
	if (spec_load(SPEC_FD, &bytes, &s) < 0 || fcntl(SPEC_TALK, F_SETFD, FD_CLOEXEC) < 0)
		return EXIT_BAD_SPEC;
	close(SPEC_FD);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	go = go_wait();
	placed = go && (go == 'g' ? task_run(&s, &talk, &o) : proceed(&s, &o) == 0);
	if (placed) {
		place_wait(&talk, o.status);
		snprintf(last_words, sizeof(last_words), "placed %d", courier_run(&s, o.status));
		if (s.cgroup && group_kills(s.cgroup) == 0) /* else a daemon looks at it */
			group_remove(s.cgroup); /* no daemon may come back */
		record_append(&s, last_words);
		daemon_say(&talk, last_words);
	}
	daemon_end(&talk);
	return placed ? 0 : EXIT_BAD_SPEC;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], MESSAGE_WORD) == 0)
		_exit(message_append(atoi(argv[2]))); /* as below: no leak checker */
	if (argc != 2 || strncmp(argv[1], NURSERY_WORD, strlen(NURSERY_WORD)) != 0)
		return EXIT_BAD_SPEC;
	signals_set(SIG_IGN); /* once, for all shepherds that it forks; it ends with its daemon */
	if (geteuid() == 0)
		prctl(PR_SET_DUMPABLE, 0); /* no core file; a task's own limit is what it was */
	/* Nothing runs behind the last words: who kills what is left of the task may meet the helper
	 * process of a leak checker, which would then wait for ever. */
	if (nursery_run(argv[1]) == NURSERY_CHILD)
		_exit(shepherd());
	return 0;
}
