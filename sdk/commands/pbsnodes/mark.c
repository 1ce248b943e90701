/* SPDX-License-Identifier: Apache-2.0
 *
 * mark.c - mark hosts or vnodes offline or usable again, and say why in their comment.
 */
#include <stdio.h>
#include <string.h>

#include "pbsnodes.h"

#define COMMENT_MAX 79

/* What each mark does to the state: at most two changes. */
static const struct {
	enum node_mark mark;
	enum batch_op op;
	const char *words[2];
} changes[] = {
	{ MARK_OFFLINE, INCR, { "offline", NULL } },
	{ MARK_ONLINE, DECR, { "offline", NULL } },
	{ MARK_CLEAR, DECR, { "offline", "down" } },
	{ MARK_DOWN, INCR, { "down", NULL } },
};

static struct attropl *add(struct attropl *list, int *n, const char *name, const char *value,
			   enum batch_op op)
{
	list[*n] = (struct attropl){ NULL, (char *)name, NULL, (char *)value, op };
	if (*n > 0)
		list[*n - 1].next = &list[*n];
	(*n)++;
	return list;
}

int mark_nodes(int c, const struct options *opt, char **names, int n)
{
	int kind = opt->vnodes ? MGR_OBJ_NODE : MGR_OBJ_HOST, count = 0, status = 0, i;
	char comment[COMMENT_MAX + 1];
	struct attropl list[3];
	const char *text;
	size_t j, k;

	for (j = 0; j < sizeof(changes) / sizeof(changes[0]); j++)
		for (k = 0; k < 2 && changes[j].mark == opt->mark && changes[j].words[k]; k++)
			add(list, &count, ATTR_NODE_state, changes[j].words[k], changes[j].op);
	if (opt->comment) {
		snprintf(comment, sizeof(comment), "%s", opt->comment);
		add(list, &count, ATTR_comment, comment, SET);
	}
	for (i = 0; i < n; i++) {
		if (pbs_manager(c, MGR_CMD_SET, kind, names[i], list, NULL) == 0)
			continue;
		status = 1;
		text = pbs_geterrmsg(c);
		if (!opt->quiet && text)
			fprintf(stderr, "Error marking node %s - %s\n", names[i], text);
		else if (!opt->quiet)
			fprintf(stderr, "Error marking node %s - error %d\n", names[i], pbs_errno);
	}
	return status;
}
