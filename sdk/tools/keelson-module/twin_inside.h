/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_inside.h - what the files of the twin share.
 */
#ifndef KEELSON_MODULE_TWIN_INSIDE_H
#define KEELSON_MODULE_TWIN_INSIDE_H

#include "isolate/answer.h"
#include "modhost.h"
#include "twin.h"

/* A tap's part in one operation. */
struct twin_call {
	struct twin_call *next;
	struct twin *twin;
	uint64_t number;
	struct keel_call *call; /* whose callback runs; NULL: none */
	unsigned n_holds;
	const void *event;      /* of a tap that is asked */
	uint32_t point;
};
struct twin_hold {
	struct twin_hold *next;
	struct twin_call *call;
	int64_t number; /* the process' */
	struct keel_hold *hold;
};
struct twin_request {
	struct twin_request *next;
	struct twin *twin;
	uint64_t number;
	struct keel_req *req;
};

/* The state of the module that the host sees. */
struct twin {
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_call_api *call;
	const struct keel_hook_api *hook;
	const struct keel_msg_api *msg;
	const struct keel_request_api *request;
	struct keel_mod *mod;
	struct modhost host;
	struct keel_timer *turn; /* when the process has something to do */
	struct twin_call *calls;
	struct twin_hold *holds;
	struct twin_request *requests;
	uint64_t n_calls, n_requests;
};

/* Who asks: the argument of a struct whom. */
struct asking {
	struct twin *twin;
	struct twin_call *call; /* NULL: it asks within none */
};

/* What is known of the process that was there last. */
extern struct twin_seen {
	char lost[sizeof(((struct modhost *)0)->lost)];
	char unopened[256];
	bool watches;
} twin_seen;

/* twin_call.c */
bool twin_ask(struct twin *t, struct talk_in *ret);
void twin_heard(void *twin, const struct frame *f);
/* `row`: the tap's, of the descriptor. */
keel_verdict twin_tap(struct keel_call *call, uint32_t point, uint32_t kind, int64_t row, const void *event);
/* After an event. What it began is over, and its next turn is known. */
void twin_settle(struct twin *t);

/* twin_request.c */
enum { TWIN_REQUESTS = 16 }; /* rows */
void (*twin_handler(unsigned i, int64_t row))(struct keel_mod *, struct keel_req *);
void twin_answered(struct twin *t, int64_t what, struct talk_in *in);
int32_t twin_part(void *asking, uint64_t request, const void *body, uint32_t len);
int32_t twin_drained(void *asking, uint64_t request);
void twin_requests_end(struct twin *t);
struct keel_req *twin_requester(const struct twin *t, uint64_t request); /* NULL: nobody */

/* twin_raise.c */
void twin_raise(void *asking, struct raising *r, struct mp *out);

#endif
