/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - create the parts of a kernel in the order of their needs, destroy them in reverse.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "link/links.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/core_api.h"
#include "main/inside.h"
#include "main/renew.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "request/router.h"
#include "store/store.h"
#include "util/err.h"
#include "util/text.h"

int parts_name(struct daemon *d, struct keel_err *err)
{
	const struct settings *s = d->settings;
	struct parts *p = &d->parts;

	p->daemon = s->roles;
	p->home = strdup(s->home);
	p->exec_dir = strdup(s->exec_dir);
	p->server_name = strdup(s->server_name);
	p->host_name = strdup(s->host_name);
	p->daemon_name = strdup(s->daemon_name);
	if (p->home == NULL || p->exec_dir == NULL || p->server_name == NULL || p->host_name == NULL ||
	    p->daemon_name == NULL)
		return err_set(err, -ENOMEM, "no memory");
	return 0;
}

static int registry_make(struct daemon *d, struct keel_err *err)
{
	int ret = registry_create(&d->parts.registry);

	(void)err;
	if (ret == 0)
		ret = registry_offer(d->parts.registry, "core", core_api());
	return ret == 0 && d->world == NULL ? registry_offer(d->parts.registry, "renew", renew_api()) : ret;
}

static int store_make(struct daemon *d, struct keel_err *err)
{
	(void)err;
	return store_create(&d->parts, &d->parts.store);
}

static int objects_make(struct daemon *d, struct keel_err *err)
{
	(void)err;
	return objects_create(d->parts.registry, store_dirty, d->parts.store, &d->parts.objects);
}

static int hooks_make(struct daemon *d, struct keel_err *err)
{
	(void)err;
	return hooks_create(&d->parts, settings_hooks(d->settings), &d->parts.hooks);
}

static int router_make(struct daemon *d, struct keel_err *err)
{
	int ret = router_create(&d->parts, &d->parts.router);

	(void)err;
	if (ret == 0)
		router_set_stall(d->parts.router, settings_client(d->settings)->stall_ms);
	return ret;
}

static int links_make(struct daemon *d, struct keel_err *err)
{
	(void)err;
	return links_create(&d->parts, &d->parts.links);
}

static int modules_make(struct daemon *d, struct keel_err *err)
{
	char *copies = d->set != NULL ? text_format("%s/modules", d->set) : NULL;
	int ret = d->set != NULL && copies == NULL ?
			  -ENOMEM :
			  modules_create(&d->parts, d->settings->modules_dir, copies, &d->parts.modules);

	(void)err;
	free(copies);
	return ret;
}

int parts_create(struct daemon *d, struct keel_err *err)
{
	static const struct {
		const char *name;
		int (*make)(struct daemon *, struct keel_err *);
	} steps[] = {
		{ "registry", registry_make }, { "store", store_make },   { "objects", objects_make },
		{ "hooks", hooks_make },       { "router", router_make }, { "links", links_make },
		{ "modules", modules_make },
	};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < KEEL_COUNT(steps); i++) {
		if (err != NULL)
			err->text[0] = '\0';
		ret = steps[i].make(d, err);
		if (ret < 0 && err != NULL && err->text[0] == '\0')
			err_set(err, ret, "cannot start: %s: %s", steps[i].name, strerror(-ret));
	}
	return ret;
}

void parts_destroy(struct parts *p)
{
	modules_destroy(p->modules);
	links_destroy(p->links);
	router_destroy(p->router);
	hooks_destroy(p->hooks);
	store_destroy(p->store);
	objects_destroy(p->objects);
	registry_destroy(p->registry);
	log_close(p->log);
	loop_destroy(p->loop);
	conf_destroy(p->conf);
	free(p->home);
	free(p->exec_dir);
	free(p->server_name);
	free(p->host_name);
	free(p->daemon_name);
	*p = (struct parts){ 0 };
}
