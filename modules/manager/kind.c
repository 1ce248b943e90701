/* SPDX-License-Identifier: Apache-2.0
 *
 * kind.c - the classes a manager request can name, and the rules for their objects' names.
 */
#include "manager.h"

#include <ctype.h>
#include <string.h>

static const struct kind kinds[] = {
	{ OBJ_SERVER, "server", "Svr", PBSE_IVALREQ, PBSE_IVALREQ, 255, "", PBSE_IVAL_OBJ_NAME,
	  KEEL_NOBODY, 0, 0, NULL, 0 },
	{ OBJ_QUEUE, "queue", "Que", PBSE_UNKQUE, PBSE_QUEEXIST, 15, "_-", PBSE_QUENBIG,
	  KEEL_MANAGERS, 0, 0, "queue_type", PBSE_NEEDQUET },
	{ OBJ_NODE, "node", "Node", PBSE_UNKNODE, PBSE_NODEEXIST, 255, "-_@[]#^/\\.",
	  PBSE_NODENBIG, KEEL_MANAGERS, KEEL_POINT_node_modify, KEEL_POINT_node_delete, "state",
	  PBSE_BADATVAL },
	{ OBJ_HOST, "node", "Node", PBSE_UNKNODE, PBSE_NODEEXIST, 255, "-_@[]#^/\\.",
	  PBSE_NODENBIG, KEEL_NOBODY, KEEL_POINT_node_modify, KEEL_POINT_node_delete, "state",
	  PBSE_BADATVAL },
	{ OBJ_RESOURCE, "resource", "Resc", PBSE_UNKRESC, PBSE_DUPLIST, 255, "_-", PBSE_BADATVAL,
	  KEEL_MANAGERS, 0, KEEL_POINT_resource_delete, NULL, 0 },
	{ OBJ_SCHED, "sched", "Sched", PBSE_UNKSCHED, PBSE_SCHEDEXIST, 15, "_-",
	  PBSE_SCHED_NAME_BIG, KEEL_MANAGERS, 0, 0, NULL, 0 },
};

const struct kind *kind_of(int32_t obj)
{
	size_t i;

	for (i = 0; i < KEEL_COUNT(kinds); i++)
		if (kinds[i].obj == obj)
			return &kinds[i];
	return NULL;
}

int32_t kind_check_name(const struct kind *kind, const char *name)
{
	size_t i, len = strlen(name);

	if (len == 0 || !isalnum((unsigned char)name[0]))
		return PBSE_IVAL_OBJ_NAME;
	if (len > kind->name_max)
		return kind->name_error;
	if (kind->obj == OBJ_RESOURCE && !isalpha((unsigned char)name[0]))
		return PBSE_BADATVAL;
	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr(kind->name_chars, name[i]))
			return kind->obj == OBJ_RESOURCE ? PBSE_BADATVAL : PBSE_IVAL_OBJ_NAME;
	return 0;
}
