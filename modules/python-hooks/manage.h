/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.h - what the files about hooks as objects of a server share: manage.c requests, body.c import, show.c listings, stored.c the store.
 */
#ifndef PYTHON_HOOKS_MANAGE_H
#define PYTHON_HOOKS_MANAGE_H

#include "hooks.h"

#define NAME_LEN_MAX 120u
#define SCRIPT_LEN_MAX (900u * 1024u)
#define CONFIG_LEN_MAX (512u * 1024u)
#define HOOKS_MAX 1000u
#define TYPE_SCRIPT "application/x-python"
#define TYPE_CONFIG "application/x-config"

/* Of enum mgr_cmd and mgr_obj, which are a client's. */
enum { CMD_CREATE = 0, CMD_DELETE = 1, CMD_SET = 2, CMD_UNSET = 3, CMD_IMPORT = 7 };
enum { OBJ_HOOK = 8, OBJ_PBS_HOOK = 9 };

struct manage {
	int64_t last_version, last_place;
	struct import *imports; /* that are being checked */
	struct show *shows; /* requests for bodies that are being read */
	uint64_t last_import;
	struct keel_timer *reader; /* begins to read bodies, when all have started */
};

enum body { BODY_SCRIPT, BODY_CONFIG };

/* manage.c */
/* Root and the daemon's own user; false: the reply is `text`. */
bool may_manage(struct keel_mod *mod, struct keel_req *req, char *text, size_t size);
/* The reply with 15136; characters that are not for people's terminals are `?` in it. */
void refuse(struct keel_req *req, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One that may be changed; NULL: the reply was made. */
struct hook *hook_to_change(struct state *st, struct keel_req *req, const char *name);
/* A line for administrators about what was done. */
void log_done(struct state *st, struct keel_req *req, const char *hook, const char *what);

/* body.c */
void body_import(struct state *st, struct keel_req *req, const char *name);
void imports_go_on(struct state *st, const struct hook *h); /* it is loaded now */
void imports_drop(struct state *st);

/* show.c */
void shows_go_on(struct state *st); /* a hook is loaded, or deleted */
void shows_drop(struct state *st);

/* stored.c */
/* Writes all of a hook's attributes as `h` has them, into its object or a draft; h is `name`'s, or a copy that is not in force yet. And,
 * when `bytes` is not NULL, one of its bodies (len 0: none). All or nothing. 0, or PBSE and *err. */
int32_t stored_write(struct state *st, struct keel_obj *obj, const struct hook *h, struct keel_err *err);
int32_t stored_write_body(struct state *st, struct keel_obj *obj, const struct hook *h, enum body which, const void *bytes,
			  uint32_t len, struct keel_err *err);
int32_t stored_load(struct state *st, struct keel_err *err); /* at the start */
int64_t version_next(struct state *st);

/* base64.c: RFC 4648 section 4 */
char *base64_text(const void *bytes, uint32_t len); /* in lines of 76 characters, each ends with a newline; NULL without memory */
/* Line ends and blanks are skipped, nothing else. The bytes, terminated; NULL: it is no base64, or (errno ENOMEM) no memory. */
char *base64_bytes(const char *text, uint32_t size, uint32_t *ret_len);

#endif
