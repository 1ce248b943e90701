/* SPDX-License-Identifier: Apache-2.0
 *
 * view.c - answers: which attributes somebody wants and may see, written into a message.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "inside.h"

struct wanted {
	const struct keel_attr *attr; /* NULL: withdrawn meanwhile */
	char *key;		      /* NULL: all */
};
struct keel_view {
	struct head head;
	struct keel_view *prev, *next;
	struct mod *mod;
	struct wanted *row;
	uint32_t n;
};

static void add(struct keel_view *v, const struct keel_attr *a, const char *key)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->row[i].attr == a && (v->row[i].key == NULL ||
					    (key != NULL && strcmp(v->row[i].key, key) == 0)))
			return;
	v->row = enlarge(v->row, (v->n + 1) * sizeof(*v->row));
	v->row[v->n++] = (struct wanted){ a, dup_text(key) };
}

static void add_wanted(struct keel_view *v, const struct keel_attr *a, const struct keel_wanted *want,
		       uint32_t n_want)
{
	for (uint32_t i = 0; i < n_want; i++)
		if (want[i].name != NULL && strcasecmp(want[i].name, a->def.name) == 0)
			add(v, a, want[i].key);
}

static int compare(const void *left, const void *right)
{
	const struct keel_attr_def *a = &((const struct wanted *)left)->attr->def;
	const struct keel_attr_def *b = &((const struct wanted *)right)->attr->def;

	return a->order != b->order ? (a->order > b->order) - (a->order < b->order) :
				      strcmp(a->name, b->name);
}

struct keel_view *view_open(struct keel_mod *pub, const char *klass, const struct keel_wanted *want,
			    uint32_t n_want, uint32_t roles)
{
	struct mod *m = mod_in(pub, "object", "view");
	const struct klass *c = m != NULL ? klass_find(mock_of(m), klass) : NULL;
	struct keel_view *v;

	if (m == NULL || fails(mock_of(m)))
		return NULL;
	v = make(sizeof(*v));
	head_init(&v->head, mock_of(m), v);
	v->mod = m;
	m->n_open_handles++;
	DL_APPEND(mock_of(m)->views, v);
	for (const struct keel_attr *a = c != NULL ? mock_of(m)->attrs : NULL; a != NULL; a = a->next) {
		if (a->klass != c || (a->def.read_roles & roles) == 0)
			continue;
		if (n_want > 0)
			add_wanted(v, a, want, n_want);
		else if (!(a->def.flags & KEEL_ATTR_NO_PRINT))
			add(v, a, NULL);
	}
	if (v->n > 0)
		qsort(v->row, v->n, sizeof(*v->row), compare);
	return v;
}

void view_close(struct keel_view *v)
{
	if (v == NULL || !head_good(&v->head, "cursor-ended", "view_close"))
		return;
	DL_DELETE(v->head.mock->views, v);
	v->mod->n_open_handles--;
	for (uint32_t i = 0; i < v->n; i++)
		free(v->row[i].key);
	free(v->row);
	head_end(&v->head);
}

void views_forget(struct keel_mock *mock, const struct keel_attr *a)
{
	struct keel_view *v;

	DL_FOREACH(mock->views, v)
		for (uint32_t i = 0; i < v->n; i++)
			if (v->row[i].attr == a)
				v->row[i].attr = NULL;
}

struct writing {
	struct node *list;
	const struct keel_attr *attr;
};

static void write_line(void *arg, const char *key, const char *text, uint32_t len)
{
	const struct writing *w = arg;
	struct node *line = node_add(w->list, NODE_ARRAY, NULL);
	char *words = print_text("%.*s", (int)len, text);

	node_text(node_add(line, NODE_STR, NULL), w->attr->def.name);
	node_text(node_add(line, NODE_STR, NULL), key);
	node_text(node_add(line, NODE_STR, NULL), words);
	free(words);
}

int32_t view_pack(struct keel_obj *o, const char *id, struct keel_view *v, struct keel_out *out)
{
	struct body *b = body_of(o, "pack");
	struct node *pair;
	struct writing w;

	if (b == NULL || !head_good(&v->head, "cursor-ended", "pack") || fails(o->head.mock))
		return -ENOMEM;
	pair = out_value(out, "pack");
	if (pair == NULL)
		return -ENOMEM;
	pair->kind = NODE_ARRAY;
	node_text(node_add(pair, NODE_STR, NULL), id != NULL ? id : b->id);
	w.list = node_add(pair, NODE_ARRAY, NULL);
	for (uint32_t i = 0; i < v->n; i++) {
		w.attr = v->row[i].attr;
		if (w.attr != NULL)
			body_emit(b, w.attr, v->row[i].key, &(struct keel_emit){ write_line, &w });
	}
	return 0;
}

void views_fini(struct keel_mock *mock)
{
	while (mock->views != NULL)
		view_close(mock->views);
}
