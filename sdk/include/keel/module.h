/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/module.h - the descriptor: the one symbol a module exports.
 */
#ifndef KEEL_MODULE_H
#define KEEL_MODULE_H

#include "keel/contrib.h"
#include "keel/hooks.h"
#include "keel/types.h"

#define KEEL_MAGIC 0x4b45454cu /* "KEEL" */

enum keel_mod_flag {
	KEEL_MOD_RESIDENT = 1,   /* cannot be unloaded: threads, libpython */
	KEEL_MOD_NO_PROCESS = 2, /* cannot be isolated in a child process */
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
	KEEL_CONF_REQUIRED = 2,
};
struct keel_conf_rule {
	uint32_t size, type, offset, flags;
	const char *key;
	const char *fallback; /* default, as text; NULL = zero */
	int64_t min, max;     /* of INT, DURATION (ms) and SIZE; both 0 = any */
	const char *choices;
	const char *doc;
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

/* An API group or service wanted: the kernel writes its table's address into the state at `offset`
 * before init. */
struct keel_need {
	const char *group;
	uint32_t minor, offset, optional, reserved;
};
#define KEEL_NEED(name, least, state_type, member)                                                 \
	{ .group = #name, .minor = (least), .offset = offsetof(state_type, member) }
#define KEEL_NEED_OPT(name, least, state_type, member)                                             \
	{ .group = #name, .minor = (least), .offset = offsetof(state_type, member), .optional = 1 }

struct keel_module {
	uint32_t magic;
	uint16_t abi_major, abi_minor; /* the first 16 bytes never change */
	uint32_t size, flags;
	const char *name, *version, *vendor, *summary;
	uint32_t roles; /* enum keel_daemon bits: where it runs */
	uint32_t state_size, conf_size, n_conf, n_needs, n_contribs, n_taps, reserved;
	const struct keel_conf_rule *conf;
	const struct keel_need *needs;
	const struct keel_contrib *contribs;
	const struct keel_tap *taps;
	const char *const *requires_modules, *const *conflicts; /* NULL-terminated module names */
	int32_t (*check)(const void *conf, struct keel_err *);
	int32_t (*init)(struct keel_mod *, struct keel_err *);
	int32_t (*start)(struct keel_mod *, struct keel_err *);
	int32_t (*reconf)(struct keel_mod *, const void *now, struct keel_err *);
	/* May the module stop now? 0, or -EBUSY with the reasons in *err. NULL = always. */
	int32_t (*busy)(struct keel_mod *, struct keel_err *);
	void (*stop)(struct keel_mod *);
	void (*fini)(struct keel_mod *);
};

/* The note a loader reads before it opens the file (`readelf -n`): name "KEEL", type 1. */
struct keel_note {
	uint32_t namesz, descsz, type;
	char name[8];
	uint32_t magic, major, minor;
};

#define KEEL_COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

#define KEEL_MODULE(...)                                                                           \
	__attribute__((section(".note.keel"), used, aligned(4))) static const struct keel_note     \
		keel_module_note = { 5, 12, 1, "KEEL", KEEL_MAGIC, KEEL_ABI_MAJOR,                 \
				     KEEL_SDK_TARGET };                                            \
	__attribute__((visibility("default"))) extern const struct keel_module keel_module;        \
	const struct keel_module keel_module = { .magic = KEEL_MAGIC,                              \
						 .abi_major = KEEL_ABI_MAJOR,                      \
						 .abi_minor = KEEL_SDK_TARGET,                     \
						 .size = sizeof(struct keel_module),               \
						 __VA_ARGS__ }

#endif
