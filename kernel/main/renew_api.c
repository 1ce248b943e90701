/* SPDX-License-Identifier: Apache-2.0
 *
 * renew_api.c - the API group "renew": what a module that changes the running daemon needs of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "main/renew.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/file.h"

static struct daemon *daemon_with(struct keel_mod *m)
{
	return daemon_of(owner_of(m)->parts);
}

static void api_image(struct keel_mod *m, struct keel_image *ret)
{
	const struct daemon *d = daemon_with(m);
	const struct options *o = d->options;

	*ret = (struct keel_image){ .size = sizeof(*ret), .renewed = o->back != NULL || o->refused != NULL, .conf_file = o->conf_file,
				    .set = d->set, .refused = o->refused };
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

static int32_t api_draft(struct keel_mod *m, const char *set, const struct keel_draft **ret, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);
	int code;

	renew_draft_drop(d);
	code = settings_read(d->options, set, &d->draft_conf, &d->draft_settings, err);
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
		settings_take(d->settings, d->draft_settings);
		log_set_mask(d->parts.log, (uint32_t)d->settings->log->events);
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
		.image = api_image,
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
