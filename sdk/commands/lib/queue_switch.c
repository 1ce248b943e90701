/* SPDX-License-Identifier: Apache-2.0
 *
 * queue_switch.c - qenable, qdisable, qstart, qstop: set one attribute of queues.
 *
 * "@server" is every queue there; they are listed and set one by one.
 */
#include "queue_switch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

#define FAILED 2

struct run {
	struct cmd cmd;
	const struct queue_switch *what;
	struct cmd_link link;
};

static int set_one(struct run *run, const char *queue, const char *shown)
{
	char value[8], name[16];
	struct attropl set = { .name = name, .value = value, .op = SET };

	snprintf(name, sizeof(name), "%s", run->what->attribute);
	snprintf(value, sizeof(value), "%s", run->what->value);
	if (pbs_manager(run->link.c, MGR_CMD_SET, MGR_OBJ_QUEUE, queue, &set, NULL) == 0)
		return 0;
	return cmd_complain(&run->cmd, run->link.c, shown);
}

static int set_all(struct run *run, const char *shown)
{
	struct batch_status *queues, *q;
	char name[OPERAND_SERVER_SIZE + 64];
	int status = 0;

	queues = pbs_statque(run->link.c, "", NULL, NULL);
	if (!queues && pbs_errno != 0)
		return cmd_complain(&run->cmd, run->link.c, shown);
	for (q = queues; q; q = q->next) {
		snprintf(name, sizeof(name), "%s%s", q->name, shown);
		if (set_one(run, q->name, name) != 0)
			status = FAILED;
	}
	pbs_statfree(queues);
	return status;
}

int queue_switch_main(const struct queue_switch *what, int argc, char **argv)
{
	struct run run = {
		.cmd = {
			.name = what->command,
			.usage = what->usage,
			.usage_exit = 1,
			.unreached = CMD_COULD_NOT_CONNECT,
			.unreached_exit = FAILED,
			.failed_exit = FAILED,
		},
		.what = what,
	};
	bool bad = false;
	int status = 0;

	if (cmd_begin(&run.cmd, argc, argv))
		return 0;
	while (getopt(argc, argv, "") != -1)
		bad = true;
	if (bad || optind >= argc)
		return cmd_usage(&run.cmd);
	for (; optind < argc; optind++) {
		const char *text = argv[optind];
		struct operand queue;

		if (operand_destination(text, &queue) < 0) {
			cmd_bad_destination(&run.cmd, text);
			status = FAILED;
		} else if (cmd_link_open(&run.cmd, &run.link, queue.server) < 0 ||
			   (*queue.id ? set_one(&run, queue.id, text) : set_all(&run, text)) != 0) {
			status = FAILED;
		}
	}
	cmd_link_close(&run.link);
	return status;
}
