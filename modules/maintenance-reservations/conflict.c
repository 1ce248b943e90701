/* SPDX-License-Identifier: Apache-2.0
 *
 * conflict.c - a window takes its vnodes from all other reservations whose times meet it: when it is confirmed or altered, when another
 * one is confirmed into it by force, and once more at the start.
 *
 * Windows do not take from each other. What a window has taken is searched anew when it ends or becomes another one.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

/* ---- the list of windows --------------------------------------------------------------------------------- */

static void window_leave(struct state *st, struct window *w)
{
	struct window **at = &st->windows;

	while (*at && *at != w)
		at = &(*at)->next;
	if (*at)
		*at = w->next;
	w->resv = NULL;
	w->next = NULL;
}

static void window_join(struct state *st, struct window *w, struct keel_obj *resv)
{
	if (w->resv)
		return;
	w->resv = resv;
	w->next = st->windows;
	st->windows = w;
}

void window_fini(struct keel_mod *mod, void *slot)
{
	struct window *w = slot;

	keel_alarm_end(&w->alone);
	rolling_end(w);
	if (w->resv && mod->state)
		window_leave(mod->state, w);
	free(w->vnodes);
}

/* ---- its vnodes ------------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One piece of memory: pointers, sorted, then what they point to. NULL without memory. */
static const char **names_of(const struct keel_exec *exec)
{
	size_t len = 1;
	const char **list;
	char *to;

	for (uint32_t i = 0; i < exec->n; i++)
		len += strlen(exec->part[i].vnode) + 1;
	list = malloc(exec->n * sizeof(*list) + len);
	to = list ? (char *)(list + exec->n) : NULL;
	for (uint32_t i = 0; list && i < exec->n; i++) {
		list[i] = to;
		to = stpcpy(to, exec->part[i].vnode) + 1;
	}
	if (list)
		qsort(list, exec->n, sizeof(*list), by_text);
	return list;
}

int32_t vnodes_of(const char *nodes, const char ***ret, uint32_t *ret_n)
{
	struct keel_exec *exec;

	if (keel_resource_exec_parse(nodes, &exec, NULL))
		return -EINVAL;
	*ret = names_of(exec);
	*ret_n = exec->n;
	keel_resource_exec_free(exec);
	return *ret ? 0 : -ENOMEM;
}

static int32_t window_read(struct window *w, const struct keel_resv_window *now)
{
	const char **list;
	uint32_t n;
	int32_t ret = vnodes_of(now->nodes, &list, &n);

	if (ret)
		return ret;
	free(w->vnodes);
	w->vnodes = list;
	w->n_vnodes = n;
	w->from = now->from;
	w->till = now->till;
	return 0;
}

/* ---- taken -------------------------------------------------------------------------------------------------------- */

static bool lose(const struct window *w, struct keel_obj *other)
{
	return keel_resv_lose(other, &(struct keel_resv_loss){
		.size = sizeof(struct keel_resv_loss),
		.substate = IN_CONFLICT,
		.by = keel_id(w->resv),
		.from = w->from,
		.till = w->till,
		.vnodes = w->vnodes,
		.n_vnodes = w->n_vnodes,
	});
}

static void take_from_all(struct keel_mod *mod, const struct window *w)
{
	struct keel_cursor *walk = keel_cursor(mod, "resv");
	struct keel_obj *other;

	if (!walk)
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(w->resv),
			 "no memory to look for reservations that it hits: both have the vnodes until the server restarts");
	while (walk && (other = keel_next(walk)))
		if (keel_resv_kind(other) != KIND)
			lose(w, other);
	if (walk)
		keel_cursor_close(walk);
}

static bool counts(struct keel_obj *resv)
{
	const int32_t state = keel_resv_state(resv);

	return state == KEEL_RESV_CONFIRMED || state == KEEL_RESV_RUNNING || state == KEEL_RESV_DEGRADED ||
	       state == KEEL_RESV_BEING_ALTERED;
}

/* 0, also for one that takes nothing; -ENOMEM. */
static int32_t window_takes(struct keel_mod *mod, struct keel_obj *resv)
{
	struct window *w = keel_slot(mod, resv);
	struct keel_resv_window now;
	int32_t ret;

	if (!w)
		return -ENOMEM;
	if (!counts(resv) || !keel_resv_window(resv, 0, &now) || !now.nodes)
		return 0;
	ret = window_read(w, &now);
	if (ret)
		return ret;
	window_join(mod->state, w, resv);
	take_from_all(mod, w);
	return 0;
}

static void window_confirmed(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct window *w = keel_slot(mod, resv);
	const bool again = w && w->resv; /* altered: it may have become smaller */

	if (window_takes(mod, resv))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv),
			 "no memory to take its vnodes from other reservations: both have them until the server restarts");
	if (again)
		keel_resv_retry(keel_id(resv));
}

/* Altered by force, or confirmed by a command. */
static void other_confirmed(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct state *st = mod->state;

	for (const struct window *w = st->windows; w; w = w->next)
		lose(w, resv);
}

keel_verdict on_resv_confirm(struct keel_call *c, const struct keel_ev_resv_confirm *ev)
{
	if (!ev->resv)
		return KEEL_NEXT;
	if (keel_resv_kind(ev->resv) == KIND)
		window_confirmed(c->mod, ev->resv);
	else
		other_confirmed(c->mod, ev->resv);
	return KEEL_NEXT;
}

static void window_begins(struct keel_mod *mod, struct keel_obj *resv)
{
	action_begin(mod, resv, false);
	rolling_begin(mod, resv);
}

keel_verdict on_resv_begin(struct keel_call *c, const struct keel_ev_resv_begin *ev)
{
	if (ev->resv && keel_resv_kind(ev->resv) == KIND)
		window_begins(c->mod, ev->resv);
	return KEEL_NEXT;
}

keel_verdict on_resv_end(struct keel_call *c, const struct keel_ev_resv_end *ev)
{
	struct window *w;

	if (!ev->resv || keel_resv_kind(ev->resv) != KIND)
		return KEEL_NEXT;
	w = keel_slot(c->mod, ev->resv);
	if (w && w->resv) {
		action_end(c->mod, ev->resv);
		rolling_end(w);
		window_leave(c->mod->state, w);
	}
	keel_resv_retry(ev->id);
	return KEEL_NEXT;
}

/* ---- the start -------------------------------------------------------------------------------------------------------- */

int32_t conflicts_again(struct keel_mod *mod, struct keel_err *err)
{
	struct keel_cursor *walk = keel_cursor(mod, "resv");
	struct keel_obj *resv;
	int32_t ret = walk ? 0 : -ENOMEM;

	while (walk && ret != -ENOMEM && (resv = keel_next(walk))) {
		if (keel_resv_kind(resv) != KIND)
			continue;
		ret = window_takes(mod, resv);
		if (!ret && keel_resv_state(resv) == KEEL_RESV_RUNNING)
			window_begins(mod, resv);
	}
	if (walk)
		keel_cursor_close(walk);
	return ret == -ENOMEM ? keel_error(err, -ENOMEM, "no memory for the hosts of maintenance windows") : 0;
}
