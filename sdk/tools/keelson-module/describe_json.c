/* SPDX-License-Identifier: Apache-2.0
 *
 * describe_json.c - a descriptor for programs.
 */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "describe.h"
#include "isolable.h"
#include "words.h"

static void put(json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(object, key, json_string(text));
}

static json_t *names(const char *const *list)
{
	json_t *array = json_array();

	for (; *list != NULL; list++)
		json_array_append_new(array, json_string(*list));
	return array;
}

static json_t *tap_json(const struct keel_tap *t)
{
	const struct point *p = point_find(t->point);
	json_t *o = json_pack("{s:i, s:i, s:s}", "id", (int)t->point, "order", (int)t->order, "on_fail",
			      words_of_policy(t));

	put(o, "point", p == NULL ? NULL : p->name);
	put(o, "kind", p == NULL ? NULL : p->kind_name);
	put(o, "handler", t->name);
	put(o, "before", t->before);
	put(o, "after", t->after);
	return o;
}

/* A field's label as a key. */
static const char *key_of(const char *label, char buf[64])
{
	snprintf(buf, 64, "%s", label);
	for (char *p = buf; *p != '\0'; p++)
		*p = isalnum((unsigned char)*p) ? *p : '_';
	return buf;
}

static json_t *contrib_json(const struct modfile_contrib *c)
{
	json_t *o = json_pack("{s:s}", "kind", c->kind);
	char words[WORDS_MAX], key[64];

	if (c->known == NULL)
		return o;
	put(o, "name", contrib_title(c));
	put(o, "doc", contrib_doc(c));
	for (uint32_t i = 0; i < c->known->n_fields; i++) {
		const struct modfile_field *f = &c->known->fields[i];

		if (!words_of_field(f, c->def, words))
			continue;
		if (f->form == MODFILE_FLAG || f->form == MODFILE_IS_SET)
			json_object_set_new(o, key_of(f->label, key), json_true());
		else
			put(o, key_of(f->label, key), words + strlen(f->label) + 1);
	}
	return o;
}

static json_t *key_json(const struct keel_conf_rule *r)
{
	json_t *o = json_pack("{s:s, s:s, s:b, s:b}", "key", r->key, "type", word_of_type(r->type), "required",
			      (r->flags & KEEL_CONF_REQUIRED) != 0, "restart", (r->flags & KEEL_CONF_RESTART) != 0);

	put(o, "default", r->fallback);
	put(o, "choices", r->choices);
	put(o, "doc", r->doc);
	if (r->min != 0 || r->max != 0) {
		json_object_set_new(o, "min", json_integer(r->min));
		json_object_set_new(o, "max", json_integer(r->max));
	}
	return o;
}

void describe_json(const struct modfile_module *m, FILE *out)
{
	const struct keel_module *d = &m->head;
	char words[WORDS_MAX];
	json_t *needs = json_array(), *taps = json_array(), *contribs = json_array(), *conf = json_array();
	json_t *o = json_pack("{s:s, s:{s:i, s:i}, s:s, s:s, s:b}", "name", d->name, "interface", "major",
			      (int)m->note.major, "minor", (int)m->note.minor, "build", m->note.build_id, "runs_in",
			      words_of_daemons(d->roles), "isolable", why_inside(m, words) == NULL);

	put(o, "not_isolable", why_inside(m, words));
	put(o, "version", d->version);
	put(o, "vendor", d->vendor);
	put(o, "summary", d->summary);
	json_object_set_new(o, "requires", names(m->requires_modules));
	json_object_set_new(o, "conflicts", names(m->conflicts));
	for (const struct keel_need *n = m->needs; n < m->needs + m->n_needs; n++)
		json_array_append_new(needs, json_pack("{s:s?, s:s, s:i, s:b}", "class", n->klass, "name", n->name, "minor",
						       (int)n->minor, "optional", n->optional != 0));
	for (uint32_t i = 0; i < d->n_taps; i++)
		json_array_append_new(taps, tap_json(&m->taps[i]));
	for (uint32_t i = 0; i < d->n_contribs; i++)
		json_array_append_new(contribs, contrib_json(&m->contribs[i]));
	for (uint32_t i = 0; i < d->n_conf; i++)
		json_array_append_new(conf, key_json(&m->conf[i]));
	json_object_set_new(o, "needs", needs);
	json_object_set_new(o, "taps", taps);
	json_object_set_new(o, "contributions", contribs);
	json_object_set_new(o, "configuration", conf);
	json_dumpf(o, out, JSON_INDENT(2));
	fputs("\n", out);
	json_decref(o);
}
