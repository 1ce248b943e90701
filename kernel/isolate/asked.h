/* SPDX-License-Identifier: Apache-2.0
 *
 * asked.h - what the files that answer questions share: answer.c and answer_raise.c.
 */
#ifndef KEELSON_ASKED_H
#define KEELSON_ASKED_H

#include "isolate/answer.h"

/* A question that is being answered. */
struct asked {
	const struct whom *w;
	struct talk_in *in;
	struct buf *out;
	bool drafts;   /* one of the call's was named */
	uint32_t kind; /* of the point that is raised */
};

/* An object by its name, of the call or found anew. */
struct keel_obj *asked_obj(void *asked, const char *klass, const char *id);
void asked_code(struct asked *a, int64_t code);
/* A code, or what went wrong, as three values. */
void asked_err(struct asked *a, int32_t code, const struct keel_err *err);

/* answer_raise.c */
void ask_note(struct asked *a);
void ask_fold(struct asked *a);
void ask_raise(struct asked *a);

#endif
