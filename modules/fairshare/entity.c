/* SPDX-License-Identifier: Apache-2.0
 *
 * entity.c - whom a job is charged to, and how much.
 */
#include "fairshare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, euser, egroup, Account_Name, queue, Resource_List, resources_used);

static const char *text_of(struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = attr ? keel_get_str(job, attr) : NULL;

	return text ? text : "";
}

struct share *share_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	char name[ENTITY_SIZE] = "";

	switch (st->rules.entity) {
	case BY_USER: snprintf(name, sizeof(name), "%s", text_of(job, job_euser)); break;
	case BY_GROUP: snprintf(name, sizeof(name), "%s", text_of(job, job_egroup)); break;
	case BY_GROUP_USER:
		snprintf(name, sizeof(name), "%s:%s", text_of(job, job_egroup),
			 text_of(job, job_euser));
		break;
	case BY_ACCOUNT: snprintf(name, sizeof(name), "%s", text_of(job, job_Account_Name)); break;
	case BY_QUEUE: snprintf(name, sizeof(name), "%s", text_of(job, job_queue)); break;
	}
	return name[0] ? tree_get(&st->tree, name) : st->tree.unknown;
}

double amount_of(struct state *st, struct keel_obj *job)
{
	char *words, *save = NULL, *one;
	double amount = 1, asked;
	bool any = false;

	if (!keel_get_ptr(job, job_resources_used))
		return 0; /* it has not used anything yet */
	words = st->rules.usage_res ? strdup(st->rules.usage_res) : NULL;
	if (!words)
		return 0;
	for (one = strtok_r(words, "* \t\"", &save); one; one = strtok_r(NULL, "* \t\"", &save)) {
		/* What was used of a resource; of one that is not measured, what was requested. */
		asked = keel_resource_list_number(keel_get_ptr(job, job_Resource_List), one, 0);
		amount *= keel_resource_list_number(keel_get_ptr(job, job_resources_used), one, asked);
		any = true;
	}
	free(words);
	return any && amount > 0 ? amount : 0;
}
