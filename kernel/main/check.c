/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - keelsond --check: check configuration and modules, start nothing.
 *
 * The parts exist, so that modules find the groups they need, and each module passes its init(), but nothing is locked,
 * stored or listened to. With --set it is a running daemon that checks the set which comes.
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
#include "main/set.h"
#include "module/modules.h"
#include "store/store.h"
#include "util/err.h"

static int prepare(struct daemon *d, struct keel_err *err)
{
	char *copy = d->set != NULL ? set_path(d->set, "conf") : NULL;
	int ret = settings_read(d->options, copy, &d->parts.conf, &d->settings, err);

	free(copy);
	if (ret == 0)
		parts_name(d);
	if (ret == 0)
		ret = loop_create(&d->parts.loop);
	if (ret == 0)
		ret = log_open(d->parts.loop, NULL, d->parts.daemon_name, KEEL_LOG_ERROR, false,
			       &d->parts.log, err);
	if (ret == 0)
		crash_init(-1);
	return ret == 0 ? parts_create(d, err) : ret;
}

static int copies_make(const struct daemon *d, struct keel_err *err)
{
	char *to = set_path(d->set, "modules");
	char *from = d->options->set_from != NULL ? set_path(d->options->set_from, "modules") : NULL;
	int ret = to == NULL ? err_set(err, -ENOMEM, "no memory") :
			       modules_copy(d->settings->top->modules_dir, d->parts.conf, to, from, err);

	free(to);
	free(from);
	return ret;
}

/* For the daemon that runs. */
static int report_write(const struct daemon *d, struct keel_err *err)
{
	struct buf report;
	int ret;

	buf_init(&report);
	buf_str(&report, "");
	modules_report(d->parts.modules, &report);
	ret = report.failed ? -ENOMEM : set_write(d->set, "report", report.data);
	buf_fini(&report);
	return ret == 0 ? 0 : err_set(err, ret, "cannot write into %s: %s", d->set, strerror(-ret));
}

static int check_set(struct daemon *d, bool *ret_stores, struct keel_err *err)
{
	int ret = d->set != NULL ? copies_make(d, err) : 0;

	if (ret == 0)
		ret = modules_check(d->parts.modules, d->parts.conf, d->set != NULL, ret_stores, err);
	return ret == 0 && d->set != NULL ? report_write(d, err) : ret;
}

static int check_all(struct daemon *d, struct keel_err *err)
{
	bool stores;
	int ret = check_set(d, &stores, err);

	if (ret < 0)
		return ret;
	if (!stores && d->parts.daemon & KEEL_SERVER)
		fprintf(stderr, "keelsond: %s: " STORE_NONE "\n", d->options->conf_file);
	printf("%s: the configuration is right\n", d->options->conf_file);
	return 0;
}

int daemon_check(const struct options *o)
{
	struct daemon d = { .options = o, .locks = HOME_LOCKS_NONE };
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
	fflush(NULL);
	if (d.parts.log != NULL)
		log_set_mask(d.parts.log, 0); /* what an init() has begun ends with this process */
	if (d.set != NULL)
		_exit(ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	parts_destroy(&d.parts);
	settings_destroy(d.settings);
	free(d.set);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
