/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/module.h - the descriptor: the one symbol a module exports.
 */
#ifndef KEEL_MODULE_H
#define KEEL_MODULE_H

#include "keel/contrib.h"
#include "keel/hooks.h"
#include "keel/types.h"
#include "keel/use.h"

/* A handler of another point in a tap's row does not compile. C++ always says no. */
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#endif

#define KEEL_MAGIC 0x4b45454cu /* "KEEL" */

enum keel_mod_flag {
	KEEL_MOD_NO_PROCESS = 1, /* cannot be isolated in a child process */
};

/* A key of the module's configuration group. The kernel allocates conf_size bytes and fills them;
 * `offset` is where. Strings and lists stay valid as long as that configuration is the current one. */
enum keel_conf_type {
	KEEL_CONF_BOOL = 1,     /* bool */
	KEEL_CONF_INT = 2,      /* int64_t, min..max */
	KEEL_CONF_STRING = 3,   /* const char * */
	KEEL_CONF_ENUM = 4,     /* int32_t: index into the comma list `choices` */
	KEEL_CONF_DURATION = 5, /* int64_t ms; text "250ms" "10s" "5m" "1h" or an integer of seconds */
	KEEL_CONF_SIZE = 6,     /* int64_t bytes; text "64kb" "1gb" or an integer */
	KEEL_CONF_LIST = 7,     /* const char *const *, NULL-terminated array of strings */
};
enum keel_conf_flag {
	KEEL_CONF_RESTART = 1,  /* refuses to change in a running daemon */
	KEEL_CONF_REQUIRED = 2, /* there is no default: the key must be there */
};
struct keel_conf_rule {
	uint32_t size;
	uint32_t type;   /* enum keel_conf_type */
	uint32_t offset; /* of its member in the struct */
	uint32_t flags;  /* enum keel_conf_flag */
	const char *key; /* as it stands in the file */
	const char *fallback; /* default, as text; NULL = zero */
	int64_t min, max;     /* of INT, DURATION (ms) and SIZE; both 0 = any */
	const char *choices;  /* of ENUM: "refuse,warn" */
	const char *doc;      /* one sentence for administrators; mandatory */
};
#define KEEL_CONF_RULE(kind, struct_name, member, ...)                                             \
	{ .size = sizeof(struct keel_conf_rule), .type = KEEL_CONF_##kind,                         \
	  .offset = offsetof(struct_name, member) + KEEL_CONF_FITS(kind, ((struct_name *)0)->member), \
	  .key = #member, __VA_ARGS__ }

/* 0, or an error of the compiler: a value is written into its member as that type, whatever the member is. */
#ifdef __cplusplus
#define KEEL_CONF_FITS(kind, member) 0
#else
#define KEEL_CONF_FITS(kind, member)                                                               \
	(0 * sizeof(struct {                                                                       \
		 _Static_assert(_Generic((member), KEEL_CONF_TYPES_##kind: 1, default: 0),         \
				"this member cannot hold a " #kind ": see enum keel_conf_type");   \
		 int unused;                                                                       \
	 }))
#define KEEL_CONF_TYPES_BOOL bool
#define KEEL_CONF_TYPES_INT int64_t
#define KEEL_CONF_TYPES_STRING const char *
#define KEEL_CONF_TYPES_ENUM int32_t: 1, uint32_t
#define KEEL_CONF_TYPES_DURATION int64_t
#define KEEL_CONF_TYPES_SIZE int64_t
#define KEEL_CONF_TYPES_LIST const char *const *
#endif

/* What a module is. KEEL_MODULE() fills the fields before `name`; zero means the default everywhere. Its
 * functions run on the loop; each may be NULL. Those that return int32_t: 0, or below 0 with a sentence in
 * *err. In the order of a module's life:
 *
 *	check, init, replay (job_known ...), start, [reconf ...], busy, stop, fini
 */
struct keel_module {
	uint32_t magic;
	uint16_t abi_major, abi_minor; /* the first 16 bytes never change */
	uint32_t size, reserved;
	struct keel_kernel *kernel; /* written by the loader, before check() */
	const struct keel_need *needs, *needs_end; /* the rows of keel/use.h; written before init() */
	const char *name;    /* of its group in the configuration: a-z 0-9 - _, at most 63 */
	const char *version; /* its own, any text; mandatory, as is summary */
	const char *vendor;  /* who gets reports of its errors */
	const char *summary; /* one line: what it is for */
	uint32_t flags;	     /* enum keel_mod_flag */
	uint32_t roles;	     /* enum keel_daemon bits: where it runs */
	uint32_t state_size; /* bytes of state, zeroed; 0: none */
	/* Tables: KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), arrays of their rows. */
	uint32_t conf_size;  /* bytes of the struct that `conf` fills */
	const struct keel_conf_rule *conf;
	uint32_t n_conf, reserved2;
	const struct keel_contrib *contribs;
	uint32_t n_contribs, reserved3;
	const struct keel_tap *taps;
	uint32_t n_taps, reserved4;
	/* NULL-terminated names of modules: those it wants loaded before it, those it refuses to be beside. */
	const char *const *requires_modules, *const *conflicts;
	/* Do the values fit together? No effects, no state: also called for values that never come into force. Fails with
	 * *err. */
	int32_t (*check)(const void *conf, struct keel_err *);
	/* Bind slots, take memory. What it uses of others is there, their objects are not.
	 * When it fails it has undone what it did; nothing else of the module is called then. */
	int32_t (*init)(struct keel_mod *, struct keel_err *);
	/* After the replay: the world is known. Timers, links, work. When it fails it has undone what
	 * it did; fini is called, stop is not. */
	int32_t (*start)(struct keel_mod *, struct keel_err *);
	/* A reload brought new values: `now` is mod->conf already, the old ones are gone after it. When it fails
	 * every module gets its old values back, by the same call. */
	int32_t (*reconf)(struct keel_mod *, const void *now, struct keel_err *);
	/* May the module stop now? 0, or the reasons in *err and -EBUSY: not now, or -ENOTEMPTY: it may be exchanged, the replay
	 * gives it back what it looks after, but not go for good. NULL = always. */
	int32_t (*busy)(struct keel_mod *, struct keel_err *);
	/* No more calls come but those of its holds and slots: cancel timers and watches. */
	void (*stop)(struct keel_mod *);
	/* Rows, taps and holds are withdrawn: release what init took. Slots are freed after it. */
	void (*fini)(struct keel_mod *);
};

/* The note a loader reads before it opens the file (`readelf -n`): name "KEEL", type 1. */
struct keel_note {
	uint32_t namesz, descsz, type;
	char name[8];
	uint32_t magic, major, minor;
};

#ifdef __cplusplus
#define KEEL_EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define KEEL_EXPORTED extern __attribute__((visibility("default")))
#endif

#define KEEL_COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))
#define KEEL_CONF(type, rules) .conf_size = sizeof(type), .conf = (rules), .n_conf = KEEL_COUNT(rules)
#define KEEL_CONTRIBS(rows) .contribs = (rows), .n_contribs = KEEL_COUNT(rows)
#define KEEL_TAPS(rows) .taps = (rows), .n_taps = KEEL_COUNT(rows)

#define KEEL_MODULE(...)                                                                           \
	__attribute__((section(".note.keel"), used, aligned(4))) static const struct keel_note     \
		keel_module_note = { 5, 12, 1, "KEEL", KEEL_MAGIC, KEEL_ABI_MAJOR,                 \
				     KEEL_SDK_TARGET };                                            \
	KEEL_PLACE struct keel_kernel KEEL_MODULE_kernel = { .size = sizeof(struct keel_kernel) };            \
	KEEL_EXPORTED const struct keel_module keel_module;                                        \
	const struct keel_module keel_module = { .magic = KEEL_MAGIC,                              \
						 .abi_major = KEEL_ABI_MAJOR,                      \
						 .abi_minor = KEEL_SDK_TARGET,                     \
						 .size = sizeof(struct keel_module),               \
						 .kernel = &KEEL_MODULE_kernel,                    \
						 .needs = __start_keel_needs,                      \
						 .needs_end = __stop_keel_needs,                   \
						 __VA_ARGS__ }

#endif
