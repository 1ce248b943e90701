/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/types.h - words that every other header of the contract uses.
 *
 * Handles are opaque and borrowed until the callback returns, unless a function says otherwise; what
 * outlives a callback is an id string, looked up again. One exception: a module that has private memory
 * with a destructor on an object (keel_slot_bind) may keep that object's handle until the destructor
 * runs, which tells it that the object goes. Strings in are copied, strings out are borrowed; no side frees
 * the other side's memory. Everything runs on the loop thread except where a function says "any thread".
 */
#ifndef KEEL_TYPES_H
#define KEEL_TYPES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEEL_ABI_MAJOR 1
#define KEEL_ABI_MINOR 0 /* the newest minor that these headers describe */

/* A module for older daemons is compiled with -DKEEL_SDK_TARGET=n: what is newer than minor n is not there
 * then, so that sizes are those of minor n, and n is what the module says it needs.
 *
 * Who adds something to a released interface puts it between #if KEEL_SINCE(n) and #endif: rows of the map
 * of points, members of a struct (behind all others), enumerators. Inside the rows of an event:
 * KEEL_ROWS_SINCE_n(F(STR, name)), which is defined here, a pair per minor:
 *
 *   #if KEEL_SINCE(1)
 *   #define KEEL_ROWS_SINCE_1(...) __VA_ARGS__
 *   #else
 *   #define KEEL_ROWS_SINCE_1(...)
 *   #endif
 */
#ifndef KEEL_SDK_TARGET
#define KEEL_SDK_TARGET KEEL_ABI_MINOR
#endif
#if KEEL_SDK_TARGET > KEEL_ABI_MINOR
#error "KEEL_SDK_TARGET is newer than these headers: install a newer SDK or aim lower"
#endif
#define KEEL_SINCE(minor) (KEEL_SDK_TARGET >= (minor))

#if defined(__GNUC__)
#define KEEL_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define KEEL_PRINTF(a, b)
#endif

/* What a daemon is: bits of keel_module.roles and of a hook point. */
enum keel_daemon {
	KEEL_SERVER = 1,
	KEEL_MOM = 2,
	KEEL_LOGIN = 4, /* a host that runs no jobs: commands there reach the server; always alone in its process */
	KEEL_ANY = 7,
	/* Of a point only: it is raised too often, or in the middle of something that cannot wait, so a module
	 * that taps it cannot run in a process of its own. So it is with every FOLD. */
	KEEL_INLINE = 0x100,
};

/* Roles of a requester: bits of keel_session.roles, attribute and request permissions. Every identified
 * peer has KEEL_USER. */
enum keel_role { KEEL_USER = 1, KEEL_OPERATOR = 2, KEEL_MANAGER = 4 };
#define KEEL_NOBODY 0u
#define KEEL_EVERYBODY 7u
#define KEEL_OPERATORS 6u /* operator or manager */
#define KEEL_MANAGERS 4u
#define KEEL_UNHIDDEN 8u /* of read_roles alone: in listings while the server's show_hidden_attribs is True */

/* What a tap answers. */
typedef int32_t keel_verdict;
#define KEEL_NEXT 0   /* go on with the chain */
#define KEEL_DONE 1   /* handled: skip the rest */
#define KEEL_REJECT 2 /* veto, with a PBSE code and a text */
#define KEEL_WAIT 3   /* holds were taken */
#define KEEL_FAIL -1  /* the tap broke; its fail policy decides */

/* Operations on an attribute; the numbers of `enum batch_op`. */
enum keel_op {
	KEEL_SET = 0,
	KEEL_UNSET = 1,
	KEEL_INCR = 2,
	KEEL_DECR = 3,
	KEEL_EQ = 4,
	KEEL_NE = 5,
	KEEL_GE = 6,
	KEEL_GT = 7,
	KEEL_LE = 8,
	KEEL_LT = 9,
};

/* Why something failed, once, for a human: what, why, what to do next. `code` is a PBSE number
 * (keel/pbse.def) when users may see it, else 0. */
struct keel_err {
	int32_t code;
	char text[508];
};

/* Event classes of a log record: bits; `log.events` of the configuration says which are written. */
enum keel_log_event {
	KEEL_LOG_ERROR = 0x0001,    /* something is broken, and an administrator has to know */
	KEEL_LOG_SYSTEM = 0x0002,   /* the daemon itself: start, links, modules */
	KEEL_LOG_ADMIN = 0x0004,    /* what administrators did */
	KEEL_LOG_JOB = 0x0008,	    /* the life of a job */
	KEEL_LOG_USAGE = 0x0010,    /* what jobs used */
	KEEL_LOG_SECURITY = 0x0020, /* who was refused */
	KEEL_LOG_SCHED = 0x0040,    /* the scheduler's decisions */
	KEEL_LOG_DEBUG = 0x0080,    /* for finding an error */
	KEEL_LOG_DEBUG2 = 0x0100,   /* closer still */
	KEEL_LOG_RESV = 0x0200,	    /* reservations */
	KEEL_LOG_DEBUG3 = 0x0400,
	KEEL_LOG_DEBUG4 = 0x0800,
	KEEL_LOG_FORCE = 0x8000, /* written whatever is configured */
};

/* Handles: opaque, borrowed until the callback returns unless a function says otherwise. */
struct keel_obj;     /* an object of some class */
struct keel_attr;    /* an attribute of a class, resolved once by name */
struct keel_changes; /* a change set */
struct keel_hold;    /* valid until its resume or cancel runs */
struct keel_timer;   /* valid until it fires or is cancelled */
struct keel_watch;   /* an fd being watched, until watch_cancel() */
struct keel_remote;  /* a request of a client of another host, until its last callback or keel_remote_end() */
struct keel_req;     /* a client's request, alive until it is answered */
struct keel_msg;     /* a received message body, borrowed */
struct keel_out;     /* a message body being built; moved into the function that sends it */
struct keel_cursor;  /* a walk through a class, until cursor_close() */
struct keel_view;    /* wanted attributes, compiled, until view_close() */

/* A loaded module, as the module sees itself. */
struct keel_mod {
	void *state;      /* state_size bytes, zeroed before init */
	const void *conf; /* conf_size bytes, replaced by a reload */
	const char *name;
};

/* The operation a tap is called in. */
struct keel_call {
	void *state; /* of the tap's module */
	const void *conf;
	struct keel_mod *mod;
};

#define keel_state(c) ((c)->state)
#define keel_conf(c) ((c)->conf)

/* Who is asking. Filled from the verified peer, never from a message. `uid` is UINT32_MAX where `host` is not this daemon's: a
 * uid of another host means nothing here, so users are compared by name and host (keel/acl.h). */
struct keel_session {
	uint32_t size;
	uint32_t roles; /* enum keel_role bits */
	uint32_t uid, gid;
	const char *user, *host;
	const char *who; /* user@host */
	const char *group; /* name of the primary group */
	const char *groups; /* comma list of all groups, the primary first; NULL: not known */
};

/* One attribute of a request: name, resource (or NULL), value (or NULL), operation. */
struct keel_attrop {
	const char *name, *key, *value;
	int32_t op; /* enum keel_op */
};

#endif
