/* SPDX-License-Identifier: Apache-2.0
 *
 * qdisable.c - let queues accept no more jobs.
 */
#include "queue_switch.h"

int main(int argc, char **argv)
{
	static const struct queue_switch what = {
		.command = "qdisable",
		.usage = "Usage: qdisable [queue][@server] ...\n"
			 "       qdisable --version\n",
		.attribute = "enabled",
		.value = "FALSE",
	};

	return queue_switch_main(&what, argc, argv);
}
