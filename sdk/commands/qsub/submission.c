/* SPDX-License-Identifier: Apache-2.0
 *
 * submission.c - the settings of one qsub, collected from several sources.
 *
 * Settings are in the order in which they were first given: the server and its hooks see it.
 */
#include "submission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void submission_init(struct submission *s)
{
	*s = (struct submission){ 0 };
	s->destination.source = s->variables.source = BUILT_IN;
}

static void setting_fini(struct setting *setting)
{
	free(setting->attribute.name);
	free(setting->attribute.resource);
	free(setting->attribute.value);
}

void submission_fini(struct submission *s)
{
	for (unsigned i = 0; i < s->n; i++)
		setting_fini(&s->settings[i]);
	free(s->settings);
	free(s->destination.text);
	free(s->variables.text);
	free(s->prefix);
	submission_init(s);
}

static struct setting *setting_find(const struct submission *s, const char *name,
				    const char *resource)
{
	for (unsigned i = 0; i < s->n; i++) {
		const char *own = s->settings[i].attribute.resource;

		if (strcmp(s->settings[i].attribute.name, name) == 0 &&
		    (own == NULL || resource == NULL ? own == resource : strcmp(own, resource) == 0))
			return &s->settings[i];
	}
	return NULL;
}

static int room_for_one(struct submission *s)
{
	unsigned size = s->size == 0 ? 32 : s->size * 2;
	struct setting *settings;

	if (s->n < s->size)
		return 0;
	settings = realloc(s->settings, size * sizeof(*settings));
	if (settings == NULL)
		return -ENOMEM;
	s->settings = settings;
	s->size = size;
	return 0;
}

static int setting_add(struct submission *s, const char *name, const char *resource,
		       const char *value, enum source source)
{
	struct setting made = { .source = source };

	if (room_for_one(s) < 0)
		return -ENOMEM;
	made.attribute.name = strdup(name);
	made.attribute.resource = resource == NULL ? NULL : strdup(resource);
	made.attribute.value = strdup(value);
	made.attribute.op = SET;
	if (made.attribute.name == NULL || made.attribute.value == NULL ||
	    (resource != NULL && made.attribute.resource == NULL)) {
		setting_fini(&made);
		return -ENOMEM;
	}
	s->settings[s->n++] = made;
	return 0;
}

int submission_set(struct submission *s, const char *name, const char *resource, const char *value,
		   enum source source)
{
	struct setting *old = setting_find(s, name, resource);
	char *copy;

	if (old == NULL)
		return setting_add(s, name, resource, value, source);
	if (old->source < source ||
	    (old->source == source && resource != NULL && source != FROM_COMMAND_LINE))
		return 0;
	copy = strdup(value);
	if (copy == NULL)
		return -ENOMEM;
	free(old->attribute.value);
	old->attribute.value = copy;
	old->source = source;
	return 0;
}

const char *submission_get(const struct submission *s, const char *name)
{
	const struct setting *setting = setting_find(s, name, NULL);

	return setting == NULL ? NULL : setting->attribute.value;
}

void submission_move_last(struct submission *s, const char *name)
{
	struct setting *at = setting_find(s, name, NULL), moved;

	if (at == NULL)
		return;
	moved = *at;
	memmove(at, at + 1, (size_t)(s->settings + s->n - at - 1) * sizeof(*at));
	s->settings[s->n - 1] = moved;
}

void submission_move_first(struct submission *s, const char *name)
{
	struct setting *at = setting_find(s, name, NULL), moved;

	if (at == NULL)
		return;
	moved = *at;
	memmove(s->settings + 1, s->settings, (size_t)(at - s->settings) * sizeof(*at));
	s->settings[0] = moved;
}

int text_from_set(struct text_from *t, const char *text, enum source source)
{
	char *copy;

	if (t->text != NULL && t->source < source)
		return 0;
	copy = strdup(text);
	if (copy == NULL)
		return -ENOMEM;
	free(t->text);
	t->text = copy;
	t->source = source;
	return 0;
}

struct attropl *submission_list(struct submission *s)
{
	for (unsigned i = 0; i < s->n; i++)
		s->settings[i].attribute.next =
			i + 1 < s->n ? &s->settings[i + 1].attribute : NULL;
	return s->n == 0 ? NULL : &s->settings[0].attribute;
}
