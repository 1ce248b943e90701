/* SPDX-License-Identifier: Apache-2.0
 *
 * qstart.c - let jobs of queues run.
 */
#include "queue_switch.h"

int main(int argc, char **argv)
{
	static const struct queue_switch what = {
		.command = "qstart",
		.usage = "Usage: qstart [queue][@server] ...\n"
			 "       qstart --version\n",
		.attribute = "started",
		.value = "TRUE",
	};

	return queue_switch_main(&what, argc, argv);
}
