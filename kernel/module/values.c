/* SPDX-License-Identifier: Apache-2.0
 *
 * values.c - other values, and another place in the chains, for modules that run: all of them or none.
 */
#include <errno.h>
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/crumb.h"
#include "util/err.h"

static int read_conf(struct module *m, const struct conf *conf, struct keel_err *err)
{
	const struct keel_module *d = &m->desc;
	int ret = m->how.row != NULL ? module_values(m, conf, &m->fresh, err) : module_configure(m, conf, &m->fresh, err);

	if (ret < 0)
		return ret;
	if (conf_differs(m->rules, d->n_conf, m->conf, m->fresh, KEEL_CONF_RESTART) != NULL)
		return 1;
	if (conf_differs(m->rules, d->n_conf, m->conf, m->fresh, 0) != NULL)
		return m->how.row != NULL; /* check() may take its time where the module is */
	conf_data_destroy(m->fresh);
	m->fresh = NULL;
	return 0;
}

int values_read(struct module *m, const struct conf *conf, struct keel_err *err)
{
	int restart = read_conf(m, conf, err);
	int ret = restart < 0 ? restart : site_read(m, conf, &m->fresh_site, err);

	if (ret < 0)
		return ret;
	if (site_same(m->site, m->fresh_site)) {
		site_destroy(m->fresh_site);
		m->fresh_site = NULL;
	}
	return restart;
}

static void conf_swap(struct module *m)
{
	struct conf_data *old = m->conf;

	m->conf = m->fresh;
	m->fresh = old;
	m->owner.pub.conf = conf_data(m->conf);
}

/* Exchanges place, filter and budget of the taps of all modules that have fresh ones. A second call undoes the first, also
 * after an error. */
static int sites_swap(struct modules *all, struct keel_err *err)
{
	struct hooks *h = all->parts->hooks;
	struct module *m;
	uint32_t n = 0;
	int ret = 0;

	SET_EACH(&all->there, m) {
		struct site *old = m->site;
		int code;

		if (m->fresh_site == NULL)
			continue;
		m->site = m->fresh_site;
		m->fresh_site = old;
		hooks_place(h, &m->owner, m->site->taps, m->site->n_taps);
		code = hooks_filter(h, &m->owner, m->site->matches, m->site->n_matches, ret == 0 ? err : NULL);
		ret = ret == 0 ? code : ret;
		m->owner.budget = m->site->budget;
		n++;
	}
	return n > 0 && ret == 0 ? hooks_reorder(h, err) : ret;
}

static int call_reconf(struct module *m, struct keel_err *why)
{
	struct crumb crumb;
	int ret;

	if (m->desc.reconf == NULL)
		return 0;
	crumb_begin(&crumb, &m->owner, "reconf", NULL);
	ret = m->desc.reconf(&m->owner.pub, m->owner.pub.conf, why);
	crumb_end(&crumb);
	return ret;
}

/* After an error `m` has what it had. */
static int values_swap(struct module *m, struct keel_err *err)
{
	struct keel_err why = { 0 }, none = { 0 };
	int ret;

	if (m->fresh == NULL)
		return 0;
	conf_swap(m);
	ret = call_reconf(m, &why);
	if (ret == 0)
		return 0;
	conf_swap(m);
	(void)call_reconf(m, &none);
	return err_set(err, ret < 0 ? ret : -EINVAL,
		       "module %s does not take its new configuration: %s", m->desc.name,
		       why.text[0] != '\0' ? why.text : "it gave no reason");
}

int modules_apply(struct modules *all, struct keel_err *err)
{
	const struct set *s = &all->there;
	int ret = sites_swap(all, err);
	uint32_t i = 0;

	while (ret == 0 && i < s->n && (ret = values_swap(s->at[i], err)) == 0)
		i++;
	if (ret == 0)
		return 0;
	while (i > 0)
		(void)values_swap(s->at[--i], NULL);
	(void)sites_swap(all, NULL);
	return ret;
}

void values_drop(struct modules *all)
{
	struct module *m;

	SET_EACH(&all->there, m) {
		conf_data_destroy(m->fresh);
		site_destroy(m->fresh_site);
		m->fresh = NULL;
		m->fresh_site = NULL;
	}
}
