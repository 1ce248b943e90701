/* SPDX-License-Identifier: Apache-2.0
 *
 * daemon.c - one kernel from start to end.
 *
 *   configuration -> locks -> log -> parts -> modules loaded -> store loaded -> modules started
 *   -> links -> client socket -> ready ... daemon_stop() -> last replies and commits -> reverse
 *
 * A simulation makes daemons too: daemon_create(), turns of its loop, daemon_abandon().
 * A start that fails reports its error once, undoes what it did and leaves nothing behind but its log.
 */
#include "main/daemon.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hook/hooks.h"
#include "link/links.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/inside.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "request/router.h"
#include "store/store.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"
#include "util/version.h"

#define LAST_REPLIES_MS 5000
#define LAST_COMMIT_MS 15000
#define CONF_BYTES (1u << 20)
#define LOG_LOOK_MS 30000
#define LAST_WORK_MS 1000 /* on worker threads, which an exec ends */

/* ---- parts -------------------------------------------------------------------------------------- */

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
	p->rename_server = d->options->rename_server;
	p->host_name = d->settings->top->host_name;
	p->daemon_name = d->settings->daemon_name;
	p->client_socket = p->daemon & KEEL_SERVER ? d->settings->client->socket : d->settings->client->mom_socket;
	return 0;
}

int parts_create(struct daemon *d, struct keel_err *err)
{
	struct parts *p = &d->parts;
	int ret = registry_create(&p->registry);

	if (ret == 0)
		ret = registry_offer(p->registry, "core", &core_api);
	if (ret == 0 && d->world == NULL)
		ret = registry_offer(p->registry, "renew", &renew_api);
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

/* ---- signals ---------------------------------------------------------------------------------- */

void daemon_stop(struct parts *parts)
{
	daemon_of(parts)->stopping = daemon_of(parts)->for_good = true;
	loop_stop(parts->loop);
}

static void stop_signalled(void *arg, int signum)
{
	struct daemon *d = arg;

	log_add(d->parts.log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Svr", d->parts.daemon_name,
		"caught signal %d (%s)", signum, strsignal(signum));
	d->stopping = true; /* it may be started again at once */
	loop_stop(d->parts.loop);
}

static void hup_signalled(void *arg, int signum)
{
	struct daemon *d = arg;
	struct crumb crumb;

	(void)signum;
	log_look(d->parts.log);
	d->hup = d->next != NULL;
	if (!d->serving || d->stopping || d->hup)
		return;
	if (d->hup_owner == NULL) {
		log_add(d->parts.log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Svr", d->parts.daemon_name,
			"no module reads the configuration again: it is read when the daemon is started");
		return;
	}
	crumb_begin(&crumb, d->hup_owner, "signal", NULL);
	d->hup_fn(&d->hup_owner->pub, d->hup_arg);
	crumb_end(&crumb);
}

static int signals_watch(struct daemon *d, struct keel_err *err)
{
	int ret = loop_signal(d->parts.loop, SIGTERM, stop_signalled, d);
	sigset_t none;

	if (ret == 0)
		ret = loop_signal(d->parts.loop, SIGINT, stop_signalled, d);
	if (ret == 0)
		ret = loop_signal(d->parts.loop, SIGHUP, hup_signalled, d);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL); /* the image before has blocked them */
	return ret == 0 ? 0 : err_set(err, ret, "cannot watch signals: %s", strerror(-ret));
}

/* ---- start ------------------------------------------------------------------------------------- */

/* Without a record nothing else looks. Without memory SIGHUP does. */
static void log_watch(void *arg)
{
	struct daemon *d = arg;

	log_look(d->parts.log);
	loop_timer(d->parts.loop, LOG_LOOK_MS, log_watch, d);
}

static int log_start(struct daemon *d, struct keel_err *err)
{
	const struct settings *s = d->settings;
	int ret = d->world ? d->world->loop(d->world->arg, &d->parts.loop) : loop_create(&d->parts.loop);

	if (ret < 0)
		return err_set(err, ret, "cannot create the event loop: %s", strerror(-ret));
	ret = log_open(d->parts.loop, s->log->dir, s->daemon_name, (uint32_t)s->log->events, s->log->microseconds,
		       &d->parts.log, err);
	if (ret < 0)
		return ret;
	log_set_json(d->parts.log, s->log->format != 0);
	if (d->world == NULL)
		log_watch(d);
	crash_init(log_fd(d->parts.log));
	return 0;
}

static int start(struct daemon *d, struct keel_err *err)
{
	int ret = parts_configure(d, err);

	/* A core file would hold keys and what users submitted. The limit itself stays: tasks inherit it. */
	if (ret == 0 && geteuid() == 0 && !d->settings->core_files)
		prctl(PR_SET_DUMPABLE, 0);
	if (ret == 0)
		ret = home_make(d->parts.home, d->parts.daemon, err);
	if (ret == 0)
		ret = home_guard(d->parts.home, d->parts.daemon, err);
	if (ret == 0)
		ret = home_lock(d->parts.home, d->parts.daemon, &d->handed, &d->locks, err);
	if (ret == 0)
		ret = log_start(d, err);
	if (ret == 0 && d->world == NULL)
		ret = signals_watch(d, err);
	if (ret == 0)
		ret = renew_supervise(d, err);
	if (ret == 0)
		ret = parts_create(d, err);
	if (ret == 0)
		renew_links_expect(d);
	if (ret == 0 && d->world != NULL && d->world->furnish != NULL)
		ret = d->world->furnish(d->world->arg, &d->parts, err);
	if (ret == 0)
		ret = modules_load(d->parts.modules, d->parts.conf, d->options->set_dir != NULL, err);
	if (ret == 0)
		ret = store_use(d->parts.store, err);
	if (ret == 0)
		ret = modules_start(d->parts.modules, err);
	if (ret == 0)
		ret = links_start(d->parts.links, err);
	if (ret == 0 && d->world == NULL)
		ret = router_listen(d->parts.router, d->parts.client_socket, handed_use(&d->handed, HANDED_CLIENT), err);
	return ret;
}

/* It failed because of a module that is not required. Returns whether it can go on without it. */
static bool leave_out(struct daemon *d)
{
	const char *bad = modules_bad(d->parts.modules);
	char *text = bad != NULL && d->n_left_out < LEFT_OUT_ROOM ? text_format("%s.enabled=false", bad) : NULL;

	if (text != NULL)
		d->left_out[d->n_left_out++] = text;
	return text != NULL;
}

static void ready_notify(struct daemon *d)
{
	struct parts *p = &d->parts;
	struct buf modules;

	if (p->daemon & KEEL_SERVER)
		hooks_note(p->hooks, KEEL_POINT_server_start, KEEL_EVENT(server_start));
	if (p->daemon & KEEL_MOM)
		hooks_note(p->hooks, KEEL_POINT_host_start, KEEL_EVENT(host_start, .host = p->host_name));
	log_add(p->log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Fil", p->daemon_name,
		"Version " KEELSON_PBS_LEVEL ", started, initialization type = 1");
	d->serving = true;
	buf_init(&modules);
	modules_identify(p->modules, &modules);
	crash_modules(buf_take(&modules, NULL));
	if (d->world == NULL)
		renew_ready();
	notify_send("READY=1");
	background_ready();
}

/* ---- end ---------------------------------------------------------------------------------------- */

static bool replies_are_out(void *arg)
{
	const struct parts *p = arg;

	return router_idle(p->router) && store_idle(p->store);
}

static bool all_is_stored(void *arg)
{
	return store_idle(((const struct parts *)arg)->store);
}

static bool work_is_done(void *arg)
{
	return modules_idle(((const struct parts *)arg)->modules);
}

static void stop_notify(struct daemon *d)
{
	d->serving = false;
	if (d->parts.daemon & KEEL_SERVER)
		hooks_note(d->parts.hooks, KEEL_POINT_server_stop, KEEL_EVENT(server_stop));
}

static void last_commit(struct daemon *d)
{
	if (loop_run_until(d->parts.loop, all_is_stored, &d->parts, LAST_COMMIT_MS) < 0)
		log_add(d->parts.log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Svr", d->parts.daemon_name,
			"the last changes could not be stored; no client was told that they were");
}

static void serve_no_more(struct daemon *d)
{
	struct parts *p = &d->parts;

	notify_send("STOPPING=1");
	if (p->daemon & KEEL_SERVER)
		log_add(p->log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_DEBUG, "Svr",
			p->daemon_name, "Starting to shutdown the server, type is Quick");
	stop_notify(d);
	router_shutdown(p->router, d->for_good);
	loop_run_until(p->loop, replies_are_out, p, LAST_REPLIES_MS);
	links_stop(p->links);
	last_commit(d);
}

/* The clients have their goodbyes. Returns on an error only, or when the daemon is to stop. */
static void image_change(struct daemon *d)
{
	struct parts *p = &d->parts;
	int64_t left = d->drain_until_ms - loop_now_ms(p->loop);

	log_add(p->log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Svr", p->daemon_name, "restarts with another set of modules");
	if (loop_run_until(p->loop, work_is_done, p, left > LAST_WORK_MS ? left : LAST_WORK_MS) < 0)
		modules_work_log(p->modules); /* it ends with this image */
	stop_notify(d);
	renew_links_leave(d);
	links_stop(p->links);
	modules_halt(p->modules);
	renew_signals_hold(d);
	last_commit(d);
	store_close(p->store);
	if (d->stopping)
		return;
	renew_exec(d);
	log_add(p->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Svr", p->daemon_name, "cannot execute keelsond again: %s",
		strerror(errno));
}

static void end(struct daemon *d)
{
	store_close(d->parts.store); /* before the module that offers it is unloaded */
	if (d->parts.hooks != NULL)
		hooks_stop(d->parts.hooks);
	if (d->parts.modules != NULL)
		modules_stop(d->parts.modules);
	if (d->parts.loop != NULL)
		loop_work_end(d->parts.loop); /* its callbacks need all the parts */
	if (d->parts.log != NULL && d->stopping)
		log_add(d->parts.log, KEEL_LOG_SYSTEM, "Svr", d->parts.daemon_name, "%s",
			d->parts.daemon & KEEL_SERVER ? "Server shutdown completed" : "Is down");
	crash_init(-1);
	renew_end(d);
	parts_destroy(&d->parts);
	handed_close(&d->locks);
	settings_destroy(d->settings);
	d->settings = NULL;
	crash_modules(NULL);
}

static void daemon_free(struct daemon *d)
{
	handed_close(&d->handed);
	while (d->n_left_out > 0)
		free(d->left_out[--d->n_left_out]);
	free(d);
}

/* `home` of the main file, whatever errors that has; the caller frees it. NULL: there is none. */
static char *home_guess(const struct options *o)
{
	char *text = NULL, home[1024], *found = NULL;
	size_t len;

	if (o->home != NULL)
		return strdup(o->home);
	if (file_read(o->conf_file, CONF_BYTES, &text, &len) == 0)
		for (char *at = text, *line; found == NULL && (line = strsep(&at, "\n")) != NULL;)
			if (sscanf(line, " home = \"%1023[^\"]", home) == 1)
				found = strdup(home);
	free(text);
	return found != NULL ? found : strdup(HOME_DEFAULT);
}

/* Returns the set that served last; the caller frees it. NULL: there is none. */
static char *last_good(const struct options *o)
{
	static const char *const dirs[] = { "server_priv", "mom_priv" };
	char *home = home_guess(o), *set = NULL;

	for (size_t i = 0; home != NULL && i < KEEL_COUNT(dirs) && set == NULL; i++) {
		char *served = text_format("%s/%s/sets/served", home, dirs[i]);

		set = served != NULL ? realpath(served, NULL) : NULL;
		free(served);
	}
	free(home);
	return set;
}

static int start_without(struct daemon *d, struct keel_err *err)
{
	const struct options *o = d->options;
	const bool cold = o->set_dir == NULL && !o->last_good && d->world == NULL;
	char *good;
	int ret;

	for (;;) {
		d->set = o->last_good ? last_good(o) : o->set_dir != NULL ? strdup(o->set_dir) : NULL;
		ret = d->set == NULL && (o->last_good || o->set_dir != NULL) ?
			      err_set(err, -ENOENT, "no set of modules has served yet") :
			      start(d, err);
		if (ret == 0)
			return 0;
		if (d->parts.loop != NULL)
			core_drop(d->parts.loop);
		if (!leave_out(d))
			break;
		end(d);
	}
	renew_back(err);
	fprintf(stderr, "keelsond: %s\n", err->text);
	log_add(d->parts.log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Svr", d->parts.daemon_name, "%s", err->text);
	good = cold && ret != -EBUSY ? last_good(o) : NULL;
	if (good != NULL)
		fputs("keelsond: `keelsond --last-good` starts with the configuration and the modules that served last\n", stderr);
	free(good);
	end(d);
	return ret;
}

int daemon_create(const struct options *o, const struct world *world, struct daemon **ret_daemon,
		  struct keel_err *err)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int ret;

	if (d == NULL)
		return err_set(err, -ENOMEM, "no memory");
	*d = (struct daemon){ .options = o, .world = world };
	if (world == NULL)
		handed_take(&d->handed);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* where the caller ignores it the kernel would reap our children */
	umask(022);
	/* Drop the supplementary groups of the user that started it: its children would inherit them. */
	ret = geteuid() == 0 && setgroups(0, NULL) < 0 && getgroups(0, NULL) > 0
		      ? err_set(err, -errno, "cannot leave supplementary groups: %s", strerror(errno))
		      : start_without(d, err);
	if (ret < 0) {
		daemon_free(d);
		return ret;
	}
	ready_notify(d);
	*ret_daemon = d;
	return 0;
}

void daemon_abandon(struct daemon *d)
{
	links_stop(d->parts.links);
	end(d);
	daemon_free(d);
}

int daemon_run(const struct options *o)
{
	struct keel_err err = { 0 };
	struct daemon *d;
	int code = EXIT_SUCCESS, ret;

	if (daemon_create(o, NULL, &d, &err) < 0)
		return EXIT_FAILURE;
	ret = watchdog_start(&d->parts, d->settings->hooks);
	if (ret < 0) /* it serves without */
		log_add(d->parts.log, KEEL_LOG_ERROR, "Svr", d->parts.daemon_name,
			"calls that take too long cannot be found: %s", strerror(-ret));
	loop_run(d->parts.loop);
	loop_tick_end(d->parts.loop);
	if (d->next != NULL && !d->stopping) {
		image_change(d);
		code = d->stopping ? EXIT_SUCCESS : EXIT_FAILURE;
	} else {
		serve_no_more(d);
	}
	end(d);
	daemon_free(d);
	return code;
}
