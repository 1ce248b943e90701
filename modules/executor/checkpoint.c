/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.c - save a task with the site's own program, end it, and later go on with what was saved.
 *
 *   task.checkpoint -> checkpoint_abort, a chore -> exit 0: answer 0, what is left is killed
 *                                                          -> else: 15041, the task goes on
 *   task.start of a saved one -> restart is the task's program
 *
 * Programs are the administrator's; they find the task by %sid and put what they save into %path.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "action.h"
#include "chore.h"

#define NO_RESTART -2
#define SAVED -12 /* the status its end reports, also if the reply was lost */

struct saving {
	int64_t number, run;
	char id[];
};

/* $PBS_HOME/checkpoint/<id>.CK; the caller frees it. */
static char *place_of(struct keel_mod *mod, const char *id)
{
	char *path = NULL;

	return asprintf(&path, "%s/checkpoint/%s.CK", keel_home(mod), id) < 0 ? NULL : path;
}

/* ---- save ------------------------------------------------------------------------------------------- */

static void saved(struct keel_mod *mod, void *arg, int status, const char *why)
{
	struct state *st = mod->state;
	struct saving *s = arg;
	struct task *t = task_find(st, s->id);
	char text[300];

	if (st->stopping) {
		; /* no caller waits for it */
	} else if (!t || t->run != s->run || t->state == TASK_ENDED) {
		stop_answer(mod, s->number, status == 0 ? 0 : PBSE_BADSTATE, NULL);
	} else if (status == 0) {
		keel_log(mod, KEEL_LOG_JOB, "Job", s->id, "checkpointed");
		t->limit_status = SAVED;
		record_note(mod, t, "limit %d", SAVED);
		stop_answer(mod, s->number, 0, NULL);
		stop_kill(mod, t, 0);
	} else {
		snprintf(text, sizeof(text), "checkpoint_abort failed: %s %d",
			 status < 0 ? why : "exit status", status < 0 ? -1 : status);
		keel_log(mod, KEEL_LOG_ERROR, "Job", s->id, "%s", text);
		stop_answer(mod, s->number, PBSE_MOMREJECT, text);
	}
	free(s);
}

/* NULL: there is no action, or its line has an error. */
static char **save_command(struct keel_mod *mod, const struct task *t, int64_t *ret_ms)
{
	const struct conf *cf = mod->conf;
	char session[24], *path = place_of(mod, t->id), *parent = NULL;
	const struct action_word words[] = { { "sid", session }, { "jobid", t->id }, { "path", path },
					     { NULL, NULL } };
	char **argv = NULL;

	snprintf(session, sizeof(session), "%d", (int)t->session);
	if (path && cf->checkpoint_abort && *cf->checkpoint_abort) {
		argv = action_parse(cf->checkpoint_abort, words, ret_ms);
		if (argv && asprintf(&parent, "%s/checkpoint", keel_home(mod)) >= 0) {
			mkdir(parent, 0711);
			mkdir(path, 0700);
			free(parent);
		}
		if (!argv)
			keel_log(mod, KEEL_LOG_ERROR, "Job", t->id,
				 "executor.checkpoint_abort is not \"<seconds> !/program words...\"");
	}
	free(path);
	return argv;
}

static void save(struct keel_mod *mod, struct task *t, const char *name, struct answer_to to)
{
	int64_t limit = 0;
	char **argv = t->state == TASK_RUN ? save_command(mod, t, &limit) : NULL;
	struct saving *s = argv ? calloc(1, sizeof(*s) + strlen(t->id) + 1) : NULL;

	(void)name;
	if (!s) {
		free(argv);
		answer(mod, &to, t->state == TASK_RUN ? PBSE_NOSUP : PBSE_BADSTATE, NULL);
		return;
	}
	s->number = to.number;
	s->run = t->run;
	strcpy(s->id, t->id);
	if (chore_begin(mod, t->user ? t->user : "", argv, -1, -1, limit, saved, s) < 0) {
		stop_answer(mod, s->number, PBSE_MOMREJECT, "no memory on the host");
		free(s);
	}
	free(argv);
}

void on_checkpoint(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	int64_t number = keel_msg_int(m, "number", 0);
	struct task *t = stop_task_of(mod, m);

	(void)peer;
	if (t && t->state == TASK_RUN)
		act_ask(mod, t, "checkpoint", number, save);
	else
		stop_answer(mod, number, PBSE_BADSTATE, NULL);
}

/* ---- go on -------------------------------------------------------------------------------------------- */

/* Words as a start message has them. */
static char *coded(const char *tag, char *const *word, size_t most)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (; out && *word && most > 0; word++, most--) {
		fprintf(out, "<jsdl-hpcpa:%s>", tag);
		for (const char *c = *word; *c; c++) {
			if (*c == '<')
				fputs("&lt;", out);
			else if (*c == '>')
				fputs("&gt;", out);
			else if (*c == '&')
				fputs("&amp;", out);
			else
				fputc(*c, out);
		}
		fprintf(out, "</jsdl-hpcpa:%s>", tag);
	}
	if (out)
		fclose(out);
	return text;
}

bool checkpoint_restart(struct keel_mod *mod, struct launch *l)
{
	const struct conf *cf = mod->conf;
	char *path = place_of(mod, l->id);
	const struct action_word words[] = { { "jobid", l->id }, { "path", path }, { NULL, NULL } };
	int64_t unused;
	char **argv = path && cf->restart && *cf->restart ? action_parse(cf->restart, words, &unused)
							     : NULL;

	free(path);
	if (!argv) {
		l->status = NO_RESTART;
		snprintf(l->why, sizeof(l->why), "this host has no restart action");
		return false;
	}
	free(l->executable);
	free(l->arguments);
	l->executable = coded("Executable", argv, 1);
	l->arguments = coded("Argument", argv + 1, SIZE_MAX);
	l->has_script = false;
	free(argv);
	return l->executable && l->arguments;
}
