/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - the request keelson.fairshare, for pbsfs: shares and usage in lines, and what may be changed.
 *
 *   print | tree | get ENTITY | compare ENTITY ENTITY | set ENTITY USAGE | decay | trim
 */
#include "fairshare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
	struct keel_mod *mod;
	struct state *st;
	struct keel_out *out;
	const char *const *args; /* behind the verb */
};

static void KEEL_PRINTF(2, 3) say(struct answer *a, const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	va_end(ap);
	if (!line)
		return;
	keel_add_str(a->out, line);
	free(line);
}

static const char *shown(const struct share *s)
{
	return s->parent ? s->name : "TREEROOT";
}

static double used(const struct state *st, const struct share *s)
{
	return s->sum * st->unit;
}

/* ---- arguments ------------------------------------------------------------------------------------- */

static void print_one(void *arg, struct share *s)
{
	struct answer *a = arg;

	say(a, "%-12s: Grp: %-5lld  cgrp: %-5lld  Shares: %-6.0f  Usage: %-8.0f  Perc: %6.3f%%", shown(s),
	    (long long)(s->parent ? s->parent->id : -1), (long long)s->id, s->parent ? s->shares : -1,
	    used(a->st, s), 100 * s->part);
}

static int32_t print(struct answer *a, struct keel_err *err)
{
	(void)err;
	say(a, "Fairshare usage units are in: %s", a->st->rules.usage_res ? a->st->rules.usage_res : "");
	tree_each(&a->st->tree, print_one, a);
	return 0;
}

static void print_branch(void *arg, struct share *s)
{
	say(arg, "%*s%s(%lld)", (int)s->depth * 5, "", shown(s), (long long)s->id);
}

static int32_t print_tree(struct answer *a, struct keel_err *err)
{
	(void)err;
	tree_each(&a->st->tree, print_branch, a);
	return 0;
}

static int32_t unknown(const char *name, struct keel_err *err)
{
	return keel_error(err, PBSE_IVALREQ, "Fairshare Entity %s does not exist.", name);
}

static void print_path(struct answer *a, const struct share *s)
{
	if (s->parent)
		print_path(a, s->parent);
	say(a, "%-12s: %5lld  %8.0f / %5.3f = %.0f", shown(s), (long long)s->id, used(a->st, s), s->part,
	    s->part > 0 ? used(a->st, s) / s->part : 0);
}

static int32_t get(struct answer *a, struct keel_err *err)
{
	const struct share *s = tree_find(&a->st->tree, a->args[0]);

	if (!s)
		return unknown(a->args[0], err);
	say(a, "fairshare entity: %s", shown(s));
	say(a, "Resgroup: %lld", (long long)(s->parent ? s->parent->id : -1));
	say(a, "cresgroup: %lld", (long long)s->id);
	say(a, "Shares: %.0f", s->parent ? s->shares : -1);
	say(a, "Percentage: %f%%", 100 * s->part);
	say(a, "fairshare_tree_usage: %f", tree_usage(&a->st->tree, s));
	say(a, "usage: %.0f (%s)", used(a->st, s),
	    a->st->rules.usage_res ? a->st->rules.usage_res : "");
	say(a, "usage/perc: %.0f", s->part > 0 ? used(a->st, s) / s->part : 0);
	say(a, "Path from root:");
	print_path(a, s);
	return 0;
}

static int32_t compare(struct answer *a, struct keel_err *err)
{
	const struct share *s[2];
	int order;

	for (int i = 0; i < 2; i++)
		if (!(s[i] = tree_find(&a->st->tree, a->args[i])))
			return unknown(a->args[i], err);
	order = tree_compare(s[0], s[1]);
	say(a, "%s", order == 0 ? "0" : order < 0 ? a->args[0] : a->args[1]);
	return 0;
}

/* ---- what may be changed -------------------------------------------------------------------------- */

static int32_t set(struct answer *a, struct keel_err *err)
{
	struct share *s = tree_find(&a->st->tree, a->args[0]);
	char *end;
	double amount = strtod(a->args[1], &end);

	if (end == a->args[1] || *end || !(amount >= 0 && amount < 1e18))
		return keel_error(err, PBSE_BADATVAL, "%s: not an amount of usage", a->args[1]);
	if (!s || s == a->st->tree.root)
		return unknown(a->args[0], err);
	if (s->first)
		return keel_error(err, PBSE_IVALREQ, "%s is a group; its usage is that of its members",
				  s->name);
	tree_set(&a->st->tree, s, amount / a->st->unit);
	stock_put(a->mod, s);
	return 0;
}

static int32_t decay(struct answer *a, struct keel_err *err)
{
	(void)err;
	decay_now(a->mod);
	return 0;
}

static void forget(void *arg, struct share *s)
{
	struct answer *a = arg;
	struct keel_obj *obj = s->is_named ? NULL : keel_find(a->mod, "share", s->name);

	if (obj)
		keel_destroy(obj);
	if (!s->is_named) /* a stranger, with its usage */
		tree_forget(&a->st->tree, s);
}

static int32_t trim(struct answer *a, struct keel_err *err)
{
	(void)err;
	tree_each(&a->st->tree, forget, a);
	return 0;
}

/* ---- the request -------------------------------------------------------------------------------------- */

static const struct verb {
	const char *name;
	uint32_t args;
	int32_t (*fn)(struct answer *a, struct keel_err *err);
	bool changes;
} verbs[] = {
	{ "print", 0, print, false },	  { "tree", 0, print_tree, false }, { "get", 1, get, false },
	{ "compare", 2, compare, false }, { "set", 2, set, true },	    { "decay", 0, decay, true },
	{ "trim", 0, trim, true },
};

static void on_request(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const struct verb *verb = NULL;
	struct answer a = { .mod = mod, .st = st };
	struct keel_err err = { 0 };
	int32_t code;

	for (size_t i = 0; args && n && i < KEEL_COUNT(verbs); i++)
		if (strcmp(verbs[i].name, args[0]) == 0)
			verb = &verbs[i];
	if (!verb || n != verb->args + 1) {
		keel_reply(req, PBSE_IVALREQ, NULL);
		return;
	}
	a.args = args + 1;
	a.out = keel_out(mod);
	keel_open_array(a.out, "lines");
	tree_settle(&st->tree);
	code = verb->fn(&a, &err);
	keel_close(a.out);
	if (code) {
		keel_out_drop(a.out);
		keel_reply(req, code, "%s", err.text);
		return;
	}
	if (verb->changes) {
		keel_log(mod, KEEL_LOG_ADMIN, "Fairshare", verb->args ? a.args[0] : "",
			 "%s at request of %s", verb->name, keel_req_session(req)->who);
		if (keel_has(sched))
			keel_sched_reconsider();
	}
	keel_reply_out(req, a.out);
}

const struct keel_request_def fairshare_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_MANAGERS,
	.name = "keelson.fairshare",
	.doc = "shares and usage: print, tree, get, compare, set, decay, trim",
	.handler = on_request,
};
