/* SPDX-License-Identifier: Apache-2.0
 *
 * check_home.c - a folder with all that a daemon finds in PBS_HOME.
 */
#include "check_home.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[4096];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

int home_make(void)
{
	static const char *const folders[] = { "server_priv", "server_priv/accounting", "server_priv/jobs",
					       "sched_priv", "mom_priv", "mom_priv/jobs", "mom_priv/config.d",
					       "spool", "undelivered", "aux", "checkpoint", "server_logs",
					       "mom_logs", "sched_logs" };
	const char *tmp = getenv("TMPDIR");
	char path[sizeof(home) + 64];

	snprintf(home, sizeof(home), "%s/keelson-check.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(home) == NULL)
		return -errno;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, folders[i]);
		if (mkdir(path, 0755) < 0)
			return -errno;
	}
	return 0;
}

const char *home_path(void)
{
	return home;
}

void home_remove(void)
{
	nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
