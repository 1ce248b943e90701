/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - keelsond --check: check configuration and modules, start nothing.
 *
 * The parts exist, so that modules find the groups they need, and each module passes its init(), but nothing is locked,
 * stored or listened to. With --set it is a running daemon that checks the set which comes: it reads
 * what modules there are.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "log/log.h"
#include "loop/loop.h"
#include "main/inside.h"
#include "module/modules.h"
#include "store/store.h"
#include "util/err.h"

static int prepare(struct daemon *d, struct keel_err *err)
{
	int ret = parts_configure(d, err);

	if (ret == 0)
		ret = home_guard(d->parts.home, d->parts.daemon, err);
	if (ret == 0)
		ret = loop_create(&d->parts.loop);
	if (ret == 0)
		ret = log_open(d->parts.loop, NULL, d->parts.daemon_name, KEEL_LOG_ERROR, false,
			       &d->parts.log, err);
	if (ret == 0)
		crash_init(-1);
	return ret == 0 ? parts_create(d, err) : ret;
}

/* Checks everything; prints the modules of --set, else that there is no error. Returns 0, or an error with *err. */
static int check_all(struct daemon *d, struct keel_err *err)
{
	struct buf report;
	bool stores;
	int ret = modules_check(d->parts.modules, d->parts.conf, d->set != NULL, &stores, err);

	if (ret < 0)
		return ret;
	if (!stores && d->parts.daemon & KEEL_SERVER)
		fprintf(stderr, "keelsond: %s: " STORE_NONE "\n", d->options->conf_file);
	if (d->set == NULL) {
		printf("%s: the configuration is right\n", d->options->conf_file);
		return 0;
	}
	buf_init(&report);
	modules_report(d->parts.modules, &report);
	if (report.data != NULL)
		fputs(report.data, stdout);
	buf_fini(&report);
	return 0;
}

int daemon_check(const struct options *o)
{
	struct daemon d = { .options = o };
	struct keel_err err = { 0 };
	int ret = 0;

	if (o->set_dir != NULL)
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* an init() may hang */
	if (o->set_dir != NULL && (d.set = strdup(o->set_dir)) == NULL)
		ret = err_set(&err, -ENOMEM, "no memory");
	if (ret == 0)
		ret = prepare(&d, &err);
	if (ret == 0)
		ret = check_all(&d, &err);
	if (ret < 0)
		fprintf(stderr, "keelsond: %s\n", err.text);
	if (fflush(NULL) != 0 && ret == 0) /* a report with a part missing would be another set */
		ret = -errno;
	if (d.parts.log != NULL)
		log_set_mask(d.parts.log, 0, false); /* what an init() has begun ends with this process */
	if (d.set != NULL)
		_exit(ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	parts_destroy(&d.parts);
	settings_destroy(d.settings);
	free(d.set);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
