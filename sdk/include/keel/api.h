/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/api.h - the kernel's API groups, as tables; and the structs that their functions take. Tables only grow at the
 * end. Modules call functions, each documented in its header: keel_log() of keel/core.h is log() of group core.
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
enum keel_fact { KEEL_FACT_HOME, KEEL_FACT_EXEC_DIR, KEEL_FACT_SERVER_NAME, KEEL_FACT_HOST_NAME, KEEL_FACT_VERSION,
		 KEEL_FACT_CLIENT_SOCKET, KEEL_FACT_LOG_DIR };
struct keel_core_api {
	uint32_t size, version;
	void (*log)(struct keel_mod *, uint32_t event, const char *klass, const char *object, const char *fmt, ...) KEEL_PRINTF(5, 6);
	int32_t (*error)(struct keel_err *err, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);
	const char *(*pbse_text)(int32_t code);
	int64_t (*now_ms)(struct keel_mod *);
	int64_t (*time)(struct keel_mod *);
	uint32_t (*daemon)(struct keel_mod *);
	const char *(*fact)(struct keel_mod *, uint32_t which);
	struct keel_timer *(*timer)(struct keel_mod *, int64_t after_ms, keel_fn *fn, void *arg);
	void (*timer_cancel)(struct keel_timer *);
	int32_t (*defer)(struct keel_mod *, keel_fn *fn, void *arg);
	int32_t (*work)(struct keel_mod *, void (*work)(void *arg), keel_fn *done, void *arg);
	struct keel_watch *(*watch_fd)(struct keel_mod *, int fd, keel_fn *fn, void *arg);
	void (*watch_cancel)(struct keel_watch *);
	void (*stop)(struct keel_mod *);
	void (*log_events)(struct keel_mod *, uint32_t mask);
	int64_t (*clock_us)(struct keel_mod *);
	int32_t (*when_durable)(struct keel_mod *, keel_fn *fn, void *arg);
	int32_t (*watch_for)(struct keel_watch *, uint32_t ready);
};

/* ---- object: classes, typed attributes, lookup, change sets ---------------------------------- */
struct keel_wanted {
	const char *name, *key; /* key NULL: all */
};
struct keel_object_api {
	uint32_t size, version;
	struct keel_obj *(*draft)(struct keel_mod *, const char *klass, const char *id, struct keel_err *);
	int32_t (*publish)(struct keel_obj *);
	void (*destroy)(struct keel_obj *);
	struct keel_obj *(*find)(struct keel_mod *, const char *klass, const char *id);
	const char *(*id)(const struct keel_obj *);
	const char *(*klass)(const struct keel_obj *);
	uint32_t (*count)(struct keel_mod *, const char *klass);
	struct keel_cursor *(*cursor)(struct keel_mod *, const char *klass);
	struct keel_obj *(*next)(struct keel_cursor *);
	void (*cursor_close)(struct keel_cursor *);
	const struct keel_attr *(*attr)(struct keel_mod *, const char *klass, const char *name);
	const char *(*attr_name)(const struct keel_attr *);
	uint32_t (*attr_flags)(const struct keel_attr *);
	bool (*is_set)(const struct keel_obj *, const struct keel_attr *);
	int64_t (*get_int)(const struct keel_obj *, const struct keel_attr *);
	const char *(*get_str)(const struct keel_obj *, const struct keel_attr *);
	const void *(*get_ptr)(const struct keel_obj *, const struct keel_attr *);
	int32_t (*text)(struct keel_obj *, const struct keel_attr *, const char *key, char *buf, uint32_t len);
	void (*emit)(struct keel_obj *, const struct keel_attr *, const char *key, const struct keel_emit *);
	void (*set_int)(struct keel_obj *, const struct keel_attr *, int64_t);
	int32_t (*set_str)(struct keel_obj *, const struct keel_attr *, const char *text);
	void (*set_ptr)(struct keel_obj *, const struct keel_attr *, void *p);
	int32_t (*set_text)(struct keel_obj *, const struct keel_attr *, int32_t op, const char *key, const char *text, struct keel_err *);
	void (*unset)(struct keel_obj *, const struct keel_attr *, const char *key);
	int32_t (*match)(struct keel_obj *, const struct keel_attr *, int32_t op, const char *key, const char *text, struct keel_err *);
	struct keel_changes *(*changes)(struct keel_mod *);
	int32_t (*change)(struct keel_changes *, const struct keel_session *, struct keel_obj *, const struct keel_attrop *, struct keel_err *);
	int32_t (*change_text)(struct keel_changes *, struct keel_obj *, const struct keel_attr *, int32_t op, const char *key, const char *text, struct keel_err *);
	int32_t (*change_peek)(struct keel_changes *, struct keel_obj *, const struct keel_attr *, const char *key, char *buf, uint32_t len);
	const union keel_slot *(*change_slot)(struct keel_changes *, struct keel_obj *, const struct keel_attr *);
	void (*change_each)(struct keel_changes *, void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg);
	void (*commit)(struct keel_changes *);
	void (*discard)(struct keel_changes *);
	int32_t (*slot_bind)(struct keel_mod *, const char *klass, uint32_t size, void (*fini)(struct keel_mod *, void *slot));
	void *(*slot)(struct keel_mod *, struct keel_obj *);
	struct keel_view *(*view)(struct keel_mod *, const char *klass, const struct keel_wanted *want, uint32_t n_want, uint32_t roles);
	void (*view_close)(struct keel_view *);
	int32_t (*pack)(struct keel_obj *, const char *id, struct keel_view *, struct keel_out *);
	void (*rows)(struct keel_mod *, const char *klass, void (*fn)(void *arg, const struct keel_attr_def *), void *arg);
	void (*swap)(struct keel_obj *, struct keel_obj *);
	struct keel_obj *(*clone)(struct keel_mod *, struct keel_obj *, const char *id, struct keel_err *);
	void (*change_emit)(struct keel_changes *, struct keel_obj *, const struct keel_attr *, const char *key, const struct keel_emit *);
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
	keel_verdict (*reject)(struct keel_call *, int32_t pbse, const char *fmt, ...) KEEL_PRINTF(3, 4);
	keel_verdict (*fail)(struct keel_call *, const char *fmt, ...) KEEL_PRINTF(2, 3);
	keel_verdict (*answer)(struct keel_call *, const char *text);
	void (*add)(struct keel_call *, int64_t score);
	void (*append)(struct keel_call *, const char *text);
	int32_t (*set)(struct keel_call *, struct keel_obj *, const char *attr, const char *key, const char *text, struct keel_err *);
	int32_t (*get)(struct keel_call *, struct keel_obj *, const char *attr, const char *key, char *buf, uint32_t len);
	keel_verdict (*hold)(struct keel_call *, const struct keel_hold_opts *, struct keel_hold **ret_hold);
	void (*release)(struct keel_hold *);
	const struct keel_session *(*session)(struct keel_call *);
	int32_t (*settled)(struct keel_call *, keel_outcome_fn *fn, void *arg);
	struct keel_call *(*held)(struct keel_hold *);
	void (*emit)(struct keel_call *, struct keel_obj *, const struct keel_attr *, const char *key, const struct keel_emit *);
	void (*each)(struct keel_call *, void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg);
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
	keel_verdict (*raise)(struct keel_mod *, const struct keel_raise *);
	void (*note)(struct keel_mod *, uint32_t point, const void *event);
	int64_t (*fold)(struct keel_mod *, uint32_t point, const void *event, char *buf, uint32_t len);
	bool (*tapped)(struct keel_mod *, uint32_t point);
	int32_t (*tap_add)(struct keel_mod *, uint32_t point, const char *name, int32_t order, keel_any_fn *fn, void *arg, struct keel_err *);
	void (*tap_remove)(struct keel_mod *, uint32_t point, const char *name);
	int32_t (*holds_text)(struct keel_mod *, const char *id, char *buf, uint32_t len);
	uint32_t (*point)(struct keel_mod *, const char *name);
	int32_t (*about)(struct keel_mod *, uint32_t point, struct keel_about_point *ret);
	int32_t (*end)(struct keel_mod *, const void *arg);
	int32_t (*replay)(struct keel_mod *);
	void (*bench)(struct keel_mod *);
};

/* ---- msg: read and build message bodies (maps with string keys) -------------------------------- */
struct keel_msg_api {
	uint32_t size, version;
	const char *(*str)(const struct keel_msg *, const char *key);
	const void *(*bytes)(const struct keel_msg *, const char *key, uint32_t *ret_len);
	int64_t (*integer)(const struct keel_msg *, const char *key, int64_t otherwise);
	const char *const *(*strings)(const struct keel_msg *, const char *key, uint32_t *ret_n);
	int32_t (*attrs)(const struct keel_msg *, const char *key, const struct keel_attrop **ret, uint32_t *ret_n);
	struct keel_out *(*out)(struct keel_mod *);
	void (*put_str)(struct keel_out *, const char *key, const char *text);
	void (*put_int)(struct keel_out *, const char *key, int64_t);
	void (*put_bytes)(struct keel_out *, const char *key, const void *, uint32_t len);
	void (*put_strings)(struct keel_out *, const char *key, const char *const *, uint32_t n);
	void (*open_array)(struct keel_out *, const char *key);
	void (*add_str)(struct keel_out *, const char *text);
	void (*add_int)(struct keel_out *, int64_t);
	void (*open_list)(struct keel_out *);
	void (*close)(struct keel_out *);
	uint32_t (*length)(const struct keel_out *);
	void (*drop)(struct keel_out *);
};

/* ---- request: answer clients ----------------------------------------------------------------------- */
struct keel_request_api {
	uint32_t size, version;
	const struct keel_session *(*session)(struct keel_req *);
	const struct keel_msg *(*body)(struct keel_req *);
	void (*reply)(struct keel_req *, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);
	void (*reply_out)(struct keel_req *, struct keel_out *);
	int32_t (*part)(struct keel_req *, struct keel_out *);
	int32_t (*drained)(struct keel_req *, keel_fn *fn, void *arg);
	void (*on_gone)(struct keel_req *, keel_fn *fn, void *arg);
	const char *(*name)(struct keel_req *);
	const void *(*raw)(struct keel_req *, uint32_t *ret_len);
	int32_t (*part_raw)(struct keel_req *, const void *bytes, uint32_t len);
	void (*reply_raw)(struct keel_req *, const void *bytes, uint32_t len);
	void (*on_leave)(struct keel_req *, keel_fn *fn, void *arg);
	void (*again)(struct keel_req *);
};

/* ---- remote: requests of clients of other hosts -------------------------------------------------------- */
struct keel_remote_setup {
	uint32_t size;
	uint32_t roles;     /* the most that its user gets: KEEL_USER, or KEEL_EVERYBODY */
	uint32_t reads;     /* 1: only rows with KEEL_REQUEST_READ serve it; others fail with 15007 */
	const char *user, *group, *groups, *host; /* the session's; copied */
	uint32_t length;    /* of the body, which keel_remote_in() brings */
	int64_t window;     /* bytes of frames until keel_remote_taken() */
	/* A PART or, as the last call, the REPLY (enum wire_type), or WIRE_GOODBYE without a body: nothing was done, it is
	 * to be sent once more. Borrowed; may not call functions of this group. */
	void (*frame)(struct keel_mod *, void *arg, uint16_t type, const void *body, uint32_t len);
	/* It ended without a REPLY: no memory, or it stood still for too long. The last call, too. */
	void (*gone)(struct keel_mod *, void *arg);
	void *arg;
};

struct keel_remote_api {
	uint32_t size, version;
	int32_t (*start)(struct keel_mod *, const struct keel_remote_setup *def, struct keel_remote **ret);
	void (*in)(struct keel_remote *, const void *bytes, uint32_t len);
	void (*taken)(struct keel_remote *, uint32_t n);
	int32_t (*waits)(struct keel_remote *);
	void (*again)(struct keel_remote *);
	void (*end)(struct keel_remote *);
};

/* ---- link: messages to other daemons ---------------------------------------------------------------- */
struct keel_link_api {
	uint32_t size, version;
	int32_t (*on)(struct keel_mod *, const char *name, uint32_t from, void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *));
	int32_t (*send)(struct keel_mod *, const char *peer, const char *name, struct keel_out *);
	bool (*is_up)(struct keel_mod *, const char *peer);
	bool (*is_awaited)(struct keel_mod *, const char *peer);
	int32_t (*stream)(struct keel_mod *, const char *peer, const char *name, struct keel_out *);
};

/* ---- blob: long byte strings of an object, kept in the store and not in memory ------------------------ */
struct keel_blob_api {
	uint32_t size, version;
	int32_t (*put)(struct keel_obj *, const char *name, const void *bytes, uint32_t len);
	int32_t (*get)(struct keel_mod *, const char *klass, const char *id, const char *name, void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len), void *arg);
};

/* ---- renew: other values, another image of the daemon --------------------------------------------------- */
enum keel_draft_flag {
	KEEL_DRAFT_ENABLED = 1,
	KEEL_DRAFT_BY_FILE = 2,	  /* enabled by its file, whatever overrides say */
	KEEL_DRAFT_RUNS = 4,	  /* now */
	KEEL_DRAFT_ELSEWHERE = 8, /* what runs enables it, for other daemons than this one */
	KEEL_DRAFT_GONE = 16,	  /* it runs, and there is no file at its place any more */
	/* It runs and is enabled: */
	KEEL_DRAFT_FILE = 32,	  /* another file */
	KEEL_DRAFT_HOW = 64,	  /* opened by another LOADER, or in another way */
	KEEL_DRAFT_VALUES = 128,
	KEEL_DRAFT_SITE = 256,	  /* order, match or budget */
};
struct keel_draft_module {
	const char *name, *path;
	const char *where;   /* file:line; NULL: the draft does not name it */
	const char *version; /* of what runs; NULL: it does not */
	uint32_t flags;      /* enum keel_draft_flag */
};
struct keel_draft {
	uint32_t size, n;
	const struct keel_draft_module *modules; /* as the configuration names them, then those that run and that it does not name */
	uint32_t restart, reserved; /* restart: 1: some of the values are read at start only */
};
/* What this image of the daemon runs with. Borrowed, valid for ever. */
struct keel_image {
	uint32_t size;
	uint32_t renewed;      /* 1: the image before made it, by go() */
	const char *conf_file; /* the main file of the configuration; modules.d is beside it */
	const char *set;       /* NULL: the files as they were at its start */
	const char *refused;   /* renewed: why it is not the one that was wanted; NULL: it is */
};
struct keel_renew_api {
	uint32_t size, version;
	void (*image)(struct keel_mod *, struct keel_image *ret);
	const char **(*command)(struct keel_mod *);
	int32_t (*draft)(struct keel_mod *, const char *set, const struct keel_draft **ret, struct keel_err *);
	int32_t (*apply)(struct keel_mod *, struct keel_err *);
	void (*drop)(struct keel_mod *);
	int32_t (*trust)(const char *path, struct keel_err *);
	bool (*needs)(struct keel_mod *, const char *name, const char *other);
	int32_t (*busy)(struct keel_mod *, const char *name, struct keel_err *);
	int32_t (*go)(struct keel_mod *, const char *next, const char *back, struct keel_err *);
	int32_t (*on_hup)(struct keel_mod *, keel_fn *fn, void *arg);
	int32_t (*guard)(const char *path, struct keel_err *);
};

/* ---- inspect: what runs in this daemon, and what it has cost; for those who report it ------------------- */
/* What these point to is borrowed until the loop's next turn, `runs` until fn returns. */
struct keel_about_module {
	uint32_t size;
	uint32_t roles; /* enum keel_daemon bits: where it runs */
	const char *name, *version, *vendor;
	const char *path; /* of its file */
	const char *runs; /* "inside"; else the words of the module that loaded it */
	uint32_t abi_major, abi_minor; /* that its file was built for */
	int64_t since; /* when it was started, seconds since 1970; 0: it is not */
};
struct keel_about_tap {
	uint32_t size, point;
	const char *name, *module; /* "module.tap", "module" */
	const char *before, *after; /* or NULL */
	int32_t order;
	uint32_t policy; /* enum keel_tap_flag: KEEL_ON_FAIL_... */
	uint64_t calls; /* exact; the times are those of timed calls, scaled */
	uint64_t time_ns, longest_ns;
	uint32_t fails, strikes;
	uint32_t benched; /* 1: it is called no more */
	uint32_t quiet;   /* 1: its module is not started yet */
};
struct keel_about_hold {
	uint32_t size, point;
	const char *object; /* what the operation is about; the point's name when that has no id */
	const char *module; /* that took it */
	const char *why;
	int64_t passed_ms, timeout_ms;
};
/* How long things of a kind took, since the start of this daemon. */
enum keel_account_of {
	KEEL_ACCOUNT_REQUEST, /* from a request to its reply; without those that wait for something else (KEEL_REQUEST_WAITS) */
	KEEL_ACCOUNT_COMMIT,  /* a transaction: until it is durable, with all attempts */
	KEEL_ACCOUNT_TURN,    /* of the loop: nothing else is served meanwhile */
	KEEL_ACCOUNTS,
};
#define KEEL_ACCOUNT_BUCKETS 32
struct keel_account {
	uint32_t size, reserved;
	uint64_t count, sum_ns;
	uint64_t longest_ns; /* since it was last asked for: for one module */
	uint64_t now_ns;     /* how long the one under way takes so far; of a COMMIT only */
	uint64_t bucket[KEEL_ACCOUNT_BUCKETS]; /* how many took less than 1 us, 2, 4 ...; the last one has all others */
};
struct keel_inspect_api {
	uint32_t size, version;
	void (*modules)(struct keel_mod *, void (*fn)(void *arg, const struct keel_about_module *), void *arg);
	void (*taps)(struct keel_mod *, void (*fn)(void *arg, const struct keel_about_tap *), void *arg);
	void (*holds)(struct keel_mod *, void (*fn)(void *arg, const struct keel_about_hold *), void *arg);
	int32_t (*unbench)(struct keel_mod *, const char *tap, const char *who);
	void (*reset)(struct keel_mod *);
	void (*account)(struct keel_mod *, uint32_t which, struct keel_account *ret);
	const char *(*trouble)(struct keel_mod *);
	void (*off)(struct keel_mod *, void (*fn)(void *arg, const char *name, const char *why), void *arg);
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
	/* Worker thread, one at a time. All rows or none; durable when it returns 0. When it fails, with *err, the
	 * caller tries again. */
	int32_t (*commit)(struct keel_mod *, const struct keel_store_row *rows, uint32_t n,
			  struct keel_err *);
	/* Worker thread, may overlap commit(). The caller frees *ret_bytes, NULL when there is none. Fails with
	 * *err when it cannot be read. */
	int32_t (*read_blob)(struct keel_mod *, const char *klass, const char *id, const char *name,
			     void **ret_bytes, uint32_t *ret_len, struct keel_err *);
};

#endif
