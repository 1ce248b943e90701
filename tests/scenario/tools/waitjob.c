/* SPDX-License-Identifier: Apache-2.0
 *
 * waitjob.c - waitjob JOB: wait for its end as `qsub -W block=true` does. Prints its exit status and what the
 * server says of it, or the number of the error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pbs_ifl.h"

int main(int argc, char **argv)
{
	int c = argc == 2 ? pbs_connect(NULL) : 0, status = 0, error;
	char *text = NULL;

	if (c <= 0) {
		printf("error %d\n", pbs_errno);
		return 2;
	}
	error = pbs_waitjob(c, argv[1], &status, &text);
	if (error != 0)
		printf("error %d\n", error);
	else
		printf("%d %s\n", status, text == NULL ? "" : text);
	free(text);
	pbs_disconnect(c);
	return error != 0;
}
