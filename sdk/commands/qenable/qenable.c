/* SPDX-License-Identifier: Apache-2.0
 *
 * qenable.c - let queues accept jobs.
 */
#include "queue_switch.h"

int main(int argc, char **argv)
{
	static const struct queue_switch what = {
		.command = "qenable",
		.usage = "Usage: qenable [queue][@server] ...\n"
			 "       qenable --version\n",
		.attribute = "enabled",
		.value = "TRUE",
	};

	return queue_switch_main(&what, argc, argv);
}
