/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - what the files of this module share.
 */
#ifndef STATUS_H
#define STATUS_H

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/rows.h"
#include "pbs_error.h"

struct parts_row {
	const struct keel_parts_def *def;
	struct keel_mod *owner;
};

struct state {
	struct parts_row *parts;
	uint32_t n_parts, parts_room;
	struct keel_row *listed; /* kind LISTED */
	struct listing *listings; /* under way */
};

/* `attr[.key] op text`; all of a filter must hold. */
struct test {
	const struct keel_attr *attr;
	char *key, *text;
	int32_t op;
	bool of_whole; /* parts are of one that passes it */
	struct test *next;
};

struct listing {
	struct listing *prev, *next;
	struct keel_mod *mod;
	struct keel_req *req;
	const char *klass;
	uint32_t roles;
	bool history, ids_only;
	bool flatuid;
	bool others_hidden; /* query_other_jobs is off and the requester is a plain user */
	bool nothing; /* no object can pass the filter */
	struct test *filter;
	size_t filter_cost; /* of one object, in bytes to compare */
	struct keel_view *view;
	struct keel_cursor *walk;
	struct keel_timer *timer; /* the next slice; NULL: the client reads first */
	struct keel_out *out; /* the part being filled */
	char *ids, *at; /* operands, and the next of them; NULL: everything */
	bool expand; /* parts, too */
	bool instead; /* parts, and not what they are parts of */
	struct parts_row parts; /* the walk through the parts of one object */
	void *parts_walk;
	int32_t code; /* of the last operand that named nothing */
	uint32_t found;
};

/* parts.c */
extern const struct keel_kind_def parts_kind;
bool parts_is_part(struct listing *l, struct keel_obj *obj);
/* Begins a walk; false: there is nothing to walk. It ends by itself, or when the caller calls parts_close(). */
bool parts_open(struct listing *l, struct keel_obj *whole);
bool parts_open_named(struct listing *l, const char *operand);
struct keel_obj *parts_next(struct listing *l, const char **ret_id);
void parts_close(struct listing *l);

/* listed.c */
extern const struct keel_kind_def listed_kind;
/* Hands a request over to the module that lists this class; false: there is none. */
bool listed_by_owner(struct keel_mod *mod, const char *klass, struct keel_req *req);

/* filter.c */
/* Compiles the conditions of a request. Fails with 15031 (no list), 15002 (no such attribute), 15010 (no memory) or an
 * error of the type, and *err; what is compiled so far stays, and filter_free() frees it. */
int32_t filter_compile(struct listing *l, const struct keel_msg *body, struct keel_err *err);
int32_t filter_add(struct listing *l, const char *name, const char *key, const char *text, int32_t op,
		   struct keel_err *err);
bool filter_pass(struct listing *l, struct keel_obj *obj, bool part);
void filter_free(struct test **filter);
bool is_history(struct listing *l, struct keel_obj *obj);
/* Compiles the wanted attributes. Fails with 15031 or 15010 and *err. */
int32_t view_compile(struct listing *l, const struct keel_msg *body, struct keel_err *err);
/* `12`, `12.svr`, a host name for its vnodes ...; NULL: it names nothing. */
struct keel_obj *find_operand(struct listing *l, const char *id);

#endif
