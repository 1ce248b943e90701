/* SPDX-License-Identifier: Apache-2.0
 *
 * preempt.c - preempt JOB...: ask the server to let jobs give way, as a scheduler of the site's own would.
 * Prints `id outcome` per job, or the number of the error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pbs_ifl.h"

int main(int argc, char **argv)
{
	int c = pbs_connect(NULL);
	preempt_job_info *info;

	if (c <= 0) {
		printf("error %d\n", pbs_errno);
		return 2;
	}
	info = pbs_preempt_jobs(c, argv + 1);
	if (info == NULL)
		printf("error %d\n", pbs_errno);
	for (int i = 0; info != NULL && i < argc - 1; i++)
		printf("%s %s\n", info[i].job_id, info[i].order);
	free(info);
	pbs_disconnect(c);
	return info == NULL;
}
