/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the configuration that a change of the modules reads: a copy in a set of its own, which comes in force with it or
 * is removed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "main/inside.h"
#include "main/renew.h"
#include "main/set.h"
#include "util/err.h"

static void fresh_drop(struct daemon *d)
{
	if (d->fresh != NULL)
		set_remove(d->fresh);
	free(d->fresh);
	d->fresh = NULL;
}

static int fresh_make(struct daemon *d, const struct modules_ask *ask, struct keel_err *err)
{
	const bool one = ask->change != MODULES_CONFIGURE;
	int ret = set_create(d->sets, &d->fresh, err);

	if (ret == 0)
		ret = set_configure(d->fresh, d->options->conf_file, ask->change == MODULES_UNLOAD ? d->set : NULL,
				    one ? d->set : NULL, err);
	return ret == 0 && one ? set_override(d->fresh, ask->name, ask->change != MODULES_UNLOAD, err) : ret;
}

static int fresh_read(struct daemon *d, const struct modules_ask *ask, struct conf **ret_conf, struct settings **ret,
		      struct keel_err *err)
{
	char *copy = NULL;
	int code = d->set != NULL ? fresh_make(d, ask, err) : 0;

	if (code == 0 && d->set != NULL && (copy = set_path(d->fresh, "conf")) == NULL)
		code = err_set(err, -ENOMEM, "no memory");
	if (code == 0)
		code = settings_read(d->options, copy, ret_conf, ret, err);
	free(copy);
	return code;
}

static int files_read(struct parts *parts, const struct modules_ask *ask, struct conf **ret_conf, void **ret_kept,
		      const char **ret_other, struct keel_err *err)
{
	struct daemon *d = daemon_of(parts);
	struct settings *s = NULL;
	int ret = fresh_read(d, ask, ret_conf, &s, err);

	if (ret == 0 && (strcmp(s->top->home, parts->home) != 0 || s->roles != d->settings->roles)) {
		ret = err_set(err, -EBUSY, "home and roles of a daemon change at its start only: stop it first, or take the "
			      "change back");
		settings_destroy(s);
		conf_destroy(*ret_conf);
		*ret_conf = NULL;
	}
	if (ret < 0) {
		fresh_drop(d);
		return ret;
	}
	*ret_other = settings_differ(d->settings, s);
	*ret_kept = s;
	return 0;
}

static void files_keep(struct parts *parts, struct conf *conf, void *kept)
{
	struct daemon *d = daemon_of(parts);

	conf_destroy(parts->conf);
	parts->conf = conf;
	settings_apply(d, kept);
	if (d->fresh != NULL && set_conf_take(d->set, d->fresh) < 0)
		log_add(parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Svr", d->parts.daemon_name,
			"the configuration in force cannot be kept in %s", d->set);
	fresh_drop(d);
}

static void files_drop(struct parts *parts, struct conf *conf, void *kept)
{
	settings_destroy(kept);
	conf_destroy(conf);
	fresh_drop(daemon_of(parts));
}

const struct modules_files daemon_files = { files_read, files_keep, files_drop, renew_begin, renew_made };
const struct modules_files daemon_files_of_a_world = { .read = files_read, .keep = files_keep, .drop = files_drop };
