/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - keelson-modhost: one module in a process of its own; what the files of this folder share.
 *
 *   frames -> queue -> one at a time: a step of its life, a call, a note ... -> the module's code
 *                                            its API calls: local, or a question to the daemon (ask)
 *
 * While a question is open, frames that come are queued: the module's code is never entered twice. Handles of objects are
 * names; they die when the callback returns. Out of memory is the end of this process: it is started again.
 */
#ifndef MODHOST_HOST_H
#define MODHOST_HOST_H

#include <errno.h>

#include "talk.h"

struct message {
	struct message *prev, *next;
	uint32_t len;
	char bytes[];
};

/* A filled configuration. */
struct values {
	char *bytes;
	void **owned;
	uint32_t n_owned;
};

struct host {
	struct keel_mod mod; /* first */
	const char *name;
	int fd;
	struct talk in;	 /* bytes that are no frame yet */
	struct talk out; /* frames that are not sent yet */
	uint32_t frame;	 /* where the one that is being made begins */
	struct message *queue;
	bool over; /* the daemon is gone */
	const char *refused; /* why this process is not confined as it should be */

	/* what the daemon said of itself */
	uint32_t daemon;
	char *home, *exec_dir, *server_name, *host_name, *version;

	const struct keel_module *desc; /* NULL: no file is open */
	struct keel_conf_rule *rules;	/* of this size, whatever the file's; likewise: */
	struct keel_tap *taps;
	struct values conf, checked;
	bool unusable; /* init() failed, or was not called yet */

	struct hcall *current; /* whose callback runs, NULL: none of a call */
	struct hcall *calls;
	struct keel_obj *objs; /* handles given out since the callback began */
	struct keel_obj *dead; /* newest first */
	uint32_t n_dead;
	struct block *borrowed;
	struct keel_attr *attrs;
	struct bind *binds;
};

extern struct host host; /* there is one */

/* line.c: the socket */
void line_flush(void);
/* A frame: begin, put, end. */
struct talk *frame_begin(int kind);
void frame_end(void);
void reply_begin(void); /* to the daemon's last message */
void told(enum up what, ...); /* a TELL */
bool line_read(void); /* read what is there and cut it into frames; false: the daemon is gone */
bool line_soon(void); /* is there something to read, now or in a moment? */
struct message *line_next(void);
/* A question; the answer is read from `in`, and freed by ask_end(). */
struct answer {
	struct message *m;
	struct talk_in in;
};
void ask(struct answer *ret, enum up what, ...);
void ask_end(struct answer *a);
int64_t ask_code(enum up what, ...); /* the first value */
void host_log(uint32_t event, const char *text);
void *own(void *memory); /* abort() without */
int32_t step_take(struct answer *a, struct keel_err *err); /* code, PBSE code, text; ends it */
int32_t text_take(struct answer *a, char *buf, uint32_t len); /* length or code, text; ends it */
int32_t fail_with(struct keel_err *err, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);

/* A function of a group that is not here: it writes a record that names it, and returns what it returns without memory. */
#define REFUSAL "a module in a process of its own cannot do this"
#define REFUSED(name, type, value, ...)                                  \
	static type name(__VA_ARGS__)                                    \
	{                                                                \
		host_log(KEEL_LOG_ERROR, #name "(): " REFUSAL);          \
		return value;                                            \
	}
#define REFUSED_ERR(name, type, value, ...)                              \
	static type name(__VA_ARGS__, struct keel_err *err)              \
	{                                                                \
		host_log(KEEL_LOG_ERROR, #name "(): " REFUSAL);          \
		fail_with(err, -ENOTSUP, REFUSAL);                       \
		return value;                                            \
	}

/* main.c: act on what is queued. */
void heard_all(void);

/* loop.c: the group core */
extern const struct keel_core_api host_core;
void loop_run(void);

/* describe.c */
int32_t module_open(const char *path, char *why, uint32_t len);
void module_link(void); /* life.c: what KEEL_MODULE() wants is written */
void describe(struct talk *m);

/* Groups */
extern const struct keel_object_api host_object;
extern const struct keel_call_api host_call;
extern const struct keel_hook_api host_hook;
const void *host_group(const char *name);

/* The daemon's messages; one function for each row of talk.def. */
typedef void down_fn(const struct value *v, struct talk_in *in);
#define DOWN(name, arguments, answer) void on_##name(const struct value *v, struct talk_in *in);
#include "talk.def"

/* calls.c: A tap's part in one operation. */
struct hcall {
	struct keel_call pub; /* first */
	int64_t number;
	int32_t code; /* of a REJECT */
	char *text;   /* owned: of a REJECT, FAIL, answer */
	bool closed;  /* takes no holds */
	struct keel_hold *holds;
	struct hcall *prev, *next;
};

/* handles.c */
struct keel_obj {
	unsigned magic;
	struct keel_obj *next;
	const char *klass, *id; /* behind the struct */
};
struct keel_obj *handle_new(const char *klass, const char *id);
/* A living one, or NULL: the module used it after its callback had returned, which is reported. */
struct keel_obj *handle_check(const struct keel_obj *o);
void handles_end(void); /* a callback returned */
void *borrow(const void *bytes, size_t len); /* until then */
const char *borrow_text(const char *text); /* NULL for NULL */
int32_t slot_bind(struct keel_mod *m, const char *klass, uint32_t size, void (*fini)(struct keel_mod *, void *slot));
void *slot_get(struct keel_mod *m, struct keel_obj *o);

#endif
