/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/resource.h - service "resource" (offered by resources): definitions, amounts, lists,
 * the select and exec_vnode languages.
 *
 * Amounts are doubles: long as is, size in bytes, time in seconds, boolean 0 or 1; exact below 2^53.
 */
#ifndef KEEL_SERVICE_RESOURCE_H
#define KEEL_SERVICE_RESOURCE_H

#include "keel/types.h"
#include "keel/use.h"

enum keel_res_type { KEEL_RES_LONG = 1, KEEL_RES_FLOAT, KEEL_RES_SIZE, KEEL_RES_TIME, KEEL_RES_BOOL,
		     KEEL_RES_STRING, KEEL_RES_STRINGS };
enum keel_res_flag {
	KEEL_RES_HOST = 1,       /* h: inside select, on vnodes */
	KEEL_RES_SUM = 2,        /* q: consumable in sums */
	KEEL_RES_EACH = 4,       /* n: consumable on every vnode */
	KEEL_RES_FIRST = 8,      /* f: consumable on the first vnode only */
	KEEL_RES_INVISIBLE = 16, /* i */
	KEEL_RES_READONLY = 32,  /* r */
	KEEL_RES_MOM = 64,       /* m */
	KEEL_RES_RUNNING = 128,  /* may be altered while the job runs */
	KEEL_RES_BUILTIN = 256,
	KEEL_RES_SYSTEM = 512,   /* no request may set it */
};
struct keel_resource {
	const char *name;
	int32_t type;   /* enum keel_res_type */
	uint32_t flags; /* enum keel_res_flag */
};

/* One `name=value`. Numeric types: n (and text NULL; a vnode that shares the amount of another has n 0
 * and the text `@other`); others: text. */
struct keel_res_value {
	const struct keel_resource *res;
	double n;
	const char *text;
	uint32_t unit; /* of a size: as the user wrote it, for printing */
	uint32_t reserved;
};
static inline bool keel_res_is_number(const struct keel_resource *r)
{
	return r->type <= KEEL_RES_BOOL;
}

/* A resource list (attribute type "resource_list"); get_ptr() of such an attribute is one of these. */
struct keel_reslist; /* entries sorted by name */

struct keel_chunk {
	uint32_t count;
	uint32_t n;
	const struct keel_res_value *v; /* in the order written */
};
struct keel_select {
	uint32_t n;
	uint32_t chunks; /* sum of counts */
	const struct keel_chunk *chunk;
};
enum keel_place_arrange { KEEL_PLACE_FREE = 0, KEEL_PLACE_PACK, KEEL_PLACE_SCATTER,
			  KEEL_PLACE_VSCATTER };
enum keel_place_share { KEEL_SHARE_UNSET = 0, KEEL_SHARE_SHARED, KEEL_SHARE_EXCL,
			KEEL_SHARE_EXCLHOST };
struct keel_place {
	int32_t arrange, share;
	char group[64]; /* resource name, "" none */
};

/* exec_vnode: (n1:ncpus=2:mem=1024kb+n2:ncpus=1)+(n1:ncpus=1). One part per vnode of a chunk. */
struct keel_exec_part {
	const char *vnode;
	uint32_t chunk; /* 0-based: which parenthesis */
	uint32_t n;
	const struct keel_res_value *v;
};
struct keel_exec {
	uint32_t n, chunks;
	const struct keel_exec_part *part;
};

struct keel_resource_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	const struct keel_resource *(*find)(struct keel_mod *, const char *name); /* NULL: unknown */
	/* Every known resource: i counts from 0, NULL at the end. */
	const struct keel_resource *(*at)(struct keel_mod *, uint32_t i);

	/* Text of one value into an entry, which the caller frees with value_fini(). Fails with a PBSE code and *err. */
	int32_t (*value_parse)(const struct keel_resource *, const char *text,
			       struct keel_res_value *ret, struct keel_err *);
	void (*value_fini)(struct keel_res_value *); /* Free what value_parse() made. */
	/* Like snprintf. `in_kb`: sizes in whole kb (exec_vnode, usage). */
	int32_t (*value_text)(const struct keel_res_value *, bool in_kb, char *buf, uint32_t len);

	uint32_t (*list_count)(const struct keel_reslist *); /* How many entries; a NULL list has none. */
	/* The i-th entry, from 0, by name; NULL behind the last. Borrowed until the callback returns. */
	const struct keel_res_value *(*list_at)(const struct keel_reslist *, uint32_t i);
	/* The entry of that resource; NULL: none. Borrowed until the callback returns. */
	const struct keel_res_value *(*list_get)(const struct keel_reslist *, const char *name);
	/* Its amount, or `otherwise` when there is none or it is no number. */
	double (*list_number)(const struct keel_reslist *, const char *name, double otherwise);

	/* The language of `-l select=`. The values point into *ret; the caller frees all with select_free(). Fails with a PBSE
	 * code and the text users see. */
	int32_t (*select_parse)(struct keel_mod *, const char *text, struct keel_select **ret,
				struct keel_err *);
	void (*select_free)(struct keel_select *); /* NULL is fine. */
	/* The language of `-l place=`. Fails with a PBSE code and the text users see. */
	int32_t (*place_parse)(const char *text, struct keel_place *ret, struct keel_err *);
	/* The language of `exec_vnode`. The values point into *ret; the caller frees all with exec_free(). Fails with a PBSE
	 * code and *err. */
	int32_t (*exec_parse)(struct keel_mod *, const char *text, struct keel_exec **ret,
			      struct keel_err *);
	void (*exec_free)(struct keel_exec *); /* NULL is fine. */

	/* Resource_List of a new or changed job, or of an object of another class with Resource_List, schedselect and
	 * resources_defaulted, which has no bounds: defaults of queue and server, select and place, sums,
	 * nodect, schedselect; then resources_min/max. Works on the change set; `queue` may be NULL. Fails with a PBSE code
	 * and *err; the caller discards the set. */
	int32_t (*prepare)(struct keel_mod *, struct keel_changes *, struct keel_obj *job,
			   struct keel_obj *queue, struct keel_err *);
	/* Add (sign 1) or subtract (-1) every summed consumable of a job's Resource_List to `attr` (a
	 * resource_list) of `obj`: a queue, the server. `only`: comma list of resource names, NULL all. */
	void (*charge_list)(struct keel_mod *, struct keel_obj *obj, const struct keel_attr *attr,
			    const struct keel_reslist *list, int32_t sign, const char *only);
	/* The same with what exec_vnode takes of one vnode; sizes become kb. */
	void (*charge_exec)(struct keel_mod *, struct keel_obj *obj, const struct keel_attr *attr,
			    const struct keel_exec *exec, const char *vnode, int32_t sign,
			    const char *only);

	/* Adds `n` of v's resource, a number, to a list of the caller's, who frees it with list_free(); *list may be NULL. No
	 * amount goes below 0, a name stays with 0. Fails with -ENOMEM, never for a name that the list has. */
	int32_t (*list_add)(struct keel_reslist **list, const struct keel_res_value *v, double n);
	void (*list_free)(struct keel_reslist *); /* NULL is fine. */
	/* A copy, which the caller frees with list_free(). NULL without memory, and of NULL. */
	struct keel_reslist *(*list_copy)(const struct keel_reslist *);
	bool (*list_equal)(const struct keel_reslist *, const struct keel_reslist *); /* NULL is an empty one */
	/* prepare() once more, when the set, or the queue, is another one than it was then: `before` and `computed` are Resource_List and
	 * resources_defaulted as prepare() left them in the set. */
	int32_t (*prepare_again)(struct keel_mod *, struct keel_changes *, struct keel_obj *job, struct keel_obj *queue,
				 const struct keel_reslist *before, const char *computed, struct keel_err *);
};

KEEL_SERVICE(resource);
#define keel_resource_find(...) KEEL_CALL(resource, find, __VA_ARGS__)
#define keel_resource_at(...) KEEL_CALL(resource, at, __VA_ARGS__)
#define keel_resource_value_parse(...) KEEL_CALL_PLAIN(resource, value_parse, __VA_ARGS__)
#define keel_resource_value_fini(...) KEEL_CALL_PLAIN(resource, value_fini, __VA_ARGS__)
#define keel_resource_value_text(...) KEEL_CALL_PLAIN(resource, value_text, __VA_ARGS__)
#define keel_resource_list_count(...) KEEL_CALL_PLAIN(resource, list_count, __VA_ARGS__)
#define keel_resource_list_at(...) KEEL_CALL_PLAIN(resource, list_at, __VA_ARGS__)
#define keel_resource_list_get(...) KEEL_CALL_PLAIN(resource, list_get, __VA_ARGS__)
#define keel_resource_list_number(...) KEEL_CALL_PLAIN(resource, list_number, __VA_ARGS__)
#define keel_resource_select_parse(...) KEEL_CALL(resource, select_parse, __VA_ARGS__)
#define keel_resource_select_free(...) KEEL_CALL_PLAIN(resource, select_free, __VA_ARGS__)
#define keel_resource_place_parse(...) KEEL_CALL_PLAIN(resource, place_parse, __VA_ARGS__)
#define keel_resource_exec_parse(...) KEEL_CALL(resource, exec_parse, __VA_ARGS__)
#define keel_resource_exec_free(...) KEEL_CALL_PLAIN(resource, exec_free, __VA_ARGS__)
#define keel_resource_prepare(...) KEEL_CALL(resource, prepare, __VA_ARGS__)
#define keel_resource_charge_list(...) KEEL_CALL(resource, charge_list, __VA_ARGS__)
#define keel_resource_list_add(...) KEEL_CALL_PLAIN(resource, list_add, __VA_ARGS__)
#define keel_resource_list_free(...) KEEL_CALL_PLAIN(resource, list_free, __VA_ARGS__)
#define keel_resource_list_copy(...) KEEL_CALL_PLAIN(resource, list_copy, __VA_ARGS__)
#define keel_resource_list_equal(...) KEEL_CALL_PLAIN(resource, list_equal, __VA_ARGS__)
#define keel_resource_prepare_again(...) KEEL_CALL(resource, prepare_again, __VA_ARGS__)
#define keel_resource_charge_exec(...) KEEL_CALL(resource, charge_exec, __VA_ARGS__)

#endif
