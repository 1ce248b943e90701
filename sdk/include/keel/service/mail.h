/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/mail.h - service "mail" (offered by mail): letters to people.
 */
#ifndef KEEL_SERVICE_MAIL_H
#define KEEL_SERVICE_MAIL_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_letter {
	uint32_t size, reserved;
	const char *about;   /* id of what it is about, for the log */
	const char *to;	     /* comma list of user[@host]; those that are no addresses are left out */
	const char *subject; /* control characters become blanks */
	const char *body;    /* its lines; control characters but line ends become blanks */
};

struct keel_mail_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* Hands it to the mail program, later and beside the loop; texts are copied. An error is logged: the caller goes on. */
	void (*send)(struct keel_mod *, const struct keel_letter *);
};

KEEL_SERVICE(mail);
#define keel_mail_send(...) KEEL_CALL(mail, send, __VA_ARGS__)

#endif
