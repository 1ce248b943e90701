/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c - answers what stories look at again and again, so that a look starts no program.
 *
 *	ask FOLDER
 *
 * Makes FOLDER with three pipes and goes to the background: `question` takes lines `SERIAL KIND ID ATTRIBUTE...`, `answer`
 * returns "= SERIAL COUNT" and as many lines, those of the listing of that command that have these attributes (COUNT -1: it
 * has failed, the command says why); `turn` holds one byte for the one process that may write a question. It ends when
 * FOLDER is gone. A connection lasts as long as a question, so a server may come and go.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"
#include "pbs_ifl.h"
#include "show.h"

enum { WORDS = 16, LOOK_MS = 1000, STUCK_SECONDS = 120 };

struct asker {
	int question, answer; /* both ends of each: no reader or writer is the last */
	struct out out;
	struct show show;
};

static struct batch_status *stat_job(int c, const char *id)
{
	return pbs_statjob(c, id, NULL, "x");
}

static struct batch_status *stat_node(int c, const char *id)
{
	return pbs_statvnode(c, id, NULL, NULL);
}

static struct batch_status *stat_resv(int c, const char *id)
{
	return pbs_statresv(c, id, NULL, NULL);
}

static const struct kind {
	const char *name;
	struct batch_status *(*stat)(int c, const char *id);
	bool wrapped; /* as the command prints it */
} kinds[] = {
	{ "job", stat_job, true },
	{ "node", stat_node, false },
	{ "resv", stat_resv, true },
};

static bool is_wanted(const struct attrl *a, char **names)
{
	size_t n = strlen(a->name);
	bool whole = a->resource == NULL || *a->resource == '\0';

	for (; *names != NULL; names++)
		if (strncmp(*names, a->name, n) == 0 &&
		    (whole ? (*names)[n] == '\0' : (*names)[n] == '.' && strcmp(*names + n + 1, a->resource) == 0))
			return true;
	return false;
}

static int tell(struct asker *asker, const struct kind *kind, int c, const char *id, char **names)
{
	struct batch_status *list = kind->stat(c, id);

	for (const struct batch_status *one = list; one != NULL; one = one->next)
		for (const struct attrl *a = one->attribs; a != NULL; a = a->next) {
			struct attrl single = *a;

			single.next = NULL;
			if (is_wanted(a, names))
				show_attributes(&asker->show, &single, kind->wrapped);
		}
	pbs_statfree(list);
	return list == NULL ? -1 : 0;
}

/* Jobs that are not over. */
static int tell_jobs(struct asker *asker, int c)
{
	char **ids = pbs_selectjob(c, NULL, NULL);

	for (char **id = ids; id != NULL && *id != NULL; id++) {
		out_str(&asker->out, *id);
		out_char(&asker->out, '\n');
		free(*id);
	}
	if (ids == NULL && pbs_errno != 0)
		return -1;
	free(ids);
	return 0;
}

/* words: kind, id, attributes, NULL. What is found is in asker->out. */
static int look(struct asker *asker, char **words)
{
	int c = pbs_connect(NULL), ret = -1;

	if (c <= 0)
		return -1;
	if (strcmp(words[0], "jobs") == 0)
		ret = tell_jobs(asker, c);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(words[0], kinds[i].name) == 0 && words[1] != NULL)
			ret = tell(asker, &kinds[i], c, words[1], words + 2);
	pbs_disconnect(c);
	return asker->out.error != 0 ? -1 : ret; /* it was too long for the buffer */
}

static void answer(struct asker *asker, char *line)
{
	char *words[WORDS + 1] = { NULL };
	int n = 0, lines = 0;

	for (char *word = strtok(line, " "); word != NULL && n < WORDS; word = strtok(NULL, " "))
		words[n++] = word;
	if (n < 2)
		return;
	asker->out.len = 0;
	asker->out.error = 0;
	if (look(asker, words + 1) < 0)
		asker->out.len = 0, lines = -1;
	for (size_t i = 0; i < asker->out.len; i++)
		lines += asker->out.buf[i] == '\n';
	dprintf(asker->answer, "= %s %d\n", words[0], lines);
	for (size_t done = 0; done < asker->out.len;) {
		ssize_t sent = write(asker->answer, asker->out.buf + done, asker->out.len - done);

		if (sent < 0)
			return;
		done += (size_t)sent;
	}
}

static void serve(struct asker *asker, const char *folder)
{
	struct pollfd poller = { .fd = asker->question, .events = POLLIN };
	static char line[4096];
	size_t len = 0;

	while (access(folder, F_OK) == 0) {
		if (poll(&poller, 1, LOOK_MS) <= 0)
			continue;
		if (read(asker->question, line + len, 1) != 1)
			return;
		if (line[len] != '\n') {
			len += len + 1 < sizeof(line);
			continue;
		}
		line[len] = '\0';
		len = 0;
		alarm(STUCK_SECONDS); /* a server that is stopped, or an answer that is not read: commands are used then */
		answer(asker, line);
		alarm(0);
	}
}

static int pipe_in(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return mkfifo(path, 0600) < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

/* In the first process: the number of the second one, for all to see, before the command ends. */
static int write_pid(const char *folder, pid_t pid)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/pid", folder);
	file = fopen(path, "w");
	return file == NULL || fprintf(file, "%d\n", (int)pid) < 0 || fclose(file) != 0;
}

static int go_to_background(const char *folder)
{
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid > 0)
		_exit(write_pid(folder, pid));
	setsid();
	for (int fd = 0; fd <= 2; fd++)
		dup2(open("/dev/null", O_RDWR), fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct asker asker = { 0 };
	int turn;

	for (int fd = 3; fd < 1024; fd++)
		close(fd); /* pipes of bats, which waits for their ends */
	if (argc != 2 || mkdir(argv[1], 0700) < 0)
		return 1;
	asker.question = pipe_in(argv[1], "question");
	asker.answer = pipe_in(argv[1], "answer");
	turn = pipe_in(argv[1], "turn");
	if (asker.question < 0 || asker.answer < 0 || turn < 0 || write(turn, ".", 1) != 1)
		return 1;
	if (out_init(&asker.out, -1) < 0 || show_init(&asker.show, &asker.out, true) < 0 ||
	    go_to_background(argv[1]) < 0)
		return 1;
	serve(&asker, argv[1]);
	show_fini(&asker.show);
	asker.out.len = 0;
	out_fini(&asker.out);
	return 0;
}
