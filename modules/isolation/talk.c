/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.c - messages between the daemon and the process of an isolated module, written and read.
 */
#include "talk.h"

#include <stdlib.h>
#include <string.h>

const char *const down_arguments[DOWN_LAST] = {
#define DOWN(name, arguments, answer) [DOWN_##name] = (arguments),
#include "talk.def"
};
const char *const up_arguments[UP_LAST] = {
#define ASK(name, arguments, answer) [UP_##name] = (arguments),
#define TELL(name, arguments) [UP_##name] = (arguments),
#include "talk.def"
};

/* ---- writing ------------------------------------------------------------------------------------------ */
void talk_plain(struct talk *m, const void *bytes, uint32_t len)
{
	uint32_t room = m->room > 0 ? m->room : 512;
	char *more;

	while (room - m->len < len && room < UINT32_MAX / 2)
		room *= 2;
	if (room - m->len < len || m->failed) {
		m->failed = true;
		return;
	}
	if (room != m->room) {
		more = realloc(m->data, room);
		if (!more) {
			m->failed = true;
			return;
		}
		m->data = more;
		m->room = room;
	}
	memcpy(m->data + m->len, bytes, len);
	m->len += len;
}

void talk_int(struct talk *m, int64_t n)
{
	talk_plain(m, "i", 1);
	talk_plain(m, &n, sizeof(n));
}

void talk_bytes(struct talk *m, const void *bytes, uint32_t len)
{
	talk_plain(m, "b", 1);
	talk_plain(m, &len, sizeof(len));
	talk_plain(m, len > 0 ? bytes : "", len);
}

void talk_str(struct talk *m, const char *text)
{
	if (text)
		talk_bytes(m, text, (uint32_t)strlen(text) + 1);
	else
		talk_plain(m, "n", 1);
}

void talk_values(struct talk *m, const char *letters, va_list values)
{
	for (; *letters && *letters != 'e'; letters++) {
		if (*letters == 'i') {
			talk_int(m, va_arg(values, int64_t));
		} else if (*letters == 'o') {
			talk_str(m, va_arg(values, const char *));
			talk_str(m, va_arg(values, const char *));
		} else if (*letters != 'b') {
			talk_str(m, va_arg(values, const char *));
		} else {
			const void *bytes = va_arg(values, const void *);

			talk_bytes(m, bytes, va_arg(values, uint32_t));
		}
	}
}

/* ---- reading ------------------------------------------------------------------------------------------ */
static const char *unpack_plain(struct talk_in *in, uint64_t len)
{
	const char *at = in->at;

	if (in->bad || (uint64_t)(in->end - at) < len) {
		in->bad = true;
		return NULL;
	}
	in->at += len;
	return at;
}

static bool is_tagged(struct talk_in *in, char tag)
{
	const char *at = unpack_plain(in, 1);

	if (at && *at == tag)
		return true;
	in->bad = in->bad || *at != 'n' || tag == 'i';
	return false;
}

int64_t take_int(struct talk_in *in)
{
	const char *at = is_tagged(in, 'i') ? unpack_plain(in, sizeof(int64_t)) : NULL;
	int64_t n = 0;

	if (at)
		memcpy(&n, at, sizeof(n));
	return n;
}

const char *take_bytes(struct talk_in *in, uint32_t *ret_len)
{
	const char *at = is_tagged(in, 'b') ? unpack_plain(in, sizeof(*ret_len)) : NULL;

	*ret_len = 0;
	if (!at)
		return NULL;
	memcpy(ret_len, at, sizeof(*ret_len));
	at = unpack_plain(in, *ret_len);
	if (!at)
		*ret_len = 0;
	return at;
}

const char *take_str(struct talk_in *in)
{
	uint32_t len;
	const char *text = take_bytes(in, &len);

	if (text && (len == 0 || memchr(text, '\0', len) != text + len - 1)) {
		in->bad = true;
		text = NULL;
	}
	return text;
}

bool take_values(struct talk_in *in, const char *letters, struct value values[VALUES])
{
	memset(values, 0, VALUES * sizeof(*values));
	for (struct value *v = values; *letters && *letters != 'e'; letters++, v++) {
		if (*letters == 'i')
			v->i = take_int(in);
		else if (*letters == 'b')
			v->s = take_bytes(in, &v->len);
		else
			v->s = take_str(in);
		if (*letters == 'o')
			v->id = take_str(in);
	}
	return !in->bad && (*letters == 'e' || in->at == in->end);
}

/* ---- rows --------------------------------------------------------------------------------------------- */
#define MEMBER(letter, name, member) { letter, sizeof(((struct name *)0)->member), offsetof(struct name, member) }
#define I(name, member) MEMBER('i', name, member)
#define S(name, member) MEMBER('s', name, member)
#define T(name, member) MEMBER('t', name, member)

const struct talk_member talk_head[] = {
	S(keel_module, name), S(keel_module, version), S(keel_module, vendor), S(keel_module, summary), I(keel_module, roles),
	I(keel_module, conf_size), { 0 },
};
const struct talk_member talk_rule[] = {
	I(keel_conf_rule, type), I(keel_conf_rule, offset), I(keel_conf_rule, flags), S(keel_conf_rule, key),
	S(keel_conf_rule, fallback), I(keel_conf_rule, min), I(keel_conf_rule, max), S(keel_conf_rule, choices),
	S(keel_conf_rule, doc), { 0 },
};
const struct talk_member talk_attr[] = {
	I(keel_attr_def, flags), T(keel_attr_def, klass), T(keel_attr_def, name), T(keel_attr_def, type), S(keel_attr_def, doc),
	I(keel_attr_def, read_roles), I(keel_attr_def, write_roles), I(keel_attr_def, order), S(keel_attr_def, fallback), { 0 },
};
const struct talk_member talk_tap[] = {
	I(keel_tap, point), T(keel_tap, name), I(keel_tap, order), I(keel_tap, flags), S(keel_tap, before), S(keel_tap, after), { 0 },
};
const struct talk_member talk_session[] = {
	I(keel_session, roles), I(keel_session, uid), I(keel_session, gid), S(keel_session, user), S(keel_session, host),
	S(keel_session, who), S(keel_session, group), S(keel_session, groups), { 0 },
};

void talk_row(struct talk *m, const struct talk_member *p, const void *row)
{
	for (; p->letter; p++) {
		const char *at = (const char *)row + p->offset;

		if (p->letter != 'i')
			talk_str(m, *(const char *const *)at);
		else
			talk_int(m, p->size == sizeof(int64_t) ? *(const int64_t *)at : *(const int32_t *)at);
	}
}

void take_row(struct talk_in *in, const struct talk_member *p, void *ret)
{
	for (; p->letter; p++) {
		char *at = (char *)ret + p->offset;

		if (p->letter != 'i') {
			const char *text = take_str(in);

			*(const char **)at = !text && p->letter == 't' ? "" : text;
		} else if (p->size == sizeof(int64_t)) {
			*(int64_t *)at = take_int(in);
		} else {
			*(int32_t *)at = (int32_t)take_int(in);
		}
	}
}

/* ---- the map ------------------------------------------------------------------------------------------ */
#define FIELD(field_type, member) { .name = #member, .type = KEEL_FIELD_##field_type, .offset = (uint32_t)offsetof(EVENT, member) },
#define HOOK(id, point, kind, daemon, doc)                                                          \
	static const struct keel_field *fields_##point(uint32_t *ret_n)                             \
	{                                                                                          \
		typedef struct keel_ev_##point EVENT;                                               \
		static const struct keel_field fields[] = { KEEL_FIELDS_##point(FIELD) { .name = NULL } }; \
                                                                                                   \
		*ret_n = KEEL_COUNT(fields) - 1 + 0 * (uint32_t)sizeof(EVENT);                     \
		return fields;                                                                     \
	}
#include "keel/hook_points.def"
#undef HOOK

static const struct map_point map[KEEL_POINT_MAX] = {
#define HOOK(id, point, point_kind, point_daemon, doc)                                             \
	[id] = { .name = #point, .kind = KEEL_##point_kind, .daemon = KEEL_##point_daemon,         \
		 .event_size = sizeof(struct keel_ev_##point), .fields = fields_##point },
#include "keel/hook_points.def"
#undef HOOK
};

const struct map_point *map_point(int64_t id)
{
	return id > 0 && id < KEEL_POINT_MAX && map[id].name && map[id].event_size <= EVENT_ROOM ? &map[id] : NULL;
}

uint32_t map_number(const struct map_point *p)
{
	return (uint32_t)(p - map);
}

keel_verdict map_call(uint32_t point, union keel_tap_fn fn, struct keel_call *c, const void *event)
{
	switch (point) {
#define HOOK(id, name, kind, daemon, doc) \
	case id: return fn.name(c, event);
#include "keel/hook_points.def"
#undef HOOK
	}
	return KEEL_FAIL;
}

void talk_event(struct talk *m, const struct map_point *p, const void *event, name_fn *name, void *arg)
{
	uint32_t n;
	const struct keel_field *fields = p->fields(&n);

	for (uint32_t i = 0; i < n; i++) {
		const char *at = (const char *)event + fields[i].offset, *klass = NULL, *id = NULL;

		if (fields[i].type == KEEL_FIELD_STR) {
			talk_str(m, *(const char *const *)at);
		} else if (fields[i].type == KEEL_FIELD_INT) {
			talk_int(m, *(const int64_t *)at);
		} else {
			struct keel_obj *obj = *(struct keel_obj *const *)at;
			bool goes = obj && name(arg, obj, &klass, &id);

			talk_str(m, goes ? klass : NULL);
			talk_str(m, goes ? id : NULL);
		}
	}
}

void take_event(struct talk_in *in, const struct map_point *p, union event_room *ret, obj_fn *obj)
{
	uint32_t n;
	const struct keel_field *fields = p->fields(&n);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &p->event_size, sizeof(p->event_size));
	for (uint32_t i = 0; i < n; i++) {
		char *at = ret->bytes + fields[i].offset;

		if (fields[i].type == KEEL_FIELD_INT) {
			int64_t number = take_int(in);

			memcpy(at, &number, sizeof(number));
		} else if (fields[i].type == KEEL_FIELD_STR) {
			const char *text = take_str(in);

			memcpy(at, &text, sizeof(text));
		} else {
			const char *klass = take_str(in), *id = take_str(in);
			struct keel_obj *o = klass && id && !in->bad ? obj(klass, id) : NULL;

			memcpy(at, &o, sizeof(o));
		}
	}
	in->bad = in->bad || in->at != in->end;
}

void talk_conf(struct talk *m, const struct keel_conf_rule *rules, uint32_t n, const void *conf)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *at = (const char *)conf + rules[i].offset;
		const char *const *list = NULL;
		int64_t n_list = 0;

		switch (rules[i].type) {
		case KEEL_CONF_BOOL: talk_int(m, *(const bool *)at); break;
		case KEEL_CONF_ENUM: talk_int(m, *(const int32_t *)at); break;
		case KEEL_CONF_STRING: talk_str(m, *(const char *const *)at); break;
		case KEEL_CONF_LIST:
			list = *(const char *const *const *)at;
			while (list && list[n_list])
				n_list++;
			talk_int(m, list ? n_list : -1);
			for (int64_t item = 0; item < n_list; item++)
				talk_str(m, list[item]);
			break;
		default: talk_int(m, *(const int64_t *)at);
		}
	}
}
