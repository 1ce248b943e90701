/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of the mock share; only sdk/mock/ includes it.
 *
 *   mock -- mods (loaded modules, and `self`: the test) -- taps, rows, needs, configuration
 *        -- classes -- attrs, bodies (objects) -- values, slots, blobs
 *        -- points -- taps in order; ops (operations) -- holds; notes that wait
 *        -- items: what is due at a time of the clock
 *
 * Whatever a module can hold in its hands begins with, or has, a struct head: it says which mock it
 * belongs to and whether it has ended. Ended handles stay in memory until the mock goes, so that a use
 * of one is a sentence and not a crash.
 */
#ifndef KEEL_MOCK_INSIDE_H
#define KEEL_MOCK_INSIDE_H

#include <pthread.h>

#include "keel/mock.h"
#include "rules/rules.h"

enum { NOATTR = 15002, ATTRRO = 15003, IVALREQ = 15004, UNKREQ = 15005, PERM = 15007, SYSTEM = 15010,
       INTERNAL = 15011, BADATVAL = 15014, SVRDOWN = 15060, HOOKERROR = 15136, HOOK_REJECT = 15169 };
#define DEPTH_MAX 16
#define RING 16
#define ATTR_PLACES 256
#define BEGIN_MS 1000000 /* not 0: modules may take that for no time at all */

struct mod;
struct op;
struct tap;
struct klass;
struct body;
struct node;

struct head {
	struct keel_mock *mock;
	struct head *next; /* ended ones */
	void *memory;	   /* what to free */
	bool ended;
};

/* ---- util.c ------------------------------------------------------------------------------------- */
void die(const char *fmt, ...) KEEL_PRINTF(1, 2) __attribute__((noreturn));
void *make(size_t size); /* zeroed */
void *enlarge(void *block, size_t size);
char *dup_text(const char *text); /* NULL stays NULL */
char *print_text(const char *fmt, ...) KEEL_PRINTF(1, 2);
int err_setv(struct keel_err *err, int code, const char *fmt, va_list ap);
int err_set(struct keel_err *err, int code, const char *fmt, ...) KEEL_PRINTF(3, 4);
const char *pbse_text(int32_t code);
bool list_names(const char *list, const char *word); /* NULL list: none */
/* Texts that stay until the mock goes; moved. */
const char *keep(struct keel_mock *mock, char *text);
const char *ring(struct keel_mock *mock, char *text); /* until RING more */

struct text { /* grows; data is NULL or terminated */
	char *data;
	size_t len, size;
};
void text_add(struct text *t, const char *bytes, size_t len);
void text_put(struct text *t, const char *fmt, ...) KEEL_PRINTF(2, 3);

/* ---- handle.c ----------------------------------------------------------------------------------- */
void violation(struct keel_mock *mock, const char *name, const char *fmt, ...) KEEL_PRINTF(3, 4);
void head_init(struct head *h, struct keel_mock *mock, void *memory);
void head_end(struct head *h);
/* May it be used? Else it has been told: `name` is the violation, `what` the function. */
bool head_good(const struct head *h, const char *name, const char *what);
/* Is this the loop's thread? Else it has been told. */
bool on_loop(struct keel_mock *mock, const char *what);
/* The module a function was called in the name of; NULL: it must not, and has been told. */
struct mod *mod_in(struct keel_mod *m, const char *group, const char *what);
bool fails(struct keel_mock *mock); /* shall this call fail? */
void *poison_page(struct keel_mock *mock);

/* lent.c: memory of a module that ends at a page which cannot be touched, zeroed */
void *guard_make(size_t size);
void guard_close(void *at, size_t size); /* it can be read only, from now on */
bool guard_free(void *at, size_t size);	 /* false: somebody has written around it */
/* In strict mode: the same text where it can be read until the outermost callback has returned. */
const char *lend(struct keel_mock *mock, const char *text);
void lent_retire(struct keel_mock *mock);
void lent_fini(struct keel_mock *mock);
struct lent {
	char *base;
	size_t from, at, open; /* of this callback: where it began, is, and can be written to */
};

/* A callback into a module. */
struct frame {
	struct mod *mod;
	struct frame *outer;
};
void frame_enter(struct mod *m, struct frame *f);
void frame_leave(struct mod *m, struct frame *f);
#define IN(module, statement)                                                                      \
	do {                                                                                       \
		struct frame in_frame;                                                             \
		struct mod *in_mod = (module);                                                     \
		frame_enter(in_mod, &in_frame);                                                    \
		statement;                                                                         \
		frame_leave(in_mod, &in_frame);                                                    \
	} while (0)

/* ---- modules: load.c, conf.c, rows.c, needs.c ------------------------------------------------------ */
struct block { /* a filled configuration */
	struct conf_data *data;
	void *shown; /* the same, as the module sees it: not to be written to */
	struct site_order *orders; /* site.c */
	struct site_match *matches; /* scope.c */
	uint32_t n_orders, n_matches;
};
struct row {
	struct row *prev, *next;
	struct mod *owner;
	const char *kind;
	const void *def;
	void *whole;	    /* what its kind was given of it, or NULL: def itself */
	struct kind *given; /* the declared kind that has it, or NULL */
	bool is_built_in;
	bool is_double; /* of a further instance of a module */
};
struct kind {
	struct kind *next;
	struct keel_kind_def def;
	struct mod *owner;
	const void *row;
};
struct service {
	struct service *next;
	char *name;
	uint32_t version;
	const void *table;
	void *copy; /* owned, or NULL */
	struct mod *owner; /* NULL: the host */
	const void *row;
};
enum mod_state { MOD_OPEN, MOD_READY, MOD_RUNNING };
struct mod {
	struct keel_mod pub; /* first: a keel_mod is a mod */
	struct head head;
	struct mod *prev, *next;
	struct keel_module desc;
	const struct keel_module *raw;
	char *label; /* name, or name#2 */
	struct block *conf;
	char *conf_text;
	enum mod_state state;
	bool quiet; /* only replay reaches its taps */
	bool may_need_all; /* the test */
	uint32_t live;
	uint32_t kept; /* core->keep() */
	uint32_t n_open_handles; /* cursors, views, change sets */
	struct tap *taps;
};
struct mod *mod_make(struct keel_mock *mock, const char *name);
void mods_end(struct keel_mock *mock);
int conf_fill(const struct keel_module *d, const char *text, struct block **ret, struct keel_err *err);
void conf_free(struct block *b);
int conf_refuse(const struct config_setting_t *s, const char *key, const char *expected, struct keel_err *err);
/* site.c: the words of a site on taps. `group`: of libconfig. */
int site_read(const struct keel_module *d, const void *group, struct block *b, struct keel_err *err);
void site_free(struct block *b);
struct keel_tap site_tap(const struct block *b, struct keel_tap row); /* as it says */
/* scope.c: the objects that a site wants a module's taps called for */
int scope_row_add(struct mod *m, const void *row, struct keel_err *err);
void scope_row_remove(struct mod *m, const void *row);
int scope_read(const struct keel_module *d, const void *group, struct block *b, struct keel_err *err);
void scope_free(struct block *b);
/* Is each scope that `b` names offered, by `d` itself or a module that is there and not `but` (or NULL)? */
int scope_lint(const struct keel_mock *mock, const struct mod *but, const struct keel_module *d, const struct block *b,
	       struct keel_err *err);
int scopes_without(const struct mod *gone, struct keel_err *err); /* of all others, when this one is gone */
bool scope_holds(const struct op *op, const struct tap *t);
int descriptor_lint(const struct keel_module *raw, struct keel_module *ret, struct keel_err *err);
int rows_add(struct mod *m, struct keel_err *err);
void rows_remove(struct mod *m);
const void *service_find(struct keel_mock *mock, const char *name, uint32_t minor, struct mod **ret_owner,
			 struct keel_err *err);
void services_init(struct keel_mock *mock);
void services_fini(struct keel_mock *mock);
int service_add(struct mod *m, const void *row, struct keel_err *err);
void service_remove(struct mod *m, const void *row);

/* ---- objects ----------------------------------------------------------------------------------------- */
struct type {
	struct type *next;
	struct keel_type_def def;
	struct mod *owner;
	const void *row;
	bool stands_in; /* until a module brings it */
};
struct keel_attr {
	struct head head;
	struct keel_attr *next, *like; /* like: whose names may be the same */
	struct keel_attr_def def;
	struct mod *owner;
	const void *row;
	struct klass *klass; /* NULL: it waits for its class or type */
	struct type *type;
};
struct bind {
	struct bind *next;
	struct mod *owner;
	uint32_t size;
	void (*fini)(struct keel_mod *, void *slot);
};
struct klass {
	struct klass *next;
	char *name;
	struct keel_class_def def;
	struct mod *owner;
	const void *row;
	bool declared, stands_in;
	uint32_t place; /* order of declaration */
	struct body *live, *drafts, *dead;
	struct bind *binds;
	struct keel_cursor *cursors;
};
struct value {
	const struct keel_attr *attr;
	union keel_slot slot;
};
struct kept { /* a value whose attribute is not there now */
	struct kept *next;
	char *attr, *key, *text;
};
struct priv {
	struct priv *next;
	struct bind *bind;
	void *memory;
};
struct blob {
	struct blob *next;
	char *name, *bytes;
	uint32_t len;
};
struct keel_obj {
	struct head head;
	struct body *body;
	struct keel_obj *next; /* those that end with the outermost callback */
};
struct body {
	struct body *prev, *next;
	struct klass *klass;
	char *id;
	bool draft, dead;
	struct value *value;
	uint32_t n;
	struct kept *kept;
	struct priv *privs;
	struct blob *blobs;
	struct keel_obj *handle, *fresh;
};
bool obj_good(const struct keel_obj *o, const char *what); /* else it has been told */
struct body *body_of(const struct keel_obj *o, const char *what); /* NULL: it must not be used */
struct keel_obj *handle_of(struct body *b);
struct klass *klass_find(struct keel_mock *mock, const char *name); /* declared */
struct klass *klass_get(struct keel_mock *mock, const char *name);
struct klass *klass_declare(struct keel_mock *mock, const char *name);
int klass_add(struct mod *m, const void *row, struct keel_err *err);
void klass_remove(struct mod *m, const void *row);
void klasses_fini(struct keel_mock *mock);
int attr_add(struct mod *m, const void *row, struct keel_err *err);
void attr_remove(struct mod *m, const void *row);
int attrs_attach(struct keel_mock *mock, struct keel_err *err);
void attr_detach(struct keel_attr *a);
struct keel_attr *attr_find(const struct klass *c, const char *name);
int attr_fault(struct keel_err *err, int code, const struct keel_attr *a, const char *key);
int type_add(struct mod *m, const void *row, struct keel_err *err);
void type_remove(struct mod *m, const void *row);
void types_init(struct keel_mock *mock);
void types_fini(struct keel_mock *mock);
extern const struct keel_type_def list_type;

/* value.c */
union keel_slot *value_at(const struct body *b, const struct keel_attr *a);
void value_put(struct body *b, const struct keel_attr *a, union keel_slot slot); /* moved */
void value_drop(struct body *b, const struct keel_attr *a);
void values_leave(struct body *b, const struct keel_attr *a); /* kept as text, when it is stored */
void values_come(struct body *b, const struct keel_attr *a);
void value_fallback(struct body *b, const struct keel_attr *a);
void values_drop_all(struct body *b);
bool slot_copy(const struct type *t, const union keel_slot *from, union keel_slot *to);
void slot_drop(const struct type *t, union keel_slot *slot);
int32_t slot_text(const struct keel_attr *a, const union keel_slot *slot, const char *key, char *buf,
		  uint32_t len);
int32_t body_text(struct body *b, const struct keel_attr *a, const char *key, char *buf, uint32_t len);
void body_emit(struct body *b, const struct keel_attr *a, const char *key, const struct keel_emit *e);
int32_t attr_parse(const struct keel_attr *a, int32_t op, const char *key, const char *text,
		   union keel_slot *slot, bool *is_set, struct keel_err *err);
void told_changed(struct body *b, const struct keel_attr *a);

/* object.c */
struct body *body_make(struct klass *c, const char *id, struct keel_err *err);
int body_publish(struct body *b);
void body_destroy(struct body *b);
void body_free(struct body *b);
struct body *body_find(struct keel_mock *mock, const char *klass, const char *id);
struct body *body_clone(struct body *from, const char *id, struct keel_err *err);
void handles_retire(struct keel_mock *mock);
void cursors_end(struct klass *c);
void cursors_fini(struct keel_mock *mock);
void binds_leave(struct keel_mock *mock, struct mod *m);
struct keel_cursor *cursor_open(struct keel_mod *m, const char *klass);
struct keel_obj *cursor_next(struct keel_cursor *cursor);
void cursor_close(struct keel_cursor *cursor);
void cursors_step_back(struct body *b);
int32_t slot_bind(struct keel_mod *m, const char *klass, uint32_t size,
		  void (*fini)(struct keel_mod *, void *slot));
void *slot_get(struct keel_mod *m, struct keel_obj *o);
void privs_free(struct body *b);

/* changes.c */
struct keel_changes *changes_make(struct mod *m);
int32_t changes_put(struct keel_changes *c, const struct keel_session *s, struct body *b,
		    const struct keel_attr *a, int32_t op, const char *key, const char *text,
		    bool by_system, struct keel_err *err);
int32_t changes_peek(struct keel_changes *c, struct body *b, const struct keel_attr *a, const char *key,
		     char *buf, uint32_t len);
void changes_forget(struct keel_mock *mock, const struct keel_attr *a, const struct body *b);
bool changes_good(struct keel_changes *c, const char *what);
void changes_end(struct keel_changes *c, bool commit);
int32_t api_change(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		   const struct keel_attrop *op, struct keel_err *err);
int32_t api_change_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
			int32_t op, const char *key, const char *text, struct keel_err *err);
int32_t api_change_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
			const char *key, char *buf, uint32_t len);
const union keel_slot *api_change_slot(struct keel_changes *c, struct keel_obj *o,
				       const struct keel_attr *a);
void api_change_each(struct keel_changes *c,
		     void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg);
struct keel_changes *api_changes(struct keel_mod *m);
void api_commit(struct keel_changes *c);
void api_discard(struct keel_changes *c);

/* view.c */
struct keel_view *view_open(struct keel_mod *m, const char *klass, const struct keel_wanted *want,
			    uint32_t n_want, uint32_t roles);
void view_close(struct keel_view *v);
int32_t view_pack(struct keel_obj *o, const char *id, struct keel_view *v, struct keel_out *out);
void views_forget(struct keel_mock *mock, const struct keel_attr *a);
void views_fini(struct keel_mock *mock);

/* ---- points, operations, holds, notes ---------------------------------------------------------------- */
typedef keel_verdict invoke_fn(const struct tap *t, struct keel_call *c, const void *event);
struct point_row {
	const char *name;
	uint32_t id, kind, size;
	const struct keel_field *(*fields)(uint32_t *ret_n); /* NULL: it is a module's */
	invoke_fn *invoke;
};
#define OWN_EVENT_MAX 256
union any_event {
	uint32_t size;
	uint64_t own[OWN_EVENT_MAX / sizeof(uint64_t)];
#define HOOK(id, name, kind, daemon, doc) struct keel_ev_##name name;
#include "keel/hook_points.def"
#undef HOOK
};
const struct point_row *map_row(uint32_t id);   /* of hook_points.def; NULL: none */
const struct point_row *point_row(struct keel_mock *mock, uint32_t id); /* those of modules, too */
const char *point_name(struct keel_mock *mock, uint32_t id);
const struct keel_field *row_fields(const struct point_row *p, uint32_t *ret_n);
const struct keel_field *point_fields(uint32_t id, uint32_t *ret_n);
bool verdict_is_allowed(uint32_t kind, keel_verdict v);
const char *event_id(const struct point_row *p, const void *event);
struct keel_obj *event_obj(const struct point_row *p, const void *event);

struct tap {
	struct tap *next; /* of its module */
	struct mod *owner;
	uint32_t point, policy, refs;
	int32_t order;
	char *name; /* module.tap */
	const char *before, *after;
	union keel_tap_fn fn;
	keel_any_fn *any;
	void *arg;
	invoke_fn *invoke;
	bool gone, benched;
};
struct chain {
	uint32_t refs, n;
	struct tap *tap[];
};
int taps_attach(struct mod *m, struct keel_err *err);
int taps_lint(const struct keel_module *d, struct keel_err *err);
void taps_detach(struct mod *m);
int32_t tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err);
void tap_remove(struct keel_mod *m, uint32_t point, const char *name);
void tap_unref(struct tap *t);
struct keel_tap tap_row_at(const struct keel_module *d, uint32_t i);
int taps_reorder(struct mod *m, struct keel_err *err); /* its configuration is another one */
void taps_leave(struct mod *m, uint32_t point);
struct chain *chain_ref(struct keel_mock *mock, uint32_t point); /* NULL: nobody */
void chain_unref(struct chain *c);

/* An event that outlives its call, its objects being permanent handles. */
struct copied {
	union any_event event;
	char **text;
	struct body *body[4];
	bool draft[4];
	uint32_t n_text, n_body;
};
struct copied *event_copy(const struct point_row *p, const void *event);
void event_free(struct copied *c);
bool event_valid(const struct copied *c);
void event_refresh(struct copied *c, const struct point_row *p); /* objects that are gone: NULL */
/* `event` as this header's struct; event_for_call(): with handles for the callback that begins. */
void event_whole(const struct point_row *p, const void *event, union any_event *ret);
void event_for_call(struct keel_mock *mock, const struct point_row *p, const void *event,
		    union any_event *ret);
/* Of all that a tap was given: has it written there? */
uint64_t event_sum(const struct keel_mock *mock, const struct point_row *p, const union any_event *event);

struct call {
	struct keel_call pub; /* first: a keel_call is a call */
	struct head head;
	struct op *op;
};
struct op {
	struct op *prev, *next; /* all that wait */
	struct op *outer;	/* of those that run */
	struct keel_mock *mock;
	const struct point_row *point;
	struct chain *chain;
	const void *event;
	struct copied *copy;
	struct call *call;
	uint32_t at, depth, generation, n_open;
	struct keel_hold *holds;
	keel_verdict worst;
	int32_t abort;
	bool parked, ready, closed, gone, is_waited_note, replay;
	struct mod *only, *raiser;
	struct keel_changes *changes;
	struct keel_req *req;
	keel_outcome_fn *done;
	void *arg;
	char *answer;
	int64_t sum;
	struct text text;
	struct keel_err err;
	const struct tap *by;
	int32_t code;
};
struct op *op_make(struct keel_mock *mock, const struct point_row *p, const void *event);
void op_free(struct op *op);
void op_enter(struct op *op);
void op_leave(struct op *op);
keel_verdict op_walk(struct op *op, bool answered, keel_verdict v);
keel_verdict op_raise(struct mod *m, const struct keel_raise *r);
int64_t op_fold(struct mod *m, uint32_t point, const void *event, struct text *text);
void op_finish(struct op *op, keel_verdict v);
const char *op_label(const struct op *op);
struct call *call_begin(struct op *op, struct mod *m);
void call_end(struct call *c);
void host_log(struct keel_mock *mock, uint32_t event, const char *klass, const char *object,
	      const char *fmt, ...) KEEL_PRINTF(5, 6);

struct keel_hold {
	struct head head;
	struct keel_hold *prev, *next;
	struct op *op;
	struct tap *tap;
	struct item *deadline;
	char *why, *until_id;
	uint32_t until_point;
	bool open, could_end;
	int32_t reason;
	int64_t since, timeout;
	keel_verdict (*resume)(struct keel_call *, void *arg);
	void (*cancel)(struct keel_call *, void *arg, int32_t reason);
	void *arg;
};
keel_verdict hold_take(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret);
void hold_release(struct keel_hold *h);
void holds_end(struct op *op, int32_t reason);
void holds_match(struct keel_mock *mock, const struct point_row *p, const void *event);
keel_verdict holds_settle(struct op *op); /* KEEL_WAIT: some are open; else the worst verdict */
int32_t holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len);
keel_verdict op_park(struct op *op);
void op_ready(struct op *op);
void op_abort(struct op *op, int32_t reason);
void ops_leave(struct keel_mock *mock, struct mod *m);
bool ops_concern(struct keel_mock *mock, const struct mod *m); /* does one wait for it? */
void ops_client_gone(struct keel_mock *mock, struct keel_req *req);
void ops_end(struct keel_mock *mock);

struct note {
	struct note *prev, *next;
	const struct point_row *point;
	struct copied *copy;
	uint32_t generation;
};
void note_raise(struct keel_mock *mock, const struct point_row *p, const void *event);
void notes_drain(struct keel_mock *mock);
void notes_late(struct keel_mock *mock);
void notes_drop(struct keel_mock *mock);
void notes_forget(struct keel_mock *mock, const struct point_row *p);
void replay(struct mod *m);

#include "own.h"

/* ---- clock.c ------------------------------------------------------------------------------------------ */
struct item { /* something that is due */
	struct item *prev, *next;
	int64_t at;
	uint64_t number;
	struct mod *mod;
	keel_fn *fn; /* of a module */
	void (*work)(void *arg);
	void (*host)(void *arg); /* or the host's own */
	void *arg;
	struct keel_timer *timer;
};
struct item *item_add(struct keel_mock *mock, struct mod *m, int64_t after_ms);
void item_drop(struct keel_mock *mock, struct item *i);
struct item *host_item(struct keel_mock *mock, int64_t after_ms, void (*fn)(void *arg), void *arg);
void items_leave(struct keel_mock *mock, struct mod *m);
bool mod_is_busy(const struct mod *m); /* is anything of it under way? */
void clock_fini(struct keel_mock *mock);
extern const struct keel_core_api core_api;
struct keel_timer *core_timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg);
void core_timer_cancel(struct keel_timer *t);
int32_t core_when_durable(struct keel_mod *m, keel_fn *fn, void *arg);
int32_t core_defer(struct keel_mod *m, keel_fn *fn, void *arg);
int32_t core_post(struct keel_mod *m, keel_fn *fn, void *arg);
int32_t core_work(struct keel_mod *m, void (*work)(void *arg), keel_fn *done, void *arg);
struct keel_watch *core_watch(struct keel_mod *m, int fd, keel_fn *fn, void *arg);
void core_watch_cancel(struct keel_watch *w);
int32_t core_watch_for(struct keel_watch *w, uint32_t ready);

#include "message.h"

extern const struct keel_object_api object_api;
extern const struct keel_call_api call_api;
extern const struct keel_hook_api hook_api;
extern const struct keel_msg_api msg_api;
extern const struct keel_request_api request_api;
extern const struct keel_link_api link_api;
extern const struct keel_blob_api blob_api;

/* ---- the mock ---------------------------------------------------------------------------------------------- */
struct record {
	struct record *next; /* newest first */
	char *text;
};
struct keel_mock {
	pthread_t thread;
	pthread_mutex_t lock; /* violations, posts */
	uint32_t daemon;
	const char *host, *home;
	int64_t epoch;
	struct mod self;
	struct mod *mods;
	struct frame *frame;
	struct head *ended;
	struct keel_obj *fresh;
	void *poison;
	struct lent lent;
	bool strict, stopped, freeing, loopback, store_stands;

	struct klass *klasses;
	struct type *types;
	struct keel_attr *attrs, *attrs_like[ATTR_PLACES];
	uint32_t n_declared;
	struct keel_changes *changes;
	struct keel_view *views;
	struct keel_cursor *cursors;

	struct row *rows;
	struct kind *kinds;
	struct service *services;

	struct chain *chain[KEEL_POINT_MAX];
	struct own *own;
	uint32_t own_next;
	struct op *top, *parked;
	struct note *notes, *late_notes;
	struct item *wake;
	uint32_t ended_holds[8];

	int64_t now;
	uint64_t numbers;
	struct item *items, *posts; /* posts: with the lock */
	struct item *unstored;	    /* what is to be told when all is durable */
	struct keel_watch *watches;

	struct request *requests;
	struct keel_req *reqs;
	struct listener *listeners;
	struct peer *peers;
	struct record *sent, *records, *violations, *kept;
	uint32_t n_violations;
	keel_mock_violation_fn *on_violation;
	void *violation_arg;
	uint32_t calls, fail_at;
	char *ring[RING];
	uint32_t ring_at;
	void **files;
	uint32_t n_files;
};

static inline struct keel_mock *mock_of(const struct mod *m)
{
	return m->head.mock;
}

#endif
