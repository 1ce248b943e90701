/* SPDX-License-Identifier: Apache-2.0
 *
 * release.c - what a suspension gives back: decided once, kept on the job until it continues.
 *
 * The point suspend_release returns names of resources; without an answer everything comes free. The names
 * that were true at the suspension are kept with the job, so that resume, end and restart use the same ones,
 * whatever is configured or loaded by then. A job whose exec_vnode cannot be parsed gives everything back.
 */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, exec_vnode, released_names);

#define NO_NAMES "-" /* as stored: an empty text would be none */

struct asking {
	char *id;
	release_done *done;
	void *arg;
};

static void no_list(struct keel_mod *mod, struct keel_obj *job)
{
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
		 "Unable to create resource released list");
}

static void release_answered(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct asking *a = arg;
	struct keel_obj *job = keel_find(mod, "job", a->id);
	const char *names = outcome->verdict == KEEL_DONE ? outcome->text : NULL;
	struct keel_exec *exec = NULL;
	bool bad = outcome->verdict == KEEL_FAIL ||
		   (job && names && keel_resource_exec_parse(job_text(job, job_exec_vnode), &exec, NULL));

	keel_resource_exec_free(exec);
	if (job && bad) {
		no_list(mod, job);
		names = NULL;
	}
	a->done(mod, a->arg, names);
	free(a->id);
	free(a);
}

void release_ask(struct keel_mod *mod, struct keel_obj *job, release_done *done, void *arg)
{
	struct asking *a;

	if (!keel_tapped(mod, KEEL_POINT_suspend_release)) {
		done(mod, arg, NULL);
		return;
	}
	a = calloc(1, sizeof(*a));
	if (!a || !(a->id = strdup(job_id(mod, job)))) {
		free(a);
		no_list(mod, job);
		done(mod, arg, NULL);
		return;
	}
	a->done = done;
	a->arg = arg;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_suspend_release,
		.event = KEEL_EVENT(suspend_release, .id = a->id, .job = job),
		.done = release_answered,
		.arg = a,
	});
}

void release_apply(struct keel_mod *mod, struct keel_obj *job, const char *names)
{
	if (names && keel_set_str(job, job_released_names, *names ? names : NO_NAMES) < 0) {
		no_list(mod, job); /* names that are not stored could not be taken again */
		names = NULL;
	}
	if (!names)
		keel_unset(job, job_released_names, NULL);
	job_release(mod, job, names);
}

void release_undo(struct keel_mod *mod, struct keel_obj *job)
{
	if (job_slot(mod, job)->occupies != OCCUPIES_ALL && job_occupy(mod, job, NULL) == 0)
		keel_unset(job, job_released_names, NULL);
}

const char *released(struct keel_mod *mod, struct keel_obj *job)
{
	const char *names = keel_get_str(job, job_released_names);

	(void)mod;
	return names && strcmp(names, NO_NAMES) == 0 ? "" : names;
}

/* ---- for what-ifs: the answer must come at once --------------------------------------------------------- */

struct guess {
	char *buf;
	uint32_t len;
	int32_t result;
	bool answered, abandoned;
};

static void guessed(struct keel_mod *mod, void *arg, const char *names)
{
	struct guess *g = arg;

	(void)mod;
	if (g->abandoned) {
		free(g);
		return;
	}
	g->answered = true;
	if (names)
		g->result = snprintf(g->buf, g->len, "%s", names);
}

int32_t release_names(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	struct guess *g = calloc(1, sizeof(*g));
	int32_t result;

	if (!g)
		return -ENOMEM;
	g->buf = buf;
	g->len = len;
	g->result = -ENODATA;
	release_ask(mod, job, guessed, g);
	if (!g->answered) {
		g->abandoned = true;
		return -EAGAIN;
	}
	result = g->result;
	free(g);
	return result;
}
