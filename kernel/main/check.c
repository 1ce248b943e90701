/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - keelsond --check: check configuration and modules, start nothing.
 *
 * The parts exist, so that modules find the groups they need, but nothing is locked, written, stored or
 * listened to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "loop/loop.h"
#include "main/inside.h"
#include "module/modules.h"
#include "store/store.h"

static int prepare(struct daemon *d, struct keel_err *err)
{
	int ret = settings_read(d->options, &d->parts.conf, &d->settings, err);

	if (ret == 0)
		ret = parts_name(d, err);
	if (ret == 0)
		ret = loop_create(&d->parts.loop);
	if (ret == 0)
		ret = log_open(d->parts.loop, NULL, d->parts.daemon_name, KEEL_LOG_ERROR, false,
			       &d->parts.log, err);
	return ret == 0 ? parts_create(d, err) : ret;
}

/* Checks everything; prints the chain of --order, else that there is no error. Returns 0, or an error with *err. */
static int check_all(struct daemon *d, struct keel_err *err)
{
	const struct options *o = d->options;
	struct buf chain;
	bool stores;
	int ret;

	if (o->order == NULL) {
		ret = modules_check(d->parts.modules, d->parts.conf, &stores, err);
		if (ret < 0)
			return ret;
		if (!stores && d->parts.daemon & KEEL_SERVER)
			fprintf(stderr, "keelsond: %s: " STORE_NONE "\n", o->conf_file);
		printf("%s: the configuration is right\n", o->conf_file);
		return 0;
	}
	buf_init(&chain);
	ret = modules_preview(d->parts.modules, d->parts.conf, o->order, &chain, err);
	if (ret == 0 && chain.data != NULL)
		fputs(chain.data, stdout);
	buf_fini(&chain);
	return ret;
}

int daemon_check(const struct options *o)
{
	struct daemon d = { .options = o, .locks = HOME_LOCKS_NONE };
	struct keel_err err = { 0 };
	int ret = prepare(&d, &err);

	if (ret == 0)
		ret = check_all(&d, &err);
	if (ret < 0)
		fprintf(stderr, "keelsond: %s\n", err.text);
	parts_destroy(&d.parts);
	settings_destroy(d.settings);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
