/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.c - messages between the daemon and the process of an isolated module, written and read.
 */
#include "isolate/talk.h"

#include <string.h>

/* ---- writing ------------------------------------------------------------------------------------- */
size_t talk_begin(struct buf *m)
{
	static const char room[WIRE_HEADER_SIZE];
	size_t begun = m->len;

	buf_add(m, room, sizeof(room));
	return begun;
}

void talk_end(struct buf *m, size_t begun, uint16_t type, uint64_t corr)
{
	if (m->failed)
		return;
	frame_header(m->data + begun, type, corr, (uint32_t)(m->len - begun - WIRE_HEADER_SIZE));
}

void talk_put_str(struct buf *m, const char *text)
{
	if (text == NULL)
		pack_nil(m);
	else
		pack_text(m, text, strlen(text) + 1);
}

void talk_put_bytes(struct buf *m, const void *bytes, uint32_t len)
{
	pack_text(m, len > 0 ? bytes : "", len);
}

/* ---- reading ------------------------------------------------------------------------------------- */
void talk_open(struct talk_in *in, const char *body, uint32_t len)
{
	in->r = (struct pack_reader){ .at = (const unsigned char *)body,
				    .end = (const unsigned char *)body + len };
}

static struct pack_value next(struct talk_in *in, enum pack_kind kind)
{
	struct pack_value v = { 0 };

	if (!in->r.bad)
		v = pack_next(&in->r);
	if (!in->r.bad && v.kind != kind && v.kind != PACK_NIL)
		in->r.bad = true;
	return in->r.bad ? (struct pack_value){ 0 } : v;
}

int64_t talk_int(struct talk_in *in)
{
	struct pack_value v = next(in, PACK_INT);

	if (v.kind != PACK_INT)
		in->r.bad = true;
	return v.i;
}

const char *talk_str(struct talk_in *in)
{
	struct pack_value v = next(in, PACK_STR);

	if (v.kind != PACK_STR)
		return NULL;
	if (v.n > 0 && memchr(v.text, '\0', v.n) == v.text + v.n - 1)
		return v.text;
	in->r.bad = true;
	return NULL;
}

const char *talk_text(struct talk_in *in)
{
	const char *text = talk_str(in);

	return text != NULL ? text : "";
}

const void *talk_bytes(struct talk_in *in, uint32_t *ret_len)
{
	struct pack_value v = next(in, PACK_STR);

	*ret_len = v.n;
	return v.text;
}

bool talk_done(const struct talk_in *in)
{
	return !in->r.bad && in->r.at == in->r.end;
}

/* ---- events -------------------------------------------------------------------------------------- */
static void put_obj(struct buf *m, struct keel_obj *obj, talk_name_fn *name, void *arg)
{
	const char *klass, *id;

	if (obj == NULL || !name(arg, obj, &klass, &id)) {
		pack_nil(m);
		return;
	}
	talk_put_str(m, klass);
	talk_put_str(m, id);
}

void talk_put_event(struct buf *m, const struct keel_field *fields, uint32_t n, const void *event,
		    talk_name_fn *name, void *arg)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *at = (const char *)event + fields[i].offset;

		if (fields[i].type == KEEL_FIELD_STR)
			talk_put_str(m, *(const char *const *)at);
		else if (fields[i].type == KEEL_FIELD_INT)
			talk_put_int(m, *(const int64_t *)at);
		else
			put_obj(m, *(struct keel_obj *const *)at, name, arg);
	}
}

static void take_obj(struct talk_in *in, char *at, talk_obj_fn *obj, void *arg)
{
	const char *klass = talk_str(in);
	const char *id = klass != NULL ? talk_str(in) : NULL;
	struct keel_obj *o;

	if (klass != NULL && id == NULL)
		in->r.bad = true;
	o = id != NULL ? obj(arg, klass, id) : NULL;
	memcpy(at, &o, sizeof(o));
}

void talk_event(struct talk_in *in, const struct keel_field *fields, uint32_t n, void *event,
		uint32_t size, talk_obj_fn *obj, void *arg)
{
	memset(event, 0, size);
	memcpy(event, &size, sizeof(size));
	for (uint32_t i = 0; i < n; i++) {
		char *at = (char *)event + fields[i].offset;

		if (fields[i].type == KEEL_FIELD_STR) {
			const char *text = talk_str(in);

			memcpy(at, &text, sizeof(text));
		} else if (fields[i].type == KEEL_FIELD_INT) {
			int64_t number = talk_int(in);

			memcpy(at, &number, sizeof(number));
		} else {
			take_obj(in, at, obj, arg);
		}
	}
}

/* ---- a filled configuration ---------------------------------------------------------------------- */
static void put_list(struct buf *m, const char *const *list)
{
	uint32_t n = 0;

	while (list != NULL && list[n] != NULL)
		n++;
	talk_put_int(m, list == NULL ? -1 : (int64_t)n);
	for (uint32_t i = 0; i < n; i++)
		talk_put_str(m, list[i]);
}

static void put_value(struct buf *m, const struct keel_conf_rule *r, const char *at)
{
	switch (r->type) {
	case KEEL_CONF_BOOL:
		talk_put_int(m, *(const bool *)at);
		break;
	case KEEL_CONF_ENUM:
		talk_put_int(m, *(const int32_t *)at);
		break;
	case KEEL_CONF_STRING:
		talk_put_str(m, *(const char *const *)at);
		break;
	case KEEL_CONF_LIST:
		put_list(m, *(const char *const *const *)at);
		break;
	default:
		talk_put_int(m, *(const int64_t *)at);
		break;
	}
}

void talk_put_conf(struct buf *m, const struct keel_conf_rule *rules, uint32_t n, const void *conf)
{
	for (uint32_t i = 0; i < n; i++)
		put_value(m, &rules[i], (const char *)conf + rules[i].offset);
}
