/* SPDX-License-Identifier: Apache-2.0
 *
 * manager.h - what the files of this module share.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/service/manage.h"
#include "keel/service/resource.h"
#include "pbs_error.h"

struct state {
	struct keel_timer *marker; /* writes the mark of a new store */
	struct keel_row *managed; /* kind MANAGED */
	struct pending *pending; /* requests without an answer */
};

/* The numbers of enum mgr_cmd and mgr_obj. */
enum { CMD_CREATE = 0, CMD_DELETE = 1, CMD_SET = 2, CMD_UNSET = 3 };
enum { OBJ_SERVER = 0, OBJ_QUEUE = 1, OBJ_NODE = 3, OBJ_RESOURCE = 5, OBJ_SCHED = 6, OBJ_HOST = 7 };

/* What differs between classes in a manager request. */
struct kind {
	int32_t obj;
	const char *klass;
	const char *log_class;
	int32_t unknown, exists; /* PBSE */
	uint32_t name_max;
	const char *name_chars;	 /* beside letters and digits */
	int32_t name_error;
	uint32_t create_roles;
	uint32_t modify_point, delete_point; /* raised after `management`; 0: none */
	const char *keeps; /* an attribute that cannot be unset; NULL: none */
	int32_t keeps_error;
};
const struct kind *kind_of(int32_t obj); /* NULL: requests do not manage it */
int32_t kind_check_name(const struct kind *kind, const char *name); /* 0; fails with a PBSE code of the kind */

/* server.c */
extern const struct keel_class_def server_class;
#define SERVER(attr, ...) extern const struct keel_attr_def server_attr_##attr;
#include "server.def"
#undef SERVER
struct keel_obj *server_object(struct keel_mod *mod);

/* store.c: store_check() returns 0, or -1 with err if the server must not start with this store; store_mark() records
 * the store's id in PBS_HOME, once the server object exists. */
extern const struct keel_attr_def store_id_attr;
int32_t store_check(struct keel_mod *mod, bool is_new, struct keel_err *err);
void store_mark(struct keel_mod *mod, bool is_new);
int32_t server_create(struct keel_mod *mod, struct keel_err *err); /* fails with *err: no memory, or no attribute */

/* manage.c */
void on_manage(struct keel_mod *mod, struct keel_req *req);

/* done.c */
extern const struct keel_kind_def managed_kind;
extern const struct keel_service_def manage_service;
const struct keel_row *managed_of(const struct state *st, int32_t object); /* NULL: no module brings such objects */
void pending_add(struct keel_mod *mod, struct keel_req *req); /* a request has come */
/* Raises management_done and replies. text NULL or "": that of the code. */
void answer(struct keel_mod *mod, struct keel_req *req, int32_t code, const char *text);
void pending_forget(struct state *st);

/* access.c */
keel_verdict on_request_receive(struct keel_call *c, const struct keel_ev_request_receive *ev);

/* roles.c */
keel_verdict on_client_auth(struct keel_call *c, const struct keel_ev_client_auth *ev);

#endif
