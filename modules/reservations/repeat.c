/* SPDX-License-Identifier: Apache-2.0
 *
 * repeat.c - a kind whose row says so is repeated: one reservation for each time of the rule, each with its own id, or none at all.
 *
 * What fails takes back those that were made before it.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct repeat {
	struct keel_req *req;
	char who[300];
	uint32_t open; /* being made, and one more until all are asked for */
	struct keel_text ids; /* a line for each: its id */
	int32_t code;  /* why not */
	char why[256];
};

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static void each_made(struct keel_mod *mod, struct repeat *r, void (*fn)(struct keel_mod *, struct repeat *, const char *id, void *),
		      void *arg)
{
	for (char *at = r->ids.data, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		fn(mod, r, at, arg);
	}
}

static void take_back(struct keel_mod *mod, struct repeat *r, const char *id, void *arg)
{
	struct keel_obj *resv = keel_find(mod, "resv", id);

	(void)arg;
	if (resv)
		resv_remove(mod, resv, r->who);
}

static void list(struct keel_mod *mod, struct repeat *r, const char *id, void *arg)
{
	struct keel_text *text = arg;
	struct keel_obj *resv = keel_find(mod, "resv", id);
	const bool confirmed = resv && resv_is_confirmed(resv);

	(void)r;
	keel_text_printf(text, "%s%s %s", text->len ? "\n" : "", id, confirmed ? "CONFIRMED" : "UNCONFIRMED");
}

static void reply_ids(struct keel_mod *mod, struct repeat *r)
{
	struct keel_out *out = keel_out(mod);
	struct keel_text text;

	keel_text_init(&text);
	each_made(mod, r, list, &text);
	keel_put_str(out, "reply", text.data);
	keel_reply_out(r->req, out);
	keel_text_fini(&text);
}

static void repeat_settle(struct keel_mod *mod, struct repeat *r)
{
	if (--r->open)
		return;
	if (!r->code && r->ids.failed)
		r->code = PBSE_SYSTEM;
	if (r->code) {
		each_made(mod, r, take_back, NULL);
		keel_reply(r->req, r->code, *r->why ? "%s" : NULL, r->why);
	} else {
		reply_ids(mod, r);
	}
	keel_text_fini(&r->ids);
	free(r);
}

/* ---- each of them -------------------------------------------------------------------------------------------------- */

static void one_made(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct repeat *r = arg;

	if (!code)
		keel_text_printf(&r->ids, "%s\n", text);
	else if (!r->code) {
		r->code = code;
		snprintf(r->why, sizeof(r->why), "%s", text ? text : "");
	}
	repeat_settle(mod, r);
}

static bool is_time(const char *name)
{
	static const char *const names[] = { "reserve_start", "reserve_end", "reserve_duration", "reserve_rrule", "reserve_timezone" };

	for (size_t i = 0; i < KEEL_COUNT(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

static void make_all(struct keel_mod *mod, struct repeat *r, const struct wish *wish, struct keel_resv_new *new,
		     struct keel_attrop *attrs, const struct times *t, const int64_t *begins, uint32_t n)
{
	char start[24], duration[24];
	uint32_t k = 0;

	for (uint32_t i = 0; i < wish->n; i++)
		if (!is_time(wish->attrs[i].name))
			attrs[k++] = wish->attrs[i];
	attrs[k++] = (struct keel_attrop){ .name = "reserve_start", .value = start };
	attrs[k++] = (struct keel_attrop){ .name = "reserve_duration", .value = duration };
	new->n_attrs = k;
	new->attrs = attrs;
	snprintf(duration, sizeof(duration), "%lld", (long long)t->duration);
	for (uint32_t i = 0; i < n && !r->code; i++) {
		snprintf(start, sizeof(start), "%lld", (long long)begins[i]);
		r->open++;
		resv_make(mod, new, mod, one_made, r);
	}
}

static const char *value_of(const struct wish *wish, const char *name)
{
	for (uint32_t i = 0; i < wish->n; i++)
		if (strcasecmp(wish->attrs[i].name, name) == 0 && wish->attrs[i].value)
			return wish->attrs[i].value;
	return NULL;
}

/* The moments of its rule in *ret, which the caller frees. 0, or a PBSE code with *err. */
static int32_t moments(struct keel_mod *mod, const struct wish *wish, uint32_t most, struct times *t, int64_t **ret, uint32_t *ret_n,
		       struct keel_err *err)
{
	const char *rule = value_of(wish, "reserve_rrule"), *zone = value_of(wish, "reserve_timezone");
	int32_t code = submit_times(mod, wish, t, err);

	if (code)
		return code;
	if (!rule || !zone)
		return keel_error(err, PBSE_IVALREQ, "what is repeated needs a rule and the time zone in which it is meant");
	code = occurrences_of(rule, zone, t->start, t->duration, most + 1, ret, ret_n);
	if (!code && *ret_n <= most && *ret_n > 0)
		return 0;
	if (*ret_n > most)
		return keel_error(err, PBSE_IVALREQ, "the rule has more than %u times; give it a smaller COUNT or an earlier UNTIL",
				  most);
	return keel_error(err, code, "%s", keel_pbse_text(code));
}

void repeat_submit(struct keel_mod *mod, const struct wish *wish, const struct keel_resv_kind_def *kind)
{
	struct keel_resv_new new = { .size = sizeof(new), .extend = kind->extend, .session = wish->who };
	struct repeat *r = calloc(1, sizeof(*r));
	struct keel_attrop *attrs = calloc(wish->n + 2u, sizeof(*attrs));
	int64_t *begins = NULL;
	struct keel_err err = { 0 };
	struct times t;
	uint32_t n = 0;
	int32_t code = r && attrs ? moments(mod, wish, kind->repeats, &t, &begins, &n, &err) : PBSE_SYSTEM;

	if (code) {
		keel_reply(wish->req, code, *err.text ? "%s" : NULL, err.text);
		free(r);
	} else {
		r->req = wish->req;
		r->open = 1;
		keel_text_init(&r->ids);
		snprintf(r->who, sizeof(r->who), "%s", wish->who->who);
		make_all(mod, r, wish, &new, attrs, &t, begins, n);
		repeat_settle(mod, r);
	}
	free(begins);
	free(attrs);
}
