/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - keelson-modhost: one module in a process of its own; what the files of this folder share.
 *
 *   frames -> queue -> one at a time: a step of its life, a call, a note ... -> the module's code
 *                                            its API calls: local, or a question to the daemon (ask)
 *
 * While a question is open, frames that come are queued: the module's code is never entered twice. Handles
 * of objects are names; they die when the callback returns.
 */
#ifndef KEELSON_MODHOST_HOST_H
#define KEELSON_MODHOST_HOST_H

#include "hook/hooks.h"
#include "isolate/talk.h"
#include "keel/api.h"
#include "keel/module.h"
#include "loop/loop.h"
#include "util/owner.h"

struct module_look;

struct options {
	const char *name, *user;
	int64_t memory;
};

struct message {
	struct message *prev, *next;
	struct frame f;
	char body[];
};

/* A filled configuration. */
struct values {
	char *bytes;
	void **owned;
	uint32_t n_owned;
};

struct tap_row {
	uint32_t point;
	const char *name;
	union keel_tap_fn fn;
};

struct host {
	struct owner owner; /* first: the module's keel_mod leads here */
	struct parts parts;
	struct loop_watch *watch;
	int fd;
	struct frame_reader in;
	struct buf out;
	struct message *queue;
	uint64_t next_ask;
	bool over; /* the daemon is gone, or said goodbye */
	uint32_t n_watches; /* asked for */
	bool unusable; /* init() failed */

	struct keel_err refused; /* text: why this process cannot be what it should */
	struct module_look *file;
	const struct keel_module *desc;
	const struct keel_conf_rule *rules;
	struct tap_row *taps;
	struct values conf, checked;

	struct hcall *current; /* whose callback runs, NULL: none of a call */
	struct hcall *calls;   /* those with holds */
	struct keel_obj *objs; /* handles given out since the callback began */
	struct keel_obj *dead; /* poisoned ones, newest first */
	uint32_t n_dead;
	void *borrowed;        /* strings given out since then: a list of blocks */
	struct keel_attr *attrs;
	struct bind *binds;
	struct keel_req *reqs;
	struct durable *durables;
	struct raised *raised; /* operations that wait */
	int64_t next_hold, next_durable, next_raised;
	uint32_t notes;        /* told, not reported */
	int64_t notes_ms;
};

static inline struct host *host_of(struct keel_mod *m)
{
	return (struct host *)owner_of(m);
}

/* A tap's part in one operation. */
struct hcall {
	struct keel_call pub; /* first */
	struct host *host;
	uint64_t number;
	int32_t code;         /* of a REJECT */
	char *text;           /* owned: of a REJECT, FAIL, answer */
	bool closed;          /* takes no holds */
	struct keel_hold *holds;
	struct hcall *prev, *next;
};
struct keel_hold {
	unsigned magic;
	struct keel_hold *prev, *next;
	struct hcall *call;
	int64_t number;
	keel_verdict (*resume)(struct keel_call *, void *arg);
	void (*cancel)(struct keel_call *, void *arg, int32_t reason);
	void *arg;
};

/* main.c, line.c: the socket */
void host_send(struct host *h);  /* what h->out holds */
void host_reply(struct host *h, uint64_t corr); /* h->out begun with talk_begin() at 0 */
void host_event(struct host *h);
bool host_lingers(const struct host *h); /* is there something to read, now or in a moment? */
bool host_read(struct host *h);  /* wait for bytes and cut them into frames; false: the daemon is gone */
struct message *host_next(struct host *h);
/* A question: ask_begin(), put arguments, ask(). The answer is read from `in`, and freed by ask_end(). */
struct answer {
	struct message *m;
	struct talk_in in;
};
void ask_begin(struct host *h, enum talk_ask what);
void ask(struct host *h, struct answer *ret);
void ask_end(struct answer *a);
int64_t ask_code(struct host *h); /* ask(), the first value, ask_end() */
void host_log(struct host *h, uint32_t event, const char *text);

void host_wait(const struct host *h); /* until there is something to read */

void host_readable(struct host *h); /* main.c: read, and act on it */

/* confine.c */
int confine(const struct options *o, struct keel_err *err);

/* describe.c */
int host_open(struct host *h, struct talk_in *in, struct keel_err *err);
void describe(const struct host *h, struct buf *out);

/* life.c: OPEN to FINI */
void life(struct host *h, int64_t what, struct talk_in *in, uint64_t corr);
void values_fini(struct values *v);
int values_take(const struct host *h, struct talk_in *in, struct values *ret);

/* calls.c */
void call_run(struct host *h, struct talk_in *in, uint64_t corr);
void call_resume(struct host *h, struct talk_in *in, uint64_t corr);
void call_cancel(struct host *h, struct talk_in *in);
void note_run(struct host *h, struct talk_in *in);
void notes_report(struct host *h, bool all);

/* handles.c */
struct keel_obj *handle_new(struct host *h, const char *klass, const char *id);
/* A living one, or NULL: the module used it after its callback had returned, which is told. */
struct keel_obj *handle_check(const struct keel_obj *o);
void handles_end(struct host *h); /* a callback returned */
void *borrow(struct host *h, const void *bytes, size_t len); /* until then */
struct keel_obj *handle_named(void *host, const char *klass, const char *id);
struct keel_obj {
	unsigned magic;
	struct host *host;
	struct keel_obj *next;
	const char *klass, *id; /* behind the struct */
};

/* The groups. */
extern const struct keel_object_api host_object;
extern const struct keel_call_api host_call;
extern const struct keel_hook_api host_hook;
int32_t map_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret);

/* raise.c */
keel_verdict raise_point(struct keel_mod *m, const struct keel_raise *r);
void raise_note(struct keel_mod *m, uint32_t point, const void *event);
int64_t raise_fold(struct keel_mod *m, uint32_t point, const void *event, char *buf, uint32_t len);
void raise_told(struct host *h, struct talk_in *in); /* an outcome */

extern const struct keel_request_api host_request;
const void *host_group(const char *name);

void durable_told(struct host *h, struct talk_in *in);
int64_t req_number(const struct keel_req *q);
void req_take(struct host *h, struct talk_in *in);
void req_gone_told(struct host *h, struct talk_in *in);
void req_drained_told(struct host *h, struct talk_in *in);
void session_take(struct talk_in *in, struct keel_session *ret);
/* Private memory of objects. */
int32_t slot_bind(struct keel_mod *m, const char *klass, uint32_t size,
		  void (*fini)(struct keel_mod *, void *slot));
void *slot_get(struct keel_mod *m, struct keel_obj *o);

#endif
