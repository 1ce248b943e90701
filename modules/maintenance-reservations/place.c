/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - where a window is: all vnodes with cpus of the hosts that its select names, whatever their state.
 *
 * A select that names hosts which the server has is confirmed with the submission. With another one it stays unconfirmed until the
 * client confirms it with vnodes of its own finding (pbs_confirmresv); when it does not within ALONE seconds the window is deleted.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, Resource_List, reserve_rrule, reserve_job, qmove);

#define ALONE 8 /* seconds */
#define WHO "root@%s"

static int32_t invalid(struct keel_err *err)
{
	return keel_error(err, PBSE_IVALREQ, "%s", keel_pbse_text(PBSE_IVALREQ));
}

static int32_t no_memory(struct keel_err *err)
{
	return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

/* ---- one that its client does not confirm -------------------------------------------------------------------- */

static void alone_over(struct keel_mod *mod, void *arg)
{
	struct keel_obj *resv = arg;
	char who[300];

	if (keel_resv_state(resv) != KEEL_RESV_UNCONFIRMED)
		return;
	snprintf(who, sizeof(who), WHO, keel_host_name(mod));
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "deleted, for it was not confirmed by the client that made it");
	keel_resv_remove(resv, who);
}

static int32_t alone_begin(struct keel_mod *mod, struct keel_obj *draft, struct keel_err *err)
{
	struct window *w = keel_slot(mod, draft);

	return w && keel_alarm_set(mod, &w->alone, ALONE * 1000, alone_over, draft) == 0 ? 0 : no_memory(err);
}

/* ---- place() --------------------------------------------------------------------------------------------------- */

/* Only select, place and walltime, which reservations writes. */
static bool asks_for_more(const struct keel_reslist *list)
{
	for (uint32_t i = 0; i < keel_resource_list_count(list); i++) {
		const char *name = keel_resource_list_at(list, i)->res->name;

		if (strcmp(name, "select") != 0 && strcmp(name, "place") != 0 && strcmp(name, "walltime") != 0)
			return true;
	}
	return false;
}

static bool is_exclhost(const struct keel_reslist *list)
{
	const struct keel_res_value *place = keel_resource_list_get(list, "place");

	return !place || (place->text && strcmp(place->text, "exclhost") == 0);
}

/* Windows are no standing reservations, and are not made from jobs. */
static int32_t request_check(struct keel_changes *ch, struct keel_obj *draft, const struct keel_reslist *list,
			     struct keel_err *err)
{
	if (keel_change_slot(ch, draft, resv_reserve_rrule) || keel_change_slot(ch, draft, resv_reserve_job) ||
	    keel_change_slot(ch, draft, resv_qmove))
		return keel_error(err, PBSE_NOSUP, "%s", keel_pbse_text(PBSE_NOSUP));
	return asks_for_more(list) || !is_exclhost(list) ? invalid(err) : 0;
}

/* Clients that asked for the vnodes before have sent it as it is to be. */
static int32_t write_select(struct keel_changes *ch, struct keel_obj *draft, const char *sent, const char *select,
			    struct keel_err *err)
{
	int32_t code = 0;

	if (strcmp(sent, select) != 0)
		code = keel_change_text(ch, draft, resv_Resource_List, KEEL_SET, "select", select, err);
	return code ? code : keel_change_text(ch, draft, resv_Resource_List, KEEL_SET, "place", "exclhost", err);
}

static int32_t place_hosts(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, const char *sent,
			   const struct hosts *h, char **ret_nodes, struct keel_err *err)
{
	char *select, *nodes;
	int32_t code;

	if (hosts_missing(h))
		return alone_begin(mod, draft, err);
	select = hosts_select(h, 0, h->n);
	nodes = hosts_nodes(h, 0, options_at_a_time(ch, draft, h->n));
	code = select && nodes ? write_select(ch, draft, sent, select, err) : no_memory(err);
	free(select);
	if (code)
		free(nodes);
	else
		*ret_nodes = nodes;
	return code;
}

static int32_t place(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, char **ret_nodes,
		     struct keel_err *err)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, resv_Resource_List);
	const struct keel_reslist *list = slot ? slot->p : NULL;
	const struct keel_res_value *select = keel_resource_list_get(list, "select");
	int32_t code = request_check(ch, draft, list, err);
	struct hosts h;

	*ret_nodes = NULL;
	if (code || (code = options_check(ch, draft, err)))
		return code;
	if (!select || !select->text)
		return alone_begin(mod, draft, err);
	code = hosts_of_select(mod, select->text, &h, err);
	if (code)
		return code;
	code = hosts_resolve(mod, &h) ? no_memory(err) : place_hosts(mod, ch, draft, select->text, &h, ret_nodes, err);
	hosts_fini(&h);
	return code;
}

const struct keel_resv_kind_def kind_row = {
	.size = sizeof(struct keel_resv_kind_def),
	.flags = KEEL_RESV_WHATEVER,
	.roles = KEEL_MANAGERS | KEEL_OPERATORS,
	.letter = "M",
	.extend = "m",
	.name = "maintenance",
	.doc = "a window on whole hosts, whatever is planned there: pbs_rsub --hosts",
	.place = place,
	.preview = preview,
	.repeats = 100,
};
