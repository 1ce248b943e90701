/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/use.h - what a module uses of others: the kernel's functions, services, attributes.
 *
 *	KEEL_USE(node);                   once in a module: keel_node_set_state() ... of service node can be called. So with
 *	                                  the kernel's groups link and blob, which are not everywhere
 *	KEEL_USE_OPT(fairshare);          the same, but it may be absent: if (keel_has(fairshare)) ...
 *	KEEL_ATTR_OF(job, exec_vnode);    in each file that needs it: the handle job_exec_vnode, for keel_get_str() ...
 *	KEEL_ATTRS_OF(job, queue, euser); several at once: job_queue, job_euser
 *	KEEL_ATTR(mark, job, my_mark, "string", .doc = ...);   a row of this module, mark_row, and its handle mark
 *
 * Each is a row of the module's file that says where an address is to be written; the loader writes them all before
 * anything of the module runs, and refuses the module, by name, when something is missing. A function of a service
 * that is not used so does not link: "undefined reference to `KEEL_USE_node'".
 */
#ifndef KEEL_USE_H
#define KEEL_USE_H

#include "keel/types.h"

#define KEEL_HIDDEN __attribute__((visibility("hidden")))
#define KEEL_PLACE __attribute__((section("keel_places"))) /* where the loader writes: no variables of the module */

/* The tables of the kernel's groups, for the functions of keel/core.h, object.h, call.h, point.h, msg.h and request.h.
 * KEEL_MODULE() defines it. */
struct keel_kernel {
	uint32_t size, reserved;
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_call_api *call;
	const struct keel_hook_api *hook;
	const struct keel_msg_api *msg;
	const struct keel_request_api *request;
};
extern KEEL_HIDDEN struct keel_kernel KEEL_MODULE_kernel;

/* A service or an attribute that a module uses. */
struct keel_need {
	uint32_t minor;	   /* of a service: at least this version of its table */
	uint32_t optional; /* 1: NULL is written when there is none; 0: the module is refused */
	const char *klass; /* of an attribute: its class; NULL: a service */
	const char *name;
	void *at;	   /* const void **: where its address is written */
};
#define KEEL_NEED(row, least, of_klass, its_name, where, may_be_absent)                            \
	static const struct keel_need row __attribute__((section("keel_needs"), used, aligned(8))) = { \
		(least), (may_be_absent), (of_klass), (its_name), (void *)(where) }

/* Header of a service: its functions are macros over KEEL_CALL() or KEEL_CALL0(), with `self` written by them. */
#define KEEL_SERVICE(name) extern KEEL_HIDDEN const struct keel_##name##_api *KEEL_USE_##name
#define KEEL_CALL(name, fn, ...) (KEEL_USE_##name->fn(KEEL_USE_##name->self, __VA_ARGS__))
#define KEEL_CALL0(name, fn) (KEEL_USE_##name->fn(KEEL_USE_##name->self))
#define KEEL_CALL_PLAIN(name, fn, ...) (KEEL_USE_##name->fn(__VA_ARGS__)) /* one without self */

#define KEEL_USE_AS(name, least, may_be_absent)                                                    \
	__attribute__((weak)) KEEL_HIDDEN KEEL_PLACE const struct keel_##name##_api *KEEL_USE_##name;         \
	KEEL_NEED(keel_need_##name, least, NULL, #name, &KEEL_USE_##name, may_be_absent)
#define KEEL_USE(name) KEEL_USE_AS(name, 0, 0)
#define KEEL_USE_OPT(name) KEEL_USE_AS(name, 0, 1)
#define KEEL_USE_SINCE(name, minor) KEEL_USE_AS(name, minor, 0) /* its table has grown since */
#define keel_has(name) (KEEL_USE_##name != NULL)
/* It is there, and its module knows this function: an older one may not. */
#define keel_can(name, fn) (KEEL_USE_##name != NULL && KEEL_USE_##name->fn != NULL)

/* `handle` is a const struct keel_attr *, of this file alone. */
#define KEEL_ATTR_AS(handle, klass, name, may_be_absent)                                           \
	static const struct keel_attr *handle KEEL_PLACE;                                          \
	KEEL_NEED(keel_need_##handle, 0, #klass, #name, &handle, may_be_absent)
#define KEEL_ATTR_OF(klass, name) KEEL_ATTR_AS(klass##_##name, klass, name, 0)
#define KEEL_ATTR_OPT(klass, name) KEEL_ATTR_AS(klass##_##name, klass, name, 1) /* NULL: there is none */

/* An attribute that this module contributes: its row, handle##_row for KEEL_ROW(), and its handle in this file. */
#define KEEL_ATTR(handle, klass, name, type, ...)                                                  \
	static const struct keel_attr_def handle##_row = KEEL_ATTR_DEF(#klass, #name, type, __VA_ARGS__); \
	KEEL_ATTR_AS(handle, klass, name, 0)

#define KEEL_ATTRS_OF(klass, ...)                                                                  \
	KEEL_ATTRS_PICK(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(klass, __VA_ARGS__)
#define KEEL_ATTRS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) KEEL_ATTRS_##count
#define KEEL_ATTRS_1(k, a) KEEL_ATTR_OF(k, a)
#define KEEL_ATTRS_2(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_1(k, __VA_ARGS__)
#define KEEL_ATTRS_3(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_2(k, __VA_ARGS__)
#define KEEL_ATTRS_4(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_3(k, __VA_ARGS__)
#define KEEL_ATTRS_5(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_4(k, __VA_ARGS__)
#define KEEL_ATTRS_6(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_5(k, __VA_ARGS__)
#define KEEL_ATTRS_7(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_6(k, __VA_ARGS__)
#define KEEL_ATTRS_8(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_7(k, __VA_ARGS__)
#define KEEL_ATTRS_9(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_8(k, __VA_ARGS__)
#define KEEL_ATTRS_10(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_9(k, __VA_ARGS__)
#define KEEL_ATTRS_11(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_10(k, __VA_ARGS__)
#define KEEL_ATTRS_12(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_11(k, __VA_ARGS__)
#define KEEL_ATTRS_13(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_12(k, __VA_ARGS__)
#define KEEL_ATTRS_14(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_13(k, __VA_ARGS__)
#define KEEL_ATTRS_15(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_14(k, __VA_ARGS__)
#define KEEL_ATTRS_16(k, a, ...) KEEL_ATTR_OF(k, a); KEEL_ATTRS_15(k, __VA_ARGS__)

/* All rows of a module, by the linker. */
#ifdef __cplusplus
extern "C" {
#endif
extern KEEL_HIDDEN const struct keel_need __start_keel_needs[] __attribute__((weak));
extern KEEL_HIDDEN const struct keel_need __stop_keel_needs[] __attribute__((weak));
#ifdef __cplusplus
}
#endif

#endif
