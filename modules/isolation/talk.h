/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.h - messages between the daemon and the process of an isolated module: written, and decoded.
 *
 * A frame of the service supervise is one message: its kind, then tagged values. A text has exactly one NUL, its last byte,
 * so that it is used where it lies. The first thing that is not as it should be makes the reader bad; what is read after that
 * is zero.
 */
#ifndef ISOLATION_TALK_H
#define ISOLATION_TALK_H

#include <stdarg.h>

#include "keel/keel.h"

#define TALK_VERSION 4
#define VALUES 8
#define EVENT_ROOM 256 /* bytes of an event */

enum down {
	DOWN_REPLY, /* to an ASK */
#define DOWN(name, arguments, answer) DOWN_##name,
#include "talk.def"
	DOWN_LAST,
};
enum up {
	UP_REPLY, /* to a DOWN */
#define ASK(name, arguments, answer) UP_##name,
#include "talk.def"
	UP_TOLD, /* from here on there is no answer */
#define TELL(name, arguments) UP_##name,
#include "talk.def"
	UP_LAST,
};
/* The letters of the arguments. */
extern const char *const down_arguments[DOWN_LAST], *const up_arguments[UP_LAST];

/* ---- writing ------------------------------------------------------------------------------------------ */
struct talk {
	char *data;
	uint32_t len, room;
	bool failed; /* no memory */
};
void talk_int(struct talk *m, int64_t n);
void talk_str(struct talk *m, const char *text); /* NULL: nil */
void talk_bytes(struct talk *m, const void *bytes, uint32_t len);
void talk_plain(struct talk *m, const void *bytes, uint32_t len); /* as they are */
/* Arguments, behind which an event may follow: int64_t, const char *, and for bytes a pointer and an uint32_t. */
void talk_values(struct talk *m, const char *letters, va_list values);

/* ---- reading ------------------------------------------------------------------------------------------ */
struct talk_in {
	const char *at, *end;
	bool bad;
};
int64_t take_int(struct talk_in *in);
const char *take_str(struct talk_in *in); /* borrowed; NULL: nil, or bad */
const char *take_bytes(struct talk_in *in, uint32_t *ret_len);
struct value {
	int64_t i;
	const char *s, *id; /* o: class, id */
	uint32_t len;
};
/* False: it is no such message. Without an `e` nothing may be left; with it, its fields are. */
bool take_values(struct talk_in *in, const char *letters, struct value values[VALUES]);

/* ---- rows: members of a struct, in order ------------------------------------------------------------- */
struct talk_member {
	char letter; /* i, s; t: a text that is never NULL; 0: the last one is before it */
	uint8_t size;
	uint16_t offset;
};
extern const struct talk_member talk_head[], talk_rule[], talk_attr[], talk_tap[], talk_session[];
void talk_row(struct talk *m, const struct talk_member *members, const void *row);
void take_row(struct talk_in *in, const struct talk_member *members, void *ret);

/* ---- the map of points, of hook_points.def ------------------------------------------------------------- */
struct map_point {
	const char *name;
	uint32_t kind, daemon, event_size;
	const struct keel_field *(*fields)(uint32_t *ret_n);
};
const struct map_point *map_point(int64_t id); /* NULL: there is no such point */
uint32_t map_number(const struct map_point *p);
keel_verdict map_call(uint32_t point, union keel_tap_fn fn, struct keel_call *c, const void *event);

union event_room {
	uint64_t align[EVENT_ROOM / sizeof(uint64_t)];
	char bytes[EVENT_ROOM];
};
/* Class and id of an object; false: it goes as none. */
typedef bool name_fn(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id);
void talk_event(struct talk *m, const struct map_point *p, const void *event, name_fn *name, void *arg);
typedef struct keel_obj *obj_fn(const char *klass, const char *id);
void take_event(struct talk_in *in, const struct map_point *p, union event_room *ret, obj_fn *obj);

/* A filled configuration, by its rules. */
void talk_conf(struct talk *m, const struct keel_conf_rule *rules, uint32_t n, const void *conf);

#endif
