/* SPDX-License-Identifier: Apache-2.0
 *
 * body.c - bodies of requests and messages: written by a test as libconfig text, shown to it as JSON.
 */
#include <inttypes.h>
#include <libconfig.h>
#include <string.h>

#include "host.h"
#include "msg/msg.h"
#include "wire/pack.h"

/* ---- in ------------------------------------------------------------------------------------------------ */
/* `row`: of an attribute list, where an empty key is none. */
static void add_elements(struct keel_out *o, const config_setting_t *list, bool row)
{
	for (int i = 0; i < config_setting_length(list); i++) {
		const config_setting_t *s = config_setting_get_elem(list, (unsigned)i);

		switch (config_setting_type(s)) {
		case CONFIG_TYPE_STRING:
			msg_api.add_str(o, row && i == 1 && config_setting_get_string(s)[0] == '\0' ? NULL :
										     config_setting_get_string(s));
			break;
		case CONFIG_TYPE_LIST:
		case CONFIG_TYPE_ARRAY:
			msg_api.open_list(o);
			add_elements(o, s, true);
			msg_api.close(o);
			break;
		default:
			msg_api.add_int(o, config_setting_get_int64(s));
			break;
		}
	}
}

static void put_member(struct keel_out *o, const config_setting_t *s)
{
	const char *key = config_setting_name(s);

	switch (config_setting_type(s)) {
	case CONFIG_TYPE_STRING:
		out_put_str(o, key, config_setting_get_string(s));
		break;
	case CONFIG_TYPE_BOOL:
		out_put_int(o, key, config_setting_get_bool(s));
		break;
	case CONFIG_TYPE_LIST:
	case CONFIG_TYPE_ARRAY:
		msg_api.open_array(o, key);
		add_elements(o, s, false);
		msg_api.close(o);
		break;
	case CONFIG_TYPE_GROUP:
	case CONFIG_TYPE_FLOAT:
		die("a message holds no groups and no floating point numbers (%s)", key);
	default:
		out_put_int(o, key, config_setting_get_int64(s));
		break;
	}
}

struct keel_out *body_of_text(const char *text)
{
	struct keel_out *o = out_create();
	const config_setting_t *root;
	config_t c;

	config_init(&c);
	if (text != NULL && config_read_string(&c, text) != CONFIG_TRUE)
		die("body of a message, line %d: %s", config_error_line(&c), config_error_text(&c));
	root = config_root_setting(&c);
	for (int i = 0; i < config_setting_length(root); i++)
		put_member(o, config_setting_get_elem(root, (unsigned)i));
	config_destroy(&c);
	return o;
}

/* ---- out ----------------------------------------------------------------------------------------------- */
static void json_string(const char *text, size_t len, struct buf *t)
{
	buf_str(t, "\"");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			buf_printf(t, "\\%c", text[i]);
		else if ((unsigned char)text[i] < 0x20)
			buf_printf(t, "\\u%04x", (unsigned char)text[i]);
		else
			buf_add(t, text + i, 1);
	}
	buf_str(t, "\"");
}

static void json(const struct pack_value *o, struct buf *t, const char *but)
{
	const char *between = "";

	switch (o->kind) {
	case PACK_NIL:
		buf_str(t, "null");
		break;
	case PACK_STR:
	case PACK_BIN:
		json_string(o->text, o->n, t);
		break;
	case PACK_ARRAY:
		buf_str(t, "[");
		for (uint32_t i = 0; i < o->n; i++, between = ", ") {
			buf_str(t, between);
			json(&o->at[i], t, NULL);
		}
		buf_str(t, "]");
		break;
	case PACK_MAP:
		buf_str(t, "{");
		for (uint32_t i = 0; i < o->n; i++) {
			const struct pack_value *key = &o->at[2 * i];

			if (but != NULL && key->n == strlen(but) && memcmp(key->text, but, strlen(but)) == 0)
				continue;
			buf_str(t, between);
			json_string(key->text, key->n, t);
			buf_str(t, ": ");
			json(key + 1, t, NULL);
			between = ", ";
		}
		buf_str(t, "}");
		break;
	default:
		buf_printf(t, "%" PRId64, o->i);
		break;
	}
}

char *body_json(const char *bytes, size_t len, const char *but)
{
	struct pack p;
	struct buf t;

	if (pack_open(&p, bytes, len) < 0)
		return host_dup("{}");
	buf_init(&t);
	if (p.root.n == 2 && but != NULL && strcmp(but, "code") == 0 &&
	    pack_get(&p.root, "code") != NULL && pack_get(&p.root, "text") != NULL)
		buf_str(&t, "{}");
	else
		json(&p.root, &t, but);
	pack_fini(&p);
	return buf_take(&t, NULL);
}
