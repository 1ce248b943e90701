/* SPDX-License-Identifier: Apache-2.0
 *
 * keelsond - the daemon. Its roles are configured.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "main/inside.h"
#include "program/answer.h"
#include "util/version.h"

/* Makes the path absolute: background_begin() changes the working directory. With a set it is a name only. */
static int conf_file_fix(struct options *o)
{
	static char path[PATH_MAX]; /* options point into it */

	if (o->set_dir != NULL && o->conf_file != NULL)
		return 0;

	char *file = o->conf_file != NULL ? strdup(o->conf_file) : place_conf_file();
	int ret = file == NULL ? -ENOMEM : realpath(file, path) == NULL ? -errno : 0;

	if (ret < 0)
		fprintf(stderr, "keelsond: cannot read the configuration file %s: %s\n", file == NULL ? "" : file,
			strerror(-ret));
	o->conf_file = path;
	free(file);
	return ret;
}

/* Scripts are mapped: realloc() does not copy them, and free() returns them to the system; what each turn allocates and
 * frees stays in the heap. By default malloc() changes both thresholds by the longest block freed so far. */
static void memory_settle(void)
{
	mallopt(M_MMAP_THRESHOLD, 2 * 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
}

static int run(struct options *o)
{
	int ret = conf_file_fix(o);

	if (ret < 0)
		return EXIT_FAILURE;
	memory_settle();
	prctl(PR_SET_NAME, "keelsond"); /* an image that was executed by a link has the link's */
	if (o->check)
		return daemon_check(o);
	notify_init();
	if (!o->foreground)
		ret = background_begin();
	if (ret < 0) {
		fprintf(stderr, "keelsond: cannot go into the background: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	return daemon_run(o);
}

int main(int argc, char **argv)
{
	struct options o;
	int ret = EXIT_SUCCESS;

	streams_hold(); /* so that no fd is 0, 1 or 2: libuv aborts when it closes one of those */
	if (options_parse(argc, argv, &o) < 0)
		return 2;
	if (o.version || o.help || o.check)
		answer_must_arrive();
	if (o.version)
		puts("pbs_version = " KEELSON_VERSION_TEXT);
	else if (o.help)
		options_usage();
	else
		ret = run(&o);
	options_fini(&o);
	return ret;
}
