/* SPDX-License-Identifier: Apache-2.0
 *
 * mail.h - what the files of the module mail share.
 */
#ifndef MAIL_MAIL_H
#define MAIL_MAIL_H

#include "keel/keel.h"
#include "keel/service/mail.h"
#include "keel/text.h"

#include "letter.h"

struct conf {
	const char *sendmail;
	int64_t timeout, queue;
};

/* On each job. */
struct slot {
	bool begun; /* an array: the mail that it began was sent */
};

struct state {
	struct post { /* send.c: the mails that wait */
		struct mail *first, **end;
		int64_t waiting;
		bool sending; /* one is with the worker */
		bool full, failing; /* that was said */
		bool closed;
	} post;
	bool wrong_from, wrong_mailer; /* the error is in the log */
};

/* One mail, on its way; freed when it is sent, or cannot be. */
struct mail {
	struct mail *next;
	char *program, *from, *text;
	char **to; /* NULL-terminated */
	int64_t timeout;
	int error;  /* errno: it could not be started */
	int status; /* of wait() */
	bool timed_out;
	char id[]; /* what it is about */
};
struct mail *mail_new(const char *id);
void mail_free(struct mail *);

void post_close(struct keel_mod *);
void post_send(struct keel_mod *, struct mail *); /* the mail is owned by it; a mail that fails is logged */

/* write.c: sends mail to the users of a job, if its Mail_Points include the letter. `why` may be NULL. A letter that cannot
 * be sent is logged: the caller need not know. */
void write_about(struct keel_mod *, struct keel_obj *job, char letter, const char *why);
extern const struct keel_service_def mail_service;

#endif
