/* SPDX-License-Identifier: Apache-2.0
 *
 * renew_api.c - the API group "renew": what a module that changes the running daemon needs of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/renew.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/file.h"

static struct daemon *daemon_with(struct keel_mod *m)
{
	return daemon_of(owner_of(m)->parts);
}

static const char *api_conf_file(struct keel_mod *m)
{
	return daemon_with(m)->options->conf_file;
}

static const char *api_set(struct keel_mod *m)
{
	return daemon_with(m)->set;
}

static bool api_was(struct keel_mod *m, const char **ret_refused)
{
	const struct options *o = daemon_with(m)->options;

	*ret_refused = o->refused;
	return o->back != NULL || o->refused != NULL;
}

static const char **api_command(struct keel_mod *m)
{
	return renew_words(daemon_with(m), NULL, NULL, NULL);
}

/* ---- a draft ----------------------------------------------------------------------------------------------- */
void renew_draft_drop(struct daemon *d)
{
	if (d->draft.modules != NULL)
		modules_draft_drop(d->parts.modules, &d->draft);
	settings_destroy(d->draft_settings);
	conf_destroy(d->draft_conf);
	d->draft_settings = NULL;
	d->draft_conf = NULL;
}

static int32_t api_draft(struct keel_mod *m, const char *conf, const struct keel_draft **ret, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);
	int code;

	renew_draft_drop(d);
	code = settings_read(d->options, conf, &d->draft_conf, &d->draft_settings, err);
	if (code == 0 && (strcmp(d->draft_settings->top->home, d->parts.home) != 0 || d->draft_settings->roles != d->settings->roles))
		code = err_set(err, -EBUSY, "home and roles of a daemon change at its start only: stop it first, or take the "
			       "change back");
	if (code == 0)
		code = modules_draft(d->parts.modules, d->draft_conf, &d->draft, err);
	if (code < 0) {
		renew_draft_drop(d);
		return code;
	}
	d->draft.restart |= settings_differ(d->settings, d->draft_settings) != NULL;
	*ret = &d->draft;
	return 0;
}

static int32_t api_apply(struct keel_mod *m, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);
	struct conf *old = d->parts.conf;
	int ret = modules_apply(d->parts.modules, err);

	if (ret == 0) {
		settings_apply(d, d->draft_settings);
		d->draft_settings = NULL;
		d->parts.conf = d->draft_conf;
		d->draft_conf = old;
	}
	renew_draft_drop(d);
	return ret;
}

static void api_drop(struct keel_mod *m)
{
	renew_draft_drop(daemon_with(m));
}

/* ---- modules that run --------------------------------------------------------------------------------------- */
static bool api_needs(struct keel_mod *m, const char *name, const char *other)
{
	return modules_need(owner_of(m)->parts->modules, name, other);
}

static int32_t api_busy(struct keel_mod *m, const char *name, struct keel_err *err)
{
	return modules_busy(owner_of(m)->parts->modules, name, err);
}

/* ---- another image ------------------------------------------------------------------------------------------ */
static int32_t api_go(struct keel_mod *m, const char *next, const char *back, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);

	if (d->stopping || d->next != NULL)
		return err_set(err, -ECANCELED, "the daemon stops");
	return renew_begin(d, next, back) < 0 ? err_set(err, -ENOMEM, "no memory") : 0;
}

static int32_t api_on_hup(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct daemon *d = daemon_with(m);

	if (d->hup_owner != NULL && d->hup_owner != owner_of(m))
		return -EBUSY;
	if (d->hup_owner != NULL)
		d->hup_owner->live--;
	d->hup_owner = fn != NULL ? owner_of(m) : NULL;
	d->hup_fn = fn;
	d->hup_arg = arg;
	if (fn != NULL)
		d->hup_owner->live++;
	return 0;
}

const struct keel_renew_api *renew_api(void)
{
	static const struct keel_renew_api api = {
		.size = sizeof(api),
		.conf_file = api_conf_file,
		.set = api_set,
		.was = api_was,
		.command = api_command,
		.draft = api_draft,
		.apply = api_apply,
		.drop = api_drop,
		.trust = file_trust,
		.needs = api_needs,
		.busy = api_busy,
		.go = api_go,
		.on_hup = api_on_hup,
	};

	return &api;
}
