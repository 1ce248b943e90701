/* SPDX-License-Identifier: Apache-2.0
 *
 * check_home.c - folders with all that a daemon finds in PBS_HOME. A module may keep files there that fit one store alone,
 * so each stage has a home of its own.
 */
#include "check_home.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char top[4096], home[sizeof(top) + 32];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

const char *home_open(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(top, sizeof(top), "%s/keelson-check.XXXXXX", tmp != NULL ? tmp : "/tmp");
	return mkdtemp(top);
}

void home_close(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void home_remove(void)
{
	nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *home_make(void)
{
	static const char *const folders[] = { "", "server_priv", "server_priv/accounting", "server_priv/jobs",
					       "sched_priv", "mom_priv", "mom_priv/jobs", "mom_priv/config.d",
					       "spool", "undelivered", "aux", "checkpoint", "server_logs",
					       "mom_logs", "sched_logs" };
	char path[sizeof(home) + 64];

	snprintf(home, sizeof(home), "%s/home", top); /* some values hold it */
	home_remove();
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, folders[i]);
		if (mkdir(path, 0755) < 0)
			perror(path);
	}
	return home;
}
