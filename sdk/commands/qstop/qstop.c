/* SPDX-License-Identifier: Apache-2.0
 *
 * qstop.c - let no more jobs of queues run.
 */
#include "queue_switch.h"

int main(int argc, char **argv)
{
	static const struct queue_switch what = {
		.command = "qstop",
		.usage = "Usage: qstop [queue][@server] ...\n"
			 "       qstop --version\n",
		.attribute = "started",
		.value = "FALSE",
	};

	return queue_switch_main(&what, argc, argv);
}
