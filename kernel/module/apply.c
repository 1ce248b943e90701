/* SPDX-License-Identifier: Apache-2.0
 *
 * apply.c - phase 2 for one group, in one turn: new values, out, in; and the way back.
 *
 * Going is halt, withdraw, fini; the file stays mapped until the whole change is over. So the way back is
 * the way up again, with the old values, and replay makes the old state of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "module/inside.h"
#include "util/err.h"

/* ---- values of those that stay --------------------------------------------------------------------- */
static void conf_swap(struct module *m)
{
	struct conf_data *old = m->conf;

	if (m->fresh == NULL)
		return;
	m->conf = m->fresh;
	m->fresh = old;
	m->owner.pub.conf = conf_data(m->conf);
}

static void site_swap(struct module *m)
{
	struct site *old = m->site;

	if (m->fresh_site == NULL)
		return;
	m->site = m->fresh_site;
	m->fresh_site = old;
}

/* Exchange values and places of a running module, and tell it. */
static int values_swap(struct module *m, struct keel_err *err)
{
	struct hooks *h = m->owner.parts->hooks;
	struct keel_err why = { 0 };
	int ret = 0;

	if (m->fresh_site != NULL) {
		ret = hooks_reorder(h, &m->owner, m->fresh_site->taps, m->fresh_site->n_taps, err);
		if (ret < 0)
			return ret;
		site_swap(m);
		hooks_scope(h, &m->owner, m->site->scope);
		m->owner.budget = m->site->budget;
	}
	if (m->fresh == NULL)
		return 0;
	conf_swap(m);
	ret = m->desc.reconf != NULL ? m->desc.reconf(&m->owner.pub, m->owner.pub.conf, &why) : 0;
	if (ret == 0)
		return 0;
	return err_set(err, ret < 0 ? ret : -EINVAL,
		       "module %s does not take its new configuration: %s", m->desc.name,
		       why.text[0] != '\0' ? why.text : "it gave no reason");
}

/* All of them, or the old values again for those that have new ones already. */
static int values_apply(const struct set *s, struct keel_err *err)
{
	int ret = 0;
	uint32_t i;

	for (i = 0; i < s->n && ret == 0; i++)
		ret = values_swap(s->at[i], err);
	while (ret < 0 && i > 0)
		(void)values_swap(s->at[--i], NULL);
	return ret;
}

/* ---- those that go and come --------------------------------------------------------------------------- */
/* A module that left a timer or a call behind keeps its memory, and the file stays mapped: to come again it
 * gets a new one. */
static struct module *reborn(struct module *m)
{
	struct module *fresh = calloc(1, sizeof(*fresh));
	void *state = calloc(1, m->desc.state_size > 0 ? m->desc.state_size : 1);

	if (fresh == NULL || state == NULL) {
		free(fresh);
		free(state);
		return NULL;
	}
	*fresh = *m;
	fresh->owner.live = fresh->owner.posts = fresh->owner.working = 0;
	fresh->owner.work = NULL;
	memset(fresh->owner.at_work, 0, sizeof(fresh->owner.at_work));
	fresh->owner.scope = NULL;
	fresh->owner.pub.state = state;
	fresh->image.resident = true;
	m->conf = m->fresh = NULL;
	m->site = m->fresh_site = NULL;
	m->rules = NULL;
	m->taps = NULL;
	m->image = (struct image){ 0 };
	m->owner.isolate = NULL;
	module_leave(m); /* says what it left; its memory stays */
	return fresh;
}

static void replace(struct set *s, const struct module *m, struct module *by)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->at[i] == m)
			s->at[i] = by;
	}
}

/* Those of `come` that just went come again: in new memory where they must. */
static int come_again(struct group *g, struct set *come, struct keel_err *err)
{
	for (uint32_t i = 0; i < come->n; i++) {
		struct module *m = come->at[i], *fresh;

		if (m->state != MODULE_OPEN || m->owner.live == 0)
			continue;
		fresh = reborn(m);
		if (fresh == NULL)
			return err_set(err, -ENOMEM, "no memory to load module %s", m->desc.name);
		replace(&g->leave, m, fresh);
		replace(&g->come, m, fresh);
	}
	return 0;
}

static void there_less(struct modules *all, const struct set *s)
{
	const struct module *m;

	SET_EACH(s, m)
		set_drop(&all->there, m);
}

/* The plan has made room for them. */
static void there_more(struct modules *all, const struct set *s)
{
	struct module *m;

	SET_EACH(s, m)
		(void)set_add(&all->there, m);
}

/* Whoever stays hears of services that came. */
static void offer(struct modules *all)
{
	struct module *m;

	SET_EACH(&all->there, m)
		module_offer(m);
}

static void restarted_swap(const struct set *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		conf_swap(s->at[i]);
		site_swap(s->at[i]);
	}
}

static int up(struct modules *all, struct group *g, struct set *s, struct keel_err *err)
{
	int ret = come_again(g, s, err);

	if (ret == 0)
		ret = set_ready(all, s, false, err);
	if (ret == 0)
		ret = set_start(all, s, false, err);
	if (ret < 0)
		set_down(s);
	return ret;
}

/* Those that left are back, with their old values; what cannot is left out, and the others are not
 * kept from it. */
static int back(struct modules *all, struct group *g, struct keel_err *err)
{
	struct keel_err why = { 0 };

	restarted_swap(&g->leave);
	if (up(all, g, &g->leave, &why) == 0) {
		there_more(all, &g->leave);
		return 0;
	}
	log_add(all->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Module", NULL,
		"modules could not be brought back: %s", why.text);
	return err_set(err, -EIO, "what ran before could not be brought back: %s; restart the daemon",
		       why.text);
}

int group_apply(struct modules *all, struct group *g, struct keel_err *err)
{
	struct keel_err why = { 0 };
	int ret = values_apply(&g->change, err);

	if (ret < 0)
		return ret;
	set_down(&g->leave);
	there_less(all, &g->leave);
	restarted_swap(&g->leave);
	ret = up(all, g, &g->come, err);
	if (ret == 0) {
		there_more(all, &g->come);
		offer(all);
		g->applied = true;
		return 0;
	}
	if (back(all, g, &why) < 0)
		err_set(err, ret, "%.220s; and %.250s", err->text, why.text);
	(void)values_apply(&g->change, NULL);
	offer(all);
	return ret;
}

int group_revert(struct modules *all, struct group *g, struct keel_err *err)
{
	int ret;

	set_down(&g->come);
	there_less(all, &g->come);
	ret = back(all, g, err);
	(void)values_apply(&g->change, NULL);
	offer(all);
	g->applied = false;
	return ret;
}

/* ---- in words -------------------------------------------------------------------------------------------- */
static void tell_comer(const struct group *g, const struct module *m, struct buf *out)
{
	const struct module *old = set_named(&g->leave, m->desc.name);

	if (old == NULL)
		buf_printf(out, "%s: loaded\n", m->desc.name);
	else if (old == m)
		buf_printf(out, "%s: restarted\n", m->desc.name);
	else if (strcmp(old->desc.version, m->desc.version) == 0)
		buf_printf(out, "%s: replaced\n", m->desc.name);
	else
		buf_printf(out, "%s: replaced, version %s by %s\n", m->desc.name, old->desc.version,
			   m->desc.version);
}

void group_tell(const struct group *g, struct buf *out)
{
	for (uint32_t i = 0; i < g->change.n; i++)
		buf_printf(out, "%s: %s changed\n", g->change.at[i]->desc.name,
			   g->change.at[i]->fresh != NULL ? "configuration" : "order or match");
	for (uint32_t i = 0; i < g->leave.n; i++) {
		if (set_named(&g->come, g->leave.at[i]->desc.name) == NULL)
			buf_printf(out, "%s: unloaded\n", g->leave.at[i]->desc.name);
	}
	for (uint32_t i = 0; i < g->come.n; i++)
		tell_comer(g, g->come.at[i], out);
}
