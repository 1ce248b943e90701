/* SPDX-License-Identifier: Apache-2.0
 *
 * qmsg.c - write a message into the output of running jobs.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qmsg = {
	.name = "qmsg",
	.usage = "usage: qmsg [-E] [-O] message_string job_identifier...\n"
		 "       qmsg --version\n",
	.usage_exit = 2,
};

struct message {
	int files; /* MSG_OUT, MSG_ERR */
	const char *text;
};

static int job_request(int c, const char *id, void *arg)
{
	const struct message *message = arg;

	return pbs_msgjob(c, id, message->files, message->text, NULL);
}

int main(int argc, char **argv)
{
	struct message message = { 0 };
	bool bad = false;
	int letter;

	if (cmd_begin(&qmsg, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "EO")) != -1) {
		if (letter == 'E')
			message.files |= MSG_ERR;
		else if (letter == 'O')
			message.files |= MSG_OUT;
		else
			bad = true;
	}
	if (bad || argc - optind < 2)
		return cmd_usage(&qmsg);
	if (!message.files)
		message.files = MSG_ERR;
	message.text = argv[optind++];
	return cmd_each_job(&qmsg, argc - optind, argv + optind, job_request, &message);
}
