/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/api.h - the kernel's API groups. A module declares its need of a group with KEEL_NEED() and calls
 * through the pointer in its state. Tables only grow at the end.
 *
 * A function returns 0 and fails with a negative errno, unless said otherwise. Everything runs on the loop thread,
 * except core->post().
 */
#ifndef KEEL_API_H
#define KEEL_API_H

#include "keel/contrib.h"
#include "keel/hooks.h"
#include "keel/types.h"

typedef void keel_fn(struct keel_mod *, void *arg);

/* ---- core: log, clock, timers, fds, worker threads ------------------------------------------ */
enum keel_ready {
	KEEL_READABLE = 1,
	KEEL_WRITABLE = 2, /* there is room again; a connect() has ended, well or not */
};
struct keel_core_api {
	uint32_t size, version;
	/* One record of the daemon's log: event bits, class ("Job"), object, text. */
	void (*log)(struct keel_mod *, uint32_t event, const char *klass, const char *object,
		    const char *fmt, ...) KEEL_PRINTF(5, 6);
	/* Fills *err (may be NULL) and returns `code`, so that the caller fails in one line. */
	int32_t (*error)(struct keel_err *err, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);
	/* The table text of a PBSE code, "" when it has none. */
	const char *(*pbse_text)(int32_t code);
	/* Milliseconds that never jump, for measuring and for deadlines; from no moment in particular. */
	int64_t (*now_ms)(struct keel_mod *);
	int64_t (*time)(struct keel_mod *);   /* The time of day: seconds since 1970. */
	uint32_t (*daemon)(struct keel_mod *); /* What this process is: enum keel_daemon bits. */
	const char *(*home)(struct keel_mod *); /* PBS_HOME, absolute. Borrowed, valid for ever. */
	const char *(*exec_dir)(struct keel_mod *); /* PBS_EXEC, absolute. Borrowed, valid for ever. */
	/* The part of ids behind the dot: `svr` of `12.svr`. Borrowed, valid for ever. */
	const char *(*server_name)(struct keel_mod *);
	/* This host, as other daemons know it. Borrowed, valid for ever. */
	const char *(*host_name)(struct keel_mod *);
	const char *(*version_text)(struct keel_mod *); /* What `--version` prints. */
	/* Calls fn once, after so long. The timer is gone when fn runs or after timer_cancel(): the caller forgets the
	 * pointer then. NULL without memory. The caller cancels in stop() what is open: code that a timer
	 * may still call is never unmapped. */
	struct keel_timer *(*timer)(struct keel_mod *, int64_t after_ms, keel_fn *fn, void *arg);
	void (*timer_cancel)(struct keel_timer *); /* fn does not run any more. NULL is fine; for one that is gone nothing happens */
	/* Calls fn on the loop after the current event, in order. Fails with -ENOMEM. */
	int32_t (*defer)(struct keel_mod *, keel_fn *fn, void *arg);
	/* Calls fn on the loop, soon. Any thread may call it: the only function of all groups that is so. Fails with -ENOMEM. */
	int32_t (*post)(struct keel_mod *, keel_fn *fn, void *arg);
	/* Runs `work` on a worker thread, then `done` on the loop: for what may take long or block. `work` sees
	 * only arg and calls no group. Four of a module run at a time, others wait in order. It cannot be taken
	 * back: both run, once, and the caller keeps arg until then; `done` even after fini() when the module
	 * went: mod->state is then there as fini() left it, or, where the module has come back meanwhile, that of its
	 * new life. So such a `done` uses only its arg. Fails with -ENOMEM: neither runs. */
	int32_t (*work)(struct keel_mod *, void (*work)(void *arg), keel_fn *done, void *arg);
	/* Calls fn when fd is readable, until watch_cancel(); for more see watch_for(). The fd is owned by the caller. Fails
	 * with NULL without memory, and for an fd that cannot be watched (a file), or is watched already. */
	struct keel_watch *(*watch_fd)(struct keel_mod *, int fd, keel_fn *fn, void *arg);
	void (*watch_cancel)(struct keel_watch *); /* fn does not run any more. NULL is fine. */
	/* Stops the daemon in an orderly way, after the caller has returned. */
	void (*stop)(struct keel_mod *);
	/* Which event classes this daemon logs (enum keel_log_event bits); 0: as configured. */
	void (*log_events)(struct keel_mod *, uint32_t mask);
	/* For measuring how long one's own work takes (a slice): microseconds since some moment. In a
	 * simulation the clocks above stand still during a callback; this one goes on. */
	int64_t (*clock_us)(struct keel_mod *);
	/* Calls fn on the loop when everything that changed up to now is durable; soon, when nothing did. Fails with -ENOMEM:
	 * fn is not called. */
	int32_t (*when_durable)(struct keel_mod *, keel_fn *fn, void *arg);
	/* What a watch waits for from now on: enum keel_ready bits, 0: nothing for a while. Its fn is called when
	 * one of them holds, as long as it holds, without saying which: try, and take EAGAIN for no. Fails with -EINVAL
	 * for other bits. */
	int32_t (*watch_for)(struct keel_watch *, uint32_t ready);
	/* For a caller that will run a callback of `other` in a later turn: that module stays loaded until let_go() was
	 * called as often as keep(). Its unload waits a moment for that, then it is refused. NULL is fine. */
	void (*keep)(struct keel_mod *other);
	void (*let_go)(struct keel_mod *other); /* It has been called. NULL is fine. */
};

/* ---- object: classes, typed attributes, lookup, change sets ---------------------------------- */
struct keel_wanted {
	const char *name, *key; /* key NULL: all */
};
struct keel_object_api {
	uint32_t size, version;
	/* A draft is not listed, found or saved until publish(); the caller publishes or destroys it. Fails with NULL and *err:
	 * bad or used id, or no memory. */
	struct keel_obj *(*draft)(struct keel_mod *, const char *klass, const char *id,
				  struct keel_err *);
	/* A draft becomes an object that every module finds, and is saved with this turn. Fails with -EEXIST or -ENOMEM: the
	 * caller still has the draft. */
	int32_t (*publish)(struct keel_obj *);
	/* Destroys the object and its stored row. Slots' destructors run; the caller's handle is invalid afterwards. */
	void (*destroy)(struct keel_obj *);
	/* A published object by its id; NULL: there is none. Borrowed until the callback returns. */
	struct keel_obj *(*find)(struct keel_mod *, const char *klass, const char *id);
	/* Its id: what to keep. Borrowed, as long as the object lives. */
	const char *(*id)(const struct keel_obj *);
	const char *(*klass)(const struct keel_obj *); /* "job", "node" ... Borrowed. */
	uint32_t (*count)(struct keel_mod *, const char *klass); /* Published objects of a class. */

	/* Begins to walk a class in order of creation. Objects may be destroyed and created meanwhile, and
	 * the walk may go on in a later turn. The caller calls cursor_close(). NULL without memory. */
	struct keel_cursor *(*cursor)(struct keel_mod *, const char *klass);
	struct keel_obj *(*next)(struct keel_cursor *); /* The next object; NULL at the end. */
	void (*cursor_close)(struct keel_cursor *);	/* End a walk, wherever it is. */

	/* An attribute by its name, looked up once in init(); NULL when the class has none of that name. Stays
	 * valid: while the module that brings it is not loaded no object has a value of it, and setting it does
	 * nothing. keel/find.h does this for a table of them. */
	const struct keel_attr *(*attr)(struct keel_mod *, const char *klass, const char *name);
	const char *(*attr_name)(const struct keel_attr *);   /* Its name. Borrowed. */
	uint32_t (*attr_flags)(const struct keel_attr *);     /* enum keel_attr_flag bits of its row. */

	/* Has it a value? This and the get_ functions read what is committed and stored; values that are
	 * computed (derived) are read with text() and emit(). */
	bool (*is_set)(const struct keel_obj *, const struct keel_attr *);
	/* The value of a type that is an integer (bool, long, size, time ...); 0 when unset. */
	int64_t (*get_int)(const struct keel_obj *, const struct keel_attr *);
	/* The value of a type that is a string; NULL when unset. Borrowed until the callback returns. */
	const char *(*get_str)(const struct keel_obj *, const struct keel_attr *);
	/* slot.p of any other type, NULL when unset; what it points to belongs to the type's module. */
	const void *(*get_ptr)(const struct keel_obj *, const struct keel_attr *);
	/* As users see it: like snprintf() into buf; fails with -ENODATA when it is unset. Works for derived ones. */
	int32_t (*text)(struct keel_obj *, const struct keel_attr *, const char *key, char *buf,
			uint32_t len);
	/* The same, piece by piece to a function: once, or once per key (`key` NULL: all of them). */
	void (*emit)(struct keel_obj *, const struct keel_attr *, const char *key,
		     const struct keel_emit *);

	/* Write an integer. This and the next ones are writes by the system: at once, without permission or
	 * check function, saved with this turn. Inside a GATE use call->set() instead. */
	void (*set_int)(struct keel_obj *, const struct keel_attr *, int64_t);
	/* Writes a string; it is copied. Fails with -ENOMEM: the old value stays. */
	int32_t (*set_str)(struct keel_obj *, const struct keel_attr *, const char *text);
	/* Move a value of a module's own type in: the object owns it now. */
	void (*set_ptr)(struct keel_obj *, const struct keel_attr *, void *p);
	/* Write a value of any type from its text; `op` KEEL_SET, KEEL_INCR or KEEL_DECR; `key` of a keyed type
	 * (Resource_List), else NULL. Fails with a PBSE code and *err; nothing is changed then. */
	int32_t (*set_text)(struct keel_obj *, const struct keel_attr *, int32_t op, const char *key,
			    const char *text, struct keel_err *);
	/* Take a value away, or one key of it. */
	void (*unset)(struct keel_obj *, const struct keel_attr *, const char *key);
	/* Does the object match `attr[.key] <op> value`? Returns 1 or 0; fails with a negative PBSE code and *err. For status
	 * selections. */
	int32_t (*match)(struct keel_obj *, const struct keel_attr *, int32_t op, const char *key,
			 const char *text, struct keel_err *);

	/* An empty change set: writes that are made together by commit(), or not at all. The caller commits it, discards it, or
	 * gives it to raise(). NULL without memory. */
	struct keel_changes *(*changes)(struct keel_mod *);
	/* Adds a change on behalf of a requester: permission, flags, check function, then parse. It fails with the PBSE code of
	 * the first of them that does, and *err as users see it: the set is as it was. */
	int32_t (*change)(struct keel_changes *, const struct keel_session *, struct keel_obj *,
			  const struct keel_attrop *, struct keel_err *);
	/* Adds a change on behalf of the system, like set_text(). Fails with a PBSE code and *err. */
	int32_t (*change_text)(struct keel_changes *, struct keel_obj *, const struct keel_attr *,
			       int32_t op, const char *key, const char *text, struct keel_err *);
	/* The value as this set would make it (else the object's), like text(). */
	int32_t (*change_peek)(struct keel_changes *, struct keel_obj *, const struct keel_attr *,
			       const char *key, char *buf, uint32_t len);
	/* The slot as this set would make it: NULL when unset. */
	const union keel_slot *(*change_slot)(struct keel_changes *, struct keel_obj *,
					      const struct keel_attr *);
	/* Walk what the set holds: calls fn for each (object, attribute) once. */
	void (*change_each)(struct keel_changes *,
			    void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *),
			    void *arg);
	void (*commit)(struct keel_changes *);  /* Make all changes, and destroy the set. */
	void (*discard)(struct keel_changes *); /* Make none, and destroy the set. NULL is fine. */

	/* Declares private memory of this module on each object of a class: once per class, in init(). `fini` (may be NULL)
	 * runs when the object or the module goes. Fails with -EEXIST the second time, -EINVAL or -ENOMEM. */
	int32_t (*slot_bind)(struct keel_mod *, const char *klass, uint32_t size,
			     void (*fini)(struct keel_mod *, void *slot));
	/* That memory of this object, zeroed at first use; NULL without memory. Not stored: the caller rebuilds it in the
	 * replay (job_known ...). */
	void *(*slot)(struct keel_mod *, struct keel_obj *);

	/* A view is a compiled list of wanted attributes for a requester's roles, for pack(). The caller calls view_close().
	 * NULL without memory. */
	struct keel_view *(*view)(struct keel_mod *, const char *klass, const struct keel_wanted *want,
				  uint32_t n_want, uint32_t roles); /* n_want 0: all */
	void (*view_close)(struct keel_view *); /* NULL is fine. */
	/* Append `[id, [[attr, key, value]...]]` to an array being built; under that id, NULL: its own. One object may stand
	 * for many. Fails with -ENOMEM. */
	int32_t (*pack)(struct keel_obj *, const char *id, struct keel_view *, struct keel_out *);
	/* The class' attribute rows in listing order, for manuals and qmgr: calls fn for each. */
	void (*rows)(struct keel_mod *, const char *klass,
		     void (*fn)(void *arg, const struct keel_attr_def *), void *arg);
	/* Two published objects of a class exchange their places in its walk. Not stored: after a restart
	 * the walk is in order of creation again. */
	void (*swap)(struct keel_obj *, struct keel_obj *);

	/* A draft of the same class with the same values but those of KEEL_ATTR_OWN rows; private memory is not
	 * copied. Fails as draft() does. */
	struct keel_obj *(*clone)(struct keel_mod *, struct keel_obj *, const char *id,
				  struct keel_err *);
};

/* ---- call: what a tap may do with its operation ----------------------------------------------- */
struct keel_outcome {
	uint32_t size;
	keel_verdict verdict; /* NEXT or DONE: accepted; REJECT; FAIL */
	int32_t code;         /* PBSE of a REJECT */
	const char *text;     /* of a REJECT or FAIL; the answer of an ASK; appended text of a FOLD */
	const char *by;       /* module.tap that decided, or NULL */
};
typedef void keel_outcome_fn(struct keel_mod *, void *arg, const struct keel_outcome *);
enum keel_cancel { KEEL_CANCEL_TIMEOUT = 1, KEEL_CANCEL_CLIENT_GONE, KEEL_CANCEL_OBJECT_GONE,
		   KEEL_CANCEL_STOPPING };
struct keel_hold_opts {
	uint32_t size;
	uint32_t until_point; /* released by this NOTE point ... */
	const char *until_id; /* ... about this object (first STR field of the event) */
	const char *why;      /* shown to administrators; mandatory */
	int64_t timeout_ms;   /* 0 = the configured default */
	/* Exactly one of the two runs, on the loop. The verdict replaces WAIT. */
	keel_verdict (*resume)(struct keel_call *, void *arg);
	void (*cancel)(struct keel_call *, void *arg, int32_t reason);
	void *arg;
};
struct keel_call_api {
	uint32_t size, version;
	/* GATE: the veto. Returns KEEL_REJECT, so that a refusal is one line. `pbse` is a number of
	 * keel/pbse.def, 0 means 15169; fmt NULL: people read the text of that table. */
	keel_verdict (*reject)(struct keel_call *, int32_t pbse, const char *fmt, ...) KEEL_PRINTF(3, 4);
	/* The tap fails, for this reason. Returns KEEL_FAIL; its fail policy decides what that means. */
	keel_verdict (*fail)(struct keel_call *, const char *fmt, ...) KEEL_PRINTF(2, 3);
	/* ASK: the answer. Returns KEEL_DONE. The text is copied. */
	keel_verdict (*answer)(struct keel_call *, const char *text);
	/* FOLD: add to the sum (it stops at the ends of an int64_t); at client_auth: unite bits. */
	void (*add)(struct keel_call *, int64_t score);
	/* FOLD: append to the text, behind a blank. Copied. */
	void (*append)(struct keel_call *, const char *text);
	/* GATE: a change that is made when the whole chain accepts, and seen by later taps; text NULL: unset.
	 * Permissions are not checked. Fails with a PBSE code and *err: no such attribute, a bad value. */
	int32_t (*set)(struct keel_call *, struct keel_obj *, const char *attr, const char *key,
		       const char *text, struct keel_err *);
	/* The value as the operation would make it: like snprintf() into buf; fails with -ENODATA when it has none, -ENOENT
	 * when there is no such attribute. */
	int32_t (*get)(struct keel_call *, struct keel_obj *, const char *attr, const char *key,
		       char *buf, uint32_t len);
	/* Wait: GATE and ASK. Returns KEEL_WAIT, which the caller returns; fails with KEEL_FAIL when it cannot be held (no
	 * reason given, no memory, the daemon ends). *ret_hold is valid until resume or cancel runs; ret_hold may be NULL. */
	keel_verdict (*hold)(struct keel_call *, const struct keel_hold_opts *,
			     struct keel_hold **ret_hold);
	/* End a hold: its resume() runs, on the loop; or its cancel(), where that was decided before (a deadline
	 * in the same turn). So what a hold carries is freed in those two alone. Once per hold; not after
	 * resume or cancel. */
	void (*release)(struct keel_hold *);
	/* The requester; NULL: the system. Borrowed until the callback returns. */
	const struct keel_session *(*session)(struct keel_call *);
	/* GATE and ASK: fn is called once when the operation this tap took part in has ended, with how: others behind it
	 * may wait, refuse or fail. So what a tap takes as it lets something pass it can give back. A module that goes
	 * before gets KEEL_FAIL then. Fails with -EINVAL (another kind of point, fn NULL) or -ENOMEM: fn is not called;
	 * -ENOTSUP in a process of its own. */
	int32_t (*settled)(struct keel_call *, keel_outcome_fn *fn, void *arg);
	/* The operation that waits for this hold, for set(), get(), session() and hold() meanwhile. Valid while the hold is. */
	struct keel_call *(*held)(struct keel_hold *);
};

/* ---- hook: raise a point ----------------------------------------------------------------------- */
struct keel_raise {
	uint32_t size, point;
	const void *event;  /* strings and fields are copied when the operation has to wait */
	struct keel_changes *changes; /* moved: committed when accepted, discarded when not; or NULL */
	struct keel_req *req;         /* the requester, or NULL; its going away cancels holds */
	keel_outcome_fn *done;        /* called exactly once, before raise() returns or later */
	void *arg;
};

struct keel_hook_api {
	uint32_t size, version;
	/* GATE and ASK. Returns the verdict, or KEEL_WAIT when done() comes later. `done` runs after the
	 * change set was committed. */
	keel_verdict (*raise)(struct keel_mod *, const struct keel_raise *);
	/* NOTE. Inside an operation of the same object it is queued and raised after it. */
	void (*note)(struct keel_mod *, uint32_t point, const void *event);
	/* FOLD. The sum (OR for client_auth); appended text into buf when not NULL. */
	int64_t (*fold)(struct keel_mod *, uint32_t point, const void *event, char *buf, uint32_t len);
	/* Does it have a tap? For callers that would have to build an expensive event. */
	bool (*tapped)(struct keel_mod *, uint32_t point);
	/* Tap a point at run time: fn sees the generic event view (fields()). The tap ends with its module, and with the
	 * point of another module, which point() finds: then this module restarts, too. Fails with -EEXIST or -EINVAL and
	 * *err. */
	int32_t (*tap_add)(struct keel_mod *, uint32_t point, const char *name, int32_t order,
			   keel_any_fn *fn, void *arg, struct keel_err *);
	/* Takes such a tap away; unknown names are ignored. */
	void (*tap_remove)(struct keel_mod *, uint32_t point, const char *name);
	/* The fields of the event of a point of the map, with their places in it; NULL: no such point. Those of
	 * modules' points: about(). */
	const struct keel_field *(*fields)(uint32_t point, uint32_t *ret_n);
	/* Holds of an object as users see them ("module: why (12s of 60s)"), like snprintf(). */
	int32_t (*holds_text)(struct keel_mod *, const char *id, char *buf, uint32_t len);
	/* The id of the point of this name, of the map or published by a module; 0: there is none now. A point that
	 * is withdrawn and published again has another id. */
	uint32_t (*point)(struct keel_mod *, const char *name);
	/* Fill *ret (set its size) with what is known of a point; what it points to is borrowed while the point
	 * exists. Fails with -ENOENT: there is none. */
	int32_t (*about)(struct keel_mod *, uint32_t point, struct keel_point_def *ret);
	/* End the operation that this module raised with this `arg` and that waits: its holds are cancelled
	 * (KEEL_CANCEL_OBJECT_GONE), then done() gets a FAIL, in a later turn. Fails with -ENOENT when none waits, -ENOTSUP
	 * in a process of its own. */
	int32_t (*end)(struct keel_mod *, const void *arg);
	/* Tell the module's taps at the points of the replay (job_known ...) again what there is, and no one else: for a
	 * module that has lost what it knew. Fails with -ENOMEM; -ENOTSUP in a process of its own. */
	int32_t (*replay)(struct keel_mod *);
	/* None of the module's taps is called any more until a reload: what they guard is decided by their fail
	 * policies. */
	void (*bench)(struct keel_mod *);
};

/* ---- msg: read and build message bodies (maps with string keys) -------------------------------- */
struct keel_msg_api {
	uint32_t size, version;
	/* A string; NULL: absent, no string, or a NUL in it. Borrowed from the message, as what follows is. */
	const char *(*str)(const struct keel_msg *, const char *key);
	/* Bytes and how many; NULL: absent. */
	const void *(*bytes)(const struct keel_msg *, const char *key, uint32_t *ret_len);
	/* An integer, or `otherwise` when it is absent or none. */
	int64_t (*integer)(const struct keel_msg *, const char *key, int64_t otherwise);
	/* Array of strings: *ret_n of them, borrowed; NULL when absent. -1 in *ret_n: not that. */
	const char *const *(*strings)(const struct keel_msg *, const char *key, uint32_t *ret_n);
	/* Attribute list of a request, borrowed. Fails with -ENODATA when it is absent, -EPROTO when it is no such list. */
	int32_t (*attrs)(const struct keel_msg *, const char *key, const struct keel_attrop **ret,
			 uint32_t *ret_n);
	/* A body to build: it starts as an open map; keys in any order, each once. The caller sends it or calls drop(). NULL
	 * without memory: every function here takes that, and the reply becomes an error. */
	struct keel_out *(*out)(struct keel_mod *);
	void (*put_str)(struct keel_out *, const char *key, const char *text); /* Add text; NULL: nil. */
	void (*put_int)(struct keel_out *, const char *key, int64_t); /* Add an integer. */
	/* Add bytes; copied. */
	void (*put_bytes)(struct keel_out *, const char *key, const void *, uint32_t len);
	/* Add an array of strings; copied. */
	void (*put_strings)(struct keel_out *, const char *key, const char *const *, uint32_t n);
	/* Open an array; add values (add_str, add_int, object->pack), then close() it. */
	void (*open_array)(struct keel_out *, const char *key);
	void (*add_str)(struct keel_out *, const char *text); /* Add to the open array. */
	void (*add_int)(struct keel_out *, int64_t);	      /* Add to the open array. */
	void (*open_list)(struct keel_out *); /* Open an array inside an array. */
	void (*close)(struct keel_out *);     /* End the array that was opened last. */
	uint32_t (*length)(const struct keel_out *); /* How many bytes it is so far. */
	void (*drop)(struct keel_out *); /* It is not sent after all: free it. NULL is fine. */
};

/* ---- request: answer clients ----------------------------------------------------------------------- */
struct keel_request_api {
	uint32_t size, version;
	/* The requester: verified at the socket, never read from the message. Borrowed until the reply. */
	const struct keel_session *(*session)(struct keel_req *);
	/* The body of the request. Borrowed until the reply. */
	const struct keel_msg *(*body)(struct keel_req *);
	/* The one answer. fmt NULL: the table text of the code. Released after this turn's changes are
	 * durable. The req is gone after it, and only then. */
	void (*reply)(struct keel_req *, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);
	/* The one answer, code 0 with results. The out is moved. */
	void (*reply_out)(struct keel_req *, struct keel_out *);
	/* A PART, sent at once. Fails with -ENOBUFS when the client reads too slowly: the part was taken all the same, and
	 * the caller calls drained() and goes on later; with -EPIPE when the client is gone. */
	int32_t (*part)(struct keel_req *, struct keel_out *);
	/* Calls fn when the client has read what was sent to it. Fails with -EPIPE: the client is gone, fn is not called. */
	int32_t (*drained)(struct keel_req *, keel_fn *fn, void *arg);
	/* fn runs when the client disconnects before the reply. The req stays valid until the caller replies;
	 * that reply then goes nowhere. */
	void (*on_gone)(struct keel_req *, keel_fn *fn, void *arg);
	const char *(*name)(struct keel_req *); /* Of the request's row. Borrowed until the reply. */
};

/* ---- link: messages to other daemons ---------------------------------------------------------------- */
/* Peers are named by host; the server is "server". In the embedded daemon both ends are one process
 * and messages go through memory. A message is released after this turn's changes are durable. */
struct keel_link_api {
	uint32_t size, version;
	/* Messages `name` go to fn, if the sender's key says one of `from` (enum keel_daemon bits). */
	int32_t (*on)(struct keel_mod *, const char *name, uint32_t from,
		      void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *));
	/* Sends a message; the out is moved, also when it fails: with -ENOTCONN when there is no such peer now. */
	int32_t (*send)(struct keel_mod *, const char *peer, const char *name, struct keel_out *);
	bool (*is_up)(struct keel_mod *, const char *peer); /* Is there a link to it now? */
	/* Returns whether it was linked, perhaps before this daemon restarted, and its grace has not ended: it counts as
	 * up, peer_down was not raised. */
	bool (*is_awaited)(struct keel_mod *, const char *peer);
};

/* ---- blob: long byte strings of an object, kept in the store and not in memory ------------------------ */
struct keel_blob_api {
	uint32_t size, version;
	/* Keeps bytes with an object, under a name; NULL: takes them away. Part of this turn's transaction. Copied.
	 * Gone with the object. Fails with -ENOMEM. */
	int32_t (*put)(struct keel_obj *, const char *name, const void *bytes, uint32_t len);
	/* fn gets the bytes, borrowed; later, on the loop. NULL and 0: there are none; NULL and an errno: they cannot
	 * be read (now), the log has the reason. */
	int32_t (*get)(struct keel_mod *, const char *klass, const char *id, const char *name,
		       void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len),
		       void *arg);
};

/* ---- store: the service a store module offers to the kernel ------------------------------------------- */
struct keel_store_row {
	const char *klass, *id;
	const char *blob;  /* NULL: the object's own row */
	const void *bytes; /* NULL: delete (of the object: with its blobs) */
	uint32_t len;
};
struct keel_store_api {
	uint32_t size, version;
	struct keel_mod *self;
	/* Loop thread, before anything else; creates what is missing. */
	int32_t (*open)(struct keel_mod *, struct keel_err *);
	/* Give every stored object to row(), in order of creation; stop when it returns less than 0. */
	int32_t (*load)(struct keel_mod *,
			int32_t (*row)(void *arg, const char *klass, const char *id, const void *bytes,
				       uint32_t len),
			void *arg, struct keel_err *);
	/* Worker thread, one at a time. All rows or none; durable when it returns 0. When it fails, with *err, the caller
	 * tries again. */
	int32_t (*commit)(struct keel_mod *, const struct keel_store_row *rows, uint32_t n,
			  struct keel_err *);
	/* Worker thread, may overlap commit(). The caller frees *ret_bytes, NULL when there is none. Fails with *err when it
	 * cannot be read. */
	int32_t (*read_blob)(struct keel_mod *, const char *klass, const char *id, const char *name,
			     void **ret_bytes, uint32_t *ret_len, struct keel_err *);
};

#endif
