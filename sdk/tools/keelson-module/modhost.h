/* SPDX-License-Identifier: Apache-2.0
 *
 * modhost.h - a keelson-modhost of this installation and its socket: the daemon's end of kernel/isolate/talk.h,
 * for who can wait.
 */
#ifndef KEELSON_MODULE_MODHOST_H
#define KEELSON_MODULE_MODHOST_H

#include <sys/types.h>

#include "isolate/talk.h"

struct modhost {
	pid_t pid; /* 0: there is none */
	int fd;
	struct frame_reader in;
	struct mp out; /* a message being built */
	uint64_t n_asked;
	unsigned depth; /* answers that are awaited */
	char lost[200]; /* why it can be asked no more; "": it can */
	/* A question or an event of it, which comes while an answer is awaited. */
	void (*heard)(void *arg, const struct frame *f);
	void *arg;
};

/* Is the program there? */
bool modhost_is_installed(void);
/* Start one whose clock is told: it stands at now_ms; epoch_us is the wall clock when that was 0. False: h->lost. */
bool modhost_open(struct modhost *h, const char *name, int64_t now_ms, int64_t epoch_us);
void modhost_close(struct modhost *h); /* all zero is fine */

/* Begin a message in h->out. */
void modhost_begin(struct modhost *h, int64_t what);
void modhost_tell(struct modhost *h); /* an event */
/* A question, and its answer in *ret, borrowed until the next use of h. False: h->lost. */
bool modhost_ask(struct modhost *h, struct talk_in *ret);
void modhost_reply(struct modhost *h, uint64_t corr, const struct mp *answer);
void modhost_give_up(struct modhost *h, const char *why);

#endif
