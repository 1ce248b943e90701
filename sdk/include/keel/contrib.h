/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/contrib.h - contributions: the vocabulary a module adds, as data.
 *
 * A contribution is a kind (by name) and a pointer to that kind's sized definition. The kernel owns
 * the kinds below; a base module declares its own with a KIND row and receives the rows of every
 * module as they come and go. A name that is already taken refuses the load and names both owners.
 */
#ifndef KEEL_CONTRIB_H
#define KEEL_CONTRIB_H

#include "keel/types.h"

struct keel_conf_rule;
struct keel_module;

struct keel_contrib {
	const char *kind; /* "CLASS", "TYPE", "ATTR", "REQUEST", "SERVICE", "KIND", "LOADER", "FILTER", or a module's */
	const void *def;
};

/* A row: KEEL_ROW(ATTR, my_attr). A definition of another type does not compile; who declares a kind of its own gives
 * its type as KEEL_ROW_<kind>. */
#ifdef __cplusplus
#define KEEL_ROW(kind, row) { #kind, static_cast<const KEEL_ROW_##kind *>(&(row)) }
#else
#define KEEL_ROW(kind, row)                                                                        \
	{ #kind, (const char *)&(row) + 0 * sizeof(struct {                                        \
		  _Static_assert(_Generic(&(row), const KEEL_ROW_##kind *: 1, KEEL_ROW_##kind *: 1, default: 0), \
				 "this is no row of kind " #kind);                                 \
		  int unused;                                                                      \
	  }) }
#endif
#define KEEL_ROW_CLASS struct keel_class_def
#define KEEL_ROW_TYPE struct keel_type_def
#define KEEL_ROW_ATTR struct keel_attr_def
#define KEEL_ROW_REQUEST struct keel_request_def
#define KEEL_ROW_SERVICE struct keel_service_def
#define KEEL_ROW_KIND struct keel_kind_def
#define KEEL_ROW_LOADER struct keel_loader_def
#define KEEL_ROW_FILTER struct keel_filter_def
#define KEEL_ROW_SCOPE struct keel_scope_def
#define KEEL_ROW_SIGNAL struct keel_signal_def
#define KEEL_ROW_JOB_FORM struct keel_job_form_def
#define KEEL_ROW_JOB_PREPARE struct keel_job_prepare_def
#define KEEL_ROW_PARTS struct keel_parts_def
#define KEEL_ROW_NODE_STATE struct keel_node_state_def
#define KEEL_ROW_PREEMPT struct keel_preempt_def
#define KEEL_ROW_JOB_KEY struct keel_job_key_def
#define KEEL_ROW_QUEUE_TYPE struct keel_queue_type_def
#define KEEL_ROW_ACCT_ITEM struct keel_acct_item_def
#define KEEL_ROW_RELOAD struct keel_reload_def
#define KEEL_ROW_MOM_DIRECTIVE struct keel_mom_directive_def
#define KEEL_ROW_HOST_FACT struct keel_host_fact_def
#define KEEL_ROW_RESV_KIND struct keel_resv_kind_def
#define KEEL_ROW_RESV_SUBSTATE struct keel_resv_substate_def
#define KEEL_ROW_MANAGED struct keel_managed_def
#define KEEL_ROW_LISTED struct keel_listed_def
#define KEEL_ROW_TERM struct keel_term_def

/* CLASS: a kind of object. */
enum keel_class_flag {
	KEEL_CLASS_SAVE = 1,   /* objects are kept in the store */
	KEEL_CLASS_DAEMON = 2, /* its one object has the name of the server that the store is of: another server does not start with it.
				* It is found by each name that the server has had. */
	KEEL_CLASS_SUFFIX = 4, /* ids end in a dot and that name: objects are found by each name that the server has had */
};
struct keel_class_def {
	uint32_t size, flags;
	const char *name; /* "job" */
	const char *doc;
	/* The NOTE point of the replay at start, raised for each object that exists; its event is { id, object }.
	 * 0: none. */
	uint32_t known_point;
	uint32_t reserved;
};

/* TYPE: how values of an attribute are read, written, combined and compared. */
union keel_slot {
	int64_t i;
	double f;
	void *p; /* owned by the object */
};
enum keel_type_flag {
	KEEL_TYPE_KEYED = 1, /* holds named entries: Resource_List.ncpus */
	KEEL_TYPE_INT = 2,   /* slot.i is the value; stored and compared as an integer */
	KEEL_TYPE_STRING = 4, /* slot.p is a terminated string */
	KEEL_TYPE_MERGES = 8, /* SET and unset see the value there is: part of it may have to stay */
};
struct keel_emit {
	/* `text` need not be terminated; both are borrowed until the call returns. */
	void (*fn)(void *arg, const char *key, const char *text, uint32_t len);
	void *arg;
};
struct keel_type_def {
	uint32_t size, flags;
	const char *name, *doc;
	/* Combine `text` into *slot by SET, INCR or DECR. *is_set says whether *slot has a value, and is
	 * updated (a DECR may empty it). `key` is NULL unless KEYED; a KEYED type must take key NULL with
	 * SET as "replace everything by nothing". Fails with a PBSE code and *err (users read it as it
	 * is: begin with keel_attr_name()); *slot is then as before. */
	int32_t (*parse)(struct keel_mod *, const struct keel_attr *, int32_t op, const char *key,
			 const char *text, union keel_slot *slot, bool *is_set, struct keel_err *);
	/* Emit the value as users see it: once, or once per key (only `key` when it is not NULL). */
	void (*format)(struct keel_mod *, const union keel_slot *, const char *key,
		       const struct keel_emit *);
	/* Remove one key; true when nothing is left. KEYED only. */
	bool (*unset)(struct keel_mod *, union keel_slot *, const char *key);
	/* Is `slot <op> text` true? Returns 1 or 0; fails with a negative PBSE code. `is_set` false: there is no value. */
	int32_t (*match)(struct keel_mod *, const union keel_slot *, bool is_set, int32_t op,
			 const char *key, const char *text, struct keel_err *);
	int32_t (*copy)(struct keel_mod *, const union keel_slot *from, union keel_slot *to);
	void (*fini)(struct keel_mod *, union keel_slot *);
};
/* The kernel brings: bool long size time float string string_array (comma list). */

/* ATTR: an attribute of a class. Any module may add rows to any class. */
enum keel_attr_flag {
	KEEL_ATTR_SAVE = 1,      /* kept in the store */
	KEEL_ATTR_CREATE = 2,    /* may be set only when the object is created */
	/* Unset restores the default instead of removing the value; objects that are there before the module (the
	 * server) have the default, too. */
	KEEL_ATTR_RESET = 8,
	KEEL_ATTR_NO_PRINT = 16, /* not part of an "all attributes" answer; shown when requested by name */
	KEEL_ATTR_EMPTY = 32,    /* `set x = ""` is judged by the check function; else it is an unset */
	KEEL_ATTR_OWN = 64,      /* of this object alone: keel_clone(), a subjob of an array, is without it */
	KEEL_ATTR_FLAG1 = 256,   /* free for the class' own module (jobs: may change while running) */
};
struct keel_attr_def {
	uint32_t size, flags;
	const char *klass, *name, *type, *doc;
	uint32_t read_roles, write_roles; /* enum keel_role bits */
	int32_t order;        /* place in listings, low first; equal: by name */
	const char *fallback; /* value of a new object, as text (of older ones: KEEL_ATTR_RESET); NULL = unset, as in each type with keys */
	/* May this value be set? `text` is the whole new value (of `key`). 0; fails with a PBSE code and *err. */
	int32_t (*check)(struct keel_mod *, const struct keel_session *, struct keel_obj *, int32_t op,
			 const char *key, const char *text, struct keel_err *);
	/* Computed at each read instead of stored; it must not depend on the requester. With KEEL_ATTR_SAVE there
	 * is a value as in any row, which get_int() ... and change_peek() read, and this is how it is shown. */
	void (*derive)(struct keel_mod *, struct keel_obj *, const struct keel_emit *);
	/* A change set with a new value was committed (a request's, a GATE's, a tap's keel_call_set()); also called at
	 * publish() and when the object was loaded from the store. Not called for what keel_set_text(), its like and
	 * unset() write at once, nor when the module comes back to values that waited for it: its replay sees those.
	 * May be NULL. */
	void (*changed)(struct keel_mod *, struct keel_obj *, const struct keel_attr *);
};
#define KEEL_ATTR_DEF(class_name, attr_name, type_name, ...)                                       \
	{ .size = sizeof(struct keel_attr_def), .klass = (class_name), .name = (attr_name),        \
	  .type = (type_name), __VA_ARGS__ }

/* Is there a value to store and to set? */
#define KEEL_ATTR_HAS_VALUE(def) ((def)->derive == NULL || ((def)->flags & KEEL_ATTR_SAVE))

/* REQUEST: a name in the request router. The handler answers now or later, exactly once, by
 * keel_reply*(); keep `req` until then. A name "keelson.X" is a verb of the `keelson` command:
 * what people typed behind it is the array of strings `args` of the body, what they read are the strings of the
 * array `lines` of the answer. */
enum keel_request_flag {
	/* Changes nothing: served while the store cannot be written, and not kept waiting by it. */
	KEEL_REQUEST_READ = 1,
	/* Only waits for something to happen, such as the end of a job. When the daemon restarts the library sends it
	 * again; on_gone() notifies its module. One that has sent parts fails at once instead: the library begins anew. */
	KEEL_REQUEST_WAITS = 2,
	/* Takes each request that no row of this daemon names; its handler uses keel_req_raw(), keel_part_raw() and
	 * keel_reply_raw() to carry it elsewhere. One row of a daemon may have it; on a server it takes nothing. */
	KEEL_REQUEST_OTHERS = 4,
};
struct keel_request_def {
	uint32_t size;
	uint32_t roles; /* of requesters; for others it fails with 15007 */
	const char *name, *doc;
	void (*handler)(struct keel_mod *, struct keel_req *);
	uint32_t number; /* its number in log records ("type=5"); 0: its name is written */
	uint32_t flags;	 /* enum keel_request_flag */
};

/* SERVICE: a typed, size-tagged, append-only function table for other modules. Its first fields are
 * `uint32_t size, version; struct keel_mod *self`. The kernel hands out a copy in which self is the
 * offering module: the first argument of its functions, so that they find their state. */
struct keel_service_def {
	uint32_t size, version;
	const char *name, *doc;
	const void *table;
};

/* LOADER: another way to load a module than mapping its file: for modules whose group of the configuration has this key.
 * A module with such rows, and those it requires, are started before other files are opened, also for
 * `keelsond --check`; they bring no class and tap nothing. */
struct keel_load {
	uint32_t size, choice;	    /* which of `choices` */
	const char *name, *path;    /* of the module, and of its file, whose note was read */
	/* What the loader acts with on the module's behalf: its records, objects, taps. Its `state` is the loader's if
	 * open() sets it, for the descriptor's functions. */
	struct keel_mod *mod;
	const void *values; /* of `group`, until open() returns */
};
struct keel_loader_def {
	uint32_t size, conf_size;
	const char *name, *doc; /* the key */
	const char *choices;	/* what it may be, a comma list; the first, its default: the file is mapped */
	const char *group;	/* a group of further keys in the module's group, or NULL; its rules and struct: */
	uint32_t n_conf, reserved;
	const struct keel_conf_rule *conf;
	/* A descriptor like that of a file, whose functions may be elsewhere; it is there until close(). NULL with *err. May take
	 * a moment: the daemon is starting. */
	const struct keel_module *(*open)(struct keel_mod *owner, const struct keel_load *, struct keel_err *);
	void (*close)(struct keel_mod *owner, struct keel_mod *mod);
	/* The descriptor's check(), which does not say which module is meant. */
	int32_t (*check)(struct keel_mod *owner, struct keel_mod *mod, const void *conf, struct keel_err *);
	/* How it runs, for `keelson modules`, like snprintf(). */
	int32_t (*text)(struct keel_mod *owner, struct keel_mod *mod, char *buf, uint32_t len);
};

/* KIND: rows of this kind go to the declaring module. `add` may refuse (-errno with *err). Rows that
 * were registered before the kind are handed over when it appears. */
struct keel_kind_def {
	uint32_t size;
	/* sizeof of its definition, as the declaring module knows it: add() and remove() see rows of exactly this
	 * size, with zeroes where the row's module knew less. 0: rows as they are. */
	uint32_t row_size;
	const char *name, *doc;
	int32_t (*add)(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *);
	void (*remove)(struct keel_mod *self, struct keel_mod *owner, const void *def);
};

/* FILTER (one module offers it): which events reach the taps of a module, as `match` of its group says. */
struct keel_match {
	char *scope, *pattern; /* `match = { queue = "^gpu"; }`: "queue", "^gpu" */
	char *where;	       /* "file:line", for errors */
};
struct keel_filter_def {
	uint32_t size, reserved;
	const char *name, *doc;
	/* For the taps of `mod`; `match` is borrowed. NULL with *err. */
	void *(*make)(struct keel_mod *owner, const struct keel_mod *mod, const struct keel_match *match, uint32_t n,
		      struct keel_err *);
	void (*drop)(struct keel_mod *owner, void *filter); /* not when the daemon ends and `owner` goes first */
	/* Is a tap called for this event? */
	bool (*passes)(struct keel_mod *owner, void *filter, uint32_t point, const void *event);
};

/* SCOPE (declared by the module that offers the FILTER): a word that `match` of a site's configuration may use, for objects of one class: the taps of a
 * module with `match = { queue = "^gpu"; }` are called only for objects whose queue matches. */
struct keel_scope_def {
	uint32_t size, reserved;
	const char *name, *klass, *doc;
	/* The words the pattern is looked for in, several of them one per line, like snprintf() into buf;
	 * -ENODATA when there are none. Loop thread. `obj` may be a draft. */
	int32_t (*text)(struct keel_mod *owner, struct keel_obj *obj, char *buf, uint32_t len);
};

/* SIGNAL (declared by jobs): a pseudo-signal of qsig. */
struct keel_signal_def {
	uint32_t size;
	uint32_t roles; /* who may send it; others get 15007, the owner too */
	const char *name, *doc;
	/* Act on a running or suspended job (state R). Called after the job_signal chain accepted.
	 * Answer through job->signal_done(op, code, text), now or later, exactly once. */
	void (*start)(struct keel_mod *owner, struct keel_obj *job, const char *who, void *op);
	uint32_t acts_on; /* enum keel_signal_target: whom it reaches when it goes to many jobs */
	uint32_t reserved;
};
enum keel_signal_target {
	KEEL_SIGNAL_GOING = 0,	 /* those that are not suspended */
	KEEL_SIGNAL_STOPPED = 1, /* those that are */
};

/* JOB_FORM (declared by jobs; one module offers it): jobs that are one object and many starts. The whole
 * is `7[].svr`. A part, `7[3].svr`, is an object from its start to its end (or to the end of the whole,
 * where history is kept); it begins as a draft that this module makes. */
struct keel_job_ask;
struct keel_job_form_def {
	uint32_t size, reserved;
	const char *name, *doc;
	const char *attr; /* a submission that sets this attribute is a whole */
	/* Parts that wait and are no objects; `all`: whatever may run beside those that run. */
	uint32_t (*waiting)(struct keel_mod *owner, struct keel_obj *whole, bool all);
	/* The next of them: published and adopted (service job). NULL with *err. */
	struct keel_obj *(*next)(struct keel_mod *owner, struct keel_obj *whole, struct keel_err *);
	/* It did not start, or is requeued: it waits again. Its object is destroyed after this. */
	void (*back)(struct keel_mod *owner, struct keel_obj *part);
	/* It is over. Not kept: its object is destroyed after this. May be called again, not kept, when
	 * history is dropped. */
	void (*over)(struct keel_mod *owner, struct keel_obj *part, int32_t substate, bool kept);
	/* A request is about an operand. False: it names nothing here, and `done` is left to the caller; else `done` is called
	 * once, with 0 or an error. */
	bool (*ask)(struct keel_mod *owner, const char *operand, const struct keel_job_ask *,
		    struct keel_mod *me,
		    void (*done)(struct keel_mod *me, void *arg, int32_t code, const char *text),
		    void *arg);
	bool (*has)(struct keel_mod *owner, const char *operand); /* does it name a part, or some? */
	/* The state of the one part it names, as it is listed while it is no object: Q H W or X. '\0': it
	 * names none, or several, or one that is an object. May be NULL. */
	char (*letter)(struct keel_mod *owner, const char *operand);
};

/* JOB_PREPARE (declared by jobs): what a job asks for is changed at its submission and at each change while it waits, before
 * defaults, schedselect and sums are computed. */
struct keel_job_prepare_def {
	uint32_t size;
	int32_t place; /* low first */
	const char *name, *doc;
	/* Reads with keel_change_peek() and _slot(), writes with keel_change_text(). `job` may be a draft. *changed = true when
	 * Resource_List is another one. 0; fails with a PBSE code and *err, which the requester gets. */
	int32_t (*prepare)(struct keel_mod *owner, struct keel_changes *, struct keel_obj *job, bool *changed,
			   struct keel_err *);
};

/* PARTS (declared by status): objects of a class that are listed below another one, or not at all. */
struct keel_parts_def {
	uint32_t size, reserved;
	const char *name, *doc;
	const char *klass;
	bool (*is_part)(struct keel_mod *owner, struct keel_obj *);
	/* A walk through the parts of `whole`, in order; NULL: it has none. */
	void *(*open)(struct keel_mod *owner, struct keel_obj *whole);
	/* Through those an operand names. NULL: it names none. */
	void *(*open_named)(struct keel_mod *owner, const char *operand);
	/* The next: an object, to be shown as *ret_id; both valid until the next call. NULL: the end. */
	struct keel_obj *(*next)(struct keel_mod *owner, void *walk, const char **ret_id);
	void (*close)(struct keel_mod *owner, void *walk);
};

enum keel_node_state_flag {
	KEEL_NODE_STATE_CLOSED = 1,  /* no new work */
	KEEL_NODE_STATE_OUTSIDE = 2, /* none but that of jobs inside a holder (service node) */
};
/* NODE_STATE (declared by nodes): a word of a vnode's `state`. Bits of base states are fixed. */
struct keel_node_state_def {
	uint32_t size;
	uint32_t bit;         /* one bit */
	int32_t place;        /* printing order, low first */
	uint32_t unavailable; /* 1: no new work; enum keel_node_state_flag */
	const char *name, *doc;
};

/* PREEMPT (declared by preemption): a way in which a running job gives way, a letter of `preempt_order`. */
enum keel_preempt_flag {
	/* It stays on its vnodes and keeps what a suspended job keeps; else everything comes free. */
	KEEL_PREEMPT_STAYS = 1,
};
struct keel_preempt_def {
	uint32_t size, flags;
	const char *letter;  /* "D": one upper case letter, its own */
	const char *outcome; /* its letter in an answer */
	const char *name;    /* "delete", as in `preemption method delete failed for job (15169)` */
	const char *words;   /* "deletion", as in `Job preempted by deletion` */
	const char *doc;
	/* Is it worth choosing this running job for it? start() decides all the same. */
	bool (*applies)(struct keel_mod *owner, struct keel_obj *job);
	/* The last one at the point job_preempt, when all taps accepted. DONE: the job has given way and
	 * what it gives back is free. REJECT with a PBSE code: nothing happened, the next letter is
	 * tried. WAIT: holds were taken with `call`, whose resume() decides. */
	keel_verdict (*start)(struct keel_mod *owner, struct keel_call *call, struct keel_obj *job,
			      const char *who);
	/* How many more may give way so, now; those that are chosen beyond that are thought to go on to
	 * their next letter. NULL: any number. */
	uint32_t (*room)(struct keel_mod *owner);
};

/* JOB_KEY (declared by scheduler): a number about a job that orders jobs, and that job_sort_key lines
 * and the job_sort_formula may name. */
enum keel_job_key_flag {
	/* With by_queue or round_robin too, jobs whose value is above 0 go before those of all queues. */
	KEEL_JOB_KEY_BEFORE_QUEUES = 1,
	/* Depends on nothing but the job's queue, owner, group, account and project: read once per group of equal
	 * jobs. */
	KEEL_JOB_KEY_SHARED = 2,
	/* Changes while the job waits, without the job being changed: read anew in each cycle. */
	KEEL_JOB_KEY_MOVES = 4,
};
struct keel_job_key_def {
	uint32_t size;
	int32_t place;  /* > 0: always part of the order, low place first; 0: only by name */
	uint32_t flags; /* enum keel_job_key_flag */
	uint32_t reserved;
	const char *name, *doc;
	double (*value)(struct keel_mod *owner, struct keel_obj *job); /* high goes first */
};
/* Places: 10 preemption level, 20 preempted before, 25 taps at job_rank, 30 the formula, 40 fairshare,
 * 50 the job_sort_key lines; then the order of arrival. */

/* ACCT_ITEM (declared by accounting): an attribute of jobs that accounting records show where it is set. */
struct keel_acct_item_def {
	uint32_t size;
	int32_t place; /* low first; below 0: behind queue=; below 100: after the times, before exec_host; else: after resources_used (E, R) */
	const char *name, *doc; /* `name=value` */
	const char *attr;       /* of class job */
	const char *letters;    /* the records that have it; NULL: all about jobs but z */
};

/* QUEUE_TYPE (declared by queues): a word of a queue's `queue_type`; any prefix of it is taken. */
struct keel_queue_type_def {
	uint32_t size;
	uint32_t runs; /* 1: jobs of such a queue are started */
	const char *name, *doc;
};

/* RELOAD (declared by reload): a file beside the configuration, which is read again with it (SIGHUP, `keelson reload`). */
struct keel_reload_def {
	uint32_t size, reserved;
	const char *name, *doc;
	/* Reads it and changes nothing. 0, or -errno with *err: the reload is refused. */
	int32_t (*read)(struct keel_mod *owner, struct keel_err *);
	/* What the last read() found is in force. Only after a read() that returned 0; when the reload was refused for another
	 * reason it is not called. */
	void (*apply)(struct keel_mod *owner);
};

/* MOM_DIRECTIVE (declared by mom-config): a name of mom_priv/config. What the file says goes before the configuration of the
 * module. Several modules may obey one name: each has to accept the value. */
enum keel_mom_directive_flag {
	KEEL_MOM_DIRECTIVE_MANY = 1, /* each line counts; else the last one of the name */
};
struct keel_mom_directive_def {
	uint32_t size, flags; /* enum keel_mom_directive_flag */
	const char *name;     /* with its `$` */
	const char *doc;
	/* Is it a value? Changes nothing. `value`: what stands behind the name, without blanks at its ends, "" when there is
	 * nothing. 0, or -EINVAL with *err: the file is refused. keel/directive.h has the common ones. */
	int32_t (*check)(struct keel_mod *owner, const char *value, struct keel_err *);
	/* The file is in force: its `n` values of this name, in their order; 0: it has none, the configuration of the module
	 * counts. Called at the start, before or after the owner's own start(), and after each reload. Borrowed for the call. */
	void (*apply)(struct keel_mod *owner, const char *const *values, uint32_t n);
};

struct keel_resv_window; /* keel/service/resv.h */
/* RESV_KIND (declared by reservations): a kind of reservation beside advance and standing ones. What is stored of one says
 * how it is treated when the module that made it is gone: it keeps its vnodes closed and ends on time. */
enum keel_resv_flag {
	/* Its vnodes are closed to all others whatever runs, is promised or is wrong there; no state of a vnode degrades it,
	 * it is confirmed in the request that makes or alters its times, with or without a scheduler, and wakes no cycle; its
	 * select is not altered. */
	KEEL_RESV_WHATEVER = 1,
};
struct keel_resv_kind_def {
	uint32_t size, flags;	/* enum keel_resv_flag */
	uint32_t roles;		/* who may make, alter and delete one, whoever owns it; others fail with 15007 */
	uint32_t reserved;
	const char *letter;	/* of its ids and queues: one upper case letter, its own */
	const char *extend;	/* a resv_submit whose `extend` has this letter makes one */
	const char *name, *doc;
	/* Fills what the request leaves open (select, place) into the draft, and says where it is: *ret_nodes, which the caller
	 * frees. With KEEL_RESV_WHATEVER it is confirmed there. Its times are decided already. Fails with a PBSE code and *err. */
	int32_t (*place)(struct keel_mod *owner, struct keel_changes *, struct keel_obj *draft, char **ret_nodes,
			 struct keel_err *);
	/* A resv_submit whose `extend` has the word `dry-run`: lines about what this time on these vnodes would do, which the caller
	 * frees; nothing changes. NULL without memory. May be NULL: there is no dry run. */
	char *(*preview)(struct keel_mod *owner, const struct keel_resv_window *);
	/* A resv_submit whose `extend` has the word `repeat` makes one for each time of its rule, at most so many, or none. 0: it
	 * makes none. */
	uint32_t repeats, reserved2;
};

/* RESV_SUBSTATE (declared by reservations): a number of reserve_substate beside those of spec 11 section 6, for a reservation that has
 * lost vnodes. Its searches go on though the vnodes that are left are up. */
struct keel_resv_substate_def {
	uint32_t size;
	int32_t number;
	const char *code, *name, *doc; /* "IC" "RESV_IN_CONFLICT" */
};

/* MANAGED (declared by manager): objects of a number of enum mgr_obj that another module creates, deletes and changes. They pass
 * management_done, not management. */
struct keel_managed_def {
	uint32_t size;
	int32_t object;		/* of enum mgr_obj; its own */
	const char *name, *doc; /* name: of the class, as management_done has it */
	/* A request (`manage`) about one, from any requester: whether it is permitted is to be checked here. The owner answers by
	 * keel_manage_reply() of keel/service/manage.h, now or later, exactly once, and not by keel_reply(). */
	void (*fn)(struct keel_mod *owner, struct keel_req *);
};

/* LISTED (declared by status): a class whose listings another module answers. */
struct keel_listed_def {
	uint32_t size, reserved;
	const char *name, *doc; /* name: of the class */
	/* A request (`status`) for this class, from any requester. The owner answers as status does: parts or a reply with the array
	 * `objects` of keel_pack(); now or later, exactly once. */
	void (*fn)(struct keel_mod *owner, struct keel_req *);
};

/* HOST_FACT (declared by job-facts): an attribute of jobs that a module reads on the job's primary host (service facts). */
struct keel_host_fact_def {
	uint32_t size, reserved;
	const char *name, *doc; /* name: of the attribute; several modules may want it */
};

/* TERM: a word that a page of the manual explains and that is no row of another kind, such as a built-in resource or a letter of
 * a record. Nothing in a daemon reads it, so no module declares the kind; `keelson-module page` does. */
struct keel_term_def {
	uint32_t size, reserved;
	const char *name, *doc;
	const char *topic; /* "resource", "hook", "record", "item" */
	const char *form;  /* what a value is, and what else is to be seen at a glance; NULL: nothing */
};

#endif
