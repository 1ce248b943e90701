/* SPDX-License-Identifier: Apache-2.0
  *
 * placing.c - how vnodes are ordered and matched: out of sched_config when that has it, else out of
 * this module's configuration, and of the object sched.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTRS_OF(sched, do_not_span_psets, only_explicit_psets);

/* ---- lists of names --------------------------------------------------------------------------------- */

void names_free(char **names)
{
	uint32_t i;

	for (i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

char **setting_items(struct keel_mod *mod, enum setting which, const char *between)
{
	char *text = setting_dup(mod, which), *save = NULL, *item, *end;
	char **names = text ? calloc(strlen(text) / 2 + 2, sizeof(*names)) : NULL;
	uint32_t n = 0;

	/* Without blanks and quotes around them. */
	for (item = names ? strtok_r(text, between, &save) : NULL; item; item = strtok_r(NULL, between, &save)) {
		item += strspn(item, " \t\"");
		end = item + strlen(item);
		while (end > item && strchr(" \t\"", end[-1]))
			end--;
		*end = '\0';
		if (*item && !(names[n++] = strdup(item)))
			break;
	}
	free(text);
	return names;
}

/* ---- node_sort_key ------------------------------------------------------------------------------------ */

static bool sort_kind(const char *name, const char *of, struct sort_key *ret)
{
	if (strcmp(name, "sort_priority") == 0)
		ret->by = SORT_PRIORITY;
	else if (strcmp(name, "last_used_time") == 0)
		ret->by = SORT_LAST_USED;
	else if (!of || strcasecmp(of, "total") == 0)
		ret->by = SORT_TOTAL;
	else if (strcasecmp(of, "assigned") == 0)
		ret->by = SORT_ASSIGNED;
	else if (strcasecmp(of, "unused") == 0)
		ret->by = SORT_UNUSED;
	else
		return false;
	if (ret->by >= SORT_TOTAL)
		ret->res = keel_resource_find(name);
	return ret->by < SORT_TOTAL || ret->res;
}

/* `ncpus HIGH unused` */
static bool sort_parse(const char *text, struct sort_key *ret)
{
	char copy[300], *save = NULL, *name, *way, *of;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	name = strtok_r(copy, " \t", &save);
	way = name ? strtok_r(NULL, " \t", &save) : NULL;
	of = way ? strtok_r(NULL, " \t", &save) : NULL;
	*ret = (struct sort_key){ .by = SORT_PRIORITY };
	if (!way || (strcasecmp(way, "HIGH") != 0 && strcasecmp(way, "LOW") != 0))
		return false;
	ret->low_first = strcasecmp(way, "LOW") == 0;
	return sort_kind(name, of, ret);
}

static void sort_apply(struct keel_mod *mod, struct snapshot *s, const char *const *keys)
{
	uint32_t i;

	for (i = 0; keys && keys[i]; i++) {
		if (s->n_sort == SORT_KEYS_MAX)
			keel_log(mod, KEEL_LOG_SCHED, "Sched", "node_sort_key",
				 "\"%s\" is left out: more than %d keys", keys[i], SORT_KEYS_MAX);
		else if (sort_parse(keys[i], &s->sort[s->n_sort]))
			s->n_sort++;
		else
			keel_log(mod, KEEL_LOG_SCHED, "Sched", "node_sort_key",
				 "\"%s\" is not <resource|sort_priority|last_used_time> "
				 "HIGH|LOW [total|assigned|unused]; it is left out",
				 keys[i]);
	}
}

/* ---- all ------------------------------------------------------------------------------------------------ */

void placing_apply(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	char **keys = setting_items(mod, SET_node_sort_key, "\n");
	char *text;
	bool yes;

	s->n_sort = 0;
	sort_apply(mod, s, (const char *const *)keys);
	names_free(keys);
	text = setting_dup(mod, SET_smp_cluster_dist);
	yes = text && strcmp(text, "round_robin") == 0;
	free(text);
	if (yes)
		s->sort[s->n_sort++] = (struct sort_key){ .by = SORT_TURN, .low_first = true };
	s->own_checked = setting_items(mod, SET_resources, ",\n");
	s->own_endless = setting_items(mod, SET_resource_unset_infinite, ",\n");
	s->checked = (const char *const *)s->own_checked;
	s->endless = (const char *const *)s->own_endless;
	s->only_checked = st->settings && st->settings->value[SET_resources][st->non_prime];
	s->no_span = sched && keel_get_int(sched, sched_do_not_span_psets);
	s->explicit_sets = sched && keel_get_int(sched, sched_only_explicit_psets);
}
