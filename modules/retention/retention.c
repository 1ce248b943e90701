/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c - old day files of logs and accounting are deleted, as the configuration says: once the daemon runs, each hour,
 * and when the configuration changes. By default nothing is.
 */
#include "keel/keel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

#define FIRST_MS 1000
#define AGAIN_MS (60 * 60 * 1000)
#define DAYS_MOST 36500

struct conf {
	int64_t log_days, log_size, accounting_days, accounting_size;
};

struct state {
	struct keel_timer *timer;
	int error; /* which the log has already */
};

static void folder_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct sweep *s = arg;

	if (s->deleted)
		keel_log(mod, KEEL_LOG_SYSTEM, "Fil", "retention", "%u day files of %s deleted, %lld kb, the oldest of %08d: so says the configuration",
			 s->deleted, s->dir, (long long)(s->freed / 1024), s->oldest);
	if (s->error && s->error != st->error)
		keel_log(mod, KEEL_LOG_ERROR, "Fil", "retention", "day files of %s cannot be deleted: %s", s->dir, strerror(s->error));
	st->error = s->error ? s->error : st->error;
	free(s->dir);
	free(s);
}

/* Takes dir. */
static void folder_sweep(struct keel_mod *mod, char *dir, int64_t days, int64_t size)
{
	struct sweep *s = dir && (days > 0 || size > 0) ? calloc(1, sizeof(*s)) : NULL;

	if (!s) {
		free(dir);
		return;
	}
	*s = (struct sweep){ .dir = dir, .days = days, .size = size, .now = keel_time(mod) };
	if (keel_work(mod, sweep_run, folder_done, s) < 0) {
		free(dir);
		free(s);
	}
}

static void sweep_all(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	const struct conf *conf = mod->conf;
	const char *logs = keel_log_dir(mod);
	char *dir = NULL;

	(void)arg;
	st->timer = keel_timer(mod, AGAIN_MS, sweep_all, NULL);
	folder_sweep(mod, logs ? strdup(logs) : NULL, conf->log_days, conf->log_size);
	if (keel_daemon(mod) & KEEL_SERVER && asprintf(&dir, "%s/server_priv/accounting", keel_home(mod)) >= 0)
		folder_sweep(mod, dir, conf->accounting_days, conf->accounting_size);
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->timer = keel_timer(mod, FIRST_MS, sweep_all, NULL);
	return st->timer ? 0 : keel_error(err, -ENOMEM, "no memory");
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)now;
	st->error = 0;
	keel_timer_cancel(st->timer);
	return start(mod, err);
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->timer);
	st->timer = NULL;
}

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, log_days, .fallback = "0", .min = 0, .max = DAYS_MOST,
		       .doc = "day files of this daemon's log are kept for so many days before today; 0: for ever"),
	KEEL_CONF_RULE(SIZE, struct conf, log_size, .fallback = "0", .min = 0, .max = INT64_MAX,
		       .doc = "how much they may have in all, the oldest go first; 0: any"),
	KEEL_CONF_RULE(INT, struct conf, accounting_days, .fallback = "0", .min = 0, .max = DAYS_MOST,
		       .doc = "the same for files of server_priv/accounting"),
	KEEL_CONF_RULE(SIZE, struct conf, accounting_size, .fallback = "0", .min = 0, .max = INT64_MAX,
		       .doc = "the same for files of server_priv/accounting"),
};

KEEL_MODULE(.name = "retention", .version = "1.0", .vendor = "Keelson", .summary = "deletes old day files of logs and accounting",
	    .roles = KEEL_SERVER | KEEL_MOM, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), .start = start,
	    .reconf = reconf, .stop = stop);
