/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.h - questions of a module in a process of its own, answered out of the API groups. The daemon does it
 * so, and keelson-module check does.
 */
#ifndef KEELSON_ANSWER_H
#define KEELSON_ANSWER_H

#include "isolate/talk.h"
#include "keel/api.h"

/* Where a walk over a class is, between two questions. */
struct walk {
	struct keel_cursor *cursor;
	char *klass, *last; /* the id that was given last */
};
void walk_end(struct walk *w, const struct keel_object_api *object);

/* An operation that the process raises. `number` is its own. */
struct raising {
	int64_t number;
	uint64_t request;        /* whose client is the requester; 0: nobody */
	struct keel_raise raise; /* what is missing is for whoever raises: done, arg, req */
	bool drafts;             /* its event has objects that only its call knows */
	const char *refused;     /* why it must not be raised, or NULL */
};
/* An outcome as values. */
void answer_outcome(struct buf *m, const struct keel_outcome *o);

/* Who is asked, in whose name. `draft`: an object of the call that nobody finds yet, or NULL. `hold`: a hold
 * of the module's own, its number is the process'. `part` and `drained` are about a request. */
struct whom {
	struct keel_mod *mod;
	struct keel_call *call; /* NULL: it is not asked within one */
	const struct keel_object_api *object;
	const struct keel_call_api *api;
	const struct keel_hook_api *hook;
	struct keel_obj *(*draft)(void *arg, const char *klass, const char *id);
	/* KEEL_WAIT, or why not. */
	int32_t (*hold)(void *arg, struct keel_hold_opts *opts, int64_t number, const char **ret_why);
	struct walk *walk; /* of the one who asks; NULL: each question begins at the beginning */
	int32_t (*part)(void *arg, uint64_t request, const void *body, uint32_t len);
	int32_t (*drained)(void *arg, uint64_t request);
	/* Raise it, and put the outcome; WAIT: it is told later. */
	void (*raise)(void *arg, struct raising *r, struct buf *out);
	void *arg;
};

/* `what` is an enum talk_ask; its arguments are read from `in`, the answer's values go to `out`. False: that
 * is no question. */
bool answer(const struct whom *w, int64_t what, struct talk_in *in, struct buf *out);
/* A session as values; NULL: there is none. */
void answer_session(struct buf *m, const struct keel_session *s);

#endif
