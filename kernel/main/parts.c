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
#include "main/inside.h"
#include "main/renew.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "request/router.h"
#include "store/store.h"
#include "util/err.h"

int parts_configure(struct daemon *d, struct keel_err *err)
{
	struct parts *p = &d->parts;
	int ret = settings_read(d->options, d->set, &p->conf, &d->settings, err);

	for (uint32_t i = 0; ret == 0 && i < d->n_left_out; i++)
		ret = conf_override(p->conf, d->left_out[i], err);
	if (ret < 0)
		return ret;
	p->daemon = d->settings->roles;
	p->home = d->settings->top->home;
	p->exec_dir = d->settings->top->exec_dir;
	p->server_name = d->settings->top->server_name;
	p->host_name = d->settings->top->host_name;
	p->daemon_name = d->settings->daemon_name;
	return 0;
}

int parts_create(struct daemon *d, struct keel_err *err)
{
	struct parts *p = &d->parts;
	int ret = registry_create(&p->registry);

	if (ret == 0)
		ret = registry_offer(p->registry, "core", core_api());
	if (ret == 0 && d->world == NULL)
		ret = registry_offer(p->registry, "renew", renew_api());
	if (ret == 0)
		ret = store_create(p, &p->store);
	if (ret == 0)
		ret = objects_create(p->registry, store_dirty, p->store, &p->objects);
	if (ret == 0)
		ret = hooks_create(p, d->settings->hooks, &p->hooks);
	if (ret == 0)
		ret = router_create(p, &p->router);
	if (ret == 0)
		router_set_stall(p->router, d->settings->client->stall_ms);
	if (ret == 0)
		ret = links_create(p, &p->links);
	if (ret == 0)
		ret = modules_create(p, d->settings->top->modules_dir, d->set, &p->modules);
	return ret == 0 ? 0 : err_set(err, ret, "cannot start: %s", strerror(-ret));
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
	*p = (struct parts){ 0 };
}
