/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.c - message bodies: a tree, read by the group "msg", built by it, written by tests as libconfig
 * text, shown to them as JSON.
 */
#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

#define LISTS_MAX 15

/* ---- trees --------------------------------------------------------------------------------------------- */
struct node *node_add(struct node *to, enum node_kind kind, const char *key)
{
	struct node *n = make(sizeof(*n));

	n->kind = kind;
	n->key = dup_text(key);
	if (to != NULL) {
		if (to->last != NULL)
			to->last->next = n;
		else
			to->child = n;
		to->last = n;
		to->n++;
	}
	return n;
}

void node_text(struct node *n, const char *text)
{
	n->kind = text != NULL ? NODE_STR : NODE_NIL;
	n->bytes = dup_text(text);
	n->len = text != NULL ? (uint32_t)strlen(text) : 0;
}

static void node_bytes(struct node *n, const void *bytes, uint32_t len)
{
	n->kind = bytes != NULL ? NODE_BYTES : NODE_NIL;
	n->bytes = make((size_t)len + 1);
	if (bytes != NULL)
		memcpy(n->bytes, bytes, len);
	n->len = len;
}

void node_free(struct node *n)
{
	while (n != NULL) {
		struct node *next = n->next;

		node_free(n->child);
		free(n->key);
		free(n->bytes);
		free(n);
		n = next;
	}
}

const struct node *node_get(const struct node *map, const char *key)
{
	const struct node *n = map->child;

	while (n != NULL && (n->key == NULL || strcmp(n->key, key) != 0))
		n = n->next;
	return n;
}

static void json_string(const char *text, size_t len, struct text *t)
{
	text_add(t, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			text_put(t, "\\%c", text[i]);
		else if ((unsigned char)text[i] < 0x20)
			text_put(t, "\\u%04x", (unsigned char)text[i]);
		else
			text_add(t, &text[i], 1);
	}
	text_add(t, "\"", 1);
}

void node_json(const struct node *n, struct text *t)
{
	bool is_map = n->kind == NODE_MAP;

	if (n->kind == NODE_NIL)
		text_put(t, "null");
	else if (n->kind == NODE_INT)
		text_put(t, "%lld", (long long)n->i);
	else if (n->kind == NODE_STR || n->kind == NODE_BYTES)
		json_string(n->bytes, n->len, t);
	if (!is_map && n->kind != NODE_ARRAY)
		return;
	text_put(t, is_map ? "{" : "[");
	for (const struct node *c = n->child; c != NULL; c = c->next) {
		if (is_map) {
			json_string(c->key, strlen(c->key), t);
			text_put(t, ": ");
		}
		node_json(c, t);
		text_put(t, c->next != NULL ? ", " : "");
	}
	text_put(t, is_map ? "}" : "]");
}

/* ---- from libconfig -------------------------------------------------------------------------------------- */
static struct node *of_setting(struct node *to, const config_setting_t *s)
{
	struct node *n = node_add(to, NODE_NIL, config_setting_name(s));

	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		n->kind = NODE_INT;
		n->i = config_setting_get_int64(s);
		break;
	case CONFIG_TYPE_BOOL:
		n->kind = NODE_INT;
		n->i = config_setting_get_bool(s);
		break;
	case CONFIG_TYPE_STRING:
		node_text(n, config_setting_get_string(s));
		break;
	case CONFIG_TYPE_FLOAT:
		die("a message holds no floating point numbers (%s)", config_setting_name(s));
	default:
		n->kind = config_setting_type(s) == CONFIG_TYPE_GROUP ? NODE_MAP : NODE_ARRAY;
		for (int i = 0; i < config_setting_length(s); i++)
			of_setting(n, config_setting_get_elem(s, (unsigned)i));
	}
	return n;
}

struct node *node_of_text(const char *text)
{
	struct node *n;
	config_t c;

	config_init(&c);
	if (text != NULL && config_read_string(&c, text) != CONFIG_TRUE)
		die("body of a message, line %d: %s", config_error_line(&c), config_error_text(&c));
	n = of_setting(NULL, config_root_setting(&c));
	config_destroy(&c);
	return n;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */
struct keel_msg {
	struct head head;
	struct node *root;
	struct record *lists; /* arrays that were handed out */
};

struct keel_msg *msg_make(struct keel_mock *mock, struct node *root)
{
	struct keel_msg *m = make(sizeof(*m));

	head_init(&m->head, mock, m);
	m->root = root;
	return m;
}

void msg_end(struct keel_msg *m)
{
	if (m == NULL || m->head.ended)
		return;
	while (m->lists != NULL) {
		struct record *r = m->lists;

		m->lists = r->next;
		free(r->text);
		free(r);
	}
	node_free(m->root);
	m->root = NULL;
	head_end(&m->head);
}

static const struct node *get(const struct keel_msg *m, const char *key, const char *what)
{
	return head_good(&m->head, "msg-ended", what) ? node_get(m->root, key) : NULL;
}

static void *list_make(const struct keel_msg *m, size_t size)
{
	struct keel_msg *own = (struct keel_msg *)(uintptr_t)m;
	struct record *r = make(sizeof(*r));

	r->text = make(size);
	LL_PREPEND(own->lists, r);
	return r->text;
}

static bool is_clean(const struct node *n)
{
	return n->kind == NODE_STR && strlen(n->bytes) == n->len;
}

static const char *msg_str(const struct keel_msg *m, const char *key)
{
	const struct node *n = get(m, key, "str");

	return n != NULL && is_clean(n) ? n->bytes : NULL;
}

static const void *msg_bytes(const struct keel_msg *m, const char *key, uint32_t *ret_len)
{
	const struct node *n = get(m, key, "bytes");
	bool has = n != NULL && (n->kind == NODE_STR || n->kind == NODE_BYTES);

	if (ret_len != NULL)
		*ret_len = has ? n->len : 0;
	return has ? n->bytes : NULL;
}

static int64_t msg_integer(const struct keel_msg *m, const char *key, int64_t otherwise)
{
	const struct node *n = get(m, key, "integer");

	return n != NULL && n->kind == NODE_INT ? n->i : otherwise;
}

static const char *const *msg_strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	const struct node *n = get(m, key, "strings");
	const char **list;
	uint32_t i = 0;

	*ret_n = 0;
	if (n == NULL || n->kind == NODE_NIL)
		return NULL;
	*ret_n = UINT32_MAX;
	if (n->kind != NODE_ARRAY || fails(m->head.mock))
		return NULL;
	list = list_make(m, (n->n + 1) * sizeof(*list));
	for (const struct node *c = n->child; c != NULL; c = c->next) {
		if (!is_clean(c))
			return NULL;
		list[i++] = c->bytes;
	}
	*ret_n = n->n;
	return list;
}

/* [name, key or nil, value or nil, op]; a test writes "" for nil. */
static int attrop(const struct node *row, struct keel_attrop *ret)
{
	const struct node *c = row->child;
	const char **cells[] = { &ret->name, &ret->key, &ret->value };

	*ret = (struct keel_attrop){ .op = KEEL_SET };
	if (row->kind != NODE_ARRAY || row->n < 1 || row->n > 4)
		return -EPROTO;
	for (uint32_t i = 0; i < 3 && c != NULL; i++, c = c->next) {
		if (c->kind != NODE_NIL && !is_clean(c))
			return -EPROTO;
		*cells[i] = c->kind == NODE_NIL || (i == 1 && c->len == 0) ? NULL : c->bytes;
	}
	if (c != NULL && (c->kind != NODE_INT || c->i < 0 || c->i > KEEL_LT))
		return -EPROTO;
	ret->op = c != NULL ? (int32_t)c->i : KEEL_SET;
	return ret->name != NULL ? 0 : -EPROTO;
}

static int32_t msg_attrs(const struct keel_msg *m, const char *key, const struct keel_attrop **ret,
			 uint32_t *ret_n)
{
	const struct node *n = get(m, key, "attrs");
	struct keel_attrop *ops;
	uint32_t i = 0;

	if (n == NULL || n->kind == NODE_NIL)
		return -ENODATA;
	if (n->kind != NODE_ARRAY)
		return -EPROTO;
	if (fails(m->head.mock))
		return -ENOMEM;
	ops = list_make(m, (n->n + 1) * sizeof(*ops));
	for (const struct node *c = n->child; c != NULL; c = c->next)
		if (attrop(c, &ops[i++]) < 0)
			return -EPROTO;
	*ret = ops;
	*ret_n = n->n;
	return 0;
}

/* ---- building -------------------------------------------------------------------------------------------------- */
struct keel_out {
	struct head head;
	struct node *root, *open[LISTS_MAX];
	uint32_t depth;
	bool failed;
};

struct keel_out *out_make(struct mod *m)
{
	struct keel_out *o = make(sizeof(*o));

	head_init(&o->head, mock_of(m), o);
	o->root = node_add(NULL, NODE_MAP, NULL);
	return o;
}

static struct keel_out *msg_out(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "msg", "out");

	return m == NULL || fails(mock_of(m)) ? NULL : out_make(m);
}

static bool building(struct keel_out *o, const char *what)
{
	return o != NULL && head_good(&o->head, "out-ended", what) && !o->failed;
}

/* A key of the map: while a list is open there are none. */
static struct node *pair(struct keel_out *o, const char *key, const char *what)
{
	if (!building(o, what))
		return NULL;
	o->failed = o->depth > 0;
	return o->failed ? NULL : node_add(o->root, NODE_NIL, key);
}

struct node *out_value(struct keel_out *o, const char *what)
{
	if (!building(o, what))
		return NULL;
	o->failed = o->depth == 0;
	return o->failed ? NULL : node_add(o->open[o->depth - 1], NODE_NIL, NULL);
}

static void open_list(struct keel_out *o, struct node *n)
{
	if (n == NULL)
		return;
	o->failed = o->depth == LISTS_MAX;
	if (o->failed)
		return;
	n->kind = NODE_ARRAY;
	o->open[o->depth++] = n;
}

static void put_str(struct keel_out *o, const char *key, const char *text)
{
	struct node *n = pair(o, key, "put_str");

	if (n != NULL)
		node_text(n, text);
}

static void put_int(struct keel_out *o, const char *key, int64_t i)
{
	struct node *n = pair(o, key, "put_int");

	if (n != NULL) {
		n->kind = NODE_INT;
		n->i = i;
	}
}

static void put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len)
{
	struct node *n = pair(o, key, "put_bytes");

	if (n != NULL)
		node_bytes(n, bytes, len);
}

static void put_strings(struct keel_out *o, const char *key, const char *const *strings, uint32_t count)
{
	struct node *n = pair(o, key, "put_strings");

	if (n == NULL)
		return;
	n->kind = NODE_ARRAY;
	for (uint32_t i = 0; i < count; i++)
		node_text(node_add(n, NODE_STR, NULL), strings[i]);
}

static void add_str(struct keel_out *o, const char *text)
{
	struct node *n = out_value(o, "add_str");

	if (n != NULL)
		node_text(n, text);
}

static void add_int(struct keel_out *o, int64_t i)
{
	struct node *n = out_value(o, "add_int");

	if (n != NULL) {
		n->kind = NODE_INT;
		n->i = i;
	}
}

static void msg_open_array(struct keel_out *o, const char *key)
{
	open_list(o, pair(o, key, "open_array"));
}

static void msg_open_list(struct keel_out *o)
{
	open_list(o, out_value(o, "open_list"));
}

static void msg_close(struct keel_out *o)
{
	if (!building(o, "close"))
		return;
	o->failed = o->depth == 0;
	o->depth -= o->depth > 0;
}

/* About what it would be on the wire. */
static uint32_t size_of(const struct node *n)
{
	uint32_t size = n->kind == NODE_INT ? 9 : 5 + n->len;

	size += n->key != NULL ? (uint32_t)strlen(n->key) + 1 : 0;
	for (const struct node *c = n->child; c != NULL; c = c->next)
		size += size_of(c);
	return size;
}

static uint32_t msg_length(const struct keel_out *o)
{
	return o != NULL && head_good(&o->head, "out-ended", "length") ? size_of(o->root) : 0;
}

struct node *out_take(struct keel_out *o, const char *what)
{
	struct node *root;

	if (o == NULL || !head_good(&o->head, "out-ended", what))
		return NULL;
	root = o->root;
	o->root = NULL;
	head_end(&o->head);
	if (!o->failed && o->depth == 0)
		return root;
	node_free(root);
	return NULL;
}

static void msg_drop(struct keel_out *o)
{
	node_free(out_take(o, "drop"));
}

const struct keel_msg_api msg_api = {
	.size = sizeof(msg_api), .str = msg_str, .bytes = msg_bytes, .integer = msg_integer,
	.strings = msg_strings, .attrs = msg_attrs, .out = msg_out, .put_str = put_str,
	.put_int = put_int, .put_bytes = put_bytes, .put_strings = put_strings,
	.open_array = msg_open_array, .add_str = add_str, .add_int = add_int,
	.open_list = msg_open_list, .close = msg_close, .length = msg_length, .drop = msg_drop,
};
