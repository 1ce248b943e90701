/* SPDX-License-Identifier: Apache-2.0
 *
 * isolation.c - descriptor of the module; its LOADER: `isolation = "process"` in a module's group.
 */
#include "isolation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE (60 * 1000)
#define MB (1024 * 1024)

static const struct keel_conf_rule limit_rules[] = {
	KEEL_CONF_RULE(SIZE, struct limits, memory, .fallback = "512mb", .min = 32LL * MB, .max = INT64_MAX,
		       .doc = "address space of the process"),
	KEEL_CONF_RULE(DURATION, struct limits, deadline, .fallback = "250ms", .min = 10, .max = 60 * MINUTE,
		       .doc = "how long one call may take before the process is killed"),
	KEEL_CONF_RULE(INT, struct limits, deaths, .fallback = "5", .min = 0, .max = 1000000,
		       .doc = "so many deaths within the time below, and it is not started again; 0: always"),
	KEEL_CONF_RULE(DURATION, struct limits, within, .fallback = "10m", .min = 1000, .max = 24 * 60 * MINUTE,
		       .doc = "the time in which deaths are counted"),
	KEEL_CONF_RULE(STRING, struct limits, user, .fallback = "nobody",
		       .doc = "whom the process runs as when the daemon is root"),
};

static void isolated_free(struct isolated *iso)
{
	if (!iso)
		return;
	life_close(iso);
	described_free(iso);
	free(iso->conf.data);
	free(iso->out.data);
	free(iso->calls.at);
	free(iso->holds.at);
	free(iso->name);
	free(iso->path);
	free(iso->user);
	free(iso);
}

static const struct keel_module *open_process(struct keel_mod *owner, const struct keel_load *load, struct keel_err *err)
{
	struct state *st = owner->state;
	const struct limits *limits = load->values;
	struct isolated *iso = calloc(1, sizeof(*iso));

	if (iso) {
		iso->st = st;
		iso->mod = load->mod;
		iso->owed_end = &iso->owed;
		iso->limits = *limits;
		iso->log.at_ms = keel_now_ms(owner);
		iso->log.left = 5000;
		iso->name = strdup(load->name);
		iso->path = strdup(load->path);
		iso->user = strdup(limits->user);
	}
	if (!iso || !iso->name || !iso->path || !iso->user)
		keel_error(err, -ENOMEM, "no memory to load module %s", load->name);
	else if (life_open(iso, err) == 0) {
		load->mod->state = iso;
		return &iso->desc;
	}
	isolated_free(iso);
	return NULL;
}

static void close_process(struct keel_mod *owner, struct keel_mod *mod)
{
	(void)owner;
	isolated_free(isolated_of(mod));
	mod->state = NULL;
}

static int32_t check_conf(struct keel_mod *owner, struct keel_mod *mod, const void *conf, struct keel_err *err)
{
	(void)owner;
	return life_check(isolated_of(mod), conf, err);
}

static int32_t text_of(struct keel_mod *owner, struct keel_mod *mod, char *buf, uint32_t len)
{
	(void)owner;
	return keel_supervise_text(isolated_of(mod)->process, buf, len);
}

static const struct keel_loader_def loader = {
	.size = sizeof(loader),
	.name = "isolation",
	.doc = "where the module runs: in the daemon, or in a process of its own",
	.choices = "inline,process",
	.group = "isolation_limits",
	.conf = limit_rules,
	.n_conf = KEEL_COUNT(limit_rules),
	.conf_size = sizeof(struct limits),
	.open = open_process,
	.close = close_process,
	.check = check_conf,
	.text = text_of,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(LOADER, loader) };

static int32_t init(struct keel_mod *m, struct keel_err *err)
{
	struct state *st = m->state;

	(void)err;
	st->mod = m;
	return 0;
}

KEEL_USE(supervise);
static const char *const requires[] = { "supervise", NULL };

KEEL_MODULE(.name = "isolation", .version = "1.0", .vendor = "Keelson",
	    .flags = KEEL_MOD_NO_PROCESS, .summary = "runs a module in a process of its own",
	    .roles = KEEL_ANY, .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs),
	    .requires_modules = requires, .init = init);
