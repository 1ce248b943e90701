/* SPDX-License-Identifier: Apache-2.0
 *
 * qhold.c - put holds on jobs.
 */
#include "hold_switch.h"
#include "pbs_ifl.h"

int main(int argc, char **argv)
{
	static const struct cmd qhold = {
		.name = "qhold",
		.usage = "usage: qhold [-h hold_list] job_identifier...\n"
			 "       qhold --version\n",
		.usage_exit = 2,
	};

	return hold_switch_main(&qhold, pbs_holdjob, argc, argv);
}
