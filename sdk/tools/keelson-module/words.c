/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - what a descriptor holds, in words.
 */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

static const char *const conf_types[] = {
	[KEEL_CONF_BOOL] = "true or false", [KEEL_CONF_INT] = "integer",   [KEEL_CONF_STRING] = "text",
	[KEEL_CONF_ENUM] = "one of",        [KEEL_CONF_DURATION] = "duration", [KEEL_CONF_SIZE] = "size",
	[KEEL_CONF_LIST] = "list of texts",
};

/* Of every module's group: keelson.conf(5). */
static const char *const common_keys[] = {
#define GROUP_KEY(name, scalar, type, expected) #name,
#include "modfile/group_keys.def"
#undef GROUP_KEY
};

bool is_common_key(const char *key)
{
	for (uint32_t i = 0; key != NULL && i < KEEL_COUNT(common_keys); i++)
		if (strcmp(common_keys[i], key) == 0)
			return true;
	return false;
}

const char *word_of_type(uint32_t type)
{
	return type < KEEL_COUNT(conf_types) && conf_types[type] != NULL ? conf_types[type] : "of a newer type";
}

const char *words_of_type(const struct keel_conf_rule *r, char buf[WORDS_MAX])
{
	return rule_width(r) > 0 ? value_expected(r, buf) : strcpy(buf, word_of_type(r->type));
}

/* A text as libconfig reads it; appended. */
static void quote(char buf[WORDS_MAX], const char *text, size_t len)
{
	size_t n = strlen(buf);

	if (n + 2 * len + 4 > WORDS_MAX)
		len = n + 4 > WORDS_MAX ? 0 : (WORDS_MAX - n - 4) / 2;
	buf[n++] = '"';
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			buf[n++] = '\\';
		buf[n++] = text[i];
	}
	buf[n++] = '"';
	buf[n] = '\0';
}

/* A comma list as a list of texts. */
static void quote_list(char buf[WORDS_MAX], const char *text)
{
	const char *between = " ";

	strcpy(buf, "[");
	while (*text != '\0' && strlen(buf) < WORDS_MAX / 2) {
		size_t len = strcspn(text, ",");

		if (len > 0) {
			strcat(buf, between);
			quote(buf, text, len < WORDS_MAX / 4 ? len : WORDS_MAX / 4 - 8);
			between = ", ";
		}
		text += len;
		text += strspn(text, ", ");
	}
	strcat(buf, " ]");
}

const char *words_of_default(const struct keel_conf_rule *r, char buf[WORDS_MAX])
{
	const char *text = or_nothing(r->fallback);
	bool plain = text[0] != '\0' && text[strspn(text, "-0123456789")] == '\0';

	buf[0] = '\0';
	if (r->type == KEEL_CONF_LIST)
		quote_list(buf, text);
	else if (r->type == KEEL_CONF_STRING || r->type == KEEL_CONF_ENUM || (!plain && r->fallback != NULL &&
									      r->type != KEEL_CONF_BOOL &&
									      r->type != KEEL_CONF_INT))
		quote(buf, text, strlen(text));
	else if (r->type == KEEL_CONF_BOOL)
		snprintf(buf, WORDS_MAX, "%s", strcmp(text, "true") == 0 ? "true" : "false");
	else
		snprintf(buf, WORDS_MAX, "%s", plain ? text : "0");
	return buf;
}

const char *words_of_daemons(uint32_t roles)
{
	static const char *const words[] = { "nothing", "server", "mom", "server and mom", "login", "server and login",
					     "mom and login", "server, mom and login" };

	return words[roles & KEEL_ANY];
}

const char *words_of_policy(const struct keel_tap *t)
{
	const struct point *p = point_find(t->point);

	if (t->flags & KEEL_ON_FAIL_BENCH)
		return "bench";
	if (t->flags & KEEL_ON_FAIL_SKIP)
		return "skip";
	return (t->flags & KEEL_ON_FAIL_REJECT) != 0 || (p != NULL && p->kind == KEEL_GATE) ? "reject" : "skip";
}


/* The value of a field; NULL: nothing to say. */
static const char *value_of(const struct modfile_field *f, const void *def, char buf[WORDS_MAX])
{
	static const char *const roles[] = { "nobody", "users", "operators", "users and operators", "managers",
					     "users and managers", "operators and managers", "everybody" };
	const char *at = (const char *)def + f->offset, *text;
	const struct point *p;
	uint32_t n;

	if (f->form == MODFILE_TEXT) {
		memcpy(&text, at, sizeof(text));
		return text;
	}
	memcpy(&n, at, sizeof(n));
	if (f->form == MODFILE_ROLES)
		return n & KEEL_UNHIDDEN ? "everybody, where hidden ones are shown" : roles[n & 7];
	if (f->form == MODFILE_POINT) {
		p = point_find(n);
		return p == NULL ? NULL : p->name;
	}
	if (n == 0)
		return NULL;
	snprintf(buf, WORDS_MAX, f->form == MODFILE_INT ? "%" PRId32 : "%" PRIu32, n);
	return buf;
}

/* Fields that hold or do not. */
static bool holds(const struct modfile_field *f, const void *def)
{
	const char *at = (const char *)def + f->offset;
	uintptr_t fn;
	uint32_t n;

	if (f->form == MODFILE_IS_SET) {
		memcpy(&fn, at, sizeof(fn));
		return fn != 0;
	}
	memcpy(&n, at, sizeof(n));
	return (n & f->bit) != 0;
}

bool words_of_field(const struct modfile_field *f, const void *def, char buf[WORDS_MAX])
{
	char number[WORDS_MAX];
	const char *value;

	if (f->form == MODFILE_FLAG || f->form == MODFILE_IS_SET) {
		snprintf(buf, WORDS_MAX, "%s", f->label);
		return holds(f, def);
	}
	value = value_of(f, def, number);
	if (value != NULL)
		snprintf(buf, WORDS_MAX, "%s %s", f->label, value);
	return value != NULL;
}

static const char *text_at(const void *def, uint32_t offset)
{
	const char *text;

	memcpy(&text, (const char *)def + offset, sizeof(text));
	return text;
}

const char *contrib_title(const struct modfile_contrib *c)
{
	return c->known == NULL ? c->kind : text_at(c->def, c->known->title);
}

const char *contrib_doc(const struct modfile_contrib *c)
{
	return c->known == NULL ? "" : or_nothing(text_at(c->def, c->known->doc));
}

const char *contrib_class(const struct modfile_contrib *c)
{
	for (uint32_t i = 0; c->known != NULL && i < c->known->n_fields; i++)
		if (strcmp(c->known->fields[i].label, "class") == 0)
			return text_at(c->def, c->known->fields[i].offset);
	return NULL;
}
