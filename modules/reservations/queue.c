/* SPDX-License-Identifier: Apache-2.0
 *
 * queue.c - the queue of a reservation: made with it, enabled when it is confirmed, started when it begins.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, queue, Resource_List, Authorized_Users, Authorized_Groups, Authorized_Hosts, Reserve_Owner);
KEEL_ATTR_OF(server, flatuid);
KEEL_ATTRS_OF(queue, acl_groups, acl_hosts, state_count, started);

#define VALUE_LEN 64 /* of a number */
#define SETS_FIXED 9 /* those that are no resources */

/* What a queue is to be made with, in the order of the log. */
struct sets {
	struct keel_queue_set *set;
	uint32_t n;
	char (*number)[VALUE_LEN];
};

static void set_put(struct sets *s, const char *name, const char *key, const char *value)
{
	s->set[s->n++] = (struct keel_queue_set){ name, key, value };
}

static const char *who(struct keel_mod *mod, char buf[300])
{
	snprintf(buf, 300, "%s@%s", QUEUE_WHO, keel_host_name(mod));
	return buf;
}

struct keel_obj *queue_of(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *name = keel_get_str(resv, resv_queue);

	return name ? keel_find(mod, "queue", name) : NULL;
}

/* ---- made ---------------------------------------------------------------------------------------------------------- */

/* Those that say where and how long are not amounts of the queue. */
static bool is_amount(const struct keel_res_value *v)
{
	static const char *const others[] = { "nodect", "nodes", "place", "select", "walltime" };

	for (size_t i = 0; i < KEEL_COUNT(others); i++)
		if (strcmp(others[i], v->res->name) == 0)
			return false;
	return true;
}

static void put_amounts(struct sets *s, const char *name, const struct keel_reslist *list)
{
	const struct keel_res_value *v;

	for (uint32_t i = 0; (v = keel_resource_list_at(list, i)); i++) {
		if (!is_amount(v))
			continue;
		if (!v->text)
			keel_resource_value_text(v, false, s->number[i], VALUE_LEN);
		set_put(s, name, v->res->name, v->text ? v->text : s->number[i]);
	}
}

/* A list of people, and that it is in force. */
static void put_list(struct sets *s, struct keel_obj *resv, const struct keel_attr *from, const char *list, const char *enable,
		     char **texts)
{
	int32_t len = keel_get_text(resv, from, NULL, NULL, 0);

	*texts = len > 0 ? malloc((size_t)len + 1) : NULL;
	if (!*texts)
		return;
	keel_get_text(resv, from, NULL, *texts, (uint32_t)len + 1);
	set_put(s, list, NULL, *texts);
	set_put(s, enable, NULL, "True");
}

/* Where one name is one user on all hosts its owner may come from each of them. */
static void owner_flatten(struct keel_mod *mod, struct keel_obj *resv, char *users)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *owner = keel_get_str(resv, resv_Reserve_Owner);

	if (users && owner && strcmp(users, owner) == 0 && server && keel_get_int(server, server_flatuid))
		users[strcspn(users, "@")] = '\0';
}

static void put_lists(struct sets *s, struct keel_mod *mod, struct keel_obj *resv, char *texts[3])
{
	put_list(s, resv, resv_Authorized_Users, "acl_users", "acl_user_enable", &texts[0]);
	owner_flatten(mod, resv, texts[0]);
	put_list(s, resv, resv_Authorized_Groups, "acl_groups", "acl_group_enable", &texts[1]);
	put_list(s, resv, resv_Authorized_Hosts, "acl_hosts", "acl_host_enable", &texts[2]);
}

static void texts_free(char *texts[3])
{
	for (int i = 0; i < 3; i++)
		free(texts[i]);
}

int32_t queue_make(struct keel_mod *mod, struct keel_obj *resv, struct keel_err *err)
{
	const struct keel_reslist *list = keel_get_ptr(resv, resv_Resource_List);
	const char *name = keel_get_str(resv, resv_queue);
	uint32_t count = keel_resource_list_count(list);
	struct sets s = { .set = calloc(2 * (size_t)count + SETS_FIXED, sizeof(*s.set)),
			  .number = calloc((size_t)count + 1, sizeof(*s.number)) };
	char *texts[3] = { NULL, NULL, NULL }, by[300];
	int32_t code = s.set && s.number ? 0 : keel_error(err, PBSE_SYSTEM, "System error: out of memory");

	if (!name)
		code = keel_error(err, PBSE_resvFail, "it is stored without the name of its queue");
	if (!code) {
		put_amounts(&s, "resources_available", list);
		put_amounts(&s, "resources_max", list);
		set_put(&s, "queue_type", NULL, "Execution");
		set_put(&s, "enabled", NULL, "False");
		set_put(&s, "started", NULL, "False");
		put_lists(&s, mod, resv, texts);
		code = keel_queue_create(name, s.set, s.n, who(mod, by), err);
	}
	texts_free(texts);
	free(s.set);
	free(s.number);
	return code;
}

/* ---- changed ------------------------------------------------------------------------------------------------------- */

static void change(struct keel_mod *mod, struct keel_obj *resv, const struct keel_queue_set *set, uint32_t n)
{
	struct keel_obj *queue = queue_of(mod, resv);
	struct keel_err err = { 0 };
	char by[300];

	if (queue && keel_queue_change(queue, set, n, who(mod, by), &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its queue cannot be changed: %s", err.text);
}

static void change_one(struct keel_mod *mod, struct keel_obj *resv, const char *name, bool on)
{
	change(mod, resv, &(struct keel_queue_set){ name, NULL, on ? "True" : "False" }, 1);
}

void queue_enable(struct keel_mod *mod, struct keel_obj *resv, bool on)
{
	change_one(mod, resv, "enabled", on);
}

void queue_start(struct keel_mod *mod, struct keel_obj *resv, bool on)
{
	change_one(mod, resv, "started", on);
}

bool queue_is_started(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *queue = queue_of(mod, resv);

	return queue && keel_get_int(queue, queue_started);
}

void queue_lists(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_queue_set set[SETS_FIXED];
	struct sets s = { .set = set };
	struct keel_obj *queue = queue_of(mod, resv);
	char *texts[3] = { NULL, NULL, NULL };

	if (!queue)
		return;
	put_lists(&s, mod, resv, texts);
	if (!keel_is_set(resv, resv_Authorized_Groups) && keel_is_set(queue, queue_acl_groups)) {
		set_put(&s, "acl_groups", NULL, NULL);
		set_put(&s, "acl_group_enable", NULL, NULL);
	}
	if (!keel_is_set(resv, resv_Authorized_Hosts) && keel_is_set(queue, queue_acl_hosts)) {
		set_put(&s, "acl_hosts", NULL, NULL);
		set_put(&s, "acl_host_enable", NULL, NULL);
	}
	change(mod, resv, s.set, s.n);
	texts_free(texts);
}

/* ---- its end ------------------------------------------------------------------------------------------------------- */

/* Jobs of the history are not counted there. */
bool queue_is_empty(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *queue = queue_of(mod, resv);
	char counts[256];

	if (!queue || keel_get_text(queue, queue_state_count, NULL, counts, sizeof(counts)) <= 0)
		return true;
	for (const char *p = counts; (p = strchr(p, ':')); p++)
		if (strtoll(p + 1, NULL, 10) > 0)
			return false;
	return true;
}

void queue_remove(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *queue = queue_of(mod, resv);
	char by[300];

	if (queue)
		keel_queue_remove(queue, who(mod, by));
}

enum { CMD_DELETE = 1 };

keel_verdict queue_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	if (strcmp(ev->klass, "queue") != 0 || ev->cmd != CMD_DELETE || !resv_of_queue(c->mod, ev->name))
		return KEEL_NEXT;
	return keel_reject(c, PBSE_OBJBUSY, NULL);
}
