/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h - inside of the object engine; for kernel/object/, and for the store front: what an object is.
 *
 *   objects -- class ("job") -- keel_attr rows, numbered 0..255
 *                            -- keel_obj: id, bitmap of set numbers, packed slots
 *
 * A row of an attribute whose class or type does not exist yet waits (klass NULL). Values that no row takes are in `raw`,
 * as the bytes of a stored row.
 */
#ifndef KEELSON_OBJECT_H
#define KEELSON_OBJECT_H

#include "util/index.h"
#include "wire/pack.h"
#include "object/objects.h"

#define ATTR_MAX 256u
#define ATTR_WORDS (ATTR_MAX / 64)

/* Sets of attributes of a class: a bit each, by their numbers. */
static inline bool bit_get(const uint64_t *bits, uint32_t number)
{
	return bits[number / 64] >> number % 64 & 1;
}
static inline void bit_set(uint64_t *bits, uint32_t number)
{
	bits[number / 64] |= 1ull << number % 64;
}
static inline void bit_clear(uint64_t *bits, uint32_t number)
{
	bits[number / 64] &= ~(1ull << number % 64);
}
/* `bits`: word w of the set. It is read once: the body may change the set. No break out of the body. */
#define EACH_BIT(number, bits)                                                                             \
	for (uint32_t w = 0, number; w < ATTR_WORDS; w++)                                                  \
		for (uint64_t left = (bits); left && (number = w * 64 + (uint32_t)__builtin_ctzll(left), true); \
		     left &= left - 1)

struct type {
	struct keel_type_def def;
	struct owner *owner; /* NULL: the kernel */
	bool text;   /* the kernel's own texts: slot.p is one, which the hot paths copy themselves */
	bool scalar; /* the kernel's own size and float: slot.p is no pointer */
	struct type *next;
};

struct keel_attr {
	struct index_key name; /* first */
	struct keel_attr_def def;
	struct owner *owner; /* NULL: withdrawn */
	struct class *klass; /* NULL: waiting, or withdrawn */
	struct type *type;   /* never NULL once it was attached */
	uint32_t number;     /* kept while it is not attached */
	struct keel_attr *next;
	char words[]; /* class and name */
};

/* MessagePack pairs (name, value) that no row took, without the head of the map. */
struct raw {
	uint32_t n, len;
	char bytes[];
};

enum obj_flag {
	OBJ_DRAFT = 1,
	OBJ_DIRTY = 2, /* the store front has it on its list */
	OBJ_DEAD = 4,
	OBJ_SAVED = 8, /* there is a row of it */
	OBJ_KEEP = 16, /* the store front has blobs of a draft: its destruction calls `dirty`, too */
};

/* The members that a walk reads come first. */
struct keel_obj {
	struct index_key id; /* first; the text follows the struct */
	struct class *klass;
	union keel_slot *slot;	/* n values, in order of attribute number */
	uint64_t set[ATTR_WORDS];
	struct piece *pieces;	/* modules' private memory */
	struct raw *raw;
	struct change *changes; /* entries of change sets about this object */
	union {
		struct {
			uint32_t place;		     /* while live: index in the order of the class */
			struct keel_obj *dirty_next; /* live or dead: the store front's list */
		};
		struct {
			struct keel_obj *prev, *next; /* drafts */
		};
	};
	uint16_t flags;
	uint16_t n, cap; /* of slot; cap >= n + entries of change sets */
	char text[];	 /* of the id; in the struct's padding, too */
};

struct change {
	struct keel_changes *set;
	struct keel_obj *obj;
	const struct keel_attr *attr;
	union keel_slot slot; /* owned while is_set */
	bool is_set;
	struct change *prev, *next; /* of the set, in order */
	struct change *of_obj;
};

struct keel_changes {
	struct objects *objects;
	struct change *entries;
	struct keel_changes *prev, *next;
};

/* Objects in order of creation; NULL: destroyed. */
struct order {
	struct keel_obj **at;
	uint32_t n, cap, taken;
};

struct class {
	struct class *next; /* declared ones in order of declaration; lives as long as the engine */
	struct objects *objects;
	bool declared;
	struct keel_class_def def;
	struct owner *owner;
	struct index ids, names;
	struct order live;
	struct keel_obj *drafts;
	struct keel_attr *by_number[ATTR_MAX];
	struct keel_attr *listed[ATTR_MAX]; /* by (order, name) */
	struct keel_attr *guess[ATTR_MAX];  /* the attribute at this place of the last decoded row */
	uint32_t n_attrs;
	uint64_t reset[ATTR_WORDS]; /* rows that are never unset */
	uint64_t notified[ATTR_WORDS]; /* rows with a changed() */
	bool has_raw; /* an object had raw bytes */
	struct keel_cursor *cursors;
	char name[];
};

#define CLASS_GUESSES 32u

struct objects {
	struct registry *registry;
	void (*dirty)(void *arg, struct keel_obj *);
	void *dirty_arg;
	struct class *classes;
	struct class *guess[CLASS_GUESSES]; /* by the address of the name in class_find() */
	struct type *types;
	struct keel_attr *attrs; /* all there ever were */
	struct keel_changes *changes;
	const char *own_name, *from_name; /* of the daemon; the one that the store is to lose, or NULL. Borrowed */
	struct class *former; /* names that it had before; NULL: not known yet */
	struct buf row;    /* objects_encode() */
	struct buf text;   /* a value as terminated text */
};

static inline struct objects *objects_of(struct keel_mod *m)
{
	return owner_of(m)->parts->objects;
}
static inline struct keel_mod *mod_of(struct owner *owner)
{
	return owner ? &owner->pub : NULL;
}

/* vocabulary.c */
int vocabulary_create(struct objects *o);
void vocabulary_destroy(struct objects *o);
struct class *class_find(struct objects *o, const char *name);	     /* declared ones */
struct class *class_get(struct objects *o, const char *name);        /* created when unknown; NULL: no memory */
void class_each(struct class *c, void (*fn)(void *arg, struct keel_obj *), void *arg); /* published ones, drafts */
void attr_changed(const struct keel_attr *a, struct keel_obj *o); /* calls its changed() */
struct keel_attr *attr_find(const struct class *c, const char *name, size_t len);
struct keel_attr *attr_of_request(const struct class *c, const char *name); /* upper or lower case alike */
/* Fills in the error text `<table text of code> attr[.key]` and returns the code. */
int attr_fault(struct keel_err *err, int code, const struct keel_attr *a, const char *key);
void type_format(const struct type *t, const union keel_slot *slot, const char *key, const struct keel_emit *emit);
int type_copy(const struct type *t, const union keel_slot *from, union keel_slot *to);
void type_drop(const struct type *t, union keel_slot *slot);
/* Calls parse() of the attribute's type. Returns 0 or a PBSE code; an error without a text gets one. */
int32_t type_parse(const struct keel_attr *a, int32_t op, const char *key, const char *text,
		   union keel_slot *slot, bool *is_set, struct keel_err *err);

/* value.c: the packed slots of one object. Values are moved in; that cannot fail when a change set reserved the room. */
union keel_slot *value_at(const struct keel_obj *o, const struct keel_attr *a); /* NULL: unset */
int value_reserve(struct keel_obj *o, uint32_t more);
int value_put(struct keel_obj *o, const struct keel_attr *a, const union keel_slot *slot);
void value_drop(struct keel_obj *o, const struct keel_attr *a);
void value_drop_all(struct keel_obj *o);
/* Parses into the current value, which a type's parse() leaves unchanged on an error. Returns 0 or a PBSE code with *err. */
int32_t value_parse(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key, const char *text,
		    struct keel_err *err);
/* No memory for a value that the system set: ends the daemon, which restarts from the store. */
void value_lost(void) __attribute__((noreturn));

/* objects.c */
struct keel_obj *obj_create(struct class *c, const char *id, size_t len); /* a draft without values */
/* Offers its raw bytes to the rows there are now, and sets the defaults of values that are never unset. */
void obj_complete(void *unused, struct keel_obj *o);
void obj_reset(struct keel_obj *o); /* the second of the two alone */
int obj_link(struct keel_obj *o); /* among the class' objects */
void obj_retire(struct keel_obj *o); /* frees a dead one that neither the store front nor a change set needs */
void obj_notify(struct keel_obj *o); /* call changed() of every value that is set */

/* names.c */
struct keel_obj *obj_find(const struct class *c, const char *id); /* by any name that the daemon has had; NULL: there is none */
const char *name_of_row(const struct class *c, const char *id); /* the id with which this row becomes an object */

/* stored.c */
int raw_add(struct keel_obj *o, const void *pairs, size_t size, uint32_t n);
/* Write the pair of a stored row for value `slot` of `a`. */
void raw_encode(struct buf *m, const struct keel_attr *a, const union keel_slot *slot);
/* Read `n` pairs into `o`; what no attribute takes goes to o->raw. Returns 0, -EPROTO or -ENOMEM. */
int raw_decode(struct keel_obj *o, struct pack_reader *r, uint32_t n);

/* order.c */
int order_room(struct class *c); /* for one more; 0 or -ENOMEM */
struct keel_cursor *cursor_of(struct class *c, bool deep);

/* change.c */
uint32_t changes_of(const struct keel_obj *o); /* how many entries are about it */
void change_drop(struct change *e);

/* read.c, shared with change sets: returns and truncates like snprintf(), of one value. */
int text_of(const struct keel_attr *a, const union keel_slot *slot, const char *key, char *buf, uint32_t len);

/* The functions of struct keel_object_api, by file. */
void object_destroy(struct keel_obj *o);
struct keel_cursor *cursor_open(struct keel_mod *m, const char *klass);
struct keel_obj *cursor_next(struct keel_cursor *cursor);
void cursor_close(struct keel_cursor *cursor);

bool read_is_set(const struct keel_obj *o, const struct keel_attr *a);
int64_t read_int(const struct keel_obj *o, const struct keel_attr *a);
const char *read_str(const struct keel_obj *o, const struct keel_attr *a);
const void *read_ptr(const struct keel_obj *o, const struct keel_attr *a);
int32_t read_text(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf, uint32_t len);
void read_emit(struct keel_obj *o, const struct keel_attr *a, const char *key, const struct keel_emit *emit);
int32_t read_match(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err);

void write_int(struct keel_obj *o, const struct keel_attr *a, int64_t n);
int32_t write_str(struct keel_obj *o, const struct keel_attr *a, const char *text);
void write_ptr(struct keel_obj *o, const struct keel_attr *a, void *p);
int32_t write_text(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err);
void write_unset(struct keel_obj *o, const struct keel_attr *a, const char *key);
void write_touch(struct keel_obj *o);
void object_swap(struct keel_obj *a, struct keel_obj *b);

struct keel_changes *changes_create(struct keel_mod *m);
int32_t changes_ask(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		    const struct keel_attrop *op, struct keel_err *err);
int32_t changes_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
		     int32_t op, const char *key, const char *text, struct keel_err *err);
int32_t changes_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
		     const char *key, char *buf, uint32_t len);
void changes_emit(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a, const char *key,
		  const struct keel_emit *emit);
const union keel_slot *changes_slot(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a);
void changes_each(struct keel_changes *c,
		  void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg);

struct keel_view *view_open(struct keel_mod *m, const char *klass, const struct keel_wanted *want,
			    uint32_t n_want, uint32_t roles);
void view_close(struct keel_view *v);
int32_t view_pack(struct keel_obj *o, const char *id, struct keel_view *v, struct keel_out *out);

#endif
