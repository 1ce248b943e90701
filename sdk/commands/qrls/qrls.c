/* SPDX-License-Identifier: Apache-2.0
 *
 * qrls.c - take holds off jobs.
 */
#include "hold_switch.h"
#include "pbs_ifl.h"

int main(int argc, char **argv)
{
	static const struct cmd qrls = {
		.name = "qrls",
		.usage = "usage: qrls [-h hold_list] job_identifier...\n"
			 "       qrls --version\n",
		.usage_exit = 2,
	};

	return hold_switch_main(&qrls, pbs_rlsjob, argc, argv);
}
