/* SPDX-License-Identifier: Apache-2.0
 *
 * resources.h - what the files of this module share.
 */
#ifndef RESOURCES_H
#define RESOURCES_H

#include "keel/keel.h"
#include "keel/service/resource.h"
#include "pbs_error.h"

#define UNIT_WORD 8u /* bit of keel_res_value.unit; the low bits are the power of 1024 */

/* A definition, built in or the site's. Never freed while the module is loaded: values point to it. */
struct definition {
	struct keel_resource pub;
	bool deleted;
};

struct state {
	struct definition **table; /* also the deleted ones, sorted by name */
	uint32_t n_table;
};

struct keel_reslist {
	uint32_t n, room;
	struct keel_res_value v[];
};

/* amount.c */
/* Fills err, which may be NULL, and returns code. */
int32_t fail(struct keel_err *err, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);
/* Returns 0, and the caller calls value_fini(); fails with a PBSE code and *err. */
int32_t value_parse(const struct keel_resource *res, const char *text, struct keel_res_value *ret,
		    struct keel_err *err);
/* In the type's range: value_parse() reads back what value_text() wrote. */
bool amount_fits(const struct keel_resource *res, double n);
void value_fini(struct keel_res_value *v);
int32_t value_copy(const struct keel_res_value *from, struct keel_res_value *to); /* fails with -ENOMEM */
/* Returns the length without the NUL, as snprintf does. `in_kb`: a size in kilobytes, rounded up. */
int32_t value_text(const struct keel_res_value *v, bool in_kb, char *buf, uint32_t len);
int32_t value_compare(const struct keel_res_value *a, const struct keel_res_value *b);

/* table.c */
int32_t table_fill(struct state *st, struct keel_err *err); /* fails with -1 and *err without memory */
void table_free(struct state *st);
const struct keel_resource *table_find(const struct state *st, const char *name);
const struct keel_resource *table_at(struct keel_mod *mod, uint32_t i);
/* Adds or changes a site's definition. Returns 0; fails with a PBSE code and *err for a bad type or flag. */
int32_t table_define(struct state *st, const char *name, const char *type, const char *flag,
		     struct keel_err *err);
/* The letters of a flag text, each once, in the order of listings. Returns buf. */
#define FLAG_LETTERS 7
const char *flags_in_order(const char *text, char buf[FLAG_LETTERS + 1]);
bool name_is_valid(const char *name);

/* list.c */
extern const struct keel_type_def list_type;
void list_free(struct keel_reslist *l);
struct keel_reslist *list_copy(const struct keel_reslist *l); /* the caller calls list_free(); NULL without memory */
bool list_equal(const struct keel_reslist *a, const struct keel_reslist *b);
uint32_t list_count(const struct keel_reslist *l);
const struct keel_res_value *list_at(const struct keel_reslist *l, uint32_t i);
const struct keel_res_value *list_get(const struct keel_reslist *l, const char *name);
double list_number(const struct keel_reslist *l, const char *name, double otherwise);
/* Puts a copy of `v` in, replacing the value of the same name. Fails with -ENOMEM; then *l is unchanged. */
int32_t list_put(struct keel_reslist **l, const struct keel_res_value *v);
/* Adds `n` of v's resource; not below 0, and a name stays. Fails with -ENOMEM, never for a name that is there. */
int32_t list_add(struct keel_reslist **l, const struct keel_res_value *v, double n);
bool list_drop(struct keel_reslist *l, const char *name); /* returns whether it was there */
bool name_in(const char *comma_list, const char *name);

/* select.c, place.c, exec.c: parsers return 0, and the caller frees *ret; they fail with a PBSE code and *err, and *ret is
 * untouched. */
/* Fails with PBSE_BADATVAL if a job may not have so many chunks or parts. */
int32_t chunks_check(unsigned long n, unsigned long parts, struct keel_err *err);
int32_t select_parse(struct keel_mod *mod, const char *text, struct keel_select **ret,
		     struct keel_err *err);
void select_free(struct keel_select *s);
int32_t place_parse(const char *text, struct keel_place *ret, struct keel_err *err);
int32_t exec_parse(struct keel_mod *mod, const char *text, struct keel_exec **ret,
		   struct keel_err *err);
void exec_free(struct keel_exec *e);
/* Parses `res=value` at *at up to one of `stops` outside quotes and moves *at there. */
int32_t pair_parse(const struct state *st, const char **at, const char *stops,
		   struct keel_res_value *ret, struct keel_err *err);
/* Converts legacy `-l nodes=` into select and place, which the caller frees. The ncpus and mem that `wide`, the
 * job's list, requests besides are divided among the nodes. */
int32_t nodes_convert(const char *nodes, const struct keel_reslist *wide, char **ret_select,
		      char **ret_place, struct keel_err *err);

/* busy.c */
/* Returns NEXT if the definition may be changed; else the call is rejected (an object uses it) or fails. */
keel_verdict check_idle(struct keel_call *c, const char *name, bool clear);
keel_verdict on_resource_delete(struct keel_call *c, const struct keel_ev_resource_delete *ev);

/* prepare.c, charge.c */
/* Computes select, place and defaults of a job in its change set. Fails with a PBSE code and *err; the caller discards the
 * set. */
int32_t prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job,
		struct keel_obj *queue, struct keel_err *err);
int32_t prepare_again(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, struct keel_obj *queue,
		      const struct keel_reslist *before, const char *computed, struct keel_err *err);
void charge_list(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr,
		 const struct keel_reslist *list, int32_t sign, const char *only);
void charge_exec(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr,
		 const struct keel_exec *exec, const char *vnode, int32_t sign, const char *only);

#endif
